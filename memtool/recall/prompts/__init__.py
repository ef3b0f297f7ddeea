"""What a prompt is given."""
