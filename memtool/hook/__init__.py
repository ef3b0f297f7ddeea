"""`memtool-hook`: one small program for every event of the client."""
