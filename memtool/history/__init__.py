"""The history of a vault: its git repository, and what is made of it."""
