"""Session notes: the results of a session, in the format of docs/vault-format.md. One printer and one parser. Pure.

Each bullet is one statement, a `Line`, and whatever its text is, it is read back as that line and nothing else. Notes
of earlier versions are read into the same values (`old_sessions`); nothing writes their form any more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from memtool.named_tuple import NamedTuple
from memtool.text.frontmatter import plain_fields, quoted, split_front_matter
from memtool.text.languages import label_languages, labels as labels_in
from memtool.text.lines import one_line, shortened
from memtool.text.markdown import find_links, link
from memtool.vault import limits
from memtool.vault.memory import (
    AGENT,
    ASKED,
    COMMAND,
    SUMMARY,
    TITLE,
    USER,
    Line as Line,  # noqa: PLC0414  (readers of notes find it here)
)
from memtool.vault.old_sessions import is_old, old_parts, read_old_line
from memtool.vault.session_text import (
    SECTIONS,
    NoteBlock,
    author_of_prompt,
    body_blocks,
    bullet_in,
    escaped_line,
    joined_lines,
    labelled,
    names_of_labels,
    one_of,
    parse_files,
    print_file,
    print_statement,
    quoted_lines,
    read_line,
    read_statement,
    section_of,
    unescaped_line,
)

if TYPE_CHECKING:
    from memtool.vault.note import Note

SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps")  # of a summary by who worked
_MARKS = r"[\s\"'`“”„「」*]+"
_ROLES_OF_PARTS = {"title": TITLE, "asked": ASKED, "files": "", "links": ""}
_CHECKSUM = r"checksum: \"?([0-9a-f]{8})\"?\n"
_MINUTE = r"\d{4}-\d\d-\d\d \d\d:\d\d"


class Draft(NamedTuple):
    """The content of a note, from any writer.

    Args:
        title: the result of the session, on one line.
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
        branch: the git branch; empty for a default branch.
        client: the agent's client, where it was another one than Claude Code.
        size: of its transcript, in bytes; 0 where there is none.
        writer: `claude`, `rules`, the name of a provider, `agent` for a summary that the agent gave; empty if unknown.
        parts: the parts of a summary that the agent gave by itself, as `SUMMARY_PARTS` names them.
        tags: words without `#`.
        aliases: names that its file had before.
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
    parts: Mapping[str, str] = {}
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    draft: Draft = Draft()


def render_session(note: SessionNote, *, language: str = "en") -> str:
    """Return the Markdown of *note*, without empty parts."""
    names, draft = labels_in("session", language), note.draft
    day = note.date or note.updated[:10]
    title = one_line(draft.title) or f"{names['session']} {one_line(day)}".strip()
    asked = labelled(names["asked"], f"“{said}”") if (said := one_line(draft.asked)) else ""
    links = ", ".join(link(text, target) for text, target in note.links if one_line(target))
    files = ", ".join(filter(None, map(print_file, draft.files)))
    rest = f"({names['more_files'].replace('N', str(draft.more_files))})" if draft.more_files else ""
    ends = {"files": " ".join(filter(None, [files, rest])), "links": links}
    tail = "\n".join(f"**{names[name]}**: {value}" for name, value in ends.items() if value)
    blocks = [f"# {title}", escaped_line(one_line(draft.summary)), asked, *_sections(draft.lines, names), tail]
    body = "\n\n".join(filter(None, blocks)) + "\n"
    matter = _front_matter(note)
    return f"---\n{matter}checksum: {quoted(_checksum(matter, body))}\n---\n\n{body}"


def parse_session(text: str) -> SessionNote:
    """Return the content of a session's note in any language, without the lines that are no part of the format."""
    found: dict[str, list[Line]] = {}
    for part, line in _parts(text):
        found.setdefault(part, []).append(line)
    first = {part: lines[0].text for part, lines in found.items()}
    files, more_files = parse_files(line.text for line in found.get("files", ()))
    draft = Draft(
        title=first.get("title", ""),
        asked=first.get("asked", ""),
        summary=" ".join(line.text for line in found.get("summary", ())),
        lines=tuple(found.get("line", ())),
        files=files,
        more_files=more_files,
    )
    matter = split_front_matter(text.removeprefix("\ufeff").replace("\r\n", "\n"))[0] or ""
    fields, tags = plain_fields(matter), re.search(r"(?m)^tags: *\[(.*)\]", matter)
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
        parts=summary_parts_in(fields),
        tags=tuple(re.findall(r"[^\s,\"']+", tags[1])) if tags else (),
        links=tuple(link for line in found.get("links", ()) for link in find_links(line.text)),
        draft=draft,
    )


def lines_of(text: str, heading: str = "") -> list[Line]:
    """Return the lines of the session note *text*: its title, its summary, its first prompt, and each statement.

    What is no part of a session's note is none of them, nor are the files. Of a part of a note, *heading* is the path
    of headings above it.
    """
    return [line for part, line in _parts(text, heading) if part in ("title", "summary", "asked", "line")]


def summary_parts_in(fields: Mapping[str, object]) -> dict[str, str]:
    """Return the parts of a summary by who worked that the front matter of a session's note holds."""
    return {name: value for name in SUMMARY_PARTS if isinstance(value := fields.get(name), str) and value}


def session_title(note: Note) -> str:
    """Return the title of a session: that of its note, else its first statement, else its day, but never its id."""
    if not _is_nameless(note.title):
        return note.title
    said = parse_session(note.text)
    telling = next((line.text for line in said.draft.lines if line.role not in (ASKED, COMMAND)), said.draft.asked)
    title = "" if _is_nameless(said.draft.title) else said.draft.title
    named = f"{labels_in('session', 'en')['session']} {said.date}".strip()
    return title or shortened(telling, limits.TITLE) or named


def _is_nameless(title: str) -> bool:
    return not title or re.search(rf"^(?:{one_of('session')})[:：]? *\S*$|(?!.*\s).*[0-9a-f-]{{36}}", title) is not None


def hash_of_words(text: str) -> str:
    """Return the hash of the words of *text*: white space, case, quotes and code marks do not count."""
    import hashlib  # a hook does without

    return hashlib.sha256(re.sub(_MARKS, "", text).casefold().encode("utf-8", "replace")).hexdigest()[:16]


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
    if note.aliases:
        written["aliases"] = f"[{', '.join(map(quoted, note.aliases))}]"
    parts = ((name, note.parts.get(name, "").strip()[:1_000]) for name in SUMMARY_PARTS)
    written |= {name: json.dumps(text, ensure_ascii=False) for name, text in parts if text}
    return "".join(f"{name}: {value}\n" for name, value in written.items())


def _sections(lines: Iterable[Line], names: Mapping[str, str]) -> Iterator[str]:
    of_section: dict[str, list[Line]] = {}
    for line in lines:
        if said := one_line(line.text):
            of_section.setdefault(section_of(line.role), []).append(line._replace(text=said))
    for section in SECTIONS:
        if found := of_section.get(section):
            plain = (f"- {print_statement(line, names)}" for line in found)
            yield "\n".join(
                [f"## {names[section]}", *(_done(found, names) if section in ("findings", "done") else plain)]
            )


def _done(lines: Iterable[Line], names: Mapping[str, str]) -> Iterator[str]:
    """Give the results of each prompt below its beginning."""
    above = ""
    for line in lines:
        is_asked = line.role == ASKED
        asked = line.text if is_asked else one_line(line.asked)
        if asked and asked != above:
            yield f"- {print_statement(Line(asked, ASKED, line.author if is_asked else USER), names)}"
        above = asked
        if not is_asked:
            yield f"{'  ' if asked else ''}- {print_statement(line, names)}"


def _parts(text: str, heading: str = "") -> Iterator[tuple[str, Line]]:
    """Give the parts of a session's note with their names, in the order of its lines."""
    if is_old(text):
        yield from old_parts(text)
        return
    above = 0
    if bullet_in(text.lstrip("\r\n").partition("\n")[0]):  # a part of a note may begin within a section
        section = names_of_labels().get(heading.rpartition(" > ")[2].casefold(), "done")
        text, above = f"## {labels_in('session', 'en').get(section, section)}\n{text}", 1
    for block in body_blocks(text.removeprefix("\ufeff").replace("\r\n", "\n")):
        part, value, number = block.part, block.text, block.number - above
        if part == "section":
            yield from _statements(block, above)
        elif part == "summary":
            yield part, Line(unescaped_line(value), SUMMARY, number=number)
        elif part in _ROLES_OF_PARTS and (block.key or part != TITLE) and value:
            role = _ROLES_OF_PARTS[part]
            yield part, Line(value, role, author_of_prompt(value) if role == ASKED else AGENT, number=number)


def _statements(section: NoteBlock, above: int) -> Iterator[tuple[str, Line]]:
    """Give the statements of a *section*, numbered without the lines *above*; those below a prompt know it."""
    prompt = ""
    for number, line in joined_lines(section.lines, quoted_lines(section.lines), section.number):
        is_below = line[:1] in (" ", "\t")
        if value := bullet_in(line):
            asked = prompt if is_below else ""
            said = read_statement(section.text, value, is_below=bool(asked))
            prompt = said.text if said.role == ASKED else prompt if is_below else ""
            asked = "" if said.role == ASKED else asked
            if said.role == ASKED and section.text == "findings":
                continue  # the lines below it name it; by itself it would be one of what was done
            yield "line", Line(said.text, said.role, said.author, number=number - above, asked=asked)
        elif "“" in line and (read := read_line(line))[0] == "asked":
            yield "asked", Line(read[2], ASKED, author_of_prompt(read[2]), number=number - above)


def in_form_of_today(text: str) -> str:
    """Return the session note *text* in the form of today; the owner's own lines of an earlier version are below."""
    if not is_old(text):
        return text
    plain = text.replace("\r\n", "\n")
    lines = plain.split("\n")
    start = split_front_matter(plain)[1] - 1
    found = {
        code: sum(f"**{word}**" in text for word in labels_in("session", code).values()) for code in label_languages()
    }
    language = max(found, key=lambda code: found[code])
    body = render_session(parse_session(plain), language=language).partition("---\n\n")[2]
    own = "\n".join(_own_lines(lines[start:])).strip("\n")
    today = "\n".join([*lines[:start], "", body]) + (f"\n{own}\n" if own else "")
    return today.replace("\n", "\r\n") if "\r\n" in text else today


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    """Give the lines of a note of an earlier version that are no part of its format, and the empty ones between."""
    is_open = is_titled = False  # whether a section goes on
    for line, is_quoted in zip(lines, quoted_lines(lines), strict=True):
        part, name, _ = ("", "", "") if is_quoted else read_old_line(line.rstrip())
        is_below = is_open and line[:1] in (" ", "\t")
        is_ours = is_below or bool(name) or (part == "title" and not is_titled) or line.strip() == "---"
        is_open = (part == "section" and bool(name)) or is_below or (is_open and not line.strip())
        is_titled = is_titled or part == "title"
        if not is_ours or is_quoted:
            yield line
