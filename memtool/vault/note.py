"""Notes: Markdown with optional YAML front matter, read into frozen values. A note that is broken is a value too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from memtool.text.languages import words
from memtool.text.markdown import in_code

LONGEST_FRONT_MATTER = 65_536  # characters; more is somebody's mistake or attack
DEEPEST = 32  # lists and mappings within each other in front matter
_FENCE = re.compile(r"-{3}[ \t]*")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_FIRST_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[.\]\s+)?")
_STRUCTURE = re.compile(r"^\s*(?:[-*+>|#]|\d+[.)]|```|~~~|-{3})")


class BrokenNote(NamedTuple):
    """A file that cannot be read as a note, or only in part: *text* is what can still be searched."""

    ref: str
    reason: str
    text: str = ""


class Note(NamedTuple):
    """A Markdown file. *fields* holds its front matter, every scalar as the text its owner wrote."""

    ref: str
    text: str
    fields: Mapping[str, Any] = {}
    body_line: int = 1  # the line of the file on which the body begins

    @property
    def body(self) -> str:
        """The text below the front matter."""
        return "\n".join(self.text.split("\n")[self.body_line - 1 :])

    def field(self, key: str) -> str:
        """Return the front matter value of *key* as one line of text; empty where it is missing or no scalar."""
        value = self.fields.get(key)
        return " ".join(value.split()) if isinstance(value, str) else ""

    def words(self, key: str) -> tuple[str, ...]:
        """Return the front matter list of *key*; `a, b` is a list of two as well."""
        value = self.fields.get(key)
        items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        return tuple(item.strip().lstrip("#") for item in items if isinstance(item, str) and item.strip())

    @property
    def title(self) -> str:
        """The front matter's title, else the first heading if it is of the first level, else the file's name."""
        return self.field("title") or _top_heading(self.body) or self.ref.rsplit("/", 1)[-1].rsplit(".", 1)[0]

    @property
    def summary(self) -> str:
        """Level 0: the front matter's summary, else the first sentence."""
        return self.field("summary") or first_sentence(self.body)


NoteFile: TypeAlias = Note | BrokenNote


def parse_note(ref: str, content: bytes) -> NoteFile:
    """Return the note in *content*; a broken one keeps as much of its text as can be read."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        readable, encoding = _decode_anyway(content)
        return BrokenNote(ref, f"not UTF-8 (byte {error.start}){encoding}", readable)
    if "\x00" in text:
        return BrokenNote(ref, "holds NUL bytes, so it is hardly Markdown")
    matter, body_line = split_front_matter(text)
    if matter is None:
        return Note(ref, text)
    if len(matter) > LONGEST_FRONT_MATTER:
        return BrokenNote(ref, f"front matter of {len(matter):,} characters", text)
    fields = parse_fields(matter)
    if fields is None:
        return Note(ref, text)
    return BrokenNote(ref, fields, text) if isinstance(fields, str) else Note(ref, text, fields, body_line)


def split_front_matter(text: str) -> tuple[str | None, int]:
    """Return the YAML between the leading `---` lines (None without any) and the line on which the body begins."""
    if not text.startswith("---"):
        return None, 1
    lines = text.split("\n")
    if not _FENCE.fullmatch(lines[0].rstrip("\r")):
        return None, 1
    for number, line in enumerate(lines[1:], start=2):
        if _FENCE.fullmatch(line.rstrip("\r")):
            return "\n".join(lines[1 : number - 1]), number + 1
    return None, 1


def parse_fields(matter: str) -> dict[str, Any] | str | None:
    """Return the fields in the front matter *matter*, or a sentence that says what is wrong with it.

    None means that it is something else: prose between two rules, say.
    """
    import yaml

    try:
        return _frontmatter_parse(matter)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 2})" if mark else ""
        return f"bad YAML in the front matter{where}: {getattr(error, 'problem', None) or 'unreadable'}"
    except _NoFieldsError:
        return None
    except (RecursionError, ValueError) as error:
        return f"front matter that is not read: {error}"


def heading_text(line: str) -> str:
    """Return the text of a Markdown heading, or an empty string for any other line."""
    match = _HEADING.match(line)
    if not match:
        return ""
    text = line[match.end() :].rstrip()
    unclosed = text.rstrip("#")  # `## Title ##` is closed, `# C#` is not
    return text if unclosed[-1:].strip() else unclosed.rstrip()


def _top_heading(body: str) -> str:
    lines = body.split("\n")
    return next((text if lines[at].startswith("# ") else "" for at, text in _headings(lines)), "")


def first_heading(body: str) -> str:
    """Return the first heading of *body*, or an empty string."""
    return next((text for _, text in _headings(body.split("\n"))), "")


def first_sentence(body: str, *, longest: int = 200) -> str:
    """Return the first sentence of running text in *body*, else its first bullet, cut at *longest* characters."""
    for paragraph in body.replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in paragraph.split("\n") if line.strip() and not _STRUCTURE.match(line)]
        match = _FIRST_SENTENCE.match(" ".join(line.strip() for line in lines))
        if match:
            return match[0][:longest]
    bullets = (line[match.end() :] for line in body.split("\n") if (match := _BULLET.match(line)))
    return next(bullets, "").strip()[:longest]


def overview(body: str) -> str:
    """Level 1: the section called overview or summary, else what stands before the second heading.

    Where a title stands alone above the second heading, the first section that says something comes with it.
    """
    lines = body.split("\n")
    heads = list(_headings(lines))
    for (at, heading), (following, _) in zip(heads, [*heads[1:], (len(lines), "")], strict=False):
        if heading.casefold() in words("overview"):
            return "\n".join(lines[at:following]).strip()
    said = next((at for at, line in enumerate(lines) if line.strip() and not heading_text(line)), 0)
    return "\n".join(lines[: next((at for at, _ in heads[1:] if at > said), len(lines))]).strip()


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Give the position and the text of each heading among *lines*; a `# comment` in fenced code is none."""
    for at, (line, is_code) in enumerate(zip(lines, in_code(lines), strict=True)):
        if not is_code and (text := heading_text(line)):
            yield at, text


class _NoFieldsError(Exception):
    """The YAML is no mapping."""


def _frontmatter_parse(matter: str) -> dict[str, Any]:
    import frontmatter

    fields: dict[str, Any] = frontmatter.parse(f"---\n{matter}\n---", handler=_handler())[0]
    return fields


@cache
def _handler() -> Any:  # noqa: ANN401  (python-frontmatter has no types)
    """Return the handler with which python-frontmatter reads our YAML; the matter was split from the note before."""
    from frontmatter.default_handlers import YAMLHandler

    class PlainYAML(YAMLHandler):
        def split(self, text: str) -> tuple[str, str]:
            return text.removeprefix("---\n").removesuffix("---"), ""

        def load(self, fm: str, **_: object) -> dict[str, Any]:
            value = parse_yaml(fm)
            if value is not None and not isinstance(value, dict):
                raise _NoFieldsError
            return value or {}

    return PlainYAML()


def _decode_anyway(content: bytes) -> tuple[str, str]:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace"), ", read as UTF-16"
    try:
        return content.decode("gb18030"), ", read as GB18030"
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace"), ""


def parse_yaml(text: str) -> Any:  # noqa: ANN401  (whatever the document holds)
    """Return the document in *text* as dicts, lists and texts: `01234` is no number, `no` is not false. None if empty.

    `yaml.load` builds its values by recursion in C, where deep nesting ends the whole process, and it shares what
    aliases name, so that a few lines unfold into gigabytes. Here the parser's events are put together one by one, to
    a bounded depth and without aliases.

    Raises:
        yaml.YAMLError: it is not YAML.
        ValueError: it is YAML that is not read here.
    """
    import yaml

    stack: list[list[Any]] = [[]]
    for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].append(event.value)
        elif isinstance(event, yaml.AliasEvent):
            raise ValueError("an alias")  # noqa: TRY004  (the text is wrong, no type is)
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(stack) > DEEPEST:
                raise ValueError(f"more than {DEEPEST} levels")
            stack.append([])
        elif isinstance(event, yaml.CollectionEndEvent):
            items = stack.pop()
            stack[-1].append(_mapping(items) if isinstance(event, yaml.MappingEndEvent) else items)
    if len(stack[0]) > 1:
        raise ValueError("several documents")
    return stack[0][0] if stack[0] else None


def _mapping(items: Sequence[Any]) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in items[::2]):
        raise ValueError("a key that is no text")
    return dict(zip(items[::2], items[1::2], strict=True))
