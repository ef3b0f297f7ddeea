"""The chats of Gemini CLI (`~/.gemini/tmp/<project>/chats/session-*.jsonl`), as Claude Code would have written them.

Written from chats and the source of 0.61.0. A message is written again, whole, when a tool of it has ended; a rewind
and a compression are records of their own. Until 2025 a chat was one JSON object, in a file that ends with `.json`.
"""

from __future__ import annotations

import html
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memtool.capture import limits
from memtool.capture.transcript import ASKING_TOOL, SHELL_TOOL, forms
from memtool.capture.transcript.record_fields import dict_of, dicts_of, text_at
from memtool.capture.transcript.record_stream import Record, read_records
from memtool.capture.transcript.text import without_injected
from memtool.redaction import CONTEXT_TAG
from memtool.text.json_places import object_in

TAKES_BACK = (b'"$rewindTo"', b'"$set":{"messages"')  # to before a message; and all of them anew
_ID = re.compile(rb'"sessionId":\s*"([^"\\]{1,200})"')
_OF_HELPER = re.compile(rb'"kind":\s*"subagent"')

_TOOLS = {"write_file": "Write", "replace": "Edit", "run_shell_command": SHELL_TOOL, "ask_user": ASKING_TOOL}
_NOT_TYPED = ("<session_context>", "/", "?", "System: ")
_SNAPSHOT = "<state_snapshot>"
_REFERENCED = "\n--- Content from referenced files ---"  # and all behind it
_LAST_LINES = ("Exit Code: ", "Process Group PGID: ")


def records(transcript: forms.Transcript) -> Iterator[Record]:
    """Give the records of a chat, without what was taken back by a rewind."""
    is_whole = transcript.path.suffix == ".json"
    gone = set() if is_whole else _taken_back(transcript)
    translation = _ChatTranslation(transcript.cwd or _project_of(transcript.path), gone)
    for record in _whole(transcript) if is_whole else read_records(transcript.file, transcript.tally):
        yield from translation.of(record)


def sessions(root: Path, since: float) -> Iterator[forms.KeptSession]:
    """Give the chats below *root*, `~/.gemini`, its `tmp` or one project in it, that have changed *since* then."""
    for pattern in ("tmp/*/chats", "*/chats", "chats"):
        for path in root.glob(f"{pattern}/session-*.json*"):
            with suppress(OSError):
                status = path.stat()
                if path.suffix not in (".json", ".jsonl") or path.with_name(f"{path.name}l").exists():
                    continue  # of a chat that was resumed in a newer version both are there
                if not stat.S_ISREG(status.st_mode) or status.st_mtime < since:
                    continue
                with path.open("rb") as file:
                    head = file.read(limits.HEAD_BYTES)
                named = _ID.search(head)
                if named and not _OF_HELPER.search(head):
                    name = named[1].decode("utf-8", "replace")
                    yield forms.KeptSession(name, path, status.st_size, status.st_mtime, _project_of(path))


def root_of(transcript: Path, *, this_project: bool) -> Path | None:
    """Return the folder of all projects, or that of one, in which the folder `chats` of *transcript* lies."""
    above = 1 if this_project else 2
    return transcript.parents[above] if len(transcript.parents) > above else None


class _ChatTranslation:
    """The session as far as the records have told it."""

    def __init__(self, cwd: str, gone: set[str]) -> None:
        self._session, self._cwd, self._gone = "", cwd, gone
        self._told: dict[str, int] = {}  # how many calls of each message were given

    def of(self, record: Record) -> Iterator[Record]:
        self._session = self._session or text_at(record, "sessionId")
        for message in _messages(record):
            if text_at(message, "id") not in self._gone:
                for made in self._message(message):
                    yield self._put(message, made)
        if summary := text_at(record, "$set", "summary"):
            yield self._put(record, {"type": "summary", "summary": summary})

    def _put(self, message: Record, made: Record) -> Record:
        return {"timestamp": text_at(message, "timestamp"), "sessionId": self._session, "cwd": self._cwd, **made}

    def _message(self, message: Record) -> Iterator[Record]:
        name, kind = text_at(message, "id"), text_at(message, "type")
        before = self._told.get(name)
        if kind == "user" and before is None:
            yield from _prompt(message)
        elif kind == "gemini":
            text = _text(message.get("content"))
            if text and before is None:
                yield forms.said(text, name)
            calls = dicts_of(message.get("toolCalls"))
            for call in calls[before or 0 :]:
                tool = text_at(call, "name")
                yield forms.use(text_at(call, "id"), _TOOLS.get(tool, tool), dict_of(call.get("args")), name)
                yield _result(call)
            self._told[name] = max(len(calls), before or 0)
            return
        self._told[name] = before or 0


def _messages(record: Record) -> list[Record]:
    """Return the messages in *record*: itself, or those of which the conversation is to consist from now on."""
    listed = [*dicts_of(record.get("messages")), *dicts_of(dict_of(record.get("$set")).get("messages"))]
    return [message for message in [*listed, record] if text_at(message, "id")]


def _prompt(message: Record) -> Iterator[Record]:
    shown = _text(message.get("displayContent"))  # what was typed, where files that it names were put into the content
    if not shown and any("functionResponse" in part for part in dicts_of(message.get("content"))):
        return
    content = _text(message.get("content"))
    if CONTEXT_TAG in content:
        yield forms.context(html.unescape(content))
    text = (shown or content).partition(_REFERENCED)[0]
    text = without_injected(text).strip()
    if text.startswith(_SNAPSHOT):
        yield forms.compaction(text)
    elif text and not text.startswith(_NOT_TYPED):
        yield forms.typed(text)


def _result(call: Record) -> Record:
    parts = dicts_of(call.get("result"))
    texts = [text_at(part, "functionResponse", "response", name) for part in parts for name in ("output", "error")]
    # what the client puts around the output of a command: a tag, and at the end the exit code
    text = "\n".join(texts).strip().removeprefix("<untrusted_context>").removesuffix("</untrusted_context>").strip()
    text, code = text.removeprefix("Output: "), ""
    while (rest := text.rpartition("\n"))[2].startswith(_LAST_LINES):
        code = code or rest[2].partition(_LAST_LINES[0])[2]  # what the command itself printed comes before the client's
        text = rest[0].rstrip()
    failed = call.get("status") == "error" or (call.get("name") == "run_shell_command" and code not in ("", "0"))
    made = forms.result(text_at(call, "id"), text, failed=failed, stopped=call.get("status") == "cancelled")
    return made | {"toolUseResult": {"answers": _chosen(call, text)}} if call.get("name") == "ask_user" else made


def _chosen(call: Record, text: str) -> dict[str, str]:
    """Return the answers by their questions; the client numbers them as it asked."""
    asked, answers = dicts_of(dict_of(call.get("args")).get("questions")), dict_of(object_in(text).get("answers"))
    return {text_at(one, "question"): str(answers.get(str(at), "")) for at, one in enumerate(asked) if answers}


def _text(content: object) -> str:
    """Return the text of a message: text, or parts of which some are text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = (part if isinstance(part, str) else text_at(part, "text") for part in parts if isinstance(part, str | dict))
    return "\n\n".join(text for text in texts if text.strip())


def _whole(transcript: forms.Transcript) -> Iterator[Record]:
    """Give the one record of a chat that is one object."""
    content = transcript.file.read(limits.RECORD_BYTES + 1)
    transcript.tally.lines, transcript.tally.size = content.count(b"\n") + 1, len(content)
    if record := object_in(content.decode("utf-8", "replace")) if len(content) <= limits.RECORD_BYTES else {}:
        yield record
    else:
        transcript.tally.broken = transcript.tally.lines


def _project_of(path: Path) -> str:
    """Return the folder of the project whose chat lies at *path*, as the client has noted it; empty if it has not."""
    with suppress(OSError, ValueError, IndexError):
        noted = path.parents[1] / ".project_root"
        if noted.is_file():
            with noted.open(encoding="utf-8") as file:
                return file.read(limits.HEAD_BYTES).strip()
    return ""


def _taken_back(transcript: forms.Transcript) -> set[str]:
    """Return the ids of the messages that the user went back behind."""
    gone, names = set[str](), dict[str, None]()
    for record, _ in forms.records_ahead(transcript, TAKES_BACK[:1]):
        if back := text_at(record, "$rewindTo"):
            ordered = list(names)
            place = ordered.index(back) if back in names else 0
            gone.update(ordered[place:])
            names = dict.fromkeys(ordered[:place])
        names |= dict.fromkeys(text_at(message, "id") for message in _messages(record))
    return gone
