"""The view of a session: its turns as those see them who write the note, a model or memtool, and who reads them. Pure.

Each thing is a line that begins with a label. Further lines of a text are indented, so that none can pass for a label.
What informs is shown whole where there is room for it; in a long session the rooms shrink, the user's words last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Literal, NamedTuple, TypeAlias

from memtool.capture import limits
from memtool.capture.checks import NOTHING_RAN, UNSURE
from memtool.capture.transcript.text import MARK, shorten
from memtool.capture.turns import Fate, FileEdit, Run, Turn
from memtool.llm import Request
from memtool.resources import agent_text
from memtool.text.languages import name_of, starts_with
from memtool.text.lines import cut, one_line, width
from memtool.text.markdown import with_code_cut
from memtool.text.scripts import HAN
from memtool.text.statements import prose, statements

Share: TypeAlias = Literal["others", "work", "ends", "typed"]

_FLOORS = (600, 300, 150, 0)  # characters: the rooms of the shares shrink in turn to the first, then to the next
_TYPED, _PASTED, _DIALOG = 2_400, 1_200, 500
_LAST, _OTHER, _SUMMARY, _PLAN, _PLAN_REFUSED = 4_500, 1_200, 3_000, 1_500, 500  # the last plan counts
_COMMAND, _ERROR, _EDIT = 200, 260, 160
_CODE, _CODE_TYPED = 160, 600  # of a block of code
_LONGEST_PROMISE = 400  # characters; what is longer informs
_SHORT = 24  # columns of a prompt that goes on with the turn before
_COLUMNS_OF_TURN = 100  # at least; of a longer session the turns in the middle are left out
_LEAST_HAN = 0.15  # of the letters of a user who writes Chinese
_FATES: dict[Fate, str] = {"approved": "approved", "turned down": "stopped", "shown": "laid before the user"}
_EMPTY = re.compile(r"(?i)\W*(?:tool call errored or timed out|cancell?ed|no response requested)\W*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_HARMLESS = re.compile(r"\s*\d?>(?:&\d|\s*/dev/null)")  # where a command prints to
_PARTS = re.compile(r"\s*(?:&&|\|\||[;|])\s*")
_LOOKS = re.compile(
    r"(?:\w+=\S+\s+)*(?:cd|pwd|ls|ll|tree|cat|bat|head|tail|less|wc|sort|uniq|cut|tr|jq|awk|grep|egrep|rg|ag|fd|which|type"
    r"|file|stat|du|df|ps|env|printenv|date|whoami|uname|echo|printf|true|sleep|diff|find(?!.*(?:-delete|-exec))"
    r"|sed(?!.*\s-i)|ssh \S+ (?:ls|cat|grep|tail)|gh \w+ (?:view|list|diff|checks|status)"
    r"|git(?: -\S+(?: (?!-)\S+)?)*? (?:status|log|diff|show|branch|blame|ls-\S+|rev-\S+|remote|reflog|describe|fetch"
    r"|grep|config --get|cat-file|merge-base|stash list|worktree list))(?![\w-])[^>]*"
)


class Piece(NamedTuple):
    """One thing of a turn: *label*, *text*, how many characters of it are shown. Those of a *share* shrink together."""

    label: str
    text: str
    share: Share
    room: int


def request(turns: Sequence[Turn], *, language: str, code: str, limit: int = limits.REQUEST_COLUMNS) -> Request:
    """Return the request for a note of *turns*; *code* is random, so that no transcript can forge the marker.

    *language* is that of the user's own words, as `language_of` finds it; empty if it is not known.
    """
    here = f", here {name_of(language)}" if language else ""
    prompt = (
        f"The turns stand between the two lines `=== {code} ===`.\n"
        f"=== {code} ===\n{shown(turns, limit)}\n=== {code} ===\n"
        f"Those were the turns. Answer with the JSON object, its texts in the language in which the user types{here}; "
        "names and quotes stay as they are."
    )
    return Request(agent_text("summary-of-a-session"), prompt, limits.ANSWER_TOKENS)


def language_of(turns: Sequence[Turn]) -> str:
    """Return `zh` if the user types Chinese, else nothing: a model sees which other language it is."""
    typed = "".join(prose(turn.typed) for turn in turns if not turn.pasted)
    typed += "".join(dialog.answer for turn in turns for dialog in turn.dialogs)
    letters = sum(map(str.isalpha, typed))
    is_chinese = len(re.findall(f"[{HAN}]", typed)) > _LEAST_HAN * letters and not re.search("[\u3041-\u30fa]", typed)
    return "zh" if is_chinese else ""


def shown(turns: Sequence[Turn], limit: int = limits.REQUEST_COLUMNS, *, first: int = 1) -> str:
    """Return *turns* in at most *limit* columns, the first of them with the number *first*; all of them if it is 0.

    A short prompt, such as "yes" or "commit", does not begin a turn of its own.
    """
    most = max(4, limit // _COLUMNS_OF_TURN) if limit else len(turns)
    gone = range(most // 4, len(turns) - (most - most // 4))
    pieces: list[Piece] = []
    for at, turn in enumerate(turns):
        if at not in gone:
            opens = at == 0 or at - 1 in gone or not goes_on(turn)
            pieces += [Piece(f"TURN {at + first}", "", "typed", 0)] if opens else []
            pieces += map(_with_short_code, pieces_of(turn)) if limit else pieces_of(turn, whole=True)
        elif at == gone[0]:
            pieces.append(Piece(MARK, "", "typed", 0))
    refused = [at for at, piece in enumerate(pieces) if piece.label == f"PLAN ({_FATES['turned down']})"]
    for at in refused[:-1]:
        pieces[at] = pieces[at]._replace(room=_PLAN_REFUSED)
    rooms = _rooms(pieces, limit)
    lines = (_line(piece, min(piece.room, rooms[piece.share]) if limit else len(piece.text)) for piece in pieces)
    return "\n".join(filter(None, lines))


def pieces_of(turn: Turn, *, whole: bool = False) -> list[Piece]:
    """Return what is shown of *turn*, or the *whole* of it, in order; commands and edits before the last message."""
    kept = set(turn.messages) if whole else {*informing(turn), *telling(turn)[-1:]}
    work = list(_work(turn, whole=whole))
    pieces = list(_opening(turn))
    for at, message in enumerate(turn.messages):
        pieces += _laid_before(turn, at)
        is_last = at == len(turn.messages) - 1
        pieces += work if is_last else []
        if message in kept:
            share: tuple[Share, int] = ("ends", _LAST) if is_last else ("others", _OTHER)
            pieces.append(Piece("AGENT", message, *share))
    return [*pieces, *_laid_before(turn, len(turn.messages)), *(work if not turn.messages else [])]


def informing(turn: Turn) -> list[str]:
    """Return the messages of *turn* that say something; if all of them only promise to look, the last one."""
    messages = telling(turn)
    return [message for message in messages if not is_promise(message)] or messages[-1:]


def telling(turn: Turn) -> list[str]:
    """Return the messages of *turn* without those that the client put in the place of one."""
    return [message for message in turn.messages if not _EMPTY.fullmatch(message.strip())]


def is_promise(message: str) -> bool:
    """Return whether *message* only announces what comes next: "Let me check the tests:"."""
    said = [each.text for each in statements(message[:_LONGEST_PROMISE])] or [message]
    return len(message) < _LONGEST_PROMISE and all(starts_with("announcement", each) for each in said)


def looks(command: str) -> bool:
    """Return whether *command* only looks at something: `git status`, `grep … | head`."""
    plain = _HARMLESS.sub("", _QUOTED.sub("Q", command))
    return all(_LOOKS.fullmatch(part) for part in _PARTS.split(plain) if part)


def goes_on(turn: Turn) -> bool:
    """Return whether *turn* is shown as part of the one before it."""
    return width(turn.typed) <= _SHORT and not turn.refused and not turn.typed.endswith(("?", "？"))


def _opening(turn: Turn) -> Iterator[Piece]:
    if turn.summary:
        yield Piece("SUMMARY", turn.summary, "others", _SUMMARY)
    label = "USER, REFUSING" if turn.refused else "USER, PASTING" if turn.pasted else "USER"
    if turn.typed:
        yield Piece(label, turn.typed, "typed", _PASTED if turn.pasted else _TYPED)


def _laid_before(turn: Turn, at: int) -> Iterator[Piece]:
    """Give the questions and the plans that came after *at* messages."""
    for dialog in turn.dialogs:
        if dialog.after == at:
            options = f" [{' | '.join(dialog.options)}]" if dialog.options else ""
            yield Piece("ASKED", f"{dialog.question}{options} → {dialog.answer}", "typed", _DIALOG)
    for plan in turn.plans:
        if plan.after == at:
            yield Piece(f"PLAN ({_FATES[plan.fate]})", plan.text, "ends", _PLAN)


def _work(turn: Turn, *, whole: bool) -> Iterator[Piece]:
    """Give the commands that did something or failed, each after the edits before it; of equal ends the last one."""
    ends = {run: at for at, run in enumerate(turn.runs) if whole or run.error or not looks(run.command)}
    for before, at in pairwise([-1, *sorted(ends.values()), len(turn.runs)]):
        edits: dict[tuple[str, bool], FileEdit] = {}
        for edit in turn.edits:
            if before < edit.after <= at:
                old = edits.get((edit.file, edit.stopped), FileEdit(edit.file, stopped=edit.stopped))
                added, removed, line = old.added + edit.added, old.removed + edit.removed, old.line or edit.line
                edits[edit.file, edit.stopped] = old._replace(added=added, removed=removed, line=line)
        yield from map(_edit, edits.values())
        if at < len(turn.runs):
            yield _run(turn.runs[at])


def _edit(edit: FileEdit) -> Piece:
    name = "/".join(re.split(r"[/\\]", edit.file)[-2:])
    if edit.stopped:
        return Piece("EDIT", f"{name}: stopped by the user", "work", _EDIT)
    return Piece(
        "EDITED", f"{name} +{edit.added} -{edit.removed}" + (f": {edit.line}" if edit.line else ""), "work", _EDIT
    )


def _run(run: Run) -> Piece:
    failed = "" if run.error in (UNSURE, NOTHING_RAN) else "failed: "
    passed = f"passed: {run.last_line}" if run.last_line else "passed"
    outcome = f"{failed}{_ends(run.error, _ERROR)}" if run.error else passed
    return Piece("RAN", f"{_ends(run.command, _COMMAND)} ({outcome})", "work", _COMMAND + _ERROR)


def _ends(text: str, room: int) -> str:
    return one_line(shorten(text, room))


def _with_short_code(piece: Piece) -> Piece:
    """Return *piece* with the beginning of each block of code, on one line."""
    room = _CODE_TYPED if piece.share == "typed" else _CODE

    def beginning(block: list[str]) -> list[str]:
        code = one_line(" ".join(line for line in block if not line.strip().startswith(("```", "~~~"))))
        return [f"`{cut(code.replace('`', ''), room)}`"] if code else []

    return piece._replace(text=with_code_cut(piece.text, beginning))


def _rooms(pieces: Sequence[Piece], limit: int) -> dict[Share, int]:
    """Return how many characters of each share are shown at most, so that all pieces take at most *limit* columns."""
    rooms: dict[Share, int] = {"others": _SUMMARY, "work": _COMMAND + _ERROR, "ends": _LAST, "typed": _TYPED}
    sizes = [(piece, len(piece.text), width(piece.text) / max(1, len(piece.text))) for piece in pieces]

    def total() -> float:
        kept = ((piece, min(size, piece.room, rooms[piece.share]) * columns) for piece, size, columns in sizes)
        return sum(len(piece.label) + len(": \n") + columns for piece, columns in kept if columns or not piece.text)

    for floor, share in product(_FLOORS, tuple(rooms)):
        while limit and rooms[share] > floor and total() > limit:
            rooms[share] = max(floor, rooms[share] * 3 // 4)
    return rooms


def _line(piece: Piece, room: int) -> str:
    """Return *piece* with at most *room* characters of its text, the further lines of that indented; empty if none."""
    if not piece.text:
        return piece.label
    text = shorten(piece.text, room) if room > len(MARK) + 2 else ""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return f"{piece.label}: " + "\n  ".join(lines) if lines else ""
