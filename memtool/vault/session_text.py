"""The text of session notes, line by line: the parts of a note, and one statement printed and read back. Pure.

Whatever a statement says, it is printed so that it is read back as itself: what means something at the beginning of a
line, to us or to Markdown, has a backslash before it, and an author is named where the end of the text looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from memtool.text.frontmatter import split_front_matter
from memtool.text.languages import all_labels
from memtool.text.lines import one_line
from memtool.text.markdown import closes, opening
from memtool.text.scripts import is_unspaced
from memtool.vault.memory import (
    AGENT,
    ASKED,
    AUTHORS,
    COMMAND,
    DECISION,
    FINDING,
    FIX,
    IMPORTED,
    OPEN,
    REFUTED,
    RULE,
    USER,
    Line,
)  # fmt: skip

SECTIONS = {
    "decisions": DECISION, "rules": RULE, "fixed": FIX, "findings": FINDING, "done": "", "open": OPEN,
    "commands": COMMAND,
}  # fmt: skip

_OF_THE_USER = frozenset({ASKED, DECISION, RULE})  # roles of lines that are the user's, where no author is named
_SIGNED = rf"(.+?)[ \t]*[(（]({'|'.join(AUTHORS)})[)）]"
_BOX = r"\[([ xX])\] +"
_FILE = r"`([^`]+)`|([^,`\s][^,`]*)"
_NEEDS_CODE = r"[,*()（）\[\]“”\\]|__|^[_<]"  # in the name of a file: it would be read as something else
# At the beginning of a line or a statement these mean something, to us or to Markdown.
_MEANS_OF_ITEM = r"[*\\]|```|~~~"
_MEANS_OF_LINE = r"#{1,6}(?:\s|$)|[>|*+<~`=_\\-]|\[(?:[ xX]\]|\^)"
_NUMBERED = r"^(\d+)(\\*[.)])"


def section_of(role: str) -> str:
    """Return the section in which lines of *role* are."""
    wanted = FINDING if role == REFUTED else role
    return next((section for section, each in SECTIONS.items() if each == wanted), "done")


def labelled(label: str, text: str) -> str:
    """Return *text* behind *label* and a colon of its script."""
    return f"{label}：{text}" if is_unspaced(label[-1]) else f"{label}: {text}"


def author_of_prompt(text: str) -> str:
    """Return the author of a prompt: the user, but for pasted text."""
    pasted = tuple(label.partition("{}")[0] for label in all_labels("summary")["pasted"])
    return IMPORTED if text.startswith(pasted) else USER


def default_author(role: str) -> str:
    """Return the author of lines of *role* where none is named."""
    return USER if role in _OF_THE_USER else AGENT


def print_statement(line: Line, names: Mapping[str, str]) -> str:
    """Return the text of the bullet that *line* is, with the labels *names*."""
    text, role, author = line.text, line.role, line.author
    if role == COMMAND:
        return f"`{text.replace('`', chr(39))}`"
    if role == ASKED:
        return _signed(f"*{text}*", author, USER)
    if role == FINDING and _refuted(text):
        role = REFUTED
    if role == REFUTED:
        text = labelled(names["refuted"], _refuted(text) or text)
    elif role == RULE and author == USER:
        text = f"“{text}”"
    else:
        text = f"[ ] {_escaped(text)}" if role == OPEN else _escaped(text)
    return _signed(text, author, default_author(role))


def _signed(text: str, author: str, default: str) -> str:
    """Return *text* with its author behind it, where it is another one than the default, or *text* seems to end so."""
    return f"{text} ({author})" if author != default or re.fullmatch(_SIGNED, text) else text


def _escaped(text: str) -> str:
    return f"\\{text}" if re.match(_MEANS_OF_ITEM, text) else text


def escaped_line(text: str) -> str:
    """Return *text* as a line of its own that is nothing but a sentence."""
    if re.match(_MEANS_OF_LINE, text) or _asked_in(text):
        return f"\\{text}"
    return re.sub(_NUMBERED, r"\1\\\2", text)


def unescaped_line(text: str) -> str:
    """Return what `escaped_line` was given."""
    if text.startswith("\\"):
        return text[1:] if re.match(_MEANS_OF_LINE, text[1:]) or _asked_in(text[1:]) else text
    return re.sub(r"^(\d+)\\(\\*[.)])", r"\1\2", text)


def read_statement(section: str, value: str, *, is_below: bool = False) -> Line:
    """Return the statement that the bullet *value* of *section* is; it may be *below* a prompt."""
    role = SECTIONS[section]
    if role == COMMAND:
        is_code = len(value) > 2 and value[0] == value[-1] == "`"
        return Line(value[1:-1] if is_code else value, COMMAND, AGENT)
    match = re.fullmatch(_SIGNED, value) if value.endswith((")", "）")) else None
    text, author = (match[1], match[2]) if match else (value, "")
    if section == "done" and not is_below and len(text) > 2 and text[0] == text[-1] == "*":
        return Line(text[1:-1], ASKED, author or USER)
    if role == OPEN and (box := re.match(_BOX, text)):
        role, text = OPEN if box[1] == " " else "", text[box.end() :]
    elif role == FINDING and (refuted := _refuted(text)):
        return Line(refuted, REFUTED, author or AGENT)
    author = author or default_author(role)
    if role == RULE and author == USER and len(text) > 2 and (text[0], text[-1]) == ("“", "”"):
        return Line(text[1:-1], RULE, author)
    is_escaped = text.startswith("\\") and re.match(_MEANS_OF_ITEM, text[1:])
    return Line(text[1:] if is_escaped else text, role, author)


def _refuted(text: str) -> str:
    """Return a finding without the label that says that it was refuted; empty where it has none."""
    label, mark, rest = text.partition("：" if "：" in text.partition(":")[0] else ":")
    return rest.strip() if mark and label in all_labels("session")["refuted"] else ""


def read_line(line: str) -> tuple[str, str, str]:
    """Return the part of a note that *line* is, the name of its label, and its text.

    The part is `title`, `section`, `heading` for any other one, `asked`, `files`, `links`, `bullet`, or `text`; empty
    for an empty line.
    """
    if bullet := bullet_in(line):
        return "bullet", "", bullet
    if line.startswith("#") and (match := re.fullmatch(r"(#{1,6})\s+(.*)", line)):
        if len(match[1]) == 1:
            return "title", "title", match[2].strip()
        name = names_of_labels().get(match[2].strip().casefold(), "") if len(match[1]) == 2 else ""
        return ("section", name, "") if name in SECTIONS else ("heading", "", match[2])
    if line.startswith("**") and (match := re.fullmatch(r"\*\*([^*]+)\*\*[:：]\s*(.*)", line)):
        name = names_of_labels().get(match[1].casefold(), "")
        return (name, name, match[2].strip()) if name in ("files", "links") else ("text", "", line)
    if asked := _asked_in(line):
        return "asked", "asked", asked
    return ("text" if line.strip() else ""), "", line.strip()


def bullet_in(line: str) -> str:
    """Return the text of the bullet that *line* is; empty if it is none, or says nothing."""
    text = line.lstrip(" \t")
    return text[2:].strip() if text[:2] in ("- ", "* ", "+ ") else ""


def _asked_in(line: str) -> str:
    match = re.fullmatch(rf"(?:{one_of('asked')})[:：]\s*“(.+)”", line) if "“" in line else None
    return match[1] if match else ""


def body_lines(text: str) -> Iterator[tuple[int, str]]:
    """Give the number and the text of each line of a note that is no front matter, no code and no comment.

    A bullet that goes on below is given as one line.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    start = split_front_matter("\n".join(line.rstrip("\r") for line in lines))[1] - 1
    yield from joined_lines(lines[start:], quoted_lines(lines)[start:], start + 1)


def joined_lines(lines: Iterable[str], quoted: Iterable[bool], number: int) -> Iterator[tuple[int, str]]:
    """Give each of *lines* that is not *quoted* with its number, the first of which is *number*.

    A bullet that goes on below is given as one line.
    """
    at, held = 0, ""
    for here, (line, is_quoted) in enumerate(zip(lines, quoted, strict=True), number):
        if is_quoted:
            continue
        plain = line.rstrip()
        if not plain.isprintable():  # other separators of lines count as spaces
            plain = " ".join(plain.splitlines())
        if plain.startswith((" ", "\t")) and bullet_in(held) and not bullet_in(plain):
            held = f"{held} {plain.strip()}"
            continue
        if at:
            yield at, held
        at, held = here, plain
    if at:
        yield at, held


def quoted_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is within code or a comment that began above it."""
    text = "\n".join(lines)
    if not ("```" in text or "~~~" in text or "<!--" in text):
        return [False] * len(lines)
    quoted, closing = [], ""
    for line in lines:
        quoted.append(bool(closing))
        text = line.strip()
        if closing:
            is_closed = "-->" in text if closing == "-->" else closes(line, closing)
            closing = "" if is_closed else closing
        elif marks := opening(line):
            closing = marks
        elif text.startswith("<!--") and "-->" not in text:
            closing = "-->"
    return quoted


@cache
def names_of_labels() -> dict[str, str]:
    """Return the names of the sections and of the lists below them, by their labels in any language."""
    found = all_labels("session")
    return {word.casefold(): name for name in (*SECTIONS, "files", "links") for word in found[name]}


@cache
def one_of(name: str) -> str:
    """Return a pattern for the label *name* in any language."""
    return "|".join(map(re.escape, all_labels("session")[name]))


def print_file(name: str) -> str:
    """Return the name of a file as an item of the list."""
    line = one_line(name).replace("`", "'")
    return f"`{line}`" if re.search(_NEEDS_CODE, line) and line else line


def parse_files(lines: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Return the files that are named, and how many more there are."""
    files: list[str] = []
    more, more_files = 0, one_of("more_files").replace("N", r"(\d{1,9})")
    for line in lines:
        named = line
        if match := re.fullmatch(rf"(.*?)[,，]?\s*[(（]?(?:{more_files})[)）]?", line):
            named, more = match[1], more + sum(int(count) for count in match.groups()[1:] if count)
        files += [code or plain.strip() for code, plain in re.findall(_FILE, named)]
    return tuple(files), more


def is_old(text: str) -> bool:
    """Return whether *text* is a session's note of an earlier version, or a part of one."""
    if "**" not in text and not text.startswith("   - "):
        return False
    if any(match[1].strip().casefold() in names_of_labels() for match in re.finditer(r"(?m)^## (.+)", text)):
        return False
    labels = (re.match(r"(?:\d+\. |- )\*\*([^*]+)\*\*[:：]", line) for line in text.split("\n") if "**" in line)
    known = {word for words in all_labels("session").values() for word in words}
    return text.startswith("   - ") or any(match and match[1] in known for match in labels)
