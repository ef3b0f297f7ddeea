"""Records of the lines that sessions were given, when and why: one for each start and each prompt, beside the ledgers.

A hook appends raw numbers; `memtool given` puts them into words, and looks up what each line says now, so that what was
forgotten since is not shown. Unlike a ledger it outlives compaction and the end of its session.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtool.errors import SessionNotFound, UsageError
from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.recall.ledger import key_of, ledger_path, line_key
from memtool.vault.layout import session_name
from memtool.vault.state import append_state, read_state, write_state

if TYPE_CHECKING:
    from memtool.recall.budget import BlockLine

START, PROMPT = "start", "prompt"
# Why a line was not given.
BELOW_FLOOR, ALIKE, PALE, CONTRADICTED = "floor", "alike", "pale", "contradicted"
RESTS, AT_START, OVER_LIMIT, OVER_ROOM, NEVER_USED = "rests", "start", "limit", "room", "unused"

_SUFFIX = ".jsonl"
_LARGEST = 524_288  # bytes of a session's records; a file that is full loses its older half
_MOST_MATCHES = 5
_ASSIGNING = frozenset("=:：@$%&\\")  # what stands behind one of these may be a secret


class GivenLine(NamedTuple):
    """A line that was given, or came next.

    Args:
        id: its short id; empty if it was not given.
        ref, line: where it stood; no line for a row of a session, of which it gives what there was room for.
        fact_id: of a fact.
        text: what it said; empty for a fact, and for a note as a whole.
        relevance: to the prompt, from 0 to 1.
        evidence: what spoke for it, as `memtool.recall.answers.likelihood.Signs` names it.
        left_out: why it was not given.
        turns: how many turns ago it was given before.
    """

    id: str
    ref: str
    line: int = 0
    fact_id: str = ""
    text: str = ""
    relevance: float = 0.0
    evidence: Mapping[str, float] = {}
    left_out: str = ""
    turns: int = 0

    @property
    def memory(self) -> str:
        """The key of its memory, the fact or the note, in ledgers and counts."""
        return key_of(self.ref, self.fact_id)

    @property
    def key(self) -> str:
        """The key of the line itself in the counts of `memtool.recall.uses`."""
        return line_key(self.text, self.fact_id or self.ref)


class Giving(NamedTuple):
    """The lines that were given at one time.

    Args:
        at: ISO, local time.
        event: `START` or `PROMPT`.
        project: the area of the folder in which the session works; empty for none.
        turn: the number of the prompt.
        prompt: its beginning, in words that the vault knows (`in_known_words`).
        lines: in the order in which they were given.
        next: what came next in rank.
        client: to whose session; empty for Claude Code.
        team: lines of the team's vaults, which have no ids; their ref begins with the name of a vault.
    """

    at: str
    event: str
    project: str
    turn: int = 0
    prompt: str = ""
    lines: tuple[GivenLine, ...] = ()
    next: tuple[GivenLine, ...] = ()
    client: str = ""
    team: tuple[GivenLine, ...] = ()


def keep_giving(folder: Path, session_id: str, giving: Giving) -> None:
    """Add *giving* to the records of a session in the *folder* of the ledgers; where that cannot be, it is lost."""
    path = ledger_path(folder, session_id, _SUFFIX)
    lines, after = (
        tuple(line._replace(text=line.text[: limits.LONGEST_LINE]) for line in found)
        for found in (giving.lines, giving.next)
    )
    fields = giving._replace(lines=lines, next=after)
    line = json.dumps(fields).encode() + b"\n"
    with suppress(OSError):
        if path.exists() and path.stat().st_size + len(line) > _LARGEST:
            newest = read_state(path, largest=2 * _LARGEST)[-_LARGEST // 2 :]
            write_state(path, newest[newest.find(b"\n") + 1 :])
        append_state(path, line)


def lines_of_start(lines: Iterable[BlockLine]) -> tuple[GivenLine, ...]:
    """Return the *lines* of the block of a start that have ids."""
    return tuple(map(_of_start, (line for line in lines if line.id)))


def read_givings(folder: Path, session: str) -> list[Giving]:
    """Return the records of the *session* that `sessions_given` names, oldest first."""
    with suppress(OSError):
        content = read_state(folder / f"{session}{_SUFFIX}", largest=2 * _LARGEST)
        return [giving for line in content.splitlines() if (giving := _parse(line))]
    return []


def sessions_given(folder: Path) -> list[str]:
    """Return the sessions of which there are records, the latest first, by the names of their notes."""
    with suppress(OSError):
        paths = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.lstat().st_mtime, reverse=True)
        return [path.name.removesuffix(_SUFFIX) for path in paths]
    return []


def session_named(name: str, sessions: Iterable[str]) -> str:
    """Return the one of *sessions* that *name* means: the client's id, or the beginning of it.

    Raises:
        SessionNotFound: none does.
        UsageError: several do.
    """
    sessions = list(sessions)
    whole = session_name(name)
    found = [whole] if whole in sessions else [session for session in sessions if session.startswith(name) and name]
    if not found:
        raise SessionNotFound(f"no session whose id begins with '{name}' was given anything")
    if len(found) > 1:
        listed = ", ".join(found[:_MOST_MATCHES])
        raise UsageError(f"'{name}' may mean {len(found)} sessions: {listed}", hint="Write more of the id.")
    return found[0]


def find_given(folder: Path, line_id: str, session_id: str) -> list[GivenLine]:
    """Return the lines that were given with the short id *line_id*, each once.

    What the session *session_id* was given counts before what others were.
    """
    sessions = sessions_given(folder)
    own = session_name(session_id) if session_id else ""
    for chosen in ([own], [session for session in sessions if session != own]):
        found = {
            (line.ref, line.fact_id, line.text): line
            for session in chosen
            for giving in read_givings(folder, session)
            for line in giving.lines
            if line.id == line_id
        }
        if found:
            return list(found.values())
    return []


def in_known_words(prompt: str, known: Callable[[list[str]], Collection[str]]) -> str:
    """Return the beginning of *prompt* with `…` for each word that the vault does not hold.

    So no secret of a prompt is ever written, without all of redaction, which takes longer than a hook may. Scripts
    without spaces stay. What stands behind a colon or an equals sign goes.

    Args:
        prompt: as it was typed.
        known: which of some folded words the vault holds.
    """
    from memtool.text.tokens import words_of  # the start of a session needs no words

    beginning = prompt[: limits.LONGEST_LINE]
    at = beginning.lower().find("<private")
    pieces = (beginning if at < 0 else f"{beginning[:at]} …").split()
    words = {piece: words_of(piece) for piece in pieces}
    held = set(known(sorted(set().union(*words.values())))) if words else set()
    shown: list[str] = []
    is_value = False
    for piece in pieces:
        is_plain = words[piece] <= held and not is_value and not _ASSIGNING.intersection(piece.rstrip(":：=?!.,"))
        is_shown = is_plain and bool(words[piece] or not piece.isascii())
        if is_shown or shown[-1:] != ["…"]:
            shown.append(piece if is_shown else "…")
        is_value = piece.endswith(("=", ":", "："))
    return " ".join(shown)


def _of_start(line: BlockLine) -> GivenLine:
    ref, _, place = line.ref.partition(":")
    first = place.partition("-")[0]
    fact_id = line.key.removeprefix(f"{ref}#") if line.key != ref else ""
    text = "" if line.key else line.said or line.text
    return GivenLine(line.id, ref, int(first) if first.isdigit() else 0, fact_id, text)


def _parse(line: bytes) -> Giving | None:
    """Return a record; None for one that memtool did not write."""
    try:
        giving = Giving(*json.loads(line))
        lines, after, team = (tuple(_lines(found)) for found in (giving.lines, giving.next, giving.team))
        giving = giving._replace(lines=lines, next=after, team=team)
    except (ValueError, TypeError, RecursionError):
        return None
    return giving if _is_sound(giving, Giving("", "", "")) else None


def _lines(found: Iterable[Any]) -> Iterator[GivenLine]:
    sound = GivenLine("", "")
    for fields in found:
        line = GivenLine(*fields)
        is_sound = _is_sound(line, sound) and all(type(value) in (int, float) for value in line.evidence.values())
        parts = line.ref.replace("\\", "/").split("/")
        is_hidden = bool(parts[0]) and any(part.startswith(".") for part in parts)  # git's files, or our own
        if not is_sound or is_hidden:
            raise ValueError("not written by memtool")
        yield line


def _is_sound(value: tuple[Any, ...], like: tuple[Any, ...]) -> bool:
    pairs = zip(value, like, strict=True)
    return all(type(one) is type(other) or (type(other) is float and type(one) is int) for one, other in pairs)
