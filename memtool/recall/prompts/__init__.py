"""The memories for a prompt."""
