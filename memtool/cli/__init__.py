"""The command line: it parses, calls and renders. Nothing else of memtool imports it."""
