"""The limits of this room: of work, of texts, and of time."""

LEFTOVER = 3600.0  # seconds; no write and no commit takes an hour
MASKED = 64 << 20  # bytes of a file that is looked into
TITLE = 80  # characters, of a session columns
FRESH = 86_400.0  # seconds for which a folder's area is remembered
UNSURE = 60.0  # seconds for which it is while git has not given all identities, or it is not registered
SUMMARY = 256 << 10  # bytes of a project's summary, in which its front matter ends
GIT, QUICK_GIT = 10.0, 0.5  # seconds for what git knows at once; the same where a user waits
OUTSIDE_FILES = 100_000  # of one folder; with `/`, each search would wait for its walk
SOURCE = 128 << 20  # bytes that a file of turns unpacks to
