"""Turns: what was asked, what was done, how it ended, and what the next words of the user made of it. Pure.

What a prompt repeats of the answer before it is the agent's text, and not the user's: it stays as a short quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from memtool.capture.answer_statements import amendment_of, amends_in, ending_of, is_answer, statements_of
from memtool.capture.conversation import EDITING_TOOLS, OPENING, Step
from memtool.capture.options import meant, offered
from memtool.capture.transcript.record_fields import COMMIT, NO_ANSWER, PLANNING_TOOL, SHELL_TOOL
from memtool.text.languages import begins_with, gives_order, mentioned, starts_with
from memtool.text.lines import one_line, shortened, width
from memtool.text.statements import prose
from memtool.vault.session_rows import Piece

Verdict: TypeAlias = Literal["", "confirmed", "corrected", "refuted", "rejected", "went on"]

_CLIENTS_OWN = "/.claude/plans/"
_COMMIT_VALUE, _SHORT_ANSWER = 3.0, 500  # of the subject of a commit; columns of an answer that says little
_AMENDS = 1_000  # characters of a message that may take something back
_ADMITTED = 200  # characters in which the agent says that it was wrong
_LONGEST_CODE = 200  # characters of a prompt that is nothing but code or a log
_LINK = re.compile(r"https?://\S+")
_MENTIONS = re.compile(r"@\S+(?:\s+@\S+){2,}")  # files of a prompt
_RECORD = re.compile(r'\{"[^"\n]{1,60}":[^\n]{40,}\}')  # a line of a log, or other JSON
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_HUNK = re.compile(r"^(?:@@ -\d.*|diff --git .*|\+{3} \S.*|-{3} \S.*)(?:\n(?:[-+ @\\]|index |diff ).*)*", re.MULTILINE)
_ADDED = re.compile(r"^\+[^\s\d].*$", re.MULTILINE)  # a line of a diff without its head
_FIRST_CLAUSE = re.compile("[,;.!?，；。！？]")
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_COMMAND = re.compile(r"\A/[\w:.-]+(?:\s+|\Z)")  # `/plugin:command what it is given`
_SHORTEST_QUOTATION = 36  # columns that nobody types alike by chance
_WIDEST_QUOTATION = 44
_STOPS = r"(?<=[.!?:;,])\s+|\n\s*|(?<=[。！？：；，])\s*|\Z"


class Run(NamedTuple):
    """A command that the agent ran, its first line, and why it failed (empty if it passed)."""

    command: str
    error: str = ""


class Turn(NamedTuple):
    """From what a person typed to the next such text.

    Args:
        asked: what was typed, on one line, without commands, links and pasted text; empty at the start of a session
            that began with something else.
        pasted: nothing of that was typed: it is a document that was pasted.
        refused: it was typed while refusing a tool, which rejects what the agent was about to do.
        chosen: what the user chose when asked, `question → answer` each.
        said: the agent's last message, as Markdown.
        amends: what the agent said that takes back what it had said or done, as Markdown, a line each.
        told: the statements of that message, what it took back, and the subjects of commits, with their values.
        ended: the one of them that says best how the turn ended.
        answered: the agent said more than what it was going to do.
        offered: the options of that message, a label and what it stands for each.
        plan: the first line of the last plan that was laid before the user; *plan_refused*: they did not approve it,
            and nothing was edited since.
        files: absolute paths of what was edited, in order.
        runs: the commands whose end is known, in order, with their outcome.
        edits: what was edited, in order: each file with the number of *runs* before that.
        looked: whether any tool was used.
        at: when it began.
        offset: where in the transcript it begins, in bytes.
        verdict: what the next text of the user made of it; `refuted` if the agent then said that it had been wrong;
            empty for the last turn.
    """

    asked: str = ""
    pasted: bool = False
    refused: bool = False
    chosen: tuple[str, ...] = ()
    said: str = ""
    amends: str = ""
    told: tuple[Piece, ...] = ()
    ended: str = ""
    answered: bool = False
    offered: tuple[tuple[str, str], ...] = ()
    plan: str = ""
    plan_refused: bool = False
    files: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    edits: tuple[tuple[str, int], ...] = ()
    looked: bool = False
    at: datetime | None = None
    offset: int = 0
    verdict: Verdict = ""


def turns_of(steps: Sequence[Step], before: Sequence[Turn] = ()) -> list[Turn]:
    """Return the turns *before* and those that *steps* make, in order.

    Equal prompts that were sent one after the other count once.
    """
    turns = list(before)
    for stretch in _stretches(steps):
        last = turns[-1] if turns else Turn()
        turn = _turn(stretch, last.said)
        if turn.asked and turn.asked == last.asked and not (last.files or last.runs):
            turn = turn._replace(offset=turns.pop().offset)  # it may still go on, and be another one then
        turns.append(turn)
    judged = max(0, len(before) - 1)  # the last of them may have a new one behind it
    for at in range(min(judged, len(turns)), len(turns)):
        turns[at] = turns[at]._replace(verdict=_verdict(turns[at].said, turns[at + 1] if at + 1 < len(turns) else None))
    return turns


def _stretches(steps: Sequence[Step]) -> Iterator[list[Step]]:
    held: list[Step] = []
    for step in steps:
        if step.kind in OPENING and any(each.kind not in OPENING for each in held):
            yield held
            held = []
        held.append(step)
    if held:
        yield held


def _turn(steps: Sequence[Step], said_before: str) -> Turn:
    opening = [step for step in steps if step.kind in OPENING]
    typed = [step for step in opening if step.kind != "paste"] or opening  # what was pasted beside it is not their word
    plans = [step.text for step in steps if step.kind == "plan"]
    planned = max((at for at, step in enumerate(steps) if step.tool == PLANNING_TOOL), default=-1)
    runs, edits = _work(steps)
    answers = [step.text for step in steps if step.kind == "answer" and step.text != NO_ANSWER]
    summaries = [step.text for step in steps if step.kind == "compaction" and step.text]
    said = next(reversed(answers if answers or typed else summaries), "")  # a talk may begin with its own summary
    commits = tuple(_commits(steps, said))
    amended = list(filter(None, (amends_in(step.text[:_AMENDS]) for step in steps if step.kind == "message")))
    return Turn(
        asked=one_line(" ".join(dict.fromkeys(_typed(with_quotations(step.text, said_before)) for step in typed))),
        pasted=bool(typed) and all(step.kind == "paste" for step in typed),
        refused=bool(typed) and typed[-1].kind == "refusal",
        chosen=tuple(line for step in steps if step.kind == "choice" for line in step.text.splitlines()),
        said=said,
        amends="\n".join(filter(None, map(one_line, [*amended, amends_in(said)]))),
        told=(*map(amendment_of, amended), *statements_of(said), *commits),
        answered=is_answer(said),
        offered=tuple(offered(said).items()),
        ended=ending_of(said) or (commits[-1].text if commits else ""),
        plan=one_line(plans[-1].strip().split("\n", 1)[0]).lstrip("# ")[:200] if plans else "",
        plan_refused=planned >= 0 and steps[planned].stopped and not any(map(_is_edit, steps[planned:])),
        files=tuple(dict.fromkeys(file for file, _ in edits)),
        runs=runs,
        edits=edits,
        looked=any(step.kind == "tool" for step in steps),
        offset=steps[0].offset,
        at=next((step.at for step in steps if step.at), None),
    )


def _work(steps: Sequence[Step]) -> tuple[tuple[Run, ...], tuple[tuple[str, int], ...]]:
    """Return the commands that were run and the edits, each edit with the number of commands before it."""
    runs: list[Run] = []
    edits: dict[tuple[str, int], None] = {}
    for step in steps:
        is_over = step.tool == SHELL_TOOL and step.text and not (step.stopped or step.pending)
        if _is_edit(step):
            edits[step.file, len(runs)] = None
        elif is_over and not step.text.startswith("! "):  # how these ended is not recorded
            runs.append(Run(step.text, step.error))
    return tuple(runs), tuple(edits)


def _is_edit(step: Step) -> bool:
    is_own = _CLIENTS_OWN in step.file  # the plan that it lays before the user
    return step.tool in EDITING_TOOLS and bool(step.file) and not (step.error or step.stopped or is_own)


def _commits(steps: Sequence[Step], said: str) -> Iterator[Piece]:
    """Give the subjects of the commits that were made; they say most where the answer is only "Committed."."""
    value = _COMMIT_VALUE if width(said) < _SHORT_ANSWER else _COMMIT_VALUE / 2
    for step in steps:
        is_run = step.tool == SHELL_TOOL and not (step.error or step.stopped or step.pending)
        match = re.match(rf'{COMMIT}"(.+?)"', step.text) if is_run else None
        if match and not gives_order(match[1]):
            yield Piece(f"commit: {match[1]}", value)


def _typed(text: str) -> str:
    """Return what a person typed of a prompt, without the name of a command, links, quotes, code and logs."""
    text = _COMMAND.sub("", text, count=1)
    text = _LINK.sub("…", text) if _LINK.sub("", text).strip() else ""
    text = _MENTIONS.sub(lambda match: f"{max(match[0].split(), key=_naming)} …", text)  # the widest name tells most
    text = _RECORD.sub("{…}", text)
    text = _without_document(text)
    for pattern in (_HUNK, _ADDED, _QUOTED):
        text = pattern.sub("", text).strip() or text
    told = prose(text)
    return re.sub("(?<=[。！？；]) ", "", told) or one_line(text)[:_LONGEST_CODE]


def _without_document(text: str) -> str:
    """Return *text* up to the document in it, if there is one: from the first of several headings on."""
    headings = [match.start() for match in _HEADING.finditer(text)]
    before = text[: headings[0]].strip() if len(headings) > 1 else ""
    return f"{before} …" if before else text


def _naming(mention: str) -> int:
    return 0 if "@" in mention[1:] else width(mention)  # an address names no file


def _verdict(said: str, after: Turn | None) -> Verdict:
    if after is None:
        return ""
    if after.refused:
        return "rejected"
    if mentioned("refutation", after.said[:_ADMITTED]):
        return "refuted"
    if any(one.is_chosen for one in meant(after.asked, [offered(said)])):
        return "confirmed"  # "1, but only above 100 rows"
    first = _FIRST_CLAUSE.split(after.asked, maxsplit=1)[0]
    is_faulted = bool(mentioned("faulting", first)) or questions_number(after.asked, said)
    is_contradicted = begins_with("contradiction", after.asked) or is_faulted
    is_contradicted = is_contradicted and not (starts_with("consent", after.asked) or mentioned("accepting", first))
    if is_contradicted or begins_with("admission", after.said) or starts_with("concession", after.amends):
        return "corrected"
    return "confirmed" if begins_with("consent", after.asked) else "went on"


def questions_number(asked: str, said: str) -> bool:
    """Return whether the prompt *asked* begins by calling a number that was *said* too large or too small."""
    first = _FIRST_CLAUSE.split(asked, maxsplit=1)[0]
    return bool(mentioned("excess", first) and _numbers(first) & _numbers(said))


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)?", text))


def with_quotations(asked: str, said: str) -> str:
    """Return *asked*, the parts of it that stand in the message *said* shortened and in angle quotes.

    A prompt that is nothing but such text was taken over, and stays as it is.
    """
    if not said or width(asked) < _SHORTEST_QUOTATION:
        return asked
    message = _folded(said)
    ends = [match.end() for match in re.finditer(_STOPS, asked) if match.end()]
    parts = [asked[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    shown, at, is_own = [], 0, False
    while at < len(parts):
        count = _quoted(parts[at:], message)
        quoted = "".join(parts[at : at + count]).strip()
        shown.append(f"«{shortened(one_line(quoted.lstrip('-*•> ')), _WIDEST_QUOTATION)}» " if count else parts[at])
        is_own = is_own or not count
        at += count or 1
    return "".join(shown).strip() if is_own else asked


def _quoted(parts: Sequence[str], message: str) -> int:
    """Return how many of the first *parts* are a quotation of *message*; 0 if they are too short for one."""
    text = ""
    for count, part in enumerate(parts):
        if _folded(text + part) not in message:
            return count if width(text.strip()) >= _SHORTEST_QUOTATION else 0
        text += part
    return len(parts) if width(text.strip()) >= _SHORTEST_QUOTATION else 0


def _folded(text: str) -> str:
    return re.sub(r"[\s*`_#>|\"“”-]+", "", text).casefold()
