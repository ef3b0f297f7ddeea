"""The files of words beside this package's code, as one text each: what a hook can afford to read and search."""

from __future__ import annotations

import os
from functools import cache

_FOLDER = os.path.dirname(__file__)  # noqa: PTH120  (pathlib would take longer than reading the file)


@cache
def word_file(name: str) -> str:
    """Return the text of the file *name*, such as `synonyms.txt`."""
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:  # noqa: PTH118
        return file.read()


def names_in(folder: str, suffix: str) -> list[str]:
    """Return the names of the files of words in *folder* that end in *suffix*, without it, sorted."""
    found = os.listdir(os.path.join(_FOLDER, folder))  # noqa: PTH118, PTH208
    return sorted(name.removesuffix(suffix) for name in found if name.endswith(suffix))
