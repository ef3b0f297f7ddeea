"""`memtool-hook`: reads one event on stdin, answers on stdout, ends with 0."""

from __future__ import annotations


def main() -> int:
    """Run one Claude Code hook. Always 0: exit code 2 would erase the user's prompt."""
    return 0
