"""memtool in coding agents other than Claude Code: one table of them, and what each is given."""
