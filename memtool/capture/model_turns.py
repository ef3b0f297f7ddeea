"""The turns of a session as a model is shown them, and the grounds in them that each line of its answer needs. Pure.

They are shortened to fit, as data between two random markers. A line stands if its turn says it, by its numbers and
names and by the user's own words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from memtool.capture.old_turns import Turn
from memtool.llm import Request
from memtool.resources import agent_text
from memtool.text.languages import begins_with, mentioned, name_of
from memtool.text.lines import one_line, width
from memtool.text.statements import statements
from memtool.text.tokens import index_terms, query_terms
from memtool.vault.session_rows import without_middle

LIMIT = 24_000  # columns of the turns together
GAP = "[…]"
MAX_TOKENS = 2_500

_Share: TypeAlias = Literal["user", "work", "agent"]

_COLUMNS_OF_TURN = 300  # at least; of a longer session the turns in the middle are left out
_MOST_FILES, _MOST_RUNS = 12, 8  # of one turn; of the runs, the last ones
_WIDEST_RUN, _WIDEST_ERROR, _WIDEST_CODE = 120, 160, 300
_THOUSANDS = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_PATH = re.compile(r"(?<![\w.:/\\-])(?:~|\.{1,2}|[A-Za-z]:)?[/\\]([\w.@+-][\w.@+/\\-]*)")  # not `and/or`, `输入/输出`
_PART = re.compile(
    r"--[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9](?![A-Za-z0-9_-])"  # a flag
    r"|[^\W\x00-\x7f]?(?<![A-Za-z0-9_.)\]])\.[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9](?![A-Za-z0-9_])"  # .env, 计.md
    r"|[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+"  # auth.ts, config.load, v2.1
    r"|[A-Za-z0-9_]+"
)
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)[A-Za-z]{0,3}")  # with its unit: 24h, 1.5GB, 3rd
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?")
_SENTENCE_END = re.compile(r"[a-z)]\.[A-Z][a-z]*$")  # "is fixed.The next"
_SHAPED = re.compile(r"[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Za-z]\d|\d[A-Za-z]|^--")
_CAPITAL = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Za-z]++(?![0-9_])")
_BEFORE_A_SENTENCE = ".!?:;…→·—–-(['\"“‘「『（。！？：；，、"
_CALL = re.compile(r"(?<=\w)\(\)")


class _Line(NamedTuple):
    """One line that is shown: what it is, and the text, which may be shortened with others of the same *share*."""

    label: str
    text: str = ""
    share: _Share = "work"


def system() -> str:
    """Return the instructions for a model that summarises. Lengths are below those allowed: models count badly."""
    return agent_text("old-summary-of-a-session")


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
    files = [file.replace("\\", "/").rsplit("/", 1)[-1] for file in turn.files]
    more = [f"{len(files) - _MOST_FILES} more"] if len(files) > _MOST_FILES else []
    yield _Line("FILES", one_line(", ".join([*files[:_MOST_FILES], *more])))
    for run in turn.runs[-_MOST_RUNS:]:
        outcome = f"failed: {without_middle(one_line(run.error), _WIDEST_ERROR)}" if run.error else "passed"
        yield _Line("RAN", f"{without_middle(one_line(run.command), _WIDEST_RUN)} ({outcome})")
    refused = " (not approved)" if turn.plan_refused else ""
    yield _Line("PLAN", turn.plan and one_line(turn.plan) + refused)
    yield _Line("AGENT", _said(turn), "agent")


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


class Ground(NamedTuple):
    """The words that a line about a turn may use: all that was *said*, folded; *typed*, those of the user."""

    said: str
    typed: str


def grounds_of(turns: Sequence[Turn]) -> list[Ground]:
    """Return the ground of each turn."""
    return [_ground(turns, at) for at in range(len(turns))]


def unfounded(line: str, codes: Iterable[str], ground: str) -> str:
    """Return the first number, file, identifier or code of *line* that does not stand in *ground*; empty if all do.

    *codes* are what the line had in backticks.
    """
    names = [*(folded(code) for code in codes), *map(str.casefold, names_in(line))]
    return next((name for name in names if name and not _stands(name, ground)), "")


def unknown_name(line: str, ground: str) -> str:
    """Return the first word with a capital inside a sentence of *line* that does not stand in *ground*."""
    for match in _CAPITAL.finditer(line):
        before, name = line[: match.start()].rstrip(), match[0].casefold()
        is_known = _stands(name, ground) or _stands(name.removesuffix("s"), ground)
        if before and before[-1] not in _BEFORE_A_SENTENCE and not is_known:
            return match[0]
    return ""


def is_typed(line: str, ground: Ground) -> bool:
    """Return whether most of the telling words of *line* are the user's; *always* and *never* must be."""
    if not mentioned("standing", line) <= mentioned("standing", ground.typed):
        return False
    told, typed = query_terms(line), frozenset(index_terms(ground.typed))
    return 2 * sum(term in typed for term in told) > len(told)


def names_in(text: str) -> list[str]:
    """Return the numbers, files (their last part) and words shaped like an identifier in *text*."""
    plain = _plain(text)
    paths = (re.split(r"[/\\]", match[1].rstrip("/\\."))[-1] for match in _PATH.finditer(plain))
    return list(
        dict.fromkeys(
            [
                *(path for path in paths if len(path) > 1),
                *(name for part in _PART.findall(plain) for name in _names(part)),
            ]
        )
    )


def folded(text: str) -> str:
    """Return *text* as names are looked up in it: on one line, in small letters, without marks of code."""
    return _plain(text).casefold()


def _plain(text: str) -> str:
    unmarked = unicodedata.normalize("NFKC", text).replace("`", "").replace("**", "")
    return one_line(_THOUSANDS.sub("", _CALL.sub("", unmarked)))


def _names(part: str) -> Iterator[str]:
    if match := _NUMBERS.fullmatch(part):
        yield match[1]
    elif "." in part and _SENTENCE_END.search(part):
        yield from (name for piece in part.split(".") for name in _names(piece))
    elif ("." in part and not _ABBREVIATION.fullmatch(part)) or _SHAPED.search(part):
        yield part


def _stands(name: str, ground: str) -> bool:
    if name.replace(".", "").isdigit():
        return re.search(rf"(?<!\d)(?<!\d\.){re.escape(name)}(?!\d|\.\d)", ground) is not None
    start = "(?<![a-z0-9_])" if re.match(r"[a-z0-9]", name) else ""  # `.py` is the end of any name
    end = "(?![a-z0-9_-])" if name.startswith("--") else "(?![a-z0-9_])" if re.search(r"[a-z0-9_]$", name) else ""
    return re.search(f"{start}{re.escape(name)}{end}", ground) is not None


def _ground(turns: Sequence[Turn], at: int) -> Ground:
    turn = turns[at]
    typed = one_line(" . ".join(_typed(turns, at)))
    runs = (part for run in turn.runs for part in run)
    told = (piece.text for piece in turn.told)
    return Ground(folded("\n".join([typed, *turn.chosen, turn.said, *told, turn.plan, *turn.files, *runs])), typed)


def _typed(turns: Sequence[Turn], at: int) -> Iterator[str]:
    """Give what the user typed and chose in a turn, and the question that they said yes to before or after it."""
    turn = turns[at]
    yield turn.asked
    for choice in turn.chosen:
        answer = choice.rpartition(" → ")[2]
        yield answer if begins_with("contradiction", answer) else choice
    if at and turns[at - 1].verdict == "confirmed":
        yield _question(turns[at - 1])
    if turn.verdict == "confirmed" and at + 1 < len(turns):
        yield from (_question(turn), turns[at + 1].asked)


def _question(turn: Turn) -> str:
    """Return the question with which the agent ended the turn; empty if it ended with something else."""
    last = next(reversed(statements(turn.said)), None)
    return last.text if last and last.text.endswith(("?", "？")) else ""
