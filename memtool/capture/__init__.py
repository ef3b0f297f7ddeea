"""From what happened in a session to notes in the vault."""
