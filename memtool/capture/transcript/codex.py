"""The rollouts of Codex (`~/.codex/sessions/**/rollout-*.jsonl`), as Claude Code would have written them.

Written from rollouts of 0.169.0 and the issues of its repository. Records that say the same twice, as events and as
items, are read once: as items, which every version has written.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path

from memtool.capture import limits
from memtool.capture.transcript import ASKING_TOOL, SHELL_TOOL, forms
from memtool.capture.transcript.record_fields import IN_BACKGROUND, dict_of, dicts_of, text_at
from memtool.capture.transcript.record_stream import Record, read_records
from memtool.capture.transcript.text import edits_in_patch, inside, patch_in
from memtool.redaction import CONTEXT_TAG
from memtool.text.json_places import object_in

TAKES_BACK = (b'"thread_rolled_back"',)  # by how many turns
_ID = re.compile(r"([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl(?:\.zst)?\Z")
_OF_HELPER = re.compile(rb'"thread_source":\s*"subagent"|"source":\s*\{\s*"subagent"')

_SHELLS = ("exec_command", "shell", "shell_command", "local_shell", "container.exec")
# How the client begins what it says in the user's name; newer versions say of each part who has written it.
_NOT_TYPED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|collaboration_mode|turn_aborted|skill"
    r"|subagent_notification|recommended_plugins|goal_context|codex_delegation|hook_prompt|INSTRUCTIONS)\b"
    r"|# AGENTS\.md instructions)"
)
_FROM_EDITOR = "## My request for Codex:\n"
_TYPED_COMMAND = "<user_shell_command>"
_HEADER_FIELDS = "Chunk ID|Wall time|Original token count|Exit code|Total output lines|Process exited|Process running"
_OUTPUT_HEADER = re.compile(rf"\A(?:(?:{_HEADER_FIELDS})\b[^\n]*\n)*(?:Output:\n)?")
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\d+)$", re.MULTILINE)
_FAILURE = re.compile(
    r"(?:apply_patch verification failed|unsupported (?:custom tool )?call|exec_command failed|failed to)"
)


def records(transcript: forms.Transcript) -> Iterator[Record]:
    """Give the records of a rollout, without the turns that were taken back."""
    gone = _taken_back(transcript)
    translation = _RolloutTranslation()
    for record in read_records(transcript.file, transcript.tally):
        if transcript.tally.record_at not in gone:
            yield from translation.of(record)


def sessions(root: Path, since: float) -> Iterator[forms.KeptSession]:
    """Give the sessions below *root*, `~/.codex` or its folder of sessions, that have changed *since* then."""
    for path in root.glob("**/rollout-*.jsonl*"):
        with suppress(OSError):
            named, status = _ID.search(path.name), path.stat()
            if not named or not stat.S_ISREG(status.st_mode) or not status.st_size or status.st_mtime < since:
                continue
            with path.open("rb") as file:
                if _OF_HELPER.search(file.readline(limits.LONG_RECORD_BYTES)):
                    continue
            yield forms.KeptSession(named[1], path, 0 if path.suffix == ".zst" else status.st_size, status.st_mtime)


def root_of(transcript: Path, *, this_project: bool) -> Path | None:
    """Return the folder of sessions, in which *transcript* lies by its day; those of one project are not apart."""
    return None if this_project or len(transcript.parents) < 4 else transcript.parents[3]


class _RolloutTranslation:
    """The session as far as the records have told it."""

    def __init__(self) -> None:
        self._session = self._cwd = self._branch = ""
        self._calls: dict[str, list[str]] = {}  # a patch of several files is one call for each
        self._questions: dict[str, dict[str, str]] = {}
        self._running: dict[str, str] = {}  # the call of each command that goes on

    def of(self, record: Record) -> Iterator[Record]:
        payload, kind = dict_of(record.get("payload")), text_at(record, "type")
        self._cwd = text_at(payload, "cwd") or self._cwd
        if kind == "session_meta":
            self._session = self._session or text_at(payload, "id")  # a fork repeats that of the other session
            self._branch = text_at(payload, "git", "branch") or self._branch
        elif kind == "response_item":
            for made in self._item(payload):
                yield self._put(record, made)
        elif kind == "compacted":
            yield self._put(record, forms.compaction(text_at(payload, "message")))
        elif kind == "event_msg" and payload.get("type") == "thread_name_updated":
            yield self._put(record, {"type": "custom-title", "customTitle": text_at(payload, "thread_name")})

    def _put(self, record: Record, made: Record) -> Record:
        envelope = {"sessionId": self._session, "cwd": self._cwd, "gitBranch": self._branch}
        return {"timestamp": text_at(record, "timestamp"), **{k: v for k, v in envelope.items() if v}, **made}

    def _item(self, item: Record) -> Iterator[Record]:
        kind = text_at(item, "type")
        if kind == "message":
            yield from _message(item)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            yield from self._uses(item, text_at(item, "call_id"))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield from self._results(text_at(item, "call_id"), _output(item.get("output")))

    def _uses(self, item: Record, call: str) -> Iterator[Record]:
        name = text_at(item, "namespace") + text_at(item, "name")  # a server's own begins so
        given = object_in(text_at(item, "arguments")) or dict_of(item.get("action"))
        if name == "write_stdin":
            self._calls[call] = [self._running.get(str(given.get("session_id")), call)]
            return
        command = _command(item, given) if name in _SHELLS or item.get("type") == "local_shell_call" else ""
        edit = text_at(item, "input") or text_at(given, "input") or text_at(given, "patch")
        patch = patch_in(command or (edit if name == "apply_patch" else ""))
        if files := edits_in_patch(patch):
            self._calls[call] = [f"{call}#{number}" for number in range(len(files))]
            for its, (file, old, new) in zip(self._calls[call], files, strict=True):
                folder = "" if file.startswith("/") else text_at(given, "workdir")
                name = f"{folder}/{file}" if folder else file
                yield forms.use(its, "Edit", {"file_path": name, "old_string": old, "new_string": new})
        elif name == "request_user_input":
            asked = dicts_of(given.get("questions"))
            self._questions[call] = {text_at(one, "id"): text_at(one, "question") for one in asked}
            yield forms.use(call, ASKING_TOOL, {"questions": asked})
        else:
            yield forms.use(call, SHELL_TOOL, {"command": command}) if command else forms.use(call, name, {})

    def _results(self, call: str, output: str) -> Iterator[Record]:
        fields = header[0] if (header := _OUTPUT_HEADER.match(output)) else ""  # what a command prints stands behind it
        code, running = _EXIT_CODE.search(fields), _RUNNING.search(fields)
        calls = self._calls.pop(call, [call])
        if running:
            self._running[running[1]] = calls[0]
        text = f"{IN_BACKGROUND}\n{output}" if running else _OUTPUT_HEADER.sub("", output, count=1)
        failed = (code is not None and code[1] != "0") or _FAILURE.match(output) is not None
        stopped = "rejected by user" in output[:200] or output.startswith("aborted by user")
        made: Record = {}
        if questions := self._questions.pop(call, {}):
            given = dict_of(object_in(output).get("answers"))
            answers = {question: dict_of(given.get(name)).get("answers") for name, question in questions.items()}
            made = {"toolUseResult": {"answers": {asked: each for asked, each in answers.items() if each is not None}}}
        for its in calls:
            yield forms.result(its, text, failed=failed, stopped=stopped) | made


def _message(item: Record) -> Iterator[Record]:
    role, texts = text_at(item, "role"), [text_at(part, "text") for part in dicts_of(item.get("content"))]
    if role == "assistant":
        yield from (forms.said(text, text_at(item, "id")) for text in texts)
    elif role == "developer":
        yield from (forms.context(text) for text in texts if CONTEXT_TAG in text)
    elif role == "user":
        kinds = dict_of(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
        writers = chain(kinds if isinstance(kinds, list) else (), repeat("user"))
        own = (_typed(text) for text, writer in zip(texts, writers, strict=False) if str(writer).startswith("user"))
        if text := "\n\n".join(filter(None, own)):
            yield forms.typed(text)


def _typed(text: str) -> str:
    if text.lstrip().startswith(_TYPED_COMMAND):
        return f"<bash-input>{inside(text, 'command')}</bash-input>"
    if _NOT_TYPED.match(text):
        return ""
    return text.partition(_FROM_EDITOR)[2].strip() or text


def _command(item: Record, given: Record) -> str:
    command = given.get("cmd", given.get("command"))
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        command = words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)
    return command if isinstance(command, str) else text_at(item, "arguments")


def _output(output: object) -> str:
    """Return the text of a tool's output: text, text in JSON with the exit code, or parts."""
    if isinstance(output, list):
        return "\n".join(text_at(part, "text") for part in dicts_of(output))
    if isinstance(output, dict):
        return _output(output.get("content", output.get("output")))
    if not isinstance(output, str):
        return ""
    parsed = object_in(output) if output.startswith('{"output"') else {}
    if isinstance(parsed.get("metadata"), dict):
        return f"Exit code: {parsed['metadata'].get('exit_code')}\nOutput:\n{text_at(parsed, 'output')}"
    return output


def _taken_back(transcript: forms.Transcript) -> set[int]:
    """Return the offsets of the records of turns that the user went back behind."""
    gone, turns = set[int](), list[list[int]]([[]])
    for record, offset in forms.records_ahead(transcript, TAKES_BACK):
        payload = dict_of(record.get("payload"))
        if payload.get("type") == "thread_rolled_back":
            number = payload.get("num_turns")
            back = min(number if isinstance(number, int) and number > 0 else 0, len(turns) - 1)
            gone.update(*turns[len(turns) - back :])
            del turns[len(turns) - back :]
        elif text_at(record, "type") in ("response_item", "compacted"):
            begins = payload.get("type") == "message" and payload.get("role") == "user" and any(_message(payload))
            if begins:
                turns.append([])
            turns[-1].append(offset)
    return gone
