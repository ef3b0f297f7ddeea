"""The context of a session at its start."""
