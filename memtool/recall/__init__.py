"""What an agent is given of its memory, when, and how much."""
