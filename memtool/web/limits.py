"""The limits of this room: what bounds a request, an answer and the work for it."""

QUERY = 20_000  # characters
NAME = 200  # characters
PAGE = 100  # items
OFFSET = 10_000  # items before a page
FAULTS = 10  # of a request that are listed
REPEATED_VALUE = 60  # characters of a faulty value that an error repeats
OUTPUT = 500_000  # characters of a tool's output
TRANSCRIPT = 16_777_216  # bytes of a transcript, or of the end of the client's list of prompts
TRANSCRIPTS = 500  # that are looked through, the newest
PROMPT = 2_000  # characters
TURN = 1_000_000  # the number of a turn
SENTENCE = 2_000  # characters of one that is translated
