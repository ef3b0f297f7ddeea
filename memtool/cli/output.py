"""Output of the commands: JSON, tables, outlines, text, notices and progress.

No text of a vault may steer a terminal.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeAlias

import click

from memtool.settings import environment
from memtool.text.lines import without_surrogates

if TYPE_CHECKING:
    from rich.tree import Tree

FORMAT = 1  # of all JSON output; raised when a field changes its meaning

# Some terminals obey these, and show text in another order; JSON escapes the older ones by itself.
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def emit_json(answer: Mapping[str, Any]) -> None:
    """Print *answer* as JSON with the number of its format."""
    click.echo(as_json({"format": FORMAT, **answer}, indent=2))


def as_json(value: object, *, indent: int | None = None) -> str:
    """Return *value* as JSON, in readable letters, without lone surrogates, which no encoding can write."""
    import json

    text = without_surrogates(json.dumps(value, ensure_ascii=False, indent=indent))
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def say(*sentences: str) -> None:
    """Print those *sentences* that are not empty to stderr: notices for a person."""
    for sentence in filter(None, sentences):
        click.echo(click.style(printable(sentence), dim=True), err=True)


def say_page(page: int, pages: int) -> None:
    """Print how to see the next page, if there is one."""
    if page < pages:
        say(f"page {page} of {pages}; `--page {page + 1}` shows the next")


def say_redacted(counts: Mapping[str, int]) -> None:
    """Print how many secrets of each kind were removed, if any were."""
    if counts:
        say(f"removed before writing: {', '.join(f'{kind} ({n})' for kind, n in sorted(counts.items()))}")


def on_terminal() -> bool:
    """Return whether stdout is a terminal, so that it may be drawn on: see `memtool.cli.screen`."""
    return _is_terminal(sys.stdout)


def is_watched() -> bool:
    """Return whether a person is watching stderr, so that progress is welcome."""
    return _is_terminal(sys.stderr)


@contextlib.contextmanager
def progress_bar(label: str, *, least: int = 0) -> Iterator[Callable[[int, int], None]]:
    """Give a function that takes (done, total) and draws a bar, from *least* things on.

    Off a terminal it prints one line, for ten times as many things; without *least*, none.
    """
    if not is_watched():
        labels = [label] if least else []

        def announce(_done: int, total: int) -> None:
            if labels and total >= least * 10:
                say(f"{labels.pop()}: {total:,}")

        yield announce
        return
    with contextlib.ExitStack() as open_bar:
        draw: list[Callable[[int, int], None]] = []

        def show(done: int, total: int) -> None:
            if not draw and done < total >= least:
                draw.append(open_bar.enter_context(_rich_bar(label)))
            if draw:
                draw[0](done, total)
            if draw and done >= total:  # the next bar needs the line
                open_bar.close()
                draw.clear()

        yield show


@contextlib.contextmanager
def _rich_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(label, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


@contextlib.contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Give a function that shows a sentence; on a terminal, a clock runs beside it until the block ends."""
    if not is_watched():
        yield say
        return
    with contextlib.ExitStack() as open_clock:
        yield lambda sentence: open_clock.enter_context(_rich_clock(sentence))


@contextlib.contextmanager
def _rich_clock(sentence: str) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as clock:
        clock.add_task(printable(sentence), total=None)
        yield


def printable(text: str) -> str:
    """Return *text* without control characters, so that a note cannot steer the terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def printable_lines(text: str) -> str:
    """Return *text* without control characters other than line breaks."""
    return "\n".join(printable(line.expandtabs(4)) for line in text.split("\n"))


def emit_text(text: str) -> None:
    """Print *text*: to a terminal without what could steer it, anywhere else exactly as it is."""
    end = "" if text.endswith("\n") else "\n"
    if _is_terminal(sys.stdout):
        click.echo(printable_lines(text) + end, nl=False)
    elif sys.stdout is not None:
        sys.stdout.write(text + end)
        sys.stdout.flush()


def width(*, narrowest: int = 40) -> int:
    """Return how many columns the terminal has, between *narrowest* and 120."""
    try:  # as `shutil` finds it, which brings the archive modules along: milliseconds
        found = int(environment().get("COLUMNS", 0)) or os.get_terminal_size(1).columns
    except (ValueError, OSError):
        found = 0
    return max(narrowest, min(120, found or 80))


def columns(text: str) -> int:
    """Return how many columns *text* takes: a Chinese character takes two."""
    return sum(_columns_of(char) for char in text)


def shortened(text: str, room: int) -> str:
    """Return *text*, cut to *room* columns."""
    start, end = _line_breaks(text, room - 1)[0] if columns(text) > room else (0, len(text))
    return text if end == len(text) else f"{text[start:end].rstrip()}…"


def wrapped(text: str, room: int, lines: int) -> list[str]:
    """Return *text* in at most *lines* lines of *room* columns."""
    return [printable(text[start:end]).rstrip() for start, end in _line_breaks(text, room)[:lines]]


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()  # None: the caller has closed it


def _columns_of(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _line_breaks(text: str, room: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start, used, space = 0, 0, -1
    for at, char in enumerate(text):
        used += _columns_of(char)
        if used > room:
            end = space + 1 if space > start else at
            spans.append((start, end))
            start = end + (text[end] == " ")
            used = columns(text[start : at + 1])
        if char == " " or _columns_of(char) == 2:
            space = at
    return [*spans, (start, len(text))]


def confirm(question: str) -> None:
    """Ask *question*, and end the command unless the answer is yes.

    Raises:
        UsageError: there is no terminal to ask at.
    """
    if not confirmed(question):
        raise click.Abort


def confirmed(question: str, *, piped: bool = False, hint: str = "If you are sure, add --yes.") -> bool:
    """Return the answer to *question*, whose last line names the action; *piped*, it may come through a pipe.

    Raises:
        UsageError: there is no terminal to ask at.
    """
    from memtool.errors import UsageError

    is_asked = sys.stdin is not None and sys.stdin.isatty()
    if is_asked or (piped and sys.stdin is not None):
        try:
            return click.confirm(printable_lines(question), default=piped and is_asked, err=True)
        except click.Abort:
            if is_asked:
                raise
    raise UsageError(f"there is no terminal to ask: '{question.rpartition(chr(10))[2]}'", hint=hint)


Cell: TypeAlias = "str | Sequence[str]"  # a line, or a line and those below it


class Branch(NamedTuple):
    """A line of an outline, and the branches below it."""

    text: str
    below: Sequence[Branch] = ()


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, right: Sequence[str] = ()) -> None:
    """Print *rows*: as a table on a terminal, else a line for each, its cells two spaces apart.

    Further lines of a cell come below it. The columns in *right* hold numbers, and are aligned to the right.
    """
    cells = [[(cell,) if isinstance(cell, str) else tuple(filter(None, cell)) for cell in row] for row in rows]
    if not cells:
        return
    if on_terminal():
        from memtool.cli import screen

        drawn = [[screen.lines(*cell) if cell else "" for cell in row] for row in cells]
        screen.show(screen.table(columns, drawn, right=right))
        return
    widest = {at: max(len(row[at][0]) for row in cells) for at, name in enumerate(columns) if name in right}
    for row in cells:
        heads = [(cell[0] if cell else "").rjust(widest.get(at, 0)) for at, cell in enumerate(row)]
        click.echo(printable("  ".join(filter(None, heads))))
        for cell in row:
            for line in cell[1:]:
                click.echo(f"    {printable(line)}")


def outline(title: str, branches: Iterable[Branch]) -> None:
    """Print *branches* below *title*: as a tree on a terminal, else as indented lines."""
    if on_terminal():
        from memtool.cli import screen

        tree = screen.tree(screen.text(title, "bold"))
        for branch in branches:
            _grow(tree, branch, "cyan")
        screen.show(tree)
        return
    click.echo(printable(title))
    for branch in branches:
        click.echo()
        _print(branch, 0)


def _grow(tree: Tree, branch: Branch, style: str) -> None:
    from memtool.cli import screen

    grown = tree.add(screen.text(branch.text, style))
    for below in branch.below:
        _grow(grown, below, "" if below.below else "dim")


def _print(branch: Branch, depth: int) -> None:
    click.echo("  " * depth + printable(branch.text))
    for below in branch.below:
        _print(below, depth + 1)
