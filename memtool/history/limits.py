"""The limits of this room: files and seconds for git, and lengths that are shown."""

FEW_FILES = 100  # for which one `git add` is quicker than the index by itself
PACKED_FILES = 10_000  # in one pack: git compares each new content with all others in it
MANY_NOTES = 2_000  # git takes seconds for so many
PATIENCE = 30.0  # seconds; many sessions may want to write at once, and each commit takes a tenth of one
GIT_PATIENCE = 2.0  # seconds for an editor that uses the repository now
NETWORK = 120.0  # seconds of a fetch, a merge or a push
PUSHES = 5  # tries, where another machine is quicker
CLOCK = 2.0  # seconds by which the times of two files may differ, or the clock of a file system be behind
UNCOMMITTED = 16_777_216  # bytes; a list that is larger was not written by memtool
SUBJECT = 72  # columns
