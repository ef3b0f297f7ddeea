"""What has to be accounted for: numbers of modules that decide something, and the word lists of languages.

Plain limits (columns, bytes, seconds) are named in a module `limits` of their room and need no row.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.processes import CLONE
from memtool.text.languages import ENGLISH, word_file

PACKAGE = CLONE / "memtool"
LIMITS = "limits"  # the module of a room that names its limits
CHOOSING = ("capture", "consolidate", "index", "memory", "recall", "redaction", "text", "vault")  # rooms that choose
LISTS = "languages"


class Entry(NamedTuple):
    """A number, named by its module and name, or a word list, named `languages.<key>`; its value as written."""

    name: str
    value: str

    @property
    def module(self) -> str:
        """The module of a number; `languages` for a list."""
        return self.name.rpartition(".")[0]


def entries() -> list[Entry]:
    """Return all numbers and lists of the package, in the order of their names."""
    files = (path for room in CHOOSING for path in sorted((PACKAGE / room).rglob("*.py")) if path.stem != LIMITS)
    return [*(entry for path in files for entry in _numbers(path)), *_lists()]


def _numbers(path: Path) -> Iterator[Entry]:
    module = ".".join(path.relative_to(CLONE).with_suffix("").parts).removesuffix(".__init__")
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign):
            named, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value:
            named, value = node.target, node.value
        else:
            continue
        if isinstance(named, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(named.elts, value.elts, strict=True))
        else:
            pairs = [(named, value)]
        yield from (
            Entry(f"{module}.{ast.unparse(name)}", ast.unparse(each)) for name, each in pairs if _is_number(each)
        )


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in {int, float}


def _lists() -> Iterator[Entry]:
    """Give the lists of English; its value is how many words there are."""
    lists = f"\n{word_file(f'languages/{ENGLISH}.toml')}".split("\n[", 1)[0]
    for line in lists.split("\n"):
        key, is_list, value = line.partition(" = ")
        if is_list and value[:1] in {"[", '"', "'"} and key.isidentifier() and key != "name":
            yield Entry(f"{LISTS}.{key}", f"{value.count(',') + 1} words" if value[0] == "[" else "a text")
