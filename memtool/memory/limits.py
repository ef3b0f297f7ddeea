"""The limits of this room: what bounds the work, and what bounds a text."""

VERSION = 8  # hexadecimal digits of a hash; another one is never longer
ENTRIES = 20  # on a page of a list for agents
SORTED_MEMORIES = 10_000  # of more, the newest are sorted by their uses or changes
SUMMARY = 500  # characters
PAIRS_OF_FACTS = 20_000  # similar facts of one file: some two seconds
LARGEST_ANCHOR = 16 << 20  # bytes; a larger file is not hashed
FACT = 2_000  # characters of a fact; a longer text is a note
TODO = 500  # characters of an open item
TAG = 100  # characters
NEIGHBOURS = 20  # hits that are compared with a new memory
CONTRADICTIONS = 3  # that are shown
QUOTED = 120  # columns of a memory that says the same
FILES_AT_ONCE = 300  # new or changed files that are read before an answer; the others are read in the background
RANKED = 40  # facts and notes that are weighed
RANKED_PROMPTS = 10
PROMPT = 600  # characters
PROMPT_LIST = 2 << 20  # bytes of the client's list of prompts that are read, from its end
