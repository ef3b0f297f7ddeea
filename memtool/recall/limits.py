"""The plain limits of what an agent is given, and of what is read for it: they only bound work and space."""

from __future__ import annotations

# Of what is given
MOST_UNITS = 9_500  # UTF-16 code units of a block; beyond 10,000 the client cuts what a hook says
LONGEST_LINE = 400  # characters of a line, a place, an item of a summary, the beginning of a prompt
WIDEST = 80  # characters of a title, an edit, a mark or a question above a statement
COMPARED = 200  # characters of a line; what comes later may have been cut off where it was shown
MOST_HINTS = 2  # before an edit
MOST_NEXT = 5  # memories that `memtool given` names beside those that were given
MOST_LINES = 400  # of a page or an instruction file that are looked at
ROOM_TO_KEEP = 2_000  # characters of what a summary must keep

# Of files: bytes that are read
LARGEST_NOTE = 65_536  # of a note or an instruction file; no budget holds a quarter of it
LARGEST_SOURCE = 100_000  # of a packed source; of a larger one no prompt waits for what was typed
LARGEST_TABLE = 262_144  # of the table of routes, the map of prefixes, an area's front matter
LARGEST_READ = 1_048_576  # of facts at a start, some 3,000, and of a ledger
LARGEST_CHANGED = 2_097_152  # of all changed files together that a prompt has time to look through
TRANSCRIPT_TAIL = 4_194_304  # of the end of a transcript
LARGEST_FILE = 10_485_760  # of any file: as many as are indexed, unless the settings say otherwise
LARGEST_LIST = 16 << 20  # of a list of memtool's own; a larger one was not written by it
HEAD = 4_096  # of a note, which hold its summary and the session that wrote it

# Of texts: characters
LONGEST_TEXT = 20_000  # of a chunk, a text of a transcript, a line of a table
LONGEST_COMPARED = 700  # of what a small model reads: 256 tokens
LONGEST_PATH = 4_096
PASTED = 600  # of each paste that count: its title, and what it is about
LONGEST_GLOB = 200
LONGEST_TRIGGER = 60  # more is no word and no phrase, but somebody's mistake or attack
LONGEST_PIECE = 40  # of a stretch without spaces
QUOTED = 24  # of what was typed that a note shows, however it was cut
TABLE_FRAME = 500  # around the generated rows of the table, in bytes, with some to spare

# Of searches
MOST_TERMS = 48  # of a prompt
MOST_PAIRS = 8  # of common words side by side
MOST_CHUNKS = 1_000  # of one term; what is in more finds nothing
CHUNKS_COMPARED = 60  # chunks whose terms are compared
CHUNKS_CUT = 20  # of those, the best, whose passages are
LARGEST_SCOPE = 4_000  # chunks; among more, words are as rare as in the vault
MOST_NEAR = 200  # chunks of a model's answer
MOST_PLACES = 20  # of a file at which a passage is looked for

# Of lists
MOST_KEPT = 600  # entries of each kind in a ledger, the latest
MOST_TRIGGERS = 100  # of one field of an area
MOST_GLOB_TRIES = 20_000  # globs against the paths that a text names
MOST_ALTERNATIVES = 64  # that braces may unfold into
MOST_RULE_FILES = 50  # of the client's
MOST_UNLISTED = 200  # notes that no daily note lists
MOST_DAYS = 180  # daily notes that are looked at, however long ago they were written

PATIENCE = 0.05  # seconds for the file of uses; a count that is lost is no loss
