"""Plain limits of a team's memory: what bounds work, and decides nothing about what is found."""

# A member
PATIENCE = 5.0  # seconds for a person who waits
LARGEST_ANSWER = 262_144  # bytes
LONGEST_LINE = 400  # characters
START_TOKENS = 500  # of the start of a session, for what the team has there

# The service
MOST_AT_ONCE = 16  # requests that are worked on at the same time
POOL_SECONDS = 2.0  # that a request waits for a connection
BUCKETS = (5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000)  # milliseconds of a request
TOKEN_BYTES = 32  # of chance in a token: it cannot be guessed, so its hash needs no salt and may be a fast one

# Clones
MOST_FILES = 500_000

# The database
STATEMENT_SECONDS = 120  # of one statement; building an index of vectors lifts it
REQUEST_SECONDS = 8  # of a statement for a request of a service
LOCK_SECONDS = 2  # that such a statement waits for a lock
ROWS_AT_ONCE = 5_000  # of one statement
WORDS_OF_A_LIST = 500
EXACT = 20_000  # vectors of a vault of which each is compared; among more, HNSW finds the nearest
SEGMENTS_MERGED = 8  # of one level that become one of the next
LEAST_DEAD = 1_000  # chunks that are gone
