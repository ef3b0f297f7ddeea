"""Session notes: one summary for each session, in the format of docs/vault-format.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Literal, TypeAlias

from memtool.named_tuple import NamedTuple
from memtool.text.frontmatter import quoted
from memtool.text.languages import all_labels, labels as labels_in
from memtool.text.lines import one_line, shortened
from memtool.text.markdown import find_links, link
from memtool.vault.authors import (
    AGENT,
    ASKED,
    COMMAND,
    DECISION,
    FINDING,
    FIX,
    IMPORTED,
    OPEN,
    REFUTED,
    RULE,
    TITLE,
    USER,
    signed_by,
)  # fmt: skip
from memtool.vault.note import Note
from memtool.vault.session_rows import Row, render_row
from memtool.vault.sessions import Line, body_lines

KEY_POINT_KINDS = (
    "decision", "fix", "feature", "refactor", "finding", "refuted", "investigated", "change", "bugfix", "discovery",
)  # fmt: skip
HEADER = ("project", "updated", "directory", "transcript", "links")
TOLD = ("request", "investigated", "learned", "completed", "next_steps")  # of a summary by who worked
SECTIONS = ("topic", "key_points", "files", "decisions", "rules", "done", "commands", "open")

Part: TypeAlias = Literal["title", "header", "section", "bullet", ""]

_PARTS: tuple[tuple[Part, str], ...] = (
    ("title", r"# ()(.*\S)"),
    ("header", r"- \*\*([^*]+)\*\*[:：] *(.*)"),
    ("section", r"\d+\. \*\*([^*]+)\*\*[:：] *(.*)"),
    ("bullet", r"\s+()- (.*)"),
)
_KIND = rf"\[({'|'.join(KEY_POINT_KINDS)})\] +"
_OLD_ROLES = {"decisions": DECISION, "rules": RULE, "done": "", "commands": COMMAND, "open": OPEN}
_OLD_KINDS = {
    "decision": DECISION, "fix": FIX, "bugfix": FIX, "finding": FINDING, "discovery": FINDING, "refuted": REFUTED,
}  # fmt: skip
_ARROW, _JOINT = " → ", " · "
_BRANCH = r"^[\w.]+[-/_][\w./-]*: "
_TAG = r"#[^\s#]*[^\W\d][^\s#]*"  # `#4573` is an issue, not a tag
_FILE = r"`([^`]+)`|([^,`\s][^,`]*)"
_WIDEST_TITLE = 100  # columns of a title that is made of what a session came to
_LONGEST_TOLD = 1_000  # characters of one part of a summary
_CHECKSUM = r"checksum: \"?([0-9a-f]{8})\"?\n"


class KeyPoint(NamedTuple):
    """One thing worth knowing. *kind* is empty or one of KEY_POINT_KINDS; *tags* are words without `#`."""

    text: str
    kind: str = ""
    tags: tuple[str, ...] = ()


class OldNote(NamedTuple):
    """The content of a session note.

    Args:
        id: the name of its file, without the suffix; empty if the note does not say it.
        branch: the git branch that was worked on, empty if that tells nothing.
        updated: local time to the minute, such as `2026-02-10 14:30`.
        links: text and target of each link, relative to the folder of the note.
        rows: what was asked and what came of it, rendered below the key points, as which they are read again.
        more_files: how many were touched besides *files*.
        client: the agent's client, where it was another one than Claude Code.
        size: of its transcript, in bytes; 0 where there is none.
        told: the parts of a summary that the agent gave by itself, as `TOLD` names them.
    """

    id: str
    project: str = ""
    updated: str = ""
    directory: str = ""
    branch: str = ""
    links: tuple[tuple[str, str], ...] = ()
    topic: str = ""
    key_points: tuple[KeyPoint, ...] = ()
    rows: tuple[Row, ...] = ()
    files: tuple[str, ...] = ()
    more_files: int = 0
    decisions: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    client: str = ""
    size: int = 0
    told: Mapping[str, str] = {}


def render_session(note: OldNote, *, language: str = "en") -> str:
    """Return the Markdown of *note*; what it has nothing to say about is left out."""
    labels = labels_in("session", language)
    header = [f"- **{labels[name]}**: {value}" for name, value in _header(note, labels).items() if value]
    told = [f"**{labels[name]}**:{text}" for name, text in _sections(note, labels).items() if text]
    sections = [f"{number}. {text}" for number, text in enumerate(told, start=1)]
    nameless = f"{labels['session']}: {one_line(note.id)}"
    title = f"# {one_line(note.topic) or nameless}"
    blocks = [title, "\n".join(header), "---" if sections else "", "\n".join(sections)]
    body = "\n\n".join(block for block in blocks if block) + "\n"
    matter = _front_matter(note)
    return f"---\n{matter}checksum: {quoted(_checksum(matter, body))}\n---\n\n{body}"


def parse_session(text: str) -> OldNote:
    """Return the content of a session note in any language, without the lines that are no part of the format."""
    title, topic, header, sections = "", "", dict[str, str](), dict[str, list[str]]()
    section: list[str] = []
    for line in text.splitlines():
        part, name, value = read_line(line)
        if part == "title":
            title, topic = (title or value, topic) if name else (title, topic or value)
        elif part == "header":
            header[name] = value
        elif part == "section":
            section = sections[name] = [value]
        elif part == "bullet":
            section.append(value)
    return _note(title, topic, header, {name: [line for line in lines if line] for name, lines in sections.items()})


def told_in(fields: Mapping[str, object]) -> dict[str, str]:
    """Return the parts of a summary by who worked that the front matter of a session's note holds."""
    return {name: value for name in TOLD if isinstance(value := fields.get(name), str) and value}


def session_title(note: Note) -> str:
    """Return the title of a session: its topic, else its day, but never its id."""
    title = note.title
    named = re.match(rf"({one_of('session')})[:：] *\S+$|(?!.*\s).*[0-9a-f-]{{36}}$", title)
    if not named:
        return title
    said = parse_session(note.body)
    started = next(iter([*said.decisions, *said.done, *(point.text for point in said.key_points)]), "")
    day = note.field("date")[:10] or said.updated[:10]
    return said.topic or shortened(one_line(started), _WIDEST_TITLE) or f"{named[1] or 'Session'} {day}".strip()


def read_line(line: str) -> tuple[Part, str, str]:
    """Return the part of a session note that *line* is, the name of its label, and its text.

    The part is empty for a line that is none; the name is, where memtool does not know the label.
    """
    for part, pattern in _parts():
        if match := pattern.fullmatch(line):
            name = next((name for name, words in all_labels("session").items() if match[1] in words), "")
            return part, name, match[2]
    return "", "", ""


@cache
def one_of(name: str) -> str:
    """Return a pattern for the label *name* in any language."""
    return "|".join(map(re.escape, all_labels("session")[name]))


@cache
def _parts() -> tuple[tuple[Part, re.Pattern[str]], ...]:
    titles: tuple[Part, str] = ("title", rf"# ({one_of('session')})[:：] *(\S+)")
    return tuple((part, re.compile(pattern)) for part, pattern in (titles, *_PARTS))


@cache
def _more_files() -> str:
    return one_of("more_files").replace("N", r"(\d{1,9})")


def is_as_written(text: str) -> bool:
    """Return whether *text* is a session note that is as memtool rendered it, line ends aside."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found = re.search(rf"(?m)^{_CHECKSUM}", plain)
    if not found or not plain.startswith("---\n"):
        return False
    matter, body = plain[len("---\n") : found.start()], plain[found.end() :].removeprefix("---\n\n")
    return found[1] == _checksum(matter, body)


def _checksum(matter: str, body: str) -> str:
    import zlib

    return f"{zlib.crc32(f'{matter}{body.rstrip()}'.encode('utf-8', 'replace')):08x}"


def _front_matter(note: OldNote) -> str:
    fields = {"type": "session", "date": note.updated[:10], "project": note.project, "client": note.client}
    lines = [f"{name}: {quoted(value)}\n" for name, text in fields.items() if (value := one_line(text))]
    tags = dict.fromkeys(tag for point in note.key_points for tag in _parse_point(_point(point)).tags)
    if tags:
        lines.append(f"tags: [{', '.join(map(quoted, tags))}]\n")
    if note.size:
        lines.append(f"size: {note.size}\n")
    told = ((name, note.told.get(name, "").strip()[:_LONGEST_TOLD]) for name in TOLD)
    lines += (f"{name}: {json.dumps(text, ensure_ascii=False)}\n" for name, text in told if text)
    return "".join(lines)


def _header(note: OldNote, labels: dict[str, str]) -> dict[str, str]:
    branch = f" ({labels['branch']} {one_line(note.branch)})" if note.branch else ""
    return {
        "updated": one_line(note.updated),
        "directory": one_line(note.directory) and one_line(note.directory) + branch,
        "links": ", ".join(link(text, target) for text, target in note.links if one_line(target)),
    }


def _sections(note: OldNote, labels: dict[str, str]) -> dict[str, str]:
    more = [labels["more_files"].replace("N", str(note.more_files))] if note.more_files else []
    return {
        "key_points": _bullets([*map(_point, note.key_points), *map(render_row, note.rows)]),
        "files": _inline([", ".join([*filter(None, map(_file, note.files)), *more])]),
        "decisions": _inline(note.decisions),
        "rules": _inline(note.rules),
        "done": _inline(note.done),
        "commands": _inline("`" + one_line(command).replace("`", "'") + "`" for command in note.commands),
        "open": _inline(note.open),
    }


def _inline(items: Iterable[str]) -> str:
    """Return one item on the line of its label, several as bullets below it."""
    lines = [line for item in items if (line := one_line(item))]
    return f" {lines[0]}" if len(lines) == 1 else _bullets(lines)


def _bullets(items: Iterable[str]) -> str:
    return "".join(f"\n   - {line}" for item in items if (line := one_line(item)))


def _point(point: KeyPoint) -> str:
    kind = f"[{point.kind}] " if point.kind in KEY_POINT_KINDS else ""
    tags = (one_line(tag).replace("#", "").replace(" ", "-") for tag in point.tags)
    return one_line(" ".join([kind + point.text, *(f"#{tag}" for tag in tags if tag)]))


def _file(name: str) -> str:
    line = one_line(name).replace("`", "'")
    needs_code = rf"[,*]|__|^_|^(?:{_more_files()})$"  # would end the list, or be read as something else
    return f"`{line}`" if re.search(needs_code, line) else line


def _note(title: str, topic: str, header: dict[str, str], sections: dict[str, list[str]]) -> OldNote:
    files, more_files = _parse_files(sections.get("files", []))
    folder = re.fullmatch(rf"(?s:(.*?)(?: \((?:{one_of('branch')}) (.+)\))?)", header.get("directory", ""))
    return OldNote(
        id=title,
        project=header.get("project", ""),
        updated=header.get("updated", "")[:16],
        directory=(folder and folder[1]) or "",
        branch=(folder and folder[2]) or "",
        links=tuple(find_links(header.get("links", ""))),
        topic=" ".join(sections.get("topic", [])) or topic,
        key_points=tuple(_parse_point(line) for line in sections.get("key_points", [])),
        files=files,
        more_files=more_files,
        decisions=tuple(sections.get("decisions", ())),
        rules=tuple(sections.get("rules", ())),
        done=tuple(sections.get("done", ())),
        commands=tuple(command.strip("`") for command in sections.get("commands", ())),
        open=tuple(sections.get("open", ())),
    )


def _parse_files(lines: list[str]) -> tuple[tuple[str, ...], int]:
    """Return the files that are named, and how many more there are."""
    found = [(code, plain.strip()) for line in lines for code, plain in re.findall(_FILE, line)]
    counts = [match for code, plain in found if not code and (match := re.fullmatch(_more_files(), plain))]
    files = tuple(code or plain for code, plain in found if code or not re.fullmatch(_more_files(), plain))
    return files, sum(int(count) for match in counts for count in match.groups() if count)


def _parse_point(line: str) -> KeyPoint:
    match = re.match(_KIND, line)
    words = line[match.end() if match else 0 :].split()
    tags: list[str] = []
    while len(words) > 1 and re.fullmatch(_TAG, words[-1]):
        tags.insert(0, words.pop()[1:])
    return KeyPoint(" ".join(words), match[1] if match else "", tuple(tags))


def old_parts(text: str) -> Iterator[tuple[str, Line]]:
    """Give the parts of a session's note of an earlier version as `sessions` names them, in the order of its lines."""
    section = "key_points" if text.startswith((" ", "\t")) else ""  # where most lines are
    is_titled = False
    for number, line in body_lines(text):
        part, name, value = read_line(line)
        if part == "section":
            section = name
        elif part != "bullet" and line.strip():
            section = ""
        if part == "title" and (name or not is_titled):
            is_titled = is_titled or not name
            yield from (("id", Line(value)),) if name else _old_title(value, number)
        elif part == "header":
            yield from _old_header(name, value)
        elif part in ("section", "bullet") and value:
            yield from _old_statements(section, value, number)


def _old_title(topic: str, number: int) -> Iterator[tuple[str, Line]]:
    """Give what the session began with, and what came of it."""
    began, _, ended = topic.partition(_ARROW)
    if ended:
        asked = re.sub(_BRANCH, "", began)
        yield "asked", _asked(asked, number)
        yield "title", Line(ended.strip(), TITLE, AGENT, number=number, asked=asked)
    else:
        yield "title", Line(topic, TITLE, AGENT, number=number)


def _old_header(name: str, value: str) -> Iterator[tuple[str, Line]]:
    if name == "directory" and (match := re.search(rf" \((?:{one_of('branch')}) (.+)\)$", value)):
        yield "branch", Line(match[1])
    elif name in ("project", "updated", "links"):
        yield name, Line(value)


def _old_statements(section: str, value: str, number: int) -> Iterator[tuple[str, Line]]:
    if section == "files":
        yield "files", Line(value, number=number)
    elif section == "topic":
        yield from _old_title(value, number)
    elif section == "key_points":
        yield from (("line", line) for line in _old_key_point(value, number))
    elif section in _OLD_ROLES:
        role = _OLD_ROLES[section]
        said, author = signed_by(value)
        said = said.strip("`") if role == COMMAND else said
        yield "line", Line(said, role, author or (USER if role == RULE else AGENT), number=number)


def _old_key_point(value: str, number: int) -> Iterator[Line]:
    """Give the statements of a row, `"asked" → one · "typed" · another`, or the one that an item with a kind is."""
    if kind := re.match(_KIND, value):
        said, author = signed_by(value[kind.end() :])
        yield Line(said, _OLD_KINDS.get(kind[1], ""), author or AGENT, number=number)
        return
    match = re.fullmatch(rf'(?:"((?:(?!{_JOINT}).)+?)"(?:{_ARROW}|$))?(.*)', value.removeprefix(_ARROW))
    asked, rest = (match[1] or "", match[2]) if match else ("", value)
    if asked:
        yield _asked(asked, number)
    for piece in filter(None, map(str.strip, rest.split(_JOINT))):
        if len(piece) > 2 and piece[0] == piece[-1] == '"':
            yield Line(piece[1:-1], ASKED, USER, number=number, asked=asked)
        else:
            said, author = signed_by(piece)
            yield Line(said, "", author or AGENT, number=number, asked=asked)


def _asked(text: str, number: int) -> Line:
    """Return the line of a prompt; one that was pasted is not the user's."""
    pasted = tuple(label.partition("{}")[0] for label in all_labels("summary")["pasted"])
    return Line(text, ASKED, IMPORTED if text.startswith(pasted) else USER, number=number)
