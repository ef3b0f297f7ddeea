"""How good recall is: conversations with labels, held with the hook of every prompt (docs/benchmarks.md)."""
