"""memtool: the memory of a coding agent, kept as plain Markdown."""

__version__ = "0.1.0"
