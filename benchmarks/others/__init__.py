"""Other memory tools, asked the questions that memtool is measured with (docs/comparison.md)."""
