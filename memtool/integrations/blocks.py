"""A marked block of memtool in a text file of the user, such as the instructions of a project."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from memtool.integrations.plans import Share

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
        """Return *text* with the block: where it stands, else at the end, behind an empty line."""
        text = text or ""
        newline = "\r\n" if "\r\n" in text else "\n"
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
