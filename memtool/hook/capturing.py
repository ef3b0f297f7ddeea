"""The captures of a hook: an edited file, a session that ends or goes on, one that was missed."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import Any

from memtool.errors import BadSetting
from memtool.hook.occasion import Occasion

_LONGEST_READ = 65_536  # characters of it that are looked through for secrets; far more than are kept
_LONGEST_TAIL, _LAST_PROMPTS = 262_144, 8  # bytes of a transcript's end, and records in it, that are read
_LONGEST_ANSWER = 8_000  # characters of the last answer that are kept for a transcript that lags


def note_edit(occasion: Occasion) -> None:
    """Write the edited file into the daily note."""
    from memtool.capture.conversation import EDITING_TOOLS
    from memtool.capture.daily_lines import Edit, write_edit

    if occasion.text("tool_name") not in EDITING_TOOLS:
        return
    for file in occasion.edited_files():
        write_edit(occasion.work, Edit(file, occasion.text("cwd"), occasion.work.now()))


def know_own_note(occasion: Occasion) -> None:
    """Count a note of the vault that the session itself writes as given to it: it is no news."""
    session_id, root = occasion.text("session_id"), occasion.work.vault.root
    files = [Path(file) for file in occasion.edited_files()]
    own = [file.relative_to(root).as_posix() for file in files if file.is_relative_to(root)]
    if session_id and own:
        from memtool.recall.ledger import ledger_folder, read_ledger, write_ledger

        ledgers = ledger_folder(occasion.work)
        ledger = read_ledger(ledgers, session_id).with_given(own)
        write_ledger(ledgers, session_id, ledger)


def queue_session(occasion: Occasion) -> None:
    """Put the session on the queue and start a worker."""
    from memtool.capture.queue import Job

    session_id, transcript = occasion.text("session_id"), occasion.text("transcript_path")
    if not session_id or not _is_file(transcript):
        from memtool.hook.problems import note

        sentence = f"there is no transcript at '{transcript}', so the session was not captured"
        note(occasion.name, sentence, occasion.options, occasion.work.environ)
        return
    said = _redacted(occasion, "last_assistant_message")
    job = Job(
        session_id,
        transcript,
        cwd=occasion.text("cwd"),
        event=occasion.name,
        said=said if len(said) <= _LONGEST_ANSWER else "…" + said[-_LONGEST_ANSWER:],
        compaction=_redacted(occasion, "compact_summary"),
        queued_at=time.time(),
        client=occasion.options.client,
    )
    _put(occasion, job)


def sweep(occasion: Occasion) -> None:
    """Let a worker look for sessions that nobody captured."""
    from memtool.capture.queue import SWEEP, Job

    transcript, client = occasion.text("transcript_path"), occasion.options.client
    folder = _folder_to_sweep(Path(transcript), occasion) if transcript else None
    if folder:
        session_id = occasion.text("session_id")
        job = Job(SWEEP, str(folder), event=occasion.name, besides=session_id, queued_at=time.time(), client=client)
        _put(occasion, job)


def _folder_to_sweep(transcript: Path, occasion: Occasion) -> Path | None:
    if client := occasion.options.client:
        from memtool.capture.transcript.forms import form_of_client

        form = form_of_client(client)
        if not form.module:  # it is a transcript of ours: those of one vault lie together
            return transcript.parent
        return form.root_of(transcript, this_project=occasion.options.this_project)
    return transcript.parent if occasion.options.this_project else transcript.parent.parent


def _put(occasion: Occasion, job: Any) -> None:  # noqa: ANN401  (a `Job`, imported only where one is made)
    from memtool.capture.queue import Queue, start_worker

    Queue(occasion.work.vault).put(job)
    start_worker(occasion.work.vault, occasion.work.environ)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except (OSError, ValueError):
        return False


def _redacted(occasion: Occasion, field: str) -> str:
    """Return a field without secrets; nothing of it where the user's patterns cannot be used, so the worker says so."""
    text = occasion.text(field)[-_LONGEST_READ:]
    try:
        if not text:
            return ""
        redact = occasion.work.redact.of_session()
        for prompt in _last_prompts(occasion.text("transcript_path")):
            redact(prompt)
        return redact(text)
    except BadSetting:
        return ""


def _last_prompts(transcript: str) -> list[str]:
    """Return what was typed last, as it stands in the transcript: a secret in it is masked in the answer, too."""
    try:
        with Path(transcript).open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _LONGEST_TAIL, 0))
            lines = file.read().split(b"\n")
    except (OSError, ValueError):
        return []
    typed = [line for line in lines if b'"user"' in line and b'"tool_result"' not in line][-_LAST_PROMPTS:]
    return [line[:_LONGEST_ANSWER].decode("utf-8", "replace") for line in typed]
