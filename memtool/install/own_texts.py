"""Texts of ours in the files of a client: whole files, such as rules and skills, and blocks in files of the user.

A file of ours has a line with a mark and a checksum, in a comment that the client leaves out. So it is recognised,
whichever memtool wrote it, and a file that a user has edited or written is left alone.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from zlib import crc32

from memtool.errors import BrokenVaultFile, NotWritable
from memtool.install.plans import LeftAlone, Share
from memtool.resources import shipped
from memtool.text.lines import newline_of
from memtool.vault import files

_MARK = re.compile(r"(?:<!--|//|#) memtool \w+ ([0-9a-f]{8}): [^\n]*\n")
_SAYS = "written by `memtool install {}`, removed by `uninstall`"


@dataclass(frozen=True)
class OwnFile(Share):
    """A file of ours with the text *wanted*; None for one that is removed."""

    wanted: str | None

    keeps_original: ClassVar[bool] = False

    def read(self) -> str | None:
        """Return the text of the file, None without a file, empty for something that memtool does not write."""
        return read_own(self.path)

    def put(self, text: str | None) -> str | None:
        """Return the text that is wanted."""
        if text is None or is_ours(text):
            return self.wanted
        if is_marked(text):
            raise LeftAlone(f"'{self.path}' keeps your edits")
        if self.wanted is not None:
            raise LeftAlone(f"'{self.path}' is your own file, so memtool's was not written")
        return text

    def take(self, text: str | None, original: str | None) -> str | None:  # noqa: ARG002  (there is none)
        """Return None for a file of ours."""
        if text is None or is_ours(text):
            return None
        if is_marked(text):
            raise LeftAlone(f"'{self.path}' keeps your edits")
        return text


def own_files(part: str, wanted: Mapping[Path, str], there: Iterable[Path]) -> list[OwnFile]:
    """Return the shares by which the files *wanted* are written, and others of ours that are *there* are removed."""
    return [OwnFile(part, path, wanted.get(path)) for path in sorted({*wanted, *there})]


def skill_files(folder: Path, client: str) -> list[OwnFile]:
    """Return the shares by which the skills in *folder* are those of this memtool, as *client* gets them.

    They are the plugin's; each has another name, because a user may have a skill called `recall`.
    """
    wanted = {}
    for path in sorted((shipped("hooks") / "claude-code" / "skills").glob("*/SKILL.md")):
        name = f"memtool-{path.parent.name}"
        text = re.sub(r"(?m)^name: .*$", f"name: {name}", path.read_text(encoding="utf-8"), count=1)
        wanted[folder / name / path.name] = marked(text, "skill", client, at=len(text))
    return own_files("skills", wanted, folder.glob("memtool-*/SKILL.md"))


def marked(text: str, kind: str, client: str, *, comment: tuple[str, str] = ("<!-- ", " -->"), at: int = 0) -> str:
    """Return *text* with a mark that begins at the place *at*, where a line begins; *kind* says what the file is."""
    says = f"memtool {kind} {_checksum(text)}: {_SAYS.format(client)}"
    return f"{text[:at]}{comment[0]}{says}{comment[1]}\n{text[at:]}"


def is_ours(text: str) -> bool:
    """Return whether memtool wrote *text*, and it is unchanged."""
    mark = _MARK.search(text)
    return mark is not None and _checksum(_MARK.sub("", text, count=1)) == mark[1]


def is_marked(text: str) -> bool:
    """Return whether memtool wrote *text*, as it is or in another form."""
    return bool(_MARK.search(text))


def read_own(path: Path) -> str | None:
    """Return the text at *path*, None without a file, empty for something that memtool does not write.

    Raises:
        NotWritable: it cannot be read.
    """
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > 65_536:
            return ""
        return files.read_text(path)[0]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except BrokenVaultFile:
        return ""
    except OSError as error:
        raise NotWritable(f"cannot read '{path}': {error.strerror}") from None


def _checksum(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'replace')):08x}"


_BEGIN, _END = "<!-- memtool: begin{} -->", "<!-- memtool: end -->"
_UNENDED = " (the line above had no end)"
_BLOCK = re.compile(
    rf"(?P<gap>(?<=\n)\r?\n)?<!-- memtool: begin(?P<unended>{re.escape(_UNENDED)})? -->.*?{_END}(?:\r?\n)?", re.DOTALL
)


@dataclass(frozen=True)
class Block(Share):
    """The text *body* between two marks, at the end of a Markdown file. It comes and goes without a trace."""

    body: str

    keeps_original: ClassVar[bool] = False

    def put(self, text: str | None) -> str:
        """Return *text* with the block: in its place, else at the end, after an empty line."""
        text = text or ""
        newline = newline_of(text)
        found = _BLOCK.search(text)
        is_unended = bool(found["unended"]) if found else bool(text) and not text.endswith("\n")
        block = f"{_BEGIN.format(_UNENDED if is_unended else '')}\n{self.body.strip()}\n{_END}\n".replace("\n", newline)
        if found:
            return f"{text[: found.start()]}{found['gap'] or ''}{block}{text[found.end() :]}"
        return text + newline * (is_unended + bool(text)) + block

    def take(self, text: str | None, original: str | None) -> str | None:  # noqa: ARG002  (there is none)
        """Return *text* without the block."""
        found = _BLOCK.search(text or "")
        if text is None or not found:
            return text
        before = text[: found.start()]
        if found["unended"]:
            before = before.removesuffix("\n").removesuffix("\r")
        return before + text[found.end() :]
