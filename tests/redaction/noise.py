"""Bodies for keys, and lists of samples. Keys are drawn when the tests run, so that no file here looks like a leak."""

from __future__ import annotations

import random
import string

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
URL64 = ALNUM + "-_"
DIGITS = "123456789"


def noise(length: int, alphabet: str = ALNUM, seed: int = 0) -> str:
    """Return the same random text for the same arguments, with a digit in it."""
    chosen = random.Random(f"{length} {alphabet} {seed}")
    text = "".join(chosen.choice(alphabet) for _ in range(length))
    return text if any(character.isdigit() for character in text) else text[:-1] + "7"


def uuid(seed: int = 0) -> str:
    return "-".join(noise(length, HEX, seed) for length in (8, 4, 4, 4, 12))


def lines(block: str) -> list[str]:
    """Return the samples of a block, one in a line; `⏎` stands for a line end, and `#` begins a comment."""
    samples = (line.strip() for line in block.splitlines())
    return [sample.replace("⏎", "\n") for sample in samples if sample and not sample.startswith("# ")]
