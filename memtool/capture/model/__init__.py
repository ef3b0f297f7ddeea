"""The summary of a session by a model: what it is shown, and what is accepted of its answer."""
