"""The plain limits of what an agent is given: bytes, characters, columns, counts and seconds that only bound work."""

from __future__ import annotations

MOST_UNITS = 9_500  # UTF-16 code units of a block; beyond 10,000 the client cuts what a hook says
COMPARED = 200  # letters of a line; what comes later may have been cut off where it was shown

LEDGER_KEPT = 7 * 86_400.0  # seconds after which a ledger that nobody has touched is removed
LEDGERS_KEPT = 50  # ledgers, the newest: a clock that jumps makes all of them old at once
MEMORIES_OF_LEDGER = 200  # memories that are remembered, the latest
IDS_OF_LEDGER = 600
LARGEST_LEDGER = 1_048_576  # bytes; a ledger that is larger was not written by memtool

LONGEST_GIVEN = 400  # characters of a line
LONGEST_PROMPT_SHOWN = 300

PATIENCE = 0.05  # seconds; a count that is lost is no loss

MOST_HINTS = 2
LARGEST_HINTS = 8 << 20  # bytes; a file that is larger was not written by memtool

LONGEST_HEARD = 20_000  # characters of one text in which names are looked for

TRANSCRIPT_TAIL = 4_194_304  # bytes of the end of a transcript that are read
WIDEST_EDIT = 80  # columns of a changed line

LARGEST_TABLE = 262_144  # bytes of the table and of the map
MOST_GLOB_TRIES = 20_000  # globs against the paths that a text names

LONGEST_TABLE_LINE = 10_000  # characters
TABLE_FRAME = 500  # bytes of the marks and the header, with some to spare

LONGEST_TRIGGER = 60  # characters; more is no word and no phrase, but somebody's mistake or attack
LONGEST_GLOB = 200  # characters
MOST_TRIGGERS = 100  # of one field
LONGEST_PATH = 4096  # characters
MOST_ALTERNATIVES = 64  # that braces may unfold into
LARGEST_MATTER_OF_AREA = 4 * 65_536  # bytes, in which the front matter ends

LARGEST_FACTS = 1_048_576  # bytes, some 3,000 facts; reading more takes too long

MOST_RULE_FILES = 50
LARGEST_INSTRUCTIONS = 65_536  # characters of an instruction file
LONGEST_KEPT_ITEM = 240  # characters of what a summary must keep
ROOM_TO_KEEP = 2_000  # characters of all that
MOST_KEPT_FILES = 20

LONGEST_BODY = 16_000  # characters of a note; no budget holds more
LARGEST_EXCERPT = 65_536  # bytes of a note; no budget holds a quarter of it

LARGEST_NOTE = 65_536  # bytes
LARGEST_LIST = 16 << 20  # bytes
MOST_UNLISTED = 200  # notes that no daily note lists
MOST_DAYS = 180  # daily notes that are looked at, however long ago they were written

LARGEST_SOURCE = 100_000  # bytes of a packed source; of a larger one no prompt waits for what was typed

MOST_PASSAGES = 60  # of one chunk
BEGINNING_OF_TERM = 4  # characters that a text shares with a term, or it need not be cut
BETWEEN_STATEMENTS = 3  # characters
QUOTED = 24  # characters of what was typed that a note shows, however it was cut
LONGEST_ASK = 80  # characters of what was asked above a statement of a source

MOST_NEAR = 200  # chunks of an answer
LONGEST_COMPARED = 700  # characters, which fit the 256 tokens that small models read
LONGEST_PARAGRAPH = 500
MOST_PROMPT_LINES = 2_000

LONGEST_CHUNK = 20_000  # characters of a chunk; only a fact can have more, and that is no memory
CHUNKS_COMPARED = 60  # chunks whose terms are compared
CHUNKS_CUT = 20  # of those, the best, whose passages are
MOST_TERMS = 48  # of a prompt
MOST_CHUNKS = 1_000  # of one term; what stands in more finds nothing
LARGEST_SCOPE = 4_000  # chunks; among more, words are as rare as in the vault

LONGEST_MARK = 60  # characters of why a fact is to be looked at again
LONGEST_TITLE = 80
LONGEST_PLACE = 400  # of where a memory stands; an id as long as a page would take the room of all others
MOST_NEXT = 5  # memories that were not given, which `memtool given` tells of
COMPARED_WITH_START = 200  # characters of what a memory says; the block of a session's start may cut it later on

LARGEST_FILE = 10_485_760  # bytes of a file that are read: as many as are indexed, unless the settings say otherwise
LARGEST_CHANGED = 2_097_152  # bytes of changed files that a prompt has time to look through, the best hits first
HEAD = 4_096  # bytes of a note that hold its summary and the session that wrote it; characters that tell a kind of line
MOST_PLACES = 20  # at which a passage is looked at

LONGEST_PIECE = 40  # characters
KEPT_OF_PASTED = 600  # characters of each paste
MOST_PAIRS = 8
