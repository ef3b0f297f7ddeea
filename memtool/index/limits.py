"""Plain limits of the index: what bounds work, and decides nothing about what is found."""

# Asking
LONGEST_QUERY = 20_000  # characters
MOST_TERMS = 48  # of a long query, its rarest terms
CANDIDATES = 100  # chunks that are looked at more closely: the best by words, and the nearest by meaning
NEAREST = 400  # vectors or parts of turns that are looked at: a chunk has several, and so has a session
MOST_COMPLETED = 12  # words of one query, each a look at all words of the vault; pairs that words fall into
SPLIT_FROM = 15  # terms and pairs of a query; from then on it is worth it to split the terms of each hit
LOOKED_AT = 20  # completions of a word, and hits, the best, among which no two are alike and daily pages yield

# Showing
SNIPPET = 240  # characters
LONGEST_SHOWN = 1_000  # characters of statements that were chosen: they are whole

# Building: what goes with every chunk is kept short, as a long title in a long note would fill the disk
AT_ONCE = 2_000  # files of a first index between two commits, words of a row, vectors copied, chunks of a sample
LONGEST_FIELD = 300  # characters of a heading, a tag or a field
LONGEST_EXTRA = 2_000  # characters of aliases, tags and summary
MOST_TAGS = 50  # of a note
LARGEST_SESSION = 33_554_432  # characters of a session that are read: as many as memtool keeps
CHUNKS_AT_ONCE = 100  # that are embedded or written; sources of a transaction; vectors that a search itself makes
VECTOR_SAMPLE = 256  # vectors that are compared with each other

# Waiting, in seconds
READ_PATIENCE = 0.05  # a reader waits for nobody unless somebody repairs the file
FIRST_PATIENCE = 120.0  # for another process that builds an index while there is no other
SERVICE_PATIENCE = 0.2  # half of a walk over 100,000 notes; a service that was silent is left alone for a while
