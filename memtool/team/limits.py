"""Plain limits of a team's memory: what bounds work, and decides nothing about what is found."""

# A member
PATIENCE = 5.0  # seconds for a person who waits
REST = 60.0  # seconds for which a service that is away is left alone
LARGEST_ANSWER = 262_144  # bytes
LONGEST_QUERY = 2_000  # characters of a prompt that are sent
LONGEST_LINE = 400  # characters
COMPARED = 200  # characters of what a line says, by which it is known
START_TOKENS = 500  # of the start of a session, for what the team has there
ALL_TOKENS = 1_000_000
MOST_FOR_PROMPT = 3  # memories

# The service
MOST_AT_ONCE = 16  # requests that are worked on at the same time
MOST_OF_A_VAULT = MOST_AT_ONCE // 2  # a vault whose tables are locked leaves room for others
MOST_WAITING = 128  # requests that wait for the database
POOL_SECONDS = 2.0  # that a request waits for a connection
GATE_SECONDS = 5  # of a statement about a token, or into the audit
CLOSING_SECONDS = 1.0  # for the connections of each pool to close
CUT_SECONDS = 0.5  # for a request whose connections were cut to say so itself
INDEX_PATIENCE = 60.0  # seconds for another process that is indexing a vault
BUCKETS = (5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000)  # milliseconds of a request
LONGEST_TOOL = 40  # characters of a tool's name
TOKEN_BYTES = 32  # of chance in a token: nobody guesses it, so its hash needs no salt and may be a fast one
SHORTEST_SECRET = 16  # characters of a git host's secret
EXPIRES_SOON = 14  # days
MANY_COMMITS = 100  # that wait for a remote

# Clones
MOST_FILES = 500_000
REMOTES_AT_ONCE = 4
SOON = 0.2  # seconds in which more writes come along
LONGEST_PAUSE = 300.0  # seconds between two tries of a remote that fails
RETRY_PAUSE = 0.2  # seconds before another try, where another writer was quicker; twice as long each time
STALE_LOCK = 900.0  # seconds after which a lock of git's is nobody's: each of our calls ends long before

# The database
CONNECT_SECONDS = 5
STATEMENT_SECONDS = 120  # of one statement; building an index of vectors lifts it
REQUEST_SECONDS = 8  # of a statement for a request of a service
LOCK_SECONDS = 2  # that such a statement waits for a lock
LOCK_PAUSE = 0.02  # seconds between two tries
ROWS_AT_ONCE = 5_000  # of one statement
VECTORS_AT_ONCE = 10_000  # that are read
WORDS_OF_A_LIST = 500
EXACT = 20_000  # vectors of a vault of which each is compared; among more, HNSW finds the nearest
FEW_CHUNKS = 500  # of which all may be read for the sake of some
SEGMENTS_MERGED = 8  # of one level that become one of the next
LEAST_DEAD = 1_000  # chunks that are gone
MOST_DEAD = 0.25  # share of the chunks in postings that may be gone before all postings are written anew
KEPT_BYTES = 64 << 20  # of postings, between searches
BYTES_OF_A_TERM = 500  # beside its numbers
