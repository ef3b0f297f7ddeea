"""The limits of this room: what is read, what is named, and how long something is waited for."""

NAMED = 3  # files in a sentence
FINDINGS = 10  # of one kind: broken notes, jobs that failed
ERRORS = 3  # of hooks and the worker
NOTES_WITH_SECRETS = 200  # the newest notes, which are searched for secrets; all with `--deep`: each takes milliseconds
LARGE_INDEX = 200_000_000  # bytes of an index that is read whole to find damage
SERVER_START = 20.0  # seconds for an MCP server that is started for the first time
