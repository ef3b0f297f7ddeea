"""How many tokens a text has, by the provider's count or by our guess."""

from __future__ import annotations


def tokens_in(*texts: str) -> int:
    """Return about how many tokens *texts* have: one for four ASCII characters, one for each other, rounded up."""
    plain = sum(map(str.isascii, "".join(texts)))
    return -(-plain // 4) + sum(map(len, texts)) - plain


def count(usage: object, *names: str) -> int:
    """Return the sum of the numbers that *usage* has under *names*; 0 for what is no number of tokens."""
    values = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    return sum(value for value in values if type(value) is int and 0 <= value < 10**9)
