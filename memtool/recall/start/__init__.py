"""What a session is given at its start."""
