"""Open items: the Markdown task list of an area, changed one line at a time (docs/vault-format.md)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache

from memtool.errors import NoteNotFound
from memtool.named_tuple import NamedTuple
from memtool.text.frontmatter import quoted
from memtool.text.languages import all_labels, labels
from memtool.text.lines import newline_of
from memtool.text.markdown import in_code

_ITEM = re.compile(r"(?P<lead>(?P<indent>\s*)(?:[-*+]|\d{1,9}[.)])\s+)\[(?P<mark>.)\]\s+(?P<text>.*\S)")
_STRUCK = re.compile(r"^~~(?=.+~~$)|(?<=.)~~$")
_TRAIL = re.compile(r"(?: #[^\s#]+){1,20}$")
_TYPE = re.compile(r"\[([^\W_][\w-]{0,29})\]\s+(?=\S)")
_DATE = r"(\d{4}-\d{2}-\d{2})"

TASK, IDEA, BLOCKED = "task", "idea", "blocked"
TYPES = (TASK, IDEA, BLOCKED)  # that memtool writes; others are read, and kept


class Todo(NamedTuple):
    """An item of a task list, and the number of its line in the file."""

    line: int
    text: str
    is_open: bool

    @property
    def task(self) -> str:
        """The text without its type, and without the tags, the date and the session at its end: see `todo_line`."""
        return _TYPE.sub("", _TRAIL.sub("", _due().sub("", _origin().sub("", self.text))), count=1)

    @property
    def type(self) -> str:
        """One of `TYPES`, or another word of the item's owner in its place, in lower case."""
        match = _TYPE.match(self.text)
        return match[1].lower() if match else TASK

    @property
    def due(self) -> str:
        """The day by which it is to be done, as YYYY-MM-DD; empty if there is none."""
        for match in _due().finditer(self.text):
            with suppress(ValueError):
                return dt.date.fromisoformat(next(filter(None, match.groups()))).isoformat()
        return ""

    def is_overdue(self, today: dt.date) -> bool:
        """Return whether it should have been done before *today*."""
        return self.is_open and "" < self.due < today.isoformat()


@cache
def _origin() -> re.Pattern[str]:
    forms = (re.escape(form).replace(r"\{\}", "[^()（）]*") for form in all_labels("todos")["session"])
    return re.compile(f"(?:{'|'.join(forms)})$")


@cache
def _due() -> re.Pattern[str]:
    forms = (re.escape(form).replace(r"\ ", " ?").replace(r"\{\}", _DATE) for form in all_labels("todos")["due"])
    return re.compile("|".join(forms))


def new_todos(project: str, language: str) -> str:
    """Return the text of a task list without items."""
    owner = f"project: {quoted(project)}\n" if project else ""
    return f"---\ntype: todo\n{owner}---\n\n# {labels('todos', language)['title']}\n"


def todo_line(
    text: str, *, type: str = "", due: str = "", tags: Sequence[str] = (), source: str = "", language: str = "en"
) -> str:
    """Return *text*, which is one line, with its type, its tags, its date and the session that it comes from."""
    words = labels("todos", language)
    about = [words[name].format(value) for name, value in (("due", due), ("session", source)) if value]
    lead = [] if type in ("", TASK) else [f"[{type}]"]
    return " ".join([*lead, text, *(f"#{tag}" for tag in tags)]) + "".join(about)


def find_todos(text: str) -> list[Todo]:
    """Return the items of a task list, in order; none within code is one."""
    return [Todo(number, match["text"], match["mark"] == " ") for number, match in _items(text)]


def open_lines(text: str) -> dict[int, str]:
    """Return each line that is an item, by its number, as it was before it was ticked off or struck out."""
    return {number: f"{match['lead']}[ ] {_STRUCK.sub('', match['text'])}" for number, match in _items(text)}


def add_todo(text: str, item: str) -> tuple[str, int]:
    """Return *text* with the open *item* behind the last open one, else at its end; and the number of its line."""
    newline = newline_of(text)
    lines = (text if text.endswith("\n") or not text else text + newline).split("\n")[:-1]
    top = [number for number, match in _items(text) if match["mark"] == " " and not match["indent"]]
    at = _end_of_item(lines, top[-1]) if top else len(lines)
    is_list = at > 0 and (not lines[at - 1].strip() or lines[at - 1][0].isspace() or _ITEM.match(lines[at - 1]))
    added = [f"- [ ] {item}"] if is_list or not at else ["", f"- [ ] {item}"]
    lines[at:at] = [line + newline.removesuffix("\n") for line in added]
    return "\n".join(lines) + "\n", at + len(added)


def close_todo(text: str, line: int, source: str, language: str) -> str:
    """Return *text* with the item on *line* ticked off, and the session *source* that did it behind it, if known."""
    done = labels("todos", language)["done"].format(source) if source else ""
    return _with_item(text, line, lambda match: f"{match['lead']}[x] {match['text']}{done}")


def change_todo(text: str, line: int, said: str) -> str:
    """Return *text* with the words of the item on *line* replaced by *said*, which is one line."""
    return _with_item(text, line, lambda match: f"{match['lead']}[{match['mark']}] {said}")


def drop_todo(text: str, line: int) -> str:
    """Return *text* with the item on *line* ticked off and struck out: it is no longer to be done."""
    return _with_item(text, line, lambda match: f"{match['lead']}[x] ~~{match['text']}~~")


def remove_todo(text: str, line: int) -> str:
    """Return *text* without the item on *line* and the lines below it that belong to it."""
    _item_at(text, line)
    lines = text.split("\n")
    del lines[line - 1 : _end_of_item(lines, line)]
    return "\n".join(lines)


def _items(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    lines = text.split("\n")
    for number, (line, is_code) in enumerate(zip(lines, in_code(lines), strict=True), 1):
        if not is_code and (match := _ITEM.match(line)):
            yield number, match


def _with_item(text: str, line: int, changed: Callable[[re.Match[str]], str]) -> str:
    match = _item_at(text, line)
    lines = text.split("\n")
    lines[line - 1] = changed(match) + ("\r" if lines[line - 1].endswith("\r") else "")
    return "\n".join(lines)


def _item_at(text: str, line: int) -> re.Match[str]:
    """Return the item on *line*, or raise NoteNotFound."""
    for number, match in _items(text):
        if number == line:
            return match
    raise NoteNotFound(f"line {line}")


def _end_of_item(lines: Sequence[str], line: int) -> int:
    """Return the number of the last line that hangs below the item on *line*."""
    depth = _indent(lines[line - 1])
    while line < len(lines) and lines[line].strip() and _indent(lines[line]) > depth:
        line += 1
    return line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
