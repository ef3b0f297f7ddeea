"""Parts of the top-level commands. Standard library only; nothing here travels in the wheel."""
