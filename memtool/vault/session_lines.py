"""The lines of a session note, each with its role and its author, and what its statements are worth.

A fix is a line of this form, in the note and in facts that are made of it:

    `pytest tests/auth` failed: "clock skew" → leeway of 30 s in middleware/jwt.ts → passed
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from memtool.named_tuple import NamedTuple
from memtool.text.languages import all_labels, labels
from memtool.text.lines import one_line
from memtool.vault.authors import AGENT, ASKED, COMMAND, DECISION, DONE, IMPORTED, OPEN, RULE, USER, signed_by
from memtool.vault.layout import Vault
from memtool.vault.old_sessions import KEY_POINT_KINDS, read_line
from memtool.vault.session_rows import ARROW, Piece, split_row
from memtool.vault.state import make_state_folder, read_state, write_state

_ROLES = {"decisions": DECISION, "rules": RULE, "done": DONE, "commands": COMMAND, "open": OPEN}
BRANCH = r"^[\w.]+[-/_][\w./-]*: "
_OLD_KINDS = {"bugfix": "fix", "discovery": "finding"}
_KIND = rf"\[({'|'.join(KEY_POINT_KINDS)})\]\s+"
_LARGEST = 1_048_576  # bytes of a file of values
_MOST_VALUES, _MOST = 500, 1_000.0
_DIGITS = 16  # of a hash, in hexadecimal
_MARKS = re.compile(r"[\s\"'`“”„「」*]+")


class OldLine(NamedTuple):
    """One statement of a session note.

    Args:
        text: what it says, without marks.
        role: `decision`, `rule`, `done`, `command`, `open`, a kind of key point, `asked` for what the user typed; empty
            where no role is claimed.
        author: `user` or `agent`; `imported` of what the user had pasted.
        asked: what the user had typed, where the line is what came of it.
        number: of the line of the note on which it stands, from 1.
    """

    text: str
    role: str = ""
    author: str = AGENT
    asked: str = ""
    number: int = 0


def lines_of(text: str) -> list[OldLine]:
    """Return the lines of the session note *text*, in order, the first of them what the session began with.

    How it ended, its files and what is no part of a note are none.
    """
    return list(_lines(text))


def _lines(text: str) -> Iterator[OldLine]:
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        part, name, value = read_line(" ".join(line.splitlines()))  # other separators of lines count as spaces
        if part == "title" and not section and ARROW in value:
            asked = re.sub(BRANCH, "", value.partition(ARROW)[0])
            yield OldLine(asked, ASKED, _author_of(asked), number=number)
        elif part == "section":
            section = name
        elif part != "bullet":
            section = section if not line.strip() else ""
        if not value or part not in ("section", "bullet"):
            continue
        if section == "key_points":
            yield from _key_point(value, number)
        elif role := _ROLES.get(section):
            said, author = _with_author(value, USER if role == RULE else AGENT)
            yield OldLine(said.strip("`") if role == COMMAND else said, role, author, number=number)


def _key_point(value: str, number: int) -> Iterator[OldLine]:
    if kind := re.match(_KIND, value):
        said, author = _with_author(value[kind.end() :], AGENT)
        yield OldLine(said, _OLD_KINDS.get(kind[1], kind[1]), author, number=number)
        return
    asked, pieces = split_row(value)
    if asked:
        yield OldLine(asked, ASKED, _author_of(asked), number=number)
    for piece in map(Piece, pieces):
        if piece.is_typed:
            yield OldLine(piece.text[1:-1], ASKED, USER, asked, number)
        else:
            said, author = _with_author(piece.text, AGENT)
            yield OldLine(said, "", author, asked, number)


def _author_of(asked: str) -> str:
    """Return the author of the text *asked*: the user, or `imported` for a text that the user had pasted."""
    pasted = tuple(label.partition("{}")[0] for label in all_labels("summary")["pasted"])
    return IMPORTED if asked.startswith(pasted) else USER


def _with_author(text: str, author: str) -> tuple[str, str]:
    """Return *text* without the name of its author at its end, and the author; else *author*."""
    said, named = signed_by(text)
    return said, named or author


def read_values(vault: Vault, ref: str) -> dict[str, float]:
    """Return the worth of each statement of the session note at *ref*; nothing where the record was lost."""
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_state(_values_path(vault, ref), largest=_LARGEST))
        if isinstance(found, dict):
            return {text: value for text, value in found.items() if isinstance(value, float) and 0 <= value < _MOST}
    return {}


def write_values(vault: Vault, ref: str, values: Mapping[str, float]) -> None:
    """Record the worth of each statement of the session note at *ref*. If that fails, it is computed anew."""
    path = _values_path(vault, ref)
    rounded = {text: round(float(value), 3) for text, value in list(values.items())[:_MOST_VALUES]}
    with suppress(OSError):
        if not path.parent.is_dir():  # else it would be searched for symlinks, for each of thousands of files
            make_state_folder(path.parent)
        write_state(path, json.dumps(rounded, ensure_ascii=False).encode("utf-8", "replace"))


def _values_path(vault: Vault, ref: str) -> Path:
    return vault.state_path / "values" / f"{Path(ref).stem}.json"


class Fix(NamedTuple):
    """A *command* that failed with *error*, what was changed, and that it then passed."""

    command: str
    error: str
    change: str


def render_fix(fix: Fix, language: str) -> str:
    """Return *fix* as the line of a note."""
    return one_line(labels("summary", language)["fix"].format(fix.command.replace("`", "'"), fix.error, fix.change))


def hash_of_words(text: str) -> str:
    """Return the hash of the words of *text*: white space, case, quotes and code marks do not count."""
    import hashlib  # a hook does without

    return hashlib.sha256(_MARKS.sub("", text).casefold().encode("utf-8", "replace")).hexdigest()[:_DIGITS]
