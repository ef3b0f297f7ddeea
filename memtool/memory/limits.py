"""The limits of this room: what bounds the work, and what bounds a text."""

VERSION = 8  # hexadecimal digits of a hash; another one is never longer
LARGEST_ANCHOR = 16 << 20  # bytes; a larger file is not hashed
LONGEST_FACT = 2_000  # characters; a longer text is a note
LONGEST_CLAIM = 300  # characters of a fact that is distilled from sessions, or imported
TODO = 500  # characters of an open item
FILES_AT_ONCE = 300  # new or changed files that are read before an answer; the others are read in the background
LOGGED_EVENTS = 20_000
NOTES_OF_NEW_LOG = 200  # notes, the newest, that a new log looks at closely
SHORTEST_PART = 6  # letters of what may be a part of a line; less would be a part of many
