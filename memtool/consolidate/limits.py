"""The plain limits of the weekly run."""

LONGEST_FACT = 300  # characters, and columns of a line that a model is shown
MOST_FACTS = 3  # of one project that a model proposes
