"""One memory: find, list, save, change, archive, forget and purge it; what happened, in order of time."""
