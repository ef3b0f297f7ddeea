"""The index: derived from the vault, never the truth. Deleting it loses nothing."""
