"""The memory that an agent is given, when, and how much."""
