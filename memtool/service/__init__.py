"""The process of a vault and its parts: the warm model, the watch over the vault, and HTTP (in `memtool.web`)."""
