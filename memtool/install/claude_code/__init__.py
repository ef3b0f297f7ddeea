"""memtool in Claude Code: the hooks that call `memtool-hook`, and the settings files that name them."""
