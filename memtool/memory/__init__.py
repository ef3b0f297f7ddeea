"""Changing what is remembered: facts and notes by their id, and the faults of facts."""
