"""The summary of a session without a model: what was said, chosen and quoted."""
