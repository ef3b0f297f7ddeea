"""The plain limits of what is exchanged with other machines and programs."""

LARGEST_NOTE = 16 << 20  # bytes
LONGEST_NAME = 240  # bytes of a part of a path
DEEPEST = 32  # folders
LARGEST_FILE = 64 << 20  # bytes of one file of an archive
LARGEST_JSON = 256 << 20  # bytes of the memories of another program
LONGEST_FACT = 300  # characters; what is longer, or has several lines, becomes a note
