"""From the client's transcript to a conversation: what was typed, answered, done, and what failed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from memtool.capture import limits
from memtool.capture.checks import FAILED, UNSURE, check_in, error_lines, fault_in, is_sure_to_have_failed
from memtool.capture.transcript import (
    ASKING_TOOL,
    EDITING_TOOLS,
    PLANNING_TOOL,
    SHELL_TOOL,
    record_fields as fields,
    text as texts,
)
from memtool.capture.transcript.forms import Transcript, form_of
from memtool.capture.transcript.record_stream import Record, Tally, mark_before, open_transcript
from memtool.capture.turns import OPENING, Conversation, Step, Steps
from memtool.clients import CLIENTS
from memtool.errors import TranscriptUnreadable
from memtool.vault.sessions import SUMMARY_PARTS, summary_parts_in

_TOLD_TOOLS = EDITING_TOOLS | {PLANNING_TOOL, SHELL_TOOL}  # of all others it only counts that one was used


def read_transcript(
    path: Path,
    redact: Callable[[str], str],
    *,
    last_answer: str = "",
    of_helper: bool = False,
    start: int = 0,
    mark: int = 0,
    session_id: str = "",
    cwd: str = "",
) -> Conversation:
    """Return the conversation in the transcript at *path*, in the order of the file.

    Every text in it has passed *redact*, whole and before it was shortened. *last_answer* is what a Stop hook was told
    that the assistant said last: the transcript may lag behind it. *of_helper* says that it is a helper's transcript,
    whose records are left out elsewhere. What stands before the byte *start* is passed over where the file is the one
    whose checksum there was *mark*; `Conversation.start` says whether it was. *cwd* is the folder that was known then.
    *session_id* says which session is meant where a file holds several.

    Raises:
        TranscriptUnreadable: there is no file at *path*, or it cannot be read.
    """
    session = _Session(session_id or path.stem, redact, cwd=cwd, of_helper=of_helper)
    tally, first = Tally(), 0
    with open_transcript(path) as file:
        try:
            form = form_of(file.read(limits.HEAD_BYTES))
            if start and mark_before(file, start) == mark and not form.must_start_over(file, start):
                tally.size = start
            file.seek(first := tally.size)
            for record in form.records(Transcript(path, file, tally, session_id, cwd, of_helper)):
                session.take(record, tally.record_at)
        except OSError as error:
            raise TranscriptUnreadable(path, error.strerror or "it cannot be read") from None
    session.take_last_answer(last_answer)
    return session.conversation(tally)._replace(start=first, client=session.client or form.client)


class _Session:
    """The session as the records so far tell it."""

    def __init__(self, name: str, redact: Callable[[str], str], *, cwd: str, of_helper: bool) -> None:
        self._redact = redact
        self._of_helper = of_helper
        self._steps = Steps()
        self._said: deque[str] = deque(maxlen=20)  # the last messages, as they are
        self._answer = -1  # the number of the step that the last of them is, while its turn goes on
        self._parent = ""  # of the last step: the message that it belongs to, or that it answers
        self._calls: dict[str, tuple[int, fields.Call]] = {}
        self._seen: set[int] = set()
        self._name, self._first_name = name, ""
        self._cwd = self._here = cwd
        self._branch = ""
        self._titles: dict[tuple[str, str], str] = {}
        self._started_at: datetime | None = None
        self._ended_at: datetime | None = None
        self._offset = 0
        self._told: dict[str, str] = {}
        self.client = ""  # whose session it is, where memtool itself has kept the transcript

    def take(self, record: Record, offset: int) -> None:
        """Take in the next record, which begins at *offset* in the file."""
        self._offset = offset
        kind = fields.text_at(record, "type")
        self._take_envelope(record)
        if (record.get("isSidechain") is True and not self._of_helper) or self._is_repeated(record):
            return
        if kind == "user":
            self._take_user(record)
        elif kind == "assistant":
            self._take_assistant(record)
        elif kind == "attachment":
            self._take_attachment(record)
        elif kind == "system" and record.get("subtype") == "compact_boundary":
            self._add(record, Step("compaction"))
        elif kind == "system" and record.get("subtype") == fields.TOLD_SUMMARY and self.client:
            self._told = summary_parts_in(
                {name: self._clean(fields.text_at(record, name), limits.LAST_MESSAGE) for name in SUMMARY_PARTS}
            )
        elif kind in fields.TITLES:
            key = kind, fields.text_at(record, "leafUuid")
            if key in self._titles or len(self._titles) < limits.CALLS:
                self._titles[key] = fields.text_at(record, fields.TITLES[kind])

    def take_last_answer(self, text: str) -> None:
        """Take in what the assistant said last, unless it is known."""
        text = self._shortened(text, limits.LAST_MESSAGE)
        answers = (self._shortened(said, limits.LAST_MESSAGE) for said in reversed(self._said))
        if text and not any(answer == text or answer.endswith(f"\n\n{text}") for answer in answers):
            self._steps.add(Step("answer", text))

    def conversation(self, tally: Tally) -> Conversation:
        """Return the conversation of all records so far."""
        self._end_turn()
        return Conversation(
            session_id=self._first_name or self._name,
            cwd=self._file(self._cwd),
            branch=self._line(self._branch),
            title=self._title(),
            steps=tuple(self._steps),
            started_at=self._started_at,
            ended_at=self._ended_at,
            lines=tally.lines,
            size=tally.size,
            broken=tally.broken,
            told=self._told,
        )

    def _take_envelope(self, record: Record) -> None:
        self._here = fields.text_at(record, "cwd") or self._here
        self._cwd = self._cwd or self._here
        self._branch = fields.text_at(record, "gitBranch") or self._branch
        if (client := fields.text_at(record, "client")) in CLIENTS:
            self.client = client
        if (name := fields.text_at(record, "sessionId")) == self._name or not self._first_name:
            self._first_name = name[:200]  # a fork begins with copies that may bear the name of the other session
        if at := fields.time_of(record):
            self._started_at = min(self._started_at or at, at)
            self._ended_at = max(self._ended_at or at, at)

    def _is_repeated(self, record: Record) -> bool:
        if not (uuid := fields.text_at(record, "uuid")):
            return False
        identity = hash(uuid)
        is_repeated = identity in self._seen
        if len(self._seen) < limits.RECORDS:
            self._seen.add(identity)
        return is_repeated

    def _title(self) -> str:
        # An old client wrote the titles of other sessions into this one.
        own = [(kind, title) for (kind, leaf), title in self._titles.items() if not leaf or hash(leaf) in self._seen]
        titles = (title for wanted in fields.TITLES for kind, title in reversed(own) if kind == wanted and title)
        return self._line(next(titles, ""))

    def _take_user(self, record: Record) -> None:
        results = list(fields.results_in(record))
        for result in results:
            self._take_result(record, result)
        # A text beside a result is the client's.
        text = "" if results else texts.printable(fields.text_in(fields.content_of(record)))
        if record.get("isCompactSummary") is True or texts.is_compaction(text):
            self._take_compaction(record, text)
        else:
            self._take_prompt(record, text, record)

    def _take_attachment(self, record: Record) -> None:
        """Take in what was typed, or reported, while the assistant worked."""
        attachment = record.get("attachment")
        if isinstance(attachment, dict) and attachment.get("type") == "queued_command":
            self._take_prompt(record, texts.printable(fields.text_in(attachment.get("prompt"))), attachment)

    def _take_prompt(self, record: Record, text: str, message: Record) -> None:
        """Take in *text*, if a person wrote the *message* that holds it."""
        if fields.is_notification(text):
            self._take_result(record, fields.notification_in(text))
        elif not fields.is_by_a_person(message):
            return
        elif command := fields.shell_command(text):
            self._add(record, Step("tool", self._line(f"! {command}"), tool=SHELL_TOOL))
        elif prompt := self._clean(texts.typed(text), limits.PROMPT):
            own = texts.without_pastes(prompt)
            is_own = own and not texts.is_quotation(own)
            step = Step("prompt", own) if is_own else Step("paste", texts.without_paste_tags(prompt))
            if step.text:
                self._add_prompt(record, step)

    def _add_prompt(self, record: Record, step: Step) -> None:
        step = step._replace(text=texts.shorten(step.text, limits.PROMPT))
        parent = fields.text_at(record, "parentUuid")
        number, last = self._steps.last()
        if last.kind in ("prompt", "paste") and parent and parent == self._parent:
            # It was taken back before it was answered, and typed anew.
            self._steps.change(number, lambda old: old._replace(kind=step.kind, text=step.text))
        else:
            self._add(record, step)
            self._parent = parent

    def _take_compaction(self, record: Record, text: str) -> None:
        summary = self._shortened(texts.compaction_text(text), limits.COMPACTION)
        number, last = self._steps.last()
        if last.kind == "compaction" and not last.text:
            self._set_text(number, summary)  # its boundary came before it
        else:
            self._add(record, Step("compaction", summary))

    def _take_assistant(self, record: Record) -> None:
        if not fields.is_by_the_model(record):
            return
        content = fields.content_of(record)
        self._take_answer(record, fields.text_in(content))
        for plan in fields.plans_in(content):
            self._add(record, Step("plan", self._shortened(plan, limits.PROMPT)))
        for call in fields.calls_in(content, self._here):
            self._take_call(record, call)

    def _take_call(self, record: Record, call: fields.Call) -> None:
        number, last = self._steps.last()
        if call.tool in _TOLD_TOOLS:
            change = call.change._replace(line=self._line(call.change.line), was=self._line(call.change.was))
            step = Step("tool", self._line(call.command), None, call.tool, self._file(call.file), change=change)
            number = self._add(record, step._replace(pending=True))
        elif last.kind != "tool" or last.tool:
            number = self._add(record, Step("tool"))
        self._calls[call.id] = number, call._replace(command="", change=fields.EditSize())
        if len(self._calls) > limits.CALLS:
            del self._calls[next(iter(self._calls))]

    def _take_answer(self, record: Record, text: str) -> None:
        """Hold what was said until it is known whether it goes on: a message may come in parts."""
        if not texts.printable(text).strip() or (text.strip() == fields.NO_ANSWER and self._answer >= 0):
            return
        message = fields.text_at(record, "message", "id")
        goes_on = message and message == self._parent
        if self._answer >= 0 and self._steps.last()[0] == self._answer and goes_on:
            whole = f"{self._said[-1]}\n\n{text}"
            self._said[-1] = whole if len(whole) <= limits.TEXT else text
        else:
            if self._answer >= 0:  # another message comes, so this was not the last one
                said = self._shortened(self._said[-1], limits.MESSAGE)
                self._steps.change(self._answer, lambda step: step._replace(kind="message", text=said))
            self._answer = self._add(record, Step("answer"))
            self._parent = message
            self._said.append(text)

    def _end_turn(self) -> None:
        if self._answer >= 0:
            self._set_text(self._answer, self._shortened(self._said[-1], limits.LAST_MESSAGE))
            self._answer = -1

    def _take_result(self, record: Record, result: fields.Result) -> None:
        number, call = self._calls.get(result.call_id, (-1, fields.Call("", "", "", "")))
        tool = call.tool
        is_over = not result.text.startswith(fields.IN_BACKGROUND)
        self._steps.change(number, lambda step: step._replace(pending=not is_over))
        if result.stopped:
            self._steps.change(number, lambda step: step._replace(stopped=True))
            is_typed = result.is_sure or not tool.startswith("mcp__")
            if is_typed and (said := self._prompt(result.said)):
                self._add(record, Step("refusal", said))
        elif result.failed:
            self._steps.change(number, lambda step: self._failed(step, result.text))
        elif tool == SHELL_TOOL and is_over:
            self._steps.change(number, lambda step: self._checked(step, result.text))
        elif tool == ASKING_TOOL and (answers := fields.answers_in(record)):
            self._take_choice(record, call.questions, answers)

    def _take_choice(self, record: Record, questions: Mapping[str, tuple[str, ...]], answers: dict[str, str]) -> None:
        lines = [self._prompt(f"{question} → {answer}") for question, answer in answers.items()]
        options = tuple(tuple(map(self._line, questions.get(question, ()))) for question in answers)
        self._add(record, Step("choice", "\n".join(map(" ".join, map(str.split, lines))), options=options))

    def _add(self, record: Record, step: Step) -> int:
        if step.kind in OPENING:
            self._end_turn()
        self._parent = ""
        return self._steps.add(step._replace(at=fields.time_of(record), offset=self._offset))

    def _set_text(self, number: int, text: str) -> None:
        self._steps.change(number, lambda step: step._replace(text=text))

    def _checked(self, step: Step, output: str) -> Step:
        """Return *step*, a command that was reported as passed; failed if it is a check whose *output* says so."""
        if not check_in(step.text):
            return step
        if fault := fault_in(step.text, output[-limits.HEAD_BYTES :]):
            return step._replace(error=self._error(step, output) if fault == FAILED else fault)
        return step._replace(last_line=self._line(texts.last_line(output[-limits.HEAD_BYTES :])))

    def _failed(self, step: Step, output: str) -> Step:
        """Return *step*, which ended with an error; unsure if it is a check that may have passed before that."""
        if step.tool != SHELL_TOOL:
            return step._replace(error="failed")
        is_sure = not check_in(step.text) or is_sure_to_have_failed(step.text, output[-limits.HEAD_BYTES :])
        return step._replace(error=self._error(step, output) if is_sure else UNSURE)

    def _error(self, step: Step, text: str) -> str:
        """Return why *step* failed; of a long output of a check the lines that say it."""
        text = self._clean(texts.without_injected(text), limits.ERROR)
        told = error_lines(text) if check_in(step.text) and len(text) > limits.ERROR else []
        lines = "\n".join(dict.fromkeys([*told, *text.splitlines()[-1:]])) if told else ""
        return texts.error_text(lines or text, limits.CHECK_ERROR if lines else limits.ERROR) or "no message"

    def _clean(self, text: str, limit: int) -> str:
        return self._redact(texts.excerpt(texts.printable(text), 8_192 + 6 * limit)).strip()  # more than is kept

    def _shortened(self, text: str, limit: int) -> str:
        return texts.shorten(self._clean(text, limit), limit)

    def _prompt(self, text: str) -> str:
        return self._shortened(text, limits.PROMPT)

    def _line(self, text: str) -> str:
        return texts.first_line(self._clean(text, limits.ERROR), limits.ERROR)

    def _file(self, path: str) -> str:
        return self._clean(path, limits.ERROR) if len(path) <= 4_096 and "\n" not in path else ""
