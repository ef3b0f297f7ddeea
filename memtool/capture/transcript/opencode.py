"""The history of OpenCode (`~/.local/share/opencode/opencode.db`), as Claude Code would have written it.

Written from the database of 1.18.33: `session`, `message` and `part`, of which the latter two hold JSON. It is opened
for reading only, while OpenCode may be writing to it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from memtool.capture import limits
from memtool.capture.transcript import ASKING_TOOL, EDITING_TOOLS, SHELL_TOOL, forms
from memtool.capture.transcript.record_fields import dict_of, dicts_of, moment_of, text_at
from memtool.capture.transcript.record_stream import Record
from memtool.capture.transcript.text import edits_in_patch
from memtool.errors import TranscriptUnreadable
from memtool.redaction import CONTEXT_TAG
from memtool.text.json_places import object_in

TAKES_BACK: tuple[bytes, ...] = ()
_NAMELESS = ("New session - ", "Child session - ")
_TOOLS = {"write": "Write", "edit": "Edit", "multiedit": "Edit", "bash": SHELL_TOOL, "question": ASKING_TOOL}

_SESSION = "SELECT directory, title, revert FROM session WHERE id = ?"
_MESSAGES = "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT data FROM part WHERE message_id = ? AND length(data) <= ? ORDER BY id"
_SIZE = "(SELECT COALESCE(SUM(LENGTH(data)), 0) FROM part WHERE session_id = session.id)"
_SESSIONS = f"SELECT id, directory, time_created, time_updated, {_SIZE} FROM session"  # noqa: S608
_SIZE_OF = f"SELECT {_SIZE} FROM session WHERE id = ?"  # noqa: S608
_CHANGED = f"{_SESSIONS} WHERE parent_id IS NULL AND time_updated >= ?"


def records(transcript: forms.Transcript) -> Iterator[Record]:
    """Give the records of the session that is asked for, without what was taken back; they have no offsets.

    Raises:
        TranscriptUnreadable: the database cannot be read, or holds no such session.
    """
    if not transcript.session_id:
        hint = "`memtool import opencode` turns its sessions into notes."
        raise TranscriptUnreadable(transcript.path, "it is OpenCode's history of all sessions", hint=hint)
    with _opened(transcript.path) as db:
        row = db.execute(_SESSION, (transcript.session_id,)).fetchone()
        if row is None:
            raise TranscriptUnreadable(transcript.path, f"it holds no session '{transcript.session_id[:80]}'")
        folder, title, revert = row
        envelope = {"sessionId": transcript.session_id, "cwd": str(folder)}
        if title and not str(title).startswith(_NAMELESS):
            yield {"type": "ai-title", "aiTitle": str(title), **envelope}
        last = text_at(_object(revert), "messageID")
        transcript.tally.size = db.execute(_SIZE_OF, (transcript.session_id,)).fetchone()[0]
        for name, at, data in db.execute(_MESSAGES, (transcript.session_id,)):
            if last and str(name) >= last:
                return
            transcript.tally.lines += 1
            parts = [_object(part) for (part,) in db.execute(_PARTS, (name, limits.PARSED_BYTES))]
            moment = moment_of(at)
            for made in _message(str(name), _object(data), parts):
                yield {"timestamp": moment.isoformat() if moment else "", **envelope, **made}


def sessions(root: Path, since: float) -> Iterator[forms.KeptSession]:
    """Give the sessions of the database at *root*, or in that folder, that have changed *since* then."""
    path = root / "opencode.db" if root.is_dir() else root
    if not path.is_file():
        return
    with suppress(TranscriptUnreadable), _opened(path) as db:
        for name, folder, began, ended, size in db.execute(_CHANGED, (since * 1000,)):
            with suppress(TypeError):  # a row that another program has changed
                yield forms.KeptSession(
                    str(name), path, int(size), ended / 1000, str(folder), (began / 1000, ended / 1000)
                )


def root_of(transcript: Path, *, this_project: bool) -> Path | None:
    """Return the database itself, which holds all sessions; those of a project are not apart."""
    return None if this_project else transcript


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5.0)) as db:  # seconds
            db.text_factory = partial(str, encoding="utf-8", errors="replace")
            yield db
    except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
        raise TranscriptUnreadable(path, f"it is no history of OpenCode: {error}") from None


def _message(name: str, message: Record, parts: list[Record]) -> Iterator[Record]:
    texts = [text_at(part, "text") for part in parts if _is_text(part)]
    if text_at(message, "role") == "user":
        added = (text_at(part, "text") for part in parts if part.get("synthetic"))
        yield from (forms.context(text) for text in added if CONTEXT_TAG in text)
        if text := "\n\n".join(filter(None, map(_typed, texts))):
            yield forms.typed(text)
    elif message.get("summary") is True:
        yield forms.compaction("\n\n".join(texts))
    elif text_at(message, "role") == "assistant":
        for part in parts:
            if _is_text(part):
                yield forms.said(text_at(part, "text"), name)
            elif part.get("type") == "tool":
                yield from _tool(name, part)


def _is_text(part: Record) -> bool:
    """Return whether *part* is a text by a person or the model, and none that the program or a plugin has added."""
    return part.get("type") == "text" and not (part.get("synthetic") or part.get("ignored"))


def _typed(text: str) -> str:
    """Return a prompt as it was typed: `opencode run` puts quotes around what it is given."""
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]
    return text[1:-1] if is_quoted else text


def _tool(message: str, part: Record) -> Iterator[Record]:
    state = dict_of(part.get("state"))
    given, detail = dict_of(state.get("input")), dict_of(state.get("metadata"))
    call, tool = text_at(part, "callID"), text_at(part, "tool")
    whole = (
        text_at(given, "filePath"),
        text_at(given, "oldString"),
        text_at(given, "newString") or text_at(given, "content"),
    )
    code = detail.get("exit")
    failed = state.get("status") == "error" or (isinstance(code, int) and code != 0)
    text = text_at(state, "output") or text_at(state, "error")
    answers: Record = {}
    if tool == "question":
        asked, chosen = dicts_of(given.get("questions")), detail.get("answers")
        pairs = zip(asked, chosen if isinstance(chosen, list) else (), strict=False)
        answers = {"toolUseResult": {"answers": {text_at(one, "question"): answer for one, answer in pairs}}}
    for at, (file, old, new) in enumerate(edits_in_patch(text_at(given, "patchText")) or [whole]):
        name = _TOOLS.get(tool, "Edit" if tool == "apply_patch" else tool)
        edit = {"file_path": file, "old_string": old, "new_string": new}
        yield forms.use(f"{call}#{at}", name, edit if name in EDITING_TOOLS else given, message)
        if state.get("status") in ("completed", "error"):
            yield forms.result(f"{call}#{at}", text, failed=failed) | answers


def _object(text: object) -> Record:
    return object_in(text) if isinstance(text, str | bytes) else {}
