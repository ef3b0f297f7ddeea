"""The versions that an index was built with. Raise a number when its module gives something else for the same notes.

They stand here, and not in the modules themselves, so that opening an index needs none of those.
"""

SCHEMA = 6  # memtool.index.schema: the tables
TEXT = 2  # memtool.index.text: the terms
CHUNKS = 7  # memtool.index.chunking, memtool.index.rows: the chunks and what they are found by
