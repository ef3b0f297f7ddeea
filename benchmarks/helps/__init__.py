"""Does memory help? Memory, no memory, an empty one and a wrong one, on the same questions."""
