"""What Claude Code reads by itself at every session start, so that it need not be given again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from memtool.text.fences import without_code
from memtool.text.similarity import words

_PROJECTS_OWN = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md")
_MOST_FOLDERS, _MOST_LINES, _LEAST_WORDS = 8, 400, 3
_NOT_IN_A_SLUG = re.compile(r"[^A-Za-z0-9]")
_MOST_RULES = 50
_LARGEST = 65_536  # characters of an instruction file
_CODE = "`[^`\n]*`"
_IMPORT = r"(?:^|(?<=\s))@(\S+)"
_CONDITIONAL = r"---[ \t]*\n(?:[^\n]+\n)*?paths:"


def reads_by_itself(file: Path, client_folder: Path, home: Path) -> bool:
    """Whether the user's own instructions import *file*: `@~/memory/MEMORY.md` in CLAUDE.md or in a rule.

    Only the user's instructions are looked at, and one step deep: a project's may not import from elsewhere without
    being asked, and a file that is given twice does less harm than one that is not given at all.
    """
    wanted = _resolved(file)
    return wanted is not None and any(_resolved(path) == wanted for path in _imports(client_folder, home))


def said_to_client(folder: Path | None, client_folder: Path, home: Path) -> list[frozenset[str]]:
    """Return the words of each line that the client reads in *folder*: the user's CLAUDE.md, the project's, its memory.

    The project's are those in *folder* and above it, up to *home*; the memory is what the client noted itself.
    """
    paths = [client_folder / "CLAUDE.md"]
    if folder:
        above = [place for place in (folder, *folder.parents)[:_MOST_FOLDERS] if place not in home.parents]
        paths += [place / name for place in above for name in _PROJECTS_OWN]
        slugs = (_NOT_IN_A_SLUG.sub("-", str(place)) for place in above)
        paths += [client_folder / "projects" / slug / "memory" / "MEMORY.md" for slug in slugs]
    lines = (line for path in paths for line in _text(path).splitlines()[:_MOST_LINES])
    found = dict.fromkeys(words(line) for line in lines)
    return [told for told in found if len(told) >= _LEAST_WORDS]


def _imports(client_folder: Path, home: Path) -> Iterator[Path]:
    rules = islice(_rules(client_folder / "rules"), _MOST_RULES)
    for path in (client_folder / "CLAUDE.md", *rules):
        text = _text(path)
        if "@" in text and not re.match(_CONDITIONAL, text):
            for name in re.findall(_IMPORT, re.sub(_CODE, "", without_code(text))):
                yield home / name[2:] if name.startswith("~/") else path.parent / name


def _rules(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from sorted(folder.glob("*.md"))


def _text(path: Path) -> str:
    with suppress(OSError):
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                return file.read(_LARGEST)
    return ""


def _resolved(path: Path) -> Path | None:
    with suppress(OSError, ValueError, RuntimeError):  # too long, a NUL, a loop of symlinks
        return path.resolve()
    return None
