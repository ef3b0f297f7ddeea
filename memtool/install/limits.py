"""The plain limits of files of clients."""

LARGEST_FILE = 32 << 20  # bytes; a client's file of state may hold years of prompts
LARGEST_TEXT = 65_536  # bytes of a file of ours; what we write is smaller
PATIENCE = 30  # seconds for a hook that is tried
LONGEST_TABLE = 6_000  # characters; the client sends it with every session
MOST_WORDS = 20  # of one row
MOST_RULE_FILES = 100  # in the folder of a client
