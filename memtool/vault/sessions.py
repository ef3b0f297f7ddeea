"""Session notes: what a session came to, in the format of docs/vault-format.md. One printer and one parser. Pure.

Each bullet is one statement, a `Line`, and whatever its text is, it is read back as that line and nothing else. Notes
of earlier versions are read into the same values (`old_sessions`); nothing writes their form any more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from memtool.named_tuple import NamedTuple
from memtool.text.frontmatter import plain_fields, quoted, split_front_matter
from memtool.text.languages import all_labels, labels as labels_in
from memtool.text.lines import one_line, shortened
from memtool.text.markdown import closes, find_links, link, opening
from memtool.text.scripts import is_unspaced
from memtool.vault.authors import (
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
    SUMMARY,
    TITLE,
    USER,
)  # fmt: skip
from memtool.vault.note import Note

TOLD = ("request", "investigated", "learned", "completed", "next_steps")  # of a summary by who worked
SECTIONS = {
    "decisions": DECISION, "rules": RULE, "fixed": FIX, "findings": FINDING, "done": "", "open": OPEN,
    "commands": COMMAND,
}  # fmt: skip

_OF_THE_USER = frozenset({ASKED, DECISION, RULE})  # roles of lines that are the user's, where no author is named
_WIDEST_TITLE = 80  # columns of a title that is made of a line
_LONGEST_TOLD = 1_000  # characters of one part of a summary
_DIGITS = 16  # of a hash, in hexadecimal
_MARKS = r"[\s\"'`“”„「」*]+"
_CHECKSUM = r"checksum: \"?([0-9a-f]{8})\"?\n"
_MINUTE = r"\d{4}-\d\d-\d\d \d\d:\d\d"
_SIGNED = rf"(.+?)[ \t]*[(（]({'|'.join(AUTHORS)})[)）]"
_HEAD = "head"  # what is above all sections
_BULLET = r"\s*[-*+]\s+"
_ROLES_OF_PARTS = {"title": TITLE, "asked": ASKED, "files": "", "links": ""}
_BOX = r"\[([ xX])\] +"
_FILE = r"`([^`]+)`|([^,`\s][^,`]*)"
_NEEDS_CODE = (
    r"[,*()（）\[\]“”\\]|__|^[_<]|^\s*$"  # of a file's name: it would end the list, or be read as something else
)
# At the beginning of a line or a statement these mean something, to us or to Markdown.
_MEANS_OF_ITEM = r"[*\\]|```|~~~"
_MEANS_OF_LINE = r"#{1,6}(?:\s|$)|[>|*+<~`=_\\-]|\[(?:[ xX]\]|\^)"
_NUMBERED = r"^(\d+)(\\*[.)])"


class Line(NamedTuple):
    """One statement of a session's note: one memory.

    Args:
        text: plain, without bullet, quotation marks, check box and author.
        role: `asked`, `decision`, `rule`, `fix`, `finding`, `refuted`, `open` or `command`; empty for what came of a
            turn, where no role is claimed. Read from a note, also `title` and `summary`.
        author: `user`, `agent`, `tool` or `imported`.
        turn: of the source, from 1; 0 if unknown.
        number: of the line of the file, from 1; 0 before it is printed.
        asked: the beginning of the prompt that it answers, as it is shown.
    """

    text: str
    role: str = ""
    author: str = AGENT
    turn: int = 0
    number: int = 0
    asked: str = ""


class Draft(NamedTuple):
    """The content of a note, from any writer.

    Args:
        title: what came of the session, on one line.
        asked: what it began with, in the user's words.
        summary: one sentence.
        lines: in the order of their sections, those of one prompt together.
        files: names of those that were edited.
        more_files: how many were, besides *files*.
    """

    title: str = ""
    asked: str = ""
    summary: str = ""
    lines: tuple[Line, ...] = ()
    files: tuple[str, ...] = ()
    more_files: int = 0


class SessionNote(NamedTuple):
    """A session's note.

    Args:
        id: of the session; empty if the note does not say it.
        date: the day on which it was last heard of.
        updated: the local minute of that, such as `2026-02-10 14:30`.
        branch: the git branch, empty if that tells nothing.
        client: the agent's client, where it was another one than Claude Code.
        size: of its transcript, in bytes; 0 where there is none.
        writer: `claude`, `rules`, the name of a provider, `agent` for a summary that the agent gave; empty if unknown.
        told: the parts of a summary that the agent gave by itself, as `TOLD` names them.
        tags: words without `#`.
        links: text and target of each link, relative to the folder of the note.
    """

    id: str = ""
    project: str = ""
    date: str = ""
    updated: str = ""
    branch: str = ""
    client: str = ""
    size: int = 0
    writer: str = ""
    told: Mapping[str, str] = {}
    tags: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    draft: Draft = Draft()


def render_session(note: SessionNote, *, language: str = "en") -> str:
    """Return the Markdown of *note*; what it has nothing to say about is left out."""
    names, draft = labels_in("session", language), note.draft
    day = note.date or note.updated[:10]
    title = one_line(draft.title) or f"{names['session']} {one_line(day)}".strip()
    asked = _labelled(names["asked"], f"“{said}”") if (said := one_line(draft.asked)) else ""
    links = ", ".join(link(text, target) for text, target in note.links if one_line(target))
    ends = {"files": _files(draft, names["more_files"]), "links": links}
    tail = "\n".join(f"**{names[name]}**: {value}" for name, value in ends.items() if value)
    blocks = [f"# {title}", _escaped_line(one_line(draft.summary)), asked, *_sections(draft.lines, names), tail]
    body = "\n\n".join(filter(None, blocks)) + "\n"
    matter = _front_matter(note)
    return f"---\n{matter}checksum: {quoted(_checksum(matter, body))}\n---\n\n{body}"


def parse_session(text: str) -> SessionNote:
    """Return the content of a session's note in any language, without the lines that are no part of the format."""
    found: dict[str, list[Line]] = {}
    for part, line in _parts(text):
        found.setdefault(part, []).append(line)
    first = {part: lines[0].text for part, lines in found.items()}
    files, more_files = _parse_files(line.text for line in found.get("files", ()))
    draft = Draft(
        title=first.get("title", ""),
        asked=first.get("asked", ""),
        summary=" ".join(line.text for line in found.get("summary", ())),
        lines=tuple(found.get("line", ())),
        files=files,
        more_files=more_files,
    )
    fields = _fields(text)
    updated = fields.get("updated") or first.get("updated", "")[:16]
    return SessionNote(
        id=fields.get("session") or first.get("id", ""),
        project=fields.get("project") or first.get("project", ""),
        date=fields.get("date") or updated[:10],
        updated=updated,
        branch=fields.get("branch") or first.get("branch", ""),
        client=fields.get("client", ""),
        size=int(size) if (size := fields.get("size", "")).isdecimal() and len(size) < 18 else 0,
        writer=fields.get("writer", ""),
        told=told_in(fields),
        tags=_tags(text),
        links=tuple(link for line in found.get("links", ()) for link in find_links(line.text)),
        draft=draft,
    )


def lines_of(text: str, heading: str = "") -> list[Line]:
    """Return the lines of the session note *text*: its title, its summary, what was asked, and each statement.

    What is no part of a session's note is none of them, nor are the files. Of a part of a note, *heading* is the path
    of headings above it.
    """
    return [line for part, line in _parts(text, heading) if part in ("title", "summary", "asked", "line")]


def told_in(fields: Mapping[str, object]) -> dict[str, str]:
    """Return the parts of a summary by who worked that the front matter of a session's note holds."""
    return {name: value for name in TOLD if isinstance(value := fields.get(name), str) and value}


def session_title(note: Note) -> str:
    """Return the title of a session: that of its note, else what it says first, else its day, but never its id."""
    if not _is_nameless(note.title):
        return note.title
    said = parse_session(note.text)
    telling = next((line.text for line in said.draft.lines if line.role not in (ASKED, COMMAND)), said.draft.asked)
    title = "" if _is_nameless(said.draft.title) else said.draft.title
    named = f"{labels_in('session', 'en')['session']} {said.date}".strip()
    return title or shortened(telling, _WIDEST_TITLE) or named


def _is_nameless(title: str) -> bool:
    return not title or re.search(rf"^(?:{one_of('session')})[:：]? *\S*$|(?!.*\s).*[0-9a-f-]{{36}}", title) is not None


def hash_of_words(text: str) -> str:
    """Return the hash of the words of *text*: white space, case, quotes and code marks do not count."""
    import hashlib  # a hook does without

    return hashlib.sha256(re.sub(_MARKS, "", text).casefold().encode("utf-8", "replace")).hexdigest()[:_DIGITS]


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


def _front_matter(note: SessionNote) -> str:
    fields = {
        "type": "session", "session": note.id, "date": note.date or note.updated[:10], "updated": note.updated,
        "project": note.project, "branch": note.branch, "client": note.client,
    }  # fmt: skip
    written = {name: quoted(value) for name, text in fields.items() if (value := one_line(text))}
    if re.fullmatch(_MINUTE, note.updated):
        written["updated"] = note.updated
    if note.size:
        written["size"] = str(note.size)
    if note.writer:
        written["writer"] = quoted(note.writer)
    if tags := [tag for each in note.tags if (tag := re.sub(r"[\s,\[\]\"'#]+", "-", one_line(each)).strip("-"))]:
        written["tags"] = f"[{', '.join(map(quoted, tags))}]"
    told = ((name, note.told.get(name, "").strip()[:_LONGEST_TOLD]) for name in TOLD)
    written |= {name: json.dumps(text, ensure_ascii=False) for name, text in told if text}
    return "".join(f"{name}: {value}\n" for name, value in written.items())


def _fields(text: str) -> dict[str, str]:
    matter = split_front_matter(text.removeprefix("\ufeff").replace("\r\n", "\n"))[0]
    return plain_fields(matter) if matter else {}


def _tags(text: str) -> tuple[str, ...]:
    found = re.search(r"(?m)^tags: *\[(.*)\]", text.partition("\n---")[0])
    return tuple(re.findall(r"[^\s,\"']+", found[1])) if found else ()


def _sections(lines: Iterable[Line], names: Mapping[str, str]) -> Iterator[str]:
    of_section: dict[str, list[Line]] = {}
    for line in lines:
        if said := one_line(line.text):
            of_section.setdefault(section_of(line.role), []).append(line._replace(text=said))
    for section in SECTIONS:
        if found := of_section.get(section):
            told = _done(found) if section == "done" else (f"- {_statement(line, names)}" for line in found)
            yield "\n".join([f"## {names[section]}", *told])


def section_of(role: str) -> str:
    """Return the section in which lines of *role* are."""
    wanted = FINDING if role == REFUTED else role
    return next((section for section, each in SECTIONS.items() if each == wanted), "done")


def _done(lines: Iterable[Line]) -> Iterator[str]:
    """Give what came of each prompt below its beginning."""
    above = ""
    for line in lines:
        is_asked = line.role == ASKED
        asked = line.text if is_asked else one_line(line.asked)
        if asked and asked != above:
            yield f"- {_signed(f'*{asked}*', line.author if is_asked else USER, USER)}"
        above = asked
        if not is_asked:
            yield f"{'  ' if asked else ''}- {_signed(_escaped(line.text), line.author, AGENT)}"


def _statement(line: Line, names: Mapping[str, str]) -> str:
    """Return *line* as the text of a bullet."""
    text, role = line.text, line.role
    if role == COMMAND:
        return f"`{text.replace('`', chr(39))}`"
    if role == FINDING and (again := _refuted(text)):
        role, text = REFUTED, again
    if role == REFUTED:
        text = _labelled(names["refuted"], _refuted(text) or text)
    elif role == OPEN:
        text = f"[ ] {_escaped(text)}"
    elif role == RULE and line.author == USER:
        text = f"“{text}”"
    else:
        text = _escaped(text)
    return _signed(text, line.author, default_author(role))


def _labelled(label: str, text: str) -> str:
    return f"{label}：{text}" if is_unspaced(label[-1]) else f"{label}: {text}"


def author_of_prompt(text: str) -> str:
    """Return the author of a prompt: nobody here wrote what was pasted."""
    pasted = tuple(label.partition("{}")[0] for label in all_labels("summary")["pasted"])
    return IMPORTED if text.startswith(pasted) else USER


def default_author(role: str) -> str:
    """Return the author of lines of *role* where none is named."""
    return USER if role in _OF_THE_USER else AGENT


def _signed(text: str, author: str, default: str) -> str:
    """Return *text* with its author behind it, where it is another one than the default, or *text* seems to end so."""
    return f"{text} ({author})" if author != default or re.fullmatch(_SIGNED, text) else text


def _escaped(text: str) -> str:
    return f"\\{text}" if re.match(_MEANS_OF_ITEM, text) else text


def _unescaped(text: str) -> str:
    return text[1:] if text.startswith("\\") and re.match(_MEANS_OF_ITEM, text[1:]) else text


def _escaped_line(text: str) -> str:
    """Return *text* as a line of its own that is nothing but a sentence."""
    if re.match(_MEANS_OF_LINE, text) or _asked_in(text):
        return f"\\{text}"
    return re.sub(_NUMBERED, r"\1\\\2", text)


def _unescaped_line(text: str) -> str:
    if text.startswith("\\"):
        return text[1:] if re.match(_MEANS_OF_LINE, text[1:]) or _asked_in(text[1:]) else text
    return re.sub(r"^(\d+)\\(\\*[.)])", r"\1\2", text)


def _parts(text: str, heading: str = "") -> Iterator[tuple[str, Line]]:
    """Give the parts of a session's note with their names, in the order of its lines."""
    if is_old(text):
        from memtool.vault.old_sessions import old_parts  # few notes are

        yield from old_parts(text)
        return
    section, above, summary_at = _section_at(text, heading), "", 0
    for number, line in body_lines(text):
        part, name, value = read_line(line)
        is_below = line[:1] in (" ", "\t")
        if part == "bullet" and value and section in SECTIONS:
            read = read_bullet(section, value, number, above if is_below else "")
            above = read.text if read.role == ASKED else above if is_below else ""
            yield "line", read
        elif part in ("section", "heading") or (part == "title" and section != _HEAD):
            section, above = name, ""
        elif part in _ROLES_OF_PARTS and value:
            section = "" if part in ("files", "links") else section
            role = _ROLES_OF_PARTS[part]
            yield part, Line(value, role, author_of_prompt(value) if role == ASKED else AGENT, number=number)
        elif part == "text" and section == _HEAD and summary_at in (0, number - 1):
            summary_at = number
            yield "summary", Line(_unescaped_line(value), SUMMARY, number=number)


def _section_at(text: str, heading: str) -> str:
    """Return the section in which *text* begins; a part of a note may begin within one."""
    if not re.match(rf"\s*\n|{_BULLET}", text):
        return _HEAD
    return _names().get(heading.rpartition(" > ")[2].casefold(), "done")


def body_lines(text: str) -> Iterator[tuple[int, str]]:
    """Give the number and the text of each line of a note that is no front matter, no code and no comment.

    A bullet that goes on below is given as one line.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    first = split_front_matter("\n".join(line.rstrip("\r") for line in lines))[1]
    at, held = 0, ""
    for number, (line, is_quoted) in enumerate(zip(lines, quoted_lines(lines), strict=True), 1):
        if number < first or is_quoted:
            continue
        plain = " ".join(line.rstrip().splitlines())  # other separators of lines count as spaces
        if plain.startswith((" ", "\t")) and re.match(_BULLET, held) and not re.match(_BULLET, plain):
            held = f"{held} {plain.strip()}"
            continue
        if at:
            yield at, held
        at, held = number, plain
    if at:
        yield at, held


def quoted_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is within code or a comment that began above it."""
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


def read_line(line: str) -> tuple[str, str, str]:
    """Return the part of a note that *line* is, the name of its label, and its text.

    The part is `title`, `section`, `heading` for any other one, `asked`, `files`, `links`, `bullet`, or `text`; empty
    for an empty line.
    """
    if match := re.fullmatch(r"(#{1,6})\s+(.*)", line):
        if len(match[1]) == 1:
            return "title", "title", match[2].strip()
        name = _names().get(match[2].strip().casefold(), "") if len(match[1]) == 2 else ""
        return ("section", name, "") if name in SECTIONS else ("heading", "", match[2])
    if match := re.fullmatch(rf"{_BULLET}(.*)", line):
        return "bullet", "", match[1].strip()
    if match := re.fullmatch(r"\*\*([^*]+)\*\*[:：]\s*(.*)", line):
        name = _names().get(match[1].casefold(), "")
        return (name, name, match[2].strip()) if name in ("files", "links") else ("text", "", line)
    if asked := _asked_in(line):
        return "asked", "asked", asked
    return ("text" if line.strip() else ""), "", line.strip()


def _asked_in(line: str) -> str:
    match = re.fullmatch(rf"(?:{one_of('asked')})[:：]\s*“(.+)”", line) if "“" in line else None
    return match[1] if match else ""


def read_bullet(section: str, value: str, number: int = 0, asked: str = "") -> Line:
    """Return the line that the bullet *value* of *section* is; below a prompt that was *asked*."""
    role = SECTIONS[section]
    if role == COMMAND:
        is_code = len(value) > 2 and value[0] == value[-1] == "`"
        return Line(value[1:-1] if is_code else value, COMMAND, AGENT, number=number)
    match = re.fullmatch(_SIGNED, value)
    text, author = (match[1], match[2]) if match else (value, "")
    if section == "done" and not asked and len(text) > 2 and text[0] == text[-1] == "*":
        return Line(text[1:-1], ASKED, author or USER, number=number)
    if role == OPEN and (box := re.match(_BOX, text)):
        role, text = OPEN if box[1] == " " else "", text[box.end() :]
    elif role == FINDING and (refuted := _refuted(text)):
        return Line(refuted, REFUTED, author or AGENT, number=number)
    author = author or default_author(role)
    if role == RULE and author == USER and len(text) > 2 and (text[0], text[-1]) == ("“", "”"):
        return Line(text[1:-1], RULE, author, number=number)
    return Line(_unescaped(text), role, author, number=number, asked=asked)


def _refuted(text: str) -> str:
    """Return a finding without the label that says that it was refuted; empty where it has none."""
    match = re.fullmatch(rf"(?:{one_of('refuted')})[:：]\s*(.+)", text)
    return match[1] if match else ""


@cache
def _names() -> dict[str, str]:
    found = all_labels("session")
    return {word.casefold(): name for name in (*SECTIONS, "files", "links") for word in found[name]}


@cache
def one_of(name: str) -> str:
    """Return a pattern for the label *name* in any language."""
    return "|".join(map(re.escape, all_labels("session")[name]))


@cache
def _more_files() -> str:
    return one_of("more_files").replace("N", r"(\d{1,9})")


def _files(draft: Draft, more: str) -> str:
    named = ", ".join(filter(None, map(_file, draft.files)))
    rest = f"({more.replace('N', str(draft.more_files))})" if draft.more_files else ""
    return " ".join(filter(None, [named, rest]))


def _file(name: str) -> str:
    line = one_line(name).replace("`", "'")
    return f"`{line}`" if re.search(_NEEDS_CODE, line) and line else line


def _parse_files(lines: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Return the files that are named, and how many more there are."""
    files: list[str] = []
    more = 0
    for line in lines:
        named = line
        if match := re.fullmatch(rf"(.*?)[,，]?\s*[(（]?(?:{_more_files()})[)）]?", line):
            named, more = match[1], more + sum(int(count) for count in match.groups()[1:] if count)
        files += [code or plain.strip() for code, plain in re.findall(_FILE, named)]
    return tuple(files), more


def is_old(text: str) -> bool:
    """Return whether *text* is a session's note of an earlier version, or a part of one."""
    seems_old = "**" in text or text.startswith("   - ")
    return seems_old and re.search(_old(), text) is not None and not re.search(_new(), text)


@cache
def _old() -> str:
    found = "|".join(re.escape(word) for words in all_labels("session").values() for word in words)
    return rf"(?m)^(?:\d+\. |- )\*\*(?:{found})\*\*[:：]|\A {{3}}- "


@cache
def _new() -> str:
    return rf"(?mi)^## (?:{'|'.join(map(re.escape, _names()))})\s*$"
