"""The history of a vault: its git repository, changes, undo, past states, merge and sync."""
