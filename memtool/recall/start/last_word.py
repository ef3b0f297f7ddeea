"""The last word wins: where the user takes something back, it goes from what was said before. Pure.

"UUIDv7 instead of ULIDs" takes back ULIDs, 「改用 UUIDv7，不再用 ULID」, too. Only names are taken back (`ULID`,
`jwt.ts`, `max_connections`), or what the older line says of the same thing: common words occur in every line.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from memtool.text.languages import words as words_of_languages
from memtool.text.similarity import words

_MOST_WORDS = 3  # behind a cue, of which one may be what is taken back
_NAME = re.compile(r"[A-Za-z0-9_][\w./+#-]*[A-Za-z0-9_+#]|[A-Za-z0-9]")
_SKIPPED = frozenset(
    "a an the our my your any old all using use of for to with der die das den le la les el los".split()
)


class _TakenBack(NamedTuple):
    """A *term* that no longer holds, and the words of the line that says so."""

    term: str
    beside: frozenset[str]
    is_name: bool


class LastWord:
    """What the lines that were looked at so far, newest first, take back."""

    def __init__(self) -> None:
        self._taken: list[_TakenBack] = []

    def lets_stand(self, line: str, *, by_user: bool = False) -> bool:
        """Return whether nothing later takes *line* back; what a line *by_user* takes back itself is remembered."""
        told = words(line)
        stands = not any(_is_about(taken, line, told) for taken in self._taken)
        if stands and by_user:
            self._taken += _taken_back(line, told)
        return stands


def _is_about(taken: _TakenBack, line: str, told: frozenset[str]) -> bool:
    if not re.search(rf"(?<![^\W_]){re.escape(taken.term)}(?:s|es)?(?![^\W_])", line, re.IGNORECASE | re.ASCII):
        return False
    return taken.is_name or len(told & taken.beside) > 0


def _taken_back(line: str, told: frozenset[str]) -> list[_TakenBack]:
    found = []
    for cue in _cues().finditer(line):
        behind = cue["before"] or line[cue.end() :]
        for match in list(_NAME.finditer(re.split(r"[,.;:!?，。；：！？（(]", behind, maxsplit=1)[0]))[:_MOST_WORDS]:
            term = _singular(match[0])
            if term.casefold() not in _SKIPPED:
                found.append(_TakenBack(term, told - words(term) - words(match[0]), _is_name(match[0], line)))
                break
    return found


def _is_name(term: str, line: str) -> bool:
    """Return whether *term* is a name by its look: inner capitals, digits, signs, or Latin within Chinese."""
    if re.search(r"\d|[_./]|[a-z][A-Z]|[A-Z]{2}", term):
        return True
    return not line.isascii() and re.search(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]", line) is not None


def _singular(term: str) -> str:
    return term[:-1] if re.fullmatch(r"\w{3,}[A-Za-z]s", term) and not term.endswith("ss") else term


@cache
def _cues() -> re.Pattern[str]:
    """Return what stands before that which is taken back; of 「把 ULID 换成 UUIDv7」 what stands in the middle."""
    before = "|".join(re.escape(word) for word in words_of_languages("taken_back"))
    middle = "|".join(re.escape(word) for word in words_of_languages("replaced_by"))
    return re.compile(
        rf"(?<![^\W_])(?:{before})(?![A-Za-z])\s*(?P<none>)|(?P<before>[A-Za-z0-9_][\w./+#-]*)\s*(?:{middle})(?![A-Za-z])",
        re.IGNORECASE,
    )
