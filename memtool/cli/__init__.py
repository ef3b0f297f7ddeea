"""The command line: it parses, calls and renders. Nothing else of memtool imports it."""

import gc

# A command is a short process that makes many values at its start and little garbage: looking for some takes longer.
gc.set_threshold(50_000, 20, 20)
