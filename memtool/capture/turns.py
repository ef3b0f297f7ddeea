"""Turns: from what a person typed to the next such text, with all that came of it. The source of a session. Pure.

Nothing in a turn is judged or shortened for a reader. Each writer of notes decides by itself what counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from memtool.capture import limits
from memtool.capture.transcript import EDITING_TOOLS, PLANNING_TOOL, SHELL_TOOL
from memtool.capture.transcript.record_fields import COMMIT, NO_ANSWER, EditSize

Fate: TypeAlias = Literal["approved", "turned down", "shown"]

_CLIENTS_OWN = "/.claude/plans/"
_SUBJECT = re.compile(rf'{COMMIT}"(.+?)"')


class Dialog(NamedTuple):
    """A *question* that a tool asked, the *options* that it offered and the user's *answer*, one line each.

    It came *after* so many of the turn's messages.
    """

    question: str
    options: tuple[str, ...]
    answer: str
    after: int = 0


class AgentPlan(NamedTuple):
    """A plan that the agent laid before the user, as Markdown, and its *fate*; `shown` if nothing is known of that.

    It came *after* so many of the turn's messages.
    """

    text: str
    fate: Fate = "shown"
    after: int = 0


class Run(NamedTuple):
    """A command that the agent ran.

    Args:
        command: its first line; of a commit `git commit -m "subject"`.
        error: why it failed, several lines at most; empty if it passed.
        last_line: of the output of a check that passed.
        after: how many of the turn's messages came before it.
    """

    command: str
    error: str = ""
    last_line: str = ""
    after: int = 0


class FileEdit(NamedTuple):
    """An edit of a *file*.

    Args:
        file: its absolute path.
        added, removed: lines.
        line: the first new line that names or says something.
        after: how many of the turn's runs came before it.
        stopped: the user refused or interrupted it.
        was: the first line that says something and is taken out.
    """

    file: str
    added: int = 0
    removed: int = 0
    line: str = ""
    after: int = 0
    stopped: bool = False
    was: str = ""


class Turn(NamedTuple):
    """From what a person typed to the next such text. All texts are redacted.

    Args:
        typed: what was typed, as Markdown; several prompts in a row have an empty line between them. Empty at the start
            of a session that began with something else.
        pasted: nothing of that was typed: it is a document that was pasted.
        refused: it was typed while refusing a tool.
        messages: of the agent, in order, as Markdown.
        edits: in order, those that failed left out.
        runs: the commands whose end is known, in order.
        looked: whether any tool was used.
        summary: the client's own, of what was compacted before or in this turn.
        at: when it began.
        offset: where it begins in the transcript, in bytes.
    """

    typed: str = ""
    pasted: bool = False
    refused: bool = False
    dialogs: tuple[Dialog, ...] = ()
    plans: tuple[AgentPlan, ...] = ()
    messages: tuple[str, ...] = ()
    edits: tuple[FileEdit, ...] = ()
    runs: tuple[Run, ...] = ()
    looked: bool = False
    summary: str = ""
    at: datetime | None = None
    offset: int = 0

    @property
    def files(self) -> tuple[str, ...]:
        """The files that were edited, in the order of the first time."""
        return tuple(dict.fromkeys(edit.file for edit in self.edits if not edit.stopped))

    @property
    def said(self) -> str:
        """The agent's last message."""
        return self.messages[-1] if self.messages else ""

    @property
    def commits(self) -> tuple[str, ...]:
        """The subjects of the commits that were made."""
        return tuple(match[1] for run in self.runs if not run.error and (match := _SUBJECT.match(run.command)))


def turns_of(steps: Sequence[Step], before: Sequence[Turn] = ()) -> list[Turn]:
    """Return the turns *before* and those that *steps* make, in order.

    Equal prompts that were sent one after the other count once, if nothing was done in between.
    """
    turns = list(before)
    for stretch in _stretches(steps):
        last, turn = turns[-1] if turns else Turn(), _turn(stretch)
        if turn.typed and turn.typed == last.typed and not (last.edits or last.runs):
            turn = turn._replace(offset=turns.pop().offset)  # it may still go on, and be another one then
        turns.append(turn)
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


def _turn(steps: Sequence[Step]) -> Turn:
    opening = [step for step in steps if step.kind in OPENING]
    typed = [step for step in opening if step.kind != "paste"] or opening  # what was pasted beside it is not their word
    messages: list[str] = []
    dialogs: list[Dialog] = []
    plans: list[AgentPlan] = []
    runs: list[Run] = []
    edits: dict[tuple[str, int, bool], FileEdit] = {}
    for at, step in enumerate(steps):
        if step.kind in ("message", "answer") and step.text.strip() not in ("", NO_ANSWER):
            messages.append(step.text)
        elif step.kind == "choice":
            dialogs += _dialogs(step, len(messages))
        elif step.kind == "plan":
            plans.append(AgentPlan(step.text, _fate(steps[at:]), len(messages)))
        elif step.tool in EDITING_TOOLS and step.file and not step.error and _CLIENTS_OWN not in step.file:
            _add_edit(edits, step, len(runs))
        elif _is_run(step):
            runs.append(Run(step.text, step.error, step.last_line, len(messages)))
    return Turn(
        typed="\n\n".join(dict.fromkeys(step.text.strip() for step in typed)),
        pasted=bool(typed) and all(step.kind == "paste" for step in typed),
        refused=bool(typed) and typed[-1].kind == "refusal",
        dialogs=tuple(dialogs),
        plans=tuple(plans),
        messages=tuple(messages),
        edits=tuple(edits.values()),
        runs=tuple(runs),
        looked=any(step.kind == "tool" for step in steps),
        summary=next((step.text for step in reversed(steps) if step.kind == "compaction" and step.text), ""),
        at=next((step.at for step in steps if step.at), None),
        offset=steps[0].offset,
    )


def _dialogs(step: Step, after: int) -> Iterator[Dialog]:
    lines = step.text.splitlines()
    options = step.options if len(step.options) == len(lines) else ((),) * len(lines)
    for line, offered in zip(lines, options, strict=True):
        question, _, answer = line.rpartition(" → ")
        yield Dialog(question, offered, answer, after)


def _fate(steps: Sequence[Step]) -> Fate:
    """Return the fate of the plan that the first of *steps* is: what became of the tool that showed it."""
    shown = next((step for step in steps if step.tool == PLANNING_TOOL), None)
    if shown is None:
        return "shown"
    return "turned down" if shown.stopped else "shown" if shown.pending or shown.error else "approved"


def _add_edit(edits: dict[tuple[str, int, bool], FileEdit], step: Step, runs: int) -> None:
    """Add the edit *step* to *edits*, which has one for each file and each time between two runs."""
    key, (added, removed, line, was) = (step.file, runs, step.stopped), step.change
    old = edits.get(key, FileEdit(step.file, after=runs, stopped=step.stopped))
    edits[key] = old._replace(
        added=old.added + added, removed=old.removed + removed, line=old.line or line, was=old.was or was
    )


def _is_run(step: Step) -> bool:
    """Return whether *step* is a command whose end is known; how those ended that the user ran is not recorded."""
    is_over = not (step.stopped or step.pending)
    return step.tool == SHELL_TOOL and bool(step.text) and is_over and not step.text.startswith("! ")


StepKind: TypeAlias = Literal["prompt", "paste", "refusal", "choice", "answer", "message", "plan", "tool", "compaction"]
OPENING = ("prompt", "paste", "refusal")  # kinds of steps that open a turn


class Step(NamedTuple):
    """One thing that happened.

    Args:
        kind: `prompt` was typed, `paste` is a prompt that was pasted whole, `refusal` was typed while refusing a tool,
            `choice` is what the user chose when asked (a line `question → answer` each), `message` is one of the
            agent's, `answer` the last one before the next prompt, `plan` was shown to the user, `tool` was used,
            `compaction` is the client's own summary of all before it (empty if it gave none).
        text: of the message, the plan or the prompt; the first line of a command.
        at: when, as the client noted it.
        tool: the tool's name, such as `Edit`; empty where all that counts is that one was used.
        file: the absolute path of what was to be edited.
        error: why a command failed, `failed` for other tools; empty if it did not fail.
        pending: no result of the tool is known.
        offset: where its record begins in the transcript, in bytes.
        stopped: the user, or a rule of theirs, refused or interrupted the tool. That is no failure.
        options: of each line of a `choice`, the answers that were offered.
        change: of an edit.
        last_line: of the output of a check that passed.
    """

    kind: StepKind
    text: str = ""
    at: datetime | None = None
    tool: str = ""
    file: str = ""
    error: str = ""
    stopped: bool = False
    pending: bool = False
    offset: int = 0
    options: tuple[tuple[str, ...], ...] = ()
    change: EditSize = EditSize()
    last_line: str = ""


class Conversation(NamedTuple):
    """The content of a transcript, in order.

    Args:
        session_id: the client's name for it.
        cwd: the folder in which it began.
        branch: the git branch that was checked out last.
        title: the session's own title, if it was given one.
        steps: at most a few megabytes of them, whatever the transcript's size.
        started_at, ended_at: times of the first and the last record.
        lines, size: of the transcript; *size* in bytes.
        start: from which byte on the transcript was read.
        broken: lines that could not be read.
        client: whose transcript it is.
        told: the parts of the last summary that the agent gave by itself (`memtool.vault.sessions.SUMMARY_PARTS`).
    """

    session_id: str = ""
    cwd: str = ""
    branch: str = ""
    title: str = ""
    steps: tuple[Step, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    lines: int = 0
    size: int = 0
    start: int = 0
    broken: int = 0
    client: str = "claude-code"  # a literal: a hook after an edit imports this module, and no table of clients
    told: Mapping[str, str] = {}

    @property
    def edits(self) -> tuple[Step, ...]:
        """The steps that wrote or edited a file."""
        tools = (step for step in self.steps if step.tool in EDITING_TOOLS and step.file)
        return tuple(step for step in tools if not step.error and not step.stopped)


class Steps:
    """Steps in order, numbered as they came. When they outgrow *bound* the oldest go, but for the first ones."""

    def __init__(self, bound: int = limits.STEPS_BYTES) -> None:
        self._bound = bound
        self._steps: dict[int, Step] = {}
        self._size = self._next = 0

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps.values())

    def last(self) -> tuple[int, Step]:
        """Return the last step and its number; an empty prompt if there is none."""
        return self._next - 1, self._steps.get(self._next - 1, Step("prompt"))

    def add(self, step: Step) -> int:
        """Append *step* and return its number."""
        self._next += 1
        self._put(self._next - 1, step)
        return self._next - 1

    def change(self, number: int, change: Callable[[Step], Step]) -> None:
        """Change the step with this *number*, if it is still there."""
        if old := self._steps.get(number):
            self._size -= _weight(old)
            self._put(number, change(old))

    def _put(self, number: int, step: Step) -> None:
        self._steps[number] = step
        self._size += _weight(step)
        for oldest in list(self._steps)[limits.FIRST : -1] if self._size > self._bound else ():
            if self._size <= self._bound * 2 // 3:
                break
            self._size -= _weight(self._steps.pop(oldest))


def _weight(step: Step) -> int:
    texts = (step.text, step.file, step.error, step.change.line, step.change.was, step.last_line)
    return (
        limits.STEP_BYTES
        + sum(text.__sizeof__() for text in texts)
        + sum(len(each) for one in step.options for each in one)
    )
