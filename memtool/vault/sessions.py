"""Session notes: one summary for each session, in the format of docs/vault-format.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memtool.vault.frontmatter import quoted
from memtool.vault.prose import in_language, one_line

KEY_POINT_KINDS = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
LABELS = {
    "session": ("Session", "会话"),
    "project": ("Project", "项目"),
    "updated": ("Time", "时间"),
    "directory": ("Directory", "目录"),
    "transcript": ("Transcript", "对话记录"),
    "topic": ("Topic", "主题"),
    "key_points": ("Key points", "要点"),
    "files": ("Files", "文件"),
    "decisions": ("Decisions", "决定"),
    "done": ("Done", "已完成"),
    "open": ("Open", "待办"),
    "last update": (" (last update)", "（最后更新）"),
    "lines": ("lines", "行"),
}

_TITLE, _HEADER, _SECTION, _BULLET = (
    re.compile(pattern)
    for pattern in (
        r"# ([^:：]+)[:：] *(.*)",
        r"- \*\*([^*]+)\*\*[:：] *(.*)",
        r"\d+\. \*\*([^*]+)\*\*[:：] *(.*)",
        r"\s+- (.*)",
    )
)
_TRANSCRIPT = re.compile(r"(\d{1,9}) KB, (\d{1,9})")
_KIND = re.compile(rf"\[({'|'.join(KEY_POINT_KINDS)})\] +")
_TAG = re.compile(r"#[^\s#]*[^\W\d][^\s#]*")  # `#4573` is an issue, not a tag
_FILE = re.compile(r"`([^`]+)`|([^,`\s][^,`]*)")
_NEEDS_CODE = re.compile(r"[,*]|__|^_")  # would end the list, or be read as emphasis


@dataclass(frozen=True)
class KeyPoint:
    """One thing worth knowing. *kind* is empty or one of KEY_POINT_KINDS; *tags* are words without `#`."""

    text: str
    kind: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SessionNote:
    """What a session was about. *updated* is local time to the minute, such as `2026-02-10 14:30`."""

    id: str
    project: str = ""
    updated: str = ""
    directory: str = ""
    transcript_kb: int = 0
    transcript_lines: int = 0
    topic: str = ""
    key_points: tuple[KeyPoint, ...] = ()
    files: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


def render_session(note: SessionNote, *, language: str = "en") -> str:
    """Return the Markdown of *note*; what it has nothing to say about is left out."""
    labels = in_language(LABELS, language)
    header = [f"- **{labels[name]}**: {value}" for name, value in _header(note, labels).items() if value]
    told = [f"**{labels[name]}**:{text}" for name, text in _sections(note).items() if text]
    sections = [f"{number}. {text}" for number, text in enumerate(told, start=1)]
    title = f"# {labels['session']}: {one_line(note.id)}"
    blocks = [_front_matter(note), title, "\n".join(header), "---" if sections else "", "\n".join(sections)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def parse_session(text: str) -> SessionNote:
    """Return what a session note says, in whichever language; what is no part of the format is passed over."""
    title, header, sections = "", dict[str, str](), dict[str, list[str]]()
    section: list[str] = []
    for line in text.splitlines():
        if (match := _TITLE.fullmatch(line)) and match[1] in LABELS["session"]:
            title = title or match[2]
        elif match := _HEADER.fullmatch(line):
            header[_name(match[1])] = match[2]
        elif match := _SECTION.fullmatch(line):
            section = sections[_name(match[1])] = [match[2]]
        elif match := _BULLET.fullmatch(line):
            section.append(match[1])
    return _note(title, header, {name: [line for line in lines if line] for name, lines in sections.items()})


def _front_matter(note: SessionNote) -> str:
    fields = {
        "type": "session",
        "session": note.id,
        "project": note.project,
        "date": note.updated[:10],
        "summary": note.topic,
    }
    lines = [f"{name}: {quoted(value)}" for name, text in fields.items() if (value := one_line(text))]
    tags = dict.fromkeys(tag for point in note.key_points for tag in _parse_point(_point(point)).tags)
    if tags:
        lines.append(f"tags: [{', '.join(map(quoted, tags))}]")
    return "\n".join(["---", *lines, "---"])


def _header(note: SessionNote, labels: dict[str, str]) -> dict[str, str]:
    size = f"{note.transcript_kb} KB, {note.transcript_lines} {labels['lines']}"
    return {
        "project": one_line(note.project),
        "updated": note.updated and one_line(note.updated) + labels["last update"],
        "directory": one_line(note.directory),
        "transcript": size if note.transcript_kb or note.transcript_lines else "",
    }


def _sections(note: SessionNote) -> dict[str, str]:
    return {
        "topic": _inline([note.topic]),
        "key_points": _bullets(_point(point) for point in note.key_points),
        "files": _inline([", ".join(filter(None, map(_file, note.files)))]),
        "decisions": _inline(note.decisions),
        "done": _inline(note.done),
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
    return f"`{line}`" if _NEEDS_CODE.search(line) else line


def _name(label: str) -> str:
    return next((name for name, words in LABELS.items() if label in words), "")


def _note(title: str, header: dict[str, str], sections: dict[str, list[str]]) -> SessionNote:
    size = _TRANSCRIPT.match(header.get("transcript", ""))
    return SessionNote(
        id=title,
        project=header.get("project", ""),
        updated=header.get("updated", "")[:16],
        directory=header.get("directory", ""),
        transcript_kb=int(size[1]) if size else 0,
        transcript_lines=int(size[2]) if size else 0,
        topic=" ".join(sections.get("topic", [])),
        key_points=tuple(_parse_point(line) for line in sections.get("key_points", [])),
        files=tuple(code or plain.strip() for line in sections.get("files", []) for code, plain in _FILE.findall(line)),
        decisions=tuple(sections.get("decisions", ())),
        done=tuple(sections.get("done", ())),
        open=tuple(sections.get("open", ())),
    )


def _parse_point(line: str) -> KeyPoint:
    match = _KIND.match(line)
    words = line[match.end() if match else 0 :].split()
    tags: list[str] = []
    while len(words) > 1 and _TAG.fullmatch(words[-1]):
        tags.insert(0, words.pop()[1:])
    return KeyPoint(" ".join(words), match[1] if match else "", tuple(tags))
