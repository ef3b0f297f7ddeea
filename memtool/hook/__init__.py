"""`memtool-hook`: one small program for every event of the client."""

import gc

# A hook is a short process that makes many values at its start and little garbage: looking for some takes longer.
gc.set_threshold(50_000, 20, 20)
