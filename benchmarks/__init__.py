"""Benchmarks: each budget of memtool against its floor, measured in the same run (docs/benchmarks.md)."""
