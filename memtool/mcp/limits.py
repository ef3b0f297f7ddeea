"""The limits of this room, in characters: of arguments, and of texts in an answer."""

PATH = 4_096
QUERY = 20_000
CONTENT = 100_000
LINE = 200  # of a list
MEMORY = 800
TURN = 24_000
