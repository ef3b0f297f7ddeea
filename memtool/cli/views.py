"""Answers as rows or as an outline: drawn on a terminal, plain lines anywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import click

from memtool.cli import output

if TYPE_CHECKING:
    from rich.tree import Tree

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
    if output.on_terminal():
        from memtool.cli import screen

        drawn = [[screen.lines(*cell) if cell else "" for cell in row] for row in cells]
        screen.show(screen.table(columns, drawn, right=right))
        return
    widest = {at: max(len(row[at][0]) for row in cells) for at, name in enumerate(columns) if name in right}
    for row in cells:
        heads = [(cell[0] if cell else "").rjust(widest.get(at, 0)) for at, cell in enumerate(row)]
        click.echo(output.printable("  ".join(filter(None, heads))))
        for cell in row:
            for line in cell[1:]:
                click.echo(f"    {output.printable(line)}")


def outline(title: str, branches: Iterable[Branch]) -> None:
    """Print *branches* below *title*: as a tree on a terminal, else as indented lines."""
    if output.on_terminal():
        from memtool.cli import screen

        tree = screen.tree(screen.text(title, "bold"))
        for branch in branches:
            _grow(tree, branch, "cyan")
        screen.show(tree)
        return
    click.echo(output.printable(title))
    for branch in branches:
        click.echo()
        _print(branch, 0)


def _grow(tree: Tree, branch: Branch, style: str) -> None:
    from memtool.cli import screen

    grown = tree.add(screen.text(branch.text, style))
    for below in branch.below:
        _grow(grown, below, "" if below.below else "dim")


def _print(branch: Branch, depth: int) -> None:
    click.echo("  " * depth + output.printable(branch.text))
    for below in branch.below:
        _print(below, depth + 1)
