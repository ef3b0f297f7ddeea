"""The limits of this room that several modules share."""

QUERY = 20_000  # characters of a query, a prompt, or a text whose vector is asked for
NAME = 200  # characters
TEXT = 500_000  # characters of a memory, or of a tool's output
PAGE = 100  # items
OFFSET = 10_000  # items before a page
CARDS = 30  # of one part of the feed
DAYS_OF_LOG = 30
