"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return *number* with the word for what is counted: `1 file`, `2,000 files`; *many* where an s is not enough."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
