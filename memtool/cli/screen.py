"""Output for a terminal, drawn by rich: tables, trees, panels and the Markdown of notes.

A command imports this where stdout is a terminal, and nowhere else. Text of a vault is never markup. It is cleaned
before it is measured, and once more as it is drawn, because Markdown makes characters of `&#8238;`, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from memtool.cli import output


class _Clean:
    """A renderable that draws *shown* without control and bidirectional characters."""

    def __init__(self, shown: RenderableType) -> None:
        self.shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self.shown, options):
            yield segment if segment.control else segment._replace(text=output.printable_lines(segment.text))


def show(*shown: RenderableType) -> None:
    """Draw *shown* on the terminal, one below the other."""
    # Height and width together keep rich from asking a dumb terminal, for which it takes 80 columns.
    columns, height = output.width(narrowest=1), 25
    console = Console(file=sys.stdout, width=columns, height=height, highlight=False, markup=False, emoji=False)
    for one in shown:
        console.print(_Clean(one))


def text(content: str, style: str | Style = "", *, uri: str = "") -> Text:
    """Return *content* as it is, on one line, in *style*; *uri* makes a link of it."""
    return Text(output.printable(content), Style(link=uri) + Style.parse(str(style)) if uri else style)


def joined(*parts: Text) -> Text:
    """Return *parts* one behind the other, each in its own style."""
    return Text().join(parts)


def lines(first: str | Text, *below: str | Text) -> Text:
    """Return *first* and, dim, each line *below* it that is not empty."""
    head = text(first) if isinstance(first, str) else first
    rest = [text(line, "dim") if isinstance(line, str) else line for line in below]
    return Text("\n").join(line for line in (head, *rest) if line)


def marked(content: str, marks: Iterable[tuple[int, int]]) -> Text:
    """Return *content* with the spans *marks* in bold yellow."""
    result = text(content)
    for start, end in marks:
        result.stylize("bold yellow", start, end)
    return result


def title(content: str) -> Text:
    """Return *content* in bold, cut to one line."""
    result = text(content, "bold")
    result.no_wrap, result.overflow = True, "ellipsis"
    return result


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], *, right: Sequence[str] = ()) -> Table:
    """Return a table of *rows* below the names of the *columns*; those in *right* hold numbers. Narrow, it folds."""
    result = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        result.add_column(name, overflow="fold", justify="right" if name in right else "left")
    for row in rows:
        result.add_row(*(text(cell) if isinstance(cell, str) else cell for cell in row))
    return result


def panel(heading: str, rows: Iterable[tuple[Text, Text]], style: str) -> Panel:
    """Return a frame in *style* around *rows* of a subject and its finding."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold", ratio=1)
    for row in rows:
        grid.add_row(*row)
    return Panel(grid, title=text(heading), title_align="left", border_style=style)


def tree(root: Text) -> Tree:
    """Return a tree that grows by its `add`."""
    return Tree(root, guide_style="dim")


def note(content: str) -> RenderableType:
    """Return the Markdown *content* of a note, rendered unless it is very long or deeply nested."""
    from markdown_it import MarkdownIt

    clean = output.printable_lines(content)
    # rich would drop what looks like HTML, such as `List<String>` outside of code.
    parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
    tokens = parser.parse(clean) if len(clean) <= 50_000 else []  # rich takes more than a second for these
    deepest = max((token.level for token in tokens), default=parser.options.maxNesting)
    if deepest >= parser.options.maxNesting - 1:  # the parser drops deeper parts
        return Text(clean)
    from rich.markdown import Markdown

    drawn = Markdown("", hyperlinks=False, code_theme="ansi_dark")
    drawn.parsed = tokens
    return drawn
