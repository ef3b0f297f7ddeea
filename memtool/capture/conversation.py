"""A session as memtool sees it: what was asked, answered, done and what failed. All text in it is redacted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Literal, TypeAlias

from memtool.named_tuple import NamedTuple

StepKind: TypeAlias = Literal["prompt", "paste", "refusal", "choice", "answer", "message", "plan", "tool", "compaction"]
OPENING = ("prompt", "paste", "refusal")  # kinds of steps that open a turn
EDITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
BOUND = 8 * 1_048_576  # bytes in memory

_FIRST = 20  # steps that are always kept
_STEP = 200  # bytes of a step beside its texts


class EditSize(NamedTuple):
    """The size of an edit: lines *added* and *removed*, and the first of each that says something."""

    added: int = 0
    removed: int = 0
    line: str = ""
    was: str = ""


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
        broken, unknown: lines that could not be read, records of types that memtool does not know.
        client: whose transcript it is.
        told: the parts of a summary that the agent gave by itself (`memtool.vault.old_sessions.TOLD`), the last one.
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
    unknown: int = 0
    client: str = "claude-code"  # a literal: a hook after an edit imports this module, and no table of clients
    told: Mapping[str, str] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """The files that were written or edited, in the order of the first time."""
        return tuple(dict.fromkeys(step.file for step in self.edits))

    @property
    def edits(self) -> tuple[Step, ...]:
        """The steps that wrote or edited a file."""
        tools = (step for step in self.steps if step.tool in EDITING_TOOLS and step.file)
        return tuple(step for step in tools if not step.error and not step.stopped)


class Steps:
    """Steps in order, numbered as they came. When they outgrow *bound* the oldest go, but for the first ones."""

    def __init__(self, bound: int = BOUND) -> None:
        self._bound = bound
        self._steps: dict[int, Step] = {}
        self._size = 0
        self._next = 0

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps.values())

    def last(self) -> tuple[int, Step]:
        """Return the last step and its number; an empty prompt if there is none."""
        number = self._next - 1
        return number, self._steps.get(number, Step("prompt"))

    def add(self, step: Step) -> int:
        """Append *step* and return its number."""
        number = self._next
        self._next += 1
        self._put(number, step)
        return number

    def change(self, number: int, change: Callable[[Step], Step]) -> None:
        """Change the step with this *number*, if it is still there."""
        if old := self._steps.get(number):
            self._size -= _weight(old)
            self._put(number, change(old))

    def drop(self, number: int) -> None:
        """Forget the step with this *number*, if it is still there."""
        if old := self._steps.pop(number, None):
            self._size -= _weight(old)

    def _put(self, number: int, step: Step) -> None:
        self._steps[number] = step
        self._size += _weight(step)
        if self._size > self._bound:
            for oldest in list(self._steps)[_FIRST:-1]:
                if self._size <= self._bound * 2 // 3:
                    break
                self.drop(oldest)


def _weight(step: Step) -> int:
    texts = (step.text, step.file, step.error, step.change.line, step.change.was, step.last_line)
    return _STEP + sum(text.__sizeof__() for text in texts) + sum(len(each) for one in step.options for each in one)
