"""`memtool show`: a note, a fact or some lines; with --turns or --turn, the turns of a session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from memtool.cli import output
from memtool.cli.options import REF, with_json
from memtool.cli.output import table
from memtool.cli.session import Session
from memtool.errors import NoteNotFound, NotWritable, SessionNotFound, UsageError
from memtool.index.engine import Index, use_index
from memtool.index.lookup import find_fact, find_ref
from memtool.recall.framing import is_line_id
from memtool.recall.ledger import key_of
from memtool.recall.uses import count_uses, read_uses
from memtool.text.lines import counted, shortened, without_surrogates
from memtool.vault.memory import Memory, named
from memtool.vault.reading import OVERVIEW, SUMMARY, WHOLE, Reading, Ref, parse_ref, read_file, read_note, with_lines

if TYPE_CHECKING:
    from memtool.capture.source import Source


@click.command()
@REF
@click.option(
    "--level",
    type=click.IntRange(SUMMARY, WHOLE),
    default=WHOLE,
    show_default=True,
    help="0 summary, 1 overview, 2 everything.",
)
@click.option("--turns", is_flag=True, help="List the turns of a session; for a line of its note, show its turn.")
@click.option("--turn", type=click.IntRange(1), help="Show one whole turn of a session.")
@with_json
def command(session: Session, ref: str, *, level: int, turns: bool, turn: int | None) -> None:
    """Read a note, a fact or some lines; or the turns of a session.

    REF is a path in the vault, a path with lines such as `areas/x.md:10-20`, the name of a note, its title, one of its
    aliases, a link such as `[[note#heading]]`, a project, the beginning of a session's id, the id of a fact, or the
    short id of a line that a session received, such as k3f9.

    `memtool show SESSION --turns` lists the turns of a session, `--turn 7` shows the seventh. For the line of a note,
    as in `memtool show sessions/x.md:12 --turns`, it shows the turn that the line came from.
    """
    text = without_surrogates(ref)
    if turns or turn:
        _show_turns(session, text, turn or 0)
        return
    try:
        reading = _reading(session, text, level)
    except NoteNotFound:
        if not is_line_id(text):
            raise
        reading = _reading(session, _holder_of(session, text), level)
    used = _count_use(session, reading)
    if session.emits({"level": level, **_fields(reading), "uses": used}):
        return
    output.say(f"{reading.memory.path}: {reading.problem}" if reading.problem else "")
    _print(reading.memory)
    if output.is_watched():
        author = named(str(reading.fields.get("author", "")))
        output.say(f"by {author}" if author else "", f"used {counted(used, 'time')}")


def _fields(reading: Reading) -> dict[str, Any]:
    memory = reading.memory
    fields = {
        **memory.place._asdict(), "kind": memory.kind, "project": memory.project, "title": memory.title,
        "text": memory.text, "fields": reading.fields, "problem": reading.problem,
    }  # fmt: skip
    if memory.kind != "session":
        return fields
    from memtool.vault.sessions import lines_of

    lines = ({**line._asdict(), "number": line.number + memory.place.start_line - 1} for line in lines_of(memory.text))
    return {**fields, "lines": list(lines)}


def _print(memory: Memory) -> None:
    if not output.on_terminal() or not memory.path.endswith(".md"):
        output.emit_text(memory.text)
        return
    from memtool.cli import screen
    from memtool.text.frontmatter import read_front_matter

    body_line = read_front_matter(memory.text)[1]
    lines = memory.text.split("\n")
    head = lines[1 : max(1, body_line - 2)]
    screen.show(*(screen.text(line, "dim") for line in head), screen.note("\n".join(lines[body_line - 1 :])))


def _reading(session: Session, text: str, level: int) -> Reading:
    def found(index: Index) -> Reading:
        if fact := find_fact(index.db, text):
            return _fact(session, fact, level)
        if reading := _direct(session, find_ref(index.db, text), level):
            return reading
        raise NoteNotFound(text)

    return _direct(session, parse_ref(text), level) or use_index(session.place(), found)


def _holder_of(session: Session, line_id: str) -> str:
    """Return the fact, the open item or the note that holds the line with this short id."""
    from memtool.memory.forget import find_target, sort_of
    from memtool.vault.memory import FACT, TODO

    target = find_target(session.work, line_id)
    return target.id if target.kind == FACT or sort_of(target) == TODO else target.path


def _count_use(session: Session, reading: Reading) -> int:
    """Return how often the note or fact was used before, and count this reading."""
    try:
        folder = session.work.index_folder
    except NotWritable:  # there is no place to count in
        return 0
    key = key_of(reading.memory.path, reading.memory.fact_id)
    used = read_uses(folder, [key]).get(key, 0)
    count_uses(folder, [key])
    return used


def _direct(session: Session, ref: Ref, level: int) -> Reading | None:
    """Read a file by its path, without the index; return None if there is no such file."""
    max_bytes = session.work.max_bytes
    if path := session.work.outside.path_of(ref.name):
        return read_file(path, path.as_posix(), ref, level=level, max_bytes=max_bytes)
    if not os.path.isfile(session.vault.path(ref.name)):  # noqa: PTH113  (Path.is_file may raise)
        return None
    return read_note(session.vault, ref, level=level, max_bytes=max_bytes)


def _fact(session: Session, fact: Memory, level: int) -> Reading:
    fields = {name: getattr(fact, name) for name in ("id", "date", "category", "status", "author")}
    text = fact.text if level == OVERVIEW else fact.text.split("\n", 1)[0]
    if level == WHOLE:
        text = read_note(session.vault, Ref(*fact.place), level=WHOLE, max_bytes=session.work.max_bytes).memory.text
    return Reading(fact._replace(text=text), fields)


def _show_turns(session: Session, ref: str, number: int) -> None:
    """Print the list of the turns, or the turn with this *number*, or those that the lines of *ref* came from."""
    from memtool.capture.source import turn_of, turn_rows, turn_text

    source, lines = _source(session, ref)
    numbers = [number] if number else list(dict.fromkeys(filter(None, (turn_of(source, line) for line in lines))))
    if lines and not numbers:
        hint = f"See all turns with `memtool show {source.session_id} --turns`."
        raise SessionNotFound(f"no turn holds the words of '{ref}'", hint=hint)
    if number > len(source.turns):
        sentence = f"the session has {len(source.turns)} turns, and no turn {number}"
        raise UsageError(sentence, hint="List them with --turns.")
    texts = {each: turn_text(source.turns[each - 1], each) for each in numbers}
    rows = turn_rows(source)
    fields = [
        row._asdict() | {"at": row.at.isoformat() if row.at else ""}
        | ({"text": texts[row.number]} if texts else {})
        for row in rows if not numbers or row.number in numbers
    ]  # fmt: skip
    if session.emits({"session": source.session_id, "turns": fields}):
        return
    if texts:
        output.emit_text("\n\n".join(texts.values()))
        return
    wide = 48 if output.on_terminal() else 96  # columns of a text
    cells = [
        (str(row.number), row.at.astimezone().strftime("%Y-%m-%d %H:%M") if row.at else "",
         shortened(row.typed, wide), f"→ {shortened(row.ended, wide)}" if row.ended else "", f"{row.size:,}")
        for row in rows
    ]  # fmt: skip
    table(("Turn", "Time", "Typed", "Ended", "Characters"), cells, right=("Turn", "Characters"))


def _source(session: Session, ref: str) -> tuple[Source, list[str]]:
    """Return the source of the session that *ref* means, and the lines of its note that *ref* names."""
    from memtool.capture.source import read_source, without_forgotten
    from memtool.index.filters import Filter
    from memtool.index.lookup import find_session, forgotten_of

    name, lines = find_kept(session, ref)
    source = read_source(session.vault, name)
    if source is None:
        hint = "`memtool import claude-code` keeps the turns of sessions that the client still has."
        raise SessionNotFound(f"no turns of '{ref}' are kept", hint=hint)

    def remaining(index: Index) -> Source:
        place = find_session(index, source.session_id, Filter(session.work.now(), everything=True))
        return without_forgotten(source, forgotten_of(index, place, source.note)) if place else source

    return use_index(session.place(), remaining), lines


def find_kept(session: Session, ref: str) -> tuple[str, list[str]]:
    """Return the id of the session that *ref* means, by its id or its note, and the lines of the note that it names.

    Raises:
        NoteNotFound, UsageError
    """
    from memtool.capture.source import without_marks
    from memtool.vault.files import read_text
    from memtool.vault.session_names import session_of

    if _kept_ids(session, ref):
        return _whole_id(session, ref), []
    place = find_place(session, ref)
    text, _ = read_text(session.vault.path(place.name))
    picked = text.split("\n")[place.first - 1 : place.last] if place.first else []
    return _whole_id(session, session_of(place.name, text)), [line for each in picked if (line := without_marks(each))]


def find_place(session: Session, ref: str) -> Ref:
    """Return the path and the lines that *ref* means: a fact, a note or a part of it, a line with a short id, a file.

    Raises:
        NoteNotFound, UsageError
    """

    def look(index: Index) -> Ref:
        if fact := find_fact(index.db, ref):
            return Ref(*fact.place)
        return with_lines(session.vault, find_ref(index.db, ref))

    try:
        return use_index(session.place(), look)
    except NoteNotFound:
        if is_line_id(ref.strip("[]")):
            from memtool.memory.forget import find_target

            return Ref(*find_target(session.work, ref).place)
        parsed = parse_ref(ref)
        if session.vault.path(parsed.name).is_file():  # such as settings, which no index holds
            return parsed
        raise


def _whole_id(session: Session, begun: str) -> str:
    found = _kept_ids(session, begun)
    if len(found) > 1:
        sentence = f"'{begun}' may mean {len(found)} sessions: {', '.join(found[:5])}"
        raise UsageError(sentence, hint="Write more of the id.")
    return found[0] if found else begun


def _kept_ids(session: Session, begun: str) -> list[str]:
    """Return the kept sessions whose ids begin like *begun*, of which there are at least four characters."""
    from memtool.vault.layout import session_name
    from memtool.vault.sources import list_sources

    names = [one.name for one in list_sources(session.vault)]
    if session_name(begun) in names:
        return [begun]
    return [name for name in names if len(begun) >= 4 and name.startswith(begun.casefold())]
