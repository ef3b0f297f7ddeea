"""Installing memtool into other programs, and taking it out again."""
