"""The limits of this room: of work, of texts, and of time."""

RACY = 2_000_000_000  # nanoseconds; the stamp of a file that was younger when it was read is not trusted
WRITES = 5  # tries to write over what somebody else keeps changing
LEFTOVER = 3600.0  # seconds; no write and no commit takes an hour
FOLDER = 60  # characters of the name of a folder
MASKED = 67_108_864  # bytes of a file that is looked into
TITLE = 80  # characters, of a session columns
SENTENCE = 200  # characters
FRESH = 86_400.0  # seconds for which a folder's area is remembered
UNSURE = 60.0  # seconds for which it is while git has not given all identities, or it is not registered
SUMMARY = 262_144  # bytes of a project's summary, in which its front matter ends
GIT, QUICK_GIT = 10.0, 0.5  # seconds for what git knows at once; the same where somebody waits
SESSION_ID = 4  # characters of the beginning of a session's id that name it
OUTSIDE_FILES = 100_000  # of one folder; with `/`, each search would wait for its walk
SOURCE = 134_217_728  # bytes of a file of turns, and of what it unpacks to
HASH = 16  # hexadecimal digits of a hash, and of the secret name of a state folder
MB = 1_048_576  # bytes
