"""The request to a model: a session's turns, shortened to fit, as data between two random markers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from memtool.capture.turns import Turn
from memtool.llm import Request
from memtool.resources import agent_text
from memtool.text.languages import name_of
from memtool.text.lines import one_line, width
from memtool.text.statements import statements
from memtool.vault.session_rows import without_middle

LIMIT = 24_000  # columns of the turns together
GAP = "[…]"
MAX_TOKENS = 2_500

_Share: TypeAlias = Literal["user", "work", "agent"]

_COLUMNS_OF_TURN = 300  # at least; of a longer session the turns in the middle are left out
_MOST_FILES, _MOST_RUNS = 12, 8  # of one turn; of the runs, the last ones
_WIDEST_RUN, _WIDEST_ERROR, _WIDEST_CODE = 120, 160, 300


class _Line(NamedTuple):
    """One line that is shown: what it is, and the text, which may be shortened with others of the same *share*."""

    label: str
    text: str = ""
    share: _Share = "work"


def system() -> str:
    """Return what a model that summarises is told. Lengths are smaller than those allowed: models count badly."""
    return agent_text("summary-of-a-session")


def summary_request(turns: Sequence[Turn], *, language: str, code: str, limit: int = LIMIT) -> Request:
    """Return the request for a summary of *turns*; *code* is random: no transcript can forge the marker."""
    name = name_of(language)
    prompt = (
        f"The turns stand between the two lines `=== {code} ===`.\n"
        f"=== {code} ===\n{shown(turns, limit)}\n=== {code} ===\n"
        f"Those were the turns. Answer with the JSON object, its texts in {name}; names and quotes stay as they are, "
        "and so do the user's own words."
    )
    return Request(system(), prompt, MAX_TOKENS)


def shown(turns: Sequence[Turn], limit: int = LIMIT) -> str:
    """Return *turns* in at most *limit* columns, numbered from 1; what the user typed is shortened last."""
    lines = list(_lines(turns, most=max(2, limit // _COLUMNS_OF_TURN)))
    widest = _widest(lines, limit - sum(width(line.label) + len(": \n") for line in lines))
    told = []
    for line in lines:
        text = without_middle(line.text, widest[line.share])
        if text or not line.text:
            told.append(f"{line.label}: {text}" if text else line.label)
    return "\n".join(told)


def _lines(turns: Sequence[Turn], *, most: int) -> Iterator[_Line]:
    left_out = range(most // 4, len(turns) - (most - most // 4))
    for at, turn in enumerate(turns):
        if at not in left_out:
            yield _Line(f"TURN {at + 1}" + (f" (then {turn.verdict})" if turn.verdict else ""))
            yield from (line for line in _lines_of(turn) if line.text)
        elif at == left_out[0]:
            yield _Line(GAP)


def _lines_of(turn: Turn) -> Iterator[_Line]:
    yield _Line("USER, REFUSING A TOOL" if turn.refused else "USER", one_line(turn.asked), "user")
    yield _Line("USER CHOSE", one_line("; ".join(turn.chosen)), "user")
    yield _Line("FILES", one_line(", ".join(file.replace("\\", "/").rsplit("/", 1)[-1] for file in _some_files(turn))))
    for run in turn.runs[-_MOST_RUNS:]:
        outcome = f"failed: {without_middle(one_line(run.error), _WIDEST_ERROR)}" if run.error else "passed"
        yield _Line("RAN", f"{without_middle(one_line(run.command), _WIDEST_RUN)} ({outcome})")
    refused = " (not approved)" if turn.plan_refused else ""
    yield _Line("PLAN", turn.plan and one_line(turn.plan) + refused)
    yield _Line("AGENT", _said(turn), "agent")


def _some_files(turn: Turn) -> list[str]:
    more = len(turn.files) - _MOST_FILES
    return [*turn.files[:_MOST_FILES], *([f"{more} more"] if more > 0 else [])]


def _said(turn: Turn) -> str:
    """Return what the agent said last, without code and logs; if it said nothing else, the beginning of those."""
    told: list[str] = []
    lead = ""
    for each in statements(turn.said):
        if each.lead not in ("", lead) and not (told and told[-1].startswith(each.lead)):
            told.append(f"{each.lead}:")
        lead = each.lead
        told.append(f"- {each.text}" if each.is_listed else each.text)
    return one_line(" ".join(told)) or one_line(turn.said[:_WIDEST_CODE])


def _widest(lines: Sequence[_Line], room: int) -> dict[_Share, int]:
    """Return how wide the texts of each share may be, so that all of them take at most *room* columns."""
    widths: dict[_Share, list[int]] = {"user": [], "work": [], "agent": []}
    for line in lines:
        widths[line.share].append(width(line.text))
    agent = sum(widths["agent"])
    others = min(agent + sum(widths["work"]), room // 4)
    user, room = _evenly(widths["user"], room - others, room)
    work, room = _evenly(widths["work"], max(room // 3, room - agent), room)
    return {"user": user, "work": work, "agent": _evenly(widths["agent"], room, room)[0]}


def _evenly(widths: Sequence[int], share: int, room: int) -> tuple[int, int]:
    """Return to which width the widest must be cut for all to fit into *share* columns, and what is left of *room*."""
    widest, left = max(widths, default=0), share
    for number, each in enumerate(sorted(widths)):
        if each * (len(widths) - number) > left:
            widest = max(0, left // (len(widths) - number))
            break
        left -= each
    return widest, room - sum(min(each, widest) for each in widths)
