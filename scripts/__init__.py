"""What the top-level commands are made of. Standard library only; nothing here travels in the wheel."""
