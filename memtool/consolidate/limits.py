"""The plain limits of the weekly run."""

LARGEST_RUN = 4_096  # bytes of the record of the last run
LONGEST_RESULT = 300  # characters of how a run ended
PATIENCE = 0.2  # seconds; another run is at work, or not
WIDEST_CHOICE = 12  # columns of what names an option and says no more: "option 2", 方案二
WIDEST_QUOTE = 160  # columns of the quoted words behind a fact
LONGEST_FACT = 300  # characters
SHORTEST_FACT = 12  # columns; "not bad." has fewer
LARGEST_PROPOSALS = 4 << 20  # bytes of the proposals of a week
MOST_FACTS = 3  # of one project that a model proposes
COLUMNS = 16_000  # of the lines that a model is shown
WIDEST_LINE = 300  # columns of one of them
MOST_KNOWN = 30  # facts that a model is shown
ANSWER_TOKENS = 1_000  # of a model
LONGEST_ANSWER = 50_000  # characters
MOST_OBJECTS = 20  # beginnings of an object in an answer that are tried
MOST_CHANGES = 20  # in the message of a commit; the report has all of them
BAR = 20  # columns of the longest bar
MOST_FILES = 10  # that were edited most
LONGEST_SECTION = 1_000  # characters of a generated section
LARGEST_CHANGES = 16 << 20  # bytes of the lines that are in no report yet
MOST_OF_A_KIND = 6  # facts of a kind in a generated section
MOST_COMMANDS = 3  # in a generated section
