"""From a trigger, a path or a prefix to the files it leads to."""
