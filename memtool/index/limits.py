"""Plain limits of the index: what bounds work, and decides nothing about what is found."""

# Asking
LONGEST_QUERY = 20_000  # characters
MOST_TERMS = 48  # of a long query, its rarest terms
CANDIDATES = 100  # chunks that are looked at more closely: the best by words, and the nearest by meaning
NEAREST = 400  # vectors that are looked at to find the nearest chunks: a chunk has several
MOST_COMPLETED = 8  # words of one query that are completed: each costs a look at every word of the vault
MOST_COMPLETIONS = 20  # of one word
MOST_RESPELT = 40  # words of one query
MOST_HALVED = 12  # of the pairs that words fall into, those with the longest halves
SPLIT_FROM = 15  # terms and pairs of a query; from then on it is worth it to split the terms of each hit
LOOKED_AT = 20  # hits, the best, among which no two are alike and daily pages yield
MOST_PARTS = 300  # of turns, the best by BM25, those that are gone included
MORE_SESSIONS = 10  # that are looked at besides those that are given
NUMBERS_OF_A_STATEMENT = 10_000
MOST_ARCHIVED = 500  # facts and notes of a project that are not given any more
DEEPEST = 8  # levels of a note as it is kept

# Showing
SNIPPET = 240  # characters
LONGEST_SHOWN = 1_000  # characters of statements that were chosen: they are whole
LONGEST_CUT_WORD = 20  # characters of a word that a snippet may leave out at its beginning
MOST_LINES = 100_000  # of one piece of evidence in a file of questions

# Building: what goes with every chunk is kept short, as a long title in a long note would fill the disk
FIRST_BATCH = 2_000  # files of a first index after which the work so far is kept
LONGEST_HEADING = 200  # characters of a heading that go with the chunks below it
LONGEST_FIELD = 300  # characters
LONGEST_EXTRA = 2_000  # characters of aliases, tags and summary
LONGEST_TAG, MOST_TAGS = 100, 50  # characters of a tag; tags of a note
LONGEST_MARK = 60  # characters of a decision, by which the chunk is known that holds it
WORDS_OF_A_LIST = 2_000  # so that no row is a burden to memory
FTS_BUFFER = 16 << 20  # bytes of new terms held before FTS5 writes a segment, which it must merge later
LARGEST_SESSION = 33_554_432  # characters of a session that are read: as many as memtool keeps
SOURCES_AT_ONCE = 50  # of a transaction
CHUNKS_AT_ONCE = 128  # that are embedded, or written
ROWS_COPIED = 4_096  # vectors at once
MADE_WHILE_SEARCHING = 100  # vectors; more than that waits for `memtool index`
SCRIPT_SAMPLE = 2_000  # chunks, the newest, that show in which scripts a vault is written
VECTOR_SAMPLE = 256  # vectors that are compared with each other

# Waiting, in seconds
READ_PATIENCE = 0.05  # a reader waits for nobody unless somebody repairs the file
FIRST_PATIENCE = 120.0  # for another process that builds an index while there is no other
SERVICE_PATIENCE = 0.2  # half of a walk over 100,000 notes; a service that was silent is left alone for a while
