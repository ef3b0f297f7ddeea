"""Writing down and forgetting by hand."""
