"""Taking a vault's content out into one file, and bringing such a file in."""
