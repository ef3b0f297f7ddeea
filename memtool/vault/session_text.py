"""The text of session notes: one statement printed and read back, a line and its part, and a note in blocks. Pure.

Whatever a statement says, it is printed so that it is read back as itself: what means something at the beginning of a
line, to us or to Markdown, has a backslash before it, and an author is named where the end of the text looks like one.

All that reads a session note reads its blocks: fields of the front matter, title, sections, and all else. The lines of
all blocks are the text again. A section is in turn a list of items, which differ by what they say; below an item its
nested bullets are items of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from memtool.named_tuple import NamedTuple
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
_BULLET = r"(\s*)[-*+] +"
_CLOSING = {"`": "`", '"': '"', "[": "]", "(": ")"}
_FIELD = r"(?![\s#]|-(?:\s|$))([^:]+):(?:\s|$)"
_TAIL = ("files", "links")
_ASIDE = (" ", "\t", "<!--")
_ONCE = ("title", "asked", *_TAIL)  # parts that a note has once


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
    if section in ("findings", "done") and not is_below and len(text) > 2 and text[0] == text[-1] == "*":
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


class NoteBlock(NamedTuple):
    """Lines that belong together.

    Args:
        key: `matter:<field>`, `title`, `summary`, `asked`, `section:<name>`, `files` or `links`; empty for anything
            else, and for a second part of the same kind, which its owner has written.
        lines: without their line feeds.
        part: the key, also of a second part of its kind, without the name of a section.
        number: of its first line in the note, from 1; 0 for a block that was not read from one.
        text: of its first line, without the signs of its part; of a section, its name.
    """

    key: str
    lines: tuple[str, ...]
    part: str = ""
    number: int = 0
    text: str = ""

    @property
    def kind(self) -> str:
        """The key without the name."""
        return self.key.split(":", 1)[0]

    @property
    def name(self) -> str:
        """The name of a field or a section."""
        return self.key.partition(":")[2]


class NoteItem(NamedTuple):
    """One item of a section, or in a list on one line. *says* is its text without layout.

    What is no bullet is an item, too: it stays where its owner put it. *below* are the bullets nested in it.
    """

    says: str
    lines: tuple[str, ...]
    below: tuple[NoteItem, ...] = ()

    @property
    def is_bullet(self) -> bool:
        """Whether it is a bullet."""
        return re.match(_BULLET, self.lines[0]) is not None


class Parts(NamedTuple):
    """A note in blocks. *matter* is its front matter with the lines around it, empty for a note without."""

    matter: list[NoteBlock]
    body: list[NoteBlock]


def split_session(text: str) -> Parts:
    """Return *text*, without a byte order mark, in blocks; their lines, joined by line feeds, are the text again."""
    text = text.removeprefix("\ufeff")
    body = list(body_blocks(text))
    above = text.split("\n")[: body[0].number - 1]
    return Parts(_matter_blocks(above) if above else [], body)


def body_blocks(text: str) -> Iterator[NoteBlock]:
    """Give the blocks of *text* below its front matter; all of it, if what begins like one is prose between rules."""
    lines, start = text.split("\n"), split_front_matter(text)[1] - 1
    if not any(re.match(_FIELD, line) for line in lines[:start]):
        start = 0
    yield from _body_blocks(lines[start:], start + 1)


def _matter_blocks(lines: Sequence[str]) -> list[NoteBlock]:
    """Return the front matter *lines* as blocks: one for each field, with the lines on which its value goes on."""
    blocks: list[NoteBlock] = []
    seen: set[str] = set()
    fields = [(at, f"matter:{match[1].strip()}") for at, line in enumerate(lines) if (match := re.match(_FIELD, line))]
    starts = [(0, ""), *fields]
    for (start, key), (stop, _) in zip(starts, [*fields, (len(lines), "")], strict=True):
        end = start
        if key:
            end = stop
            while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith(("#", "---"))):
                end -= 1  # comments, empty lines and the closing fence are not part of the field above them
            blocks.append(NoteBlock("" if key in seen else key, tuple(lines[start:end])))
            seen.add(key)
        blocks += [NoteBlock("", (line,)) for line in lines[end:stop]]
    return blocks


def _body_blocks(lines: Sequence[str], number: int) -> Iterator[NoteBlock]:
    quoted = quoted_lines(lines)
    seen: set[str] = set()
    at, is_head, is_below, summary_end = 0, True, False, 0
    while at < len(lines):
        line = lines[at].rstrip()
        if quoted[at] or not line:
            yield NoteBlock("", (lines[at],), "", number + at)
            at += 1
            continue
        part, name, said = read_line(line)
        key, end = part if part in _ONCE else "", at + 1
        if part == "section":
            key, said, end = f"section:{name}", name, _end_of_section(lines, at, quoted)
        elif part in ("title", "asked") and is_below:
            key = ""
        elif part == "text" and is_head and (summary_end == at or not (summary_end or line.startswith(_ASIDE))):
            key = "summary" if "title" in seen and not summary_end else ""
            part, summary_end = "summary", end
        elif key == "title":
            summary_end = 0
        is_below = is_below or part == "section" or part in _TAIL
        is_head = is_head and not is_below and part != "heading"
        yield NoteBlock("" if key in seen else key, tuple(lines[at:end]), part, number + at, said)
        seen.add(key)
        at = end


def _end_of_section(lines: Sequence[str], start: int, quoted: Sequence[bool]) -> int:
    """Return the line after the section that begins at *start*: at the next heading, or the files."""
    end = at = start + 1
    while at < len(lines):
        line = lines[at]
        may_end = line.startswith(("#", "**")) and not quoted[at]  # reading each line would take most of the time
        if may_end and (re.match(r"#{1,6}\s+\S", line) or read_line(line.rstrip())[0] in _TAIL):
            break
        at += 1
        if line.strip():
            end = at
    return end


def items_in(section: NoteBlock | None) -> list[NoteItem]:
    """Return the items of *section*; none of no section."""
    if section is None:
        return []
    lines, quoted = section.lines[1:], quoted_lines(section.lines)[1:]
    groups: list[list[list[str]]] = []  # of each item its own lines, and those of each bullet below it
    for line, is_quoted in zip(lines, quoted, strict=True):
        bullet = None if is_quoted else re.match(_BULLET, line)
        if not groups or (bullet and not bullet[1]):
            groups.append([[line]])
        elif bullet and re.match(_BULLET, groups[-1][0][0]):
            groups[-1].append([line])
        elif is_quoted or not line.strip() or line[0] in " \t" or not re.match(_BULLET, groups[-1][0][0]):
            groups[-1][-1].append(line)
        else:
            groups.append([[line]])
    return [_item(group[0], [_item(lines) for lines in group[1:]]) for group in groups]


def _item(lines: Sequence[str], below: Sequence[NoteItem] = ()) -> NoteItem:
    return NoteItem(says_of(lines), tuple(lines), tuple(below))


def listed_items(value: str) -> list[NoteItem]:
    """Return the items of a list on one line; a comma within code, quotes or a link separates nothing."""
    ends, closing = [-1], ""
    for at, character in enumerate(value):
        if closing:
            closing = "" if character == closing else closing
        elif character in _CLOSING:
            closing = _CLOSING[character]
        elif character == ",":
            ends.append(at)
    parts = [value[start + 1 : end].strip() for start, end in pairwise([*ends, len(value)])]
    return [NoteItem(says_of([part]), (part,)) for part in parts if part]


def with_items(section: NoteBlock, items: Iterable[NoteItem]) -> NoteBlock:
    """Return *section* with other *items*."""
    lines = (line for item in items for each in (item, *item.below) for line in each.lines)
    return NoteBlock(section.key, (section.lines[0], *lines))


def with_parts(text: str, change: Callable[[NoteBlock], NoteBlock | None]) -> str:
    """Return *text* with each part of its body as *change* returns it; the empty line above one that goes, goes too."""
    parts = split_session(text)
    blocks = [*parts.matter, *without_gaps((block, change(block)) for block in parts.body)]
    return ("\ufeff" if text.startswith("\ufeff") else "") + "\n".join(line for each in blocks for line in each.lines)


def without_gaps(pairs: Iterable[tuple[NoteBlock, NoteBlock | None]]) -> list[NoteBlock]:
    """Return the second block of each pair, and without the empty line above those that are None."""
    kept: list[NoteBlock] = []
    for before, after in pairs:
        if after is not None:
            kept.append(after)
        elif before.key and kept and not "".join(kept[-1].lines).strip():
            kept.pop()
    return kept


def says_of(lines: Iterable[str]) -> str:
    """Return the text of *lines* without their layout."""
    return re.sub(_BULLET, "", " " + " ".join(" ".join(lines).split()), count=1).strip()
