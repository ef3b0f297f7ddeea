"""An event of a client's session, and what is captured at it, if anything: an edited file, or the session itself.

Hooks and the HTTP service act on events alike. Heavy imports are inside the functions: a hook pays for each.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from memtool.capture import limits
from memtool.errors import BadSetting
from memtool.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memtool.capture.queue import Job
    from memtool.settings.sections import CaptureSettings
    from memtool.workspace import Workspace

SWITCH = "MEMTOOL_CAPTURE"  # the variable that is `off` for a session that is not to be captured
_ENTRY = "CLAUDE_CODE_ENTRYPOINT"  # says how the client was started: `cli`, or `sdk-cli` for `claude -p`


class ClientEvent(NamedTuple):
    """An event in the words of Claude Code, and the workspace of its session.

    Args:
        name: such as `Stop`.
        fields: what the client sent.
        work: the workspace; its folder is that of the session.
        client: the client, empty for Claude Code.
        this_project: whether memtool is installed for one project only.
    """

    name: str
    fields: Mapping[str, Any]
    work: Workspace
    client: str = ""
    this_project: bool = False

    def text(self, field: str) -> str:
        """Return a field of the event; empty if it is missing or no text."""
        value = self.fields.get(field)
        return value if isinstance(value, str) else ""

    def edited_files(self) -> list[str]:
        """Return the absolute paths of the files that a tool edits; only tools of other clients edit several."""
        arguments = self.fields.get("tool_input")
        if not isinstance(arguments, dict):
            return []
        named = [arguments.get("file_path"), arguments.get("notebook_path")]
        if self.client and isinstance(arguments.get("files"), list):
            named += arguments["files"]
        return [path for path in named if isinstance(path, str) and os.path.isabs(path)]  # noqa: PTH117

    def log(self, sentence: str, *, is_error: bool = False) -> None:
        """Write *sentence* to the log: a note, which needs no fix, or an error."""
        from memtool.capture.log import ERROR, NOTE, LogEntry, log_for_vault

        level = ERROR if is_error else NOTE
        entry = LogEntry(self.work.now().isoformat(timespec="seconds"), level, self.name, sentence)
        log_for_vault(self.work.vault.root, self.work.environ, entry)


def is_private(event: ClientEvent) -> bool:
    """Return whether nothing of the session is captured. A session that the user switched off is remembered as such."""
    work = event.work
    if is_off(work.environ, work.settings.capture):
        if event.name != "PostToolUse" and event.text("session_id"):
            from memtool.capture.captured import set_capture  # sweeps read it; a hook after an edit has no time for it

            set_capture(work.vault, event.text("session_id"), enabled=False)
        return True
    return is_excluded(event.text("cwd"), work.settings.capture.exclude, work.home)


def note_edit(event: ClientEvent) -> None:
    """Write the edited file into the daily note."""
    from memtool.capture.daily_lines import Edit, write_edit
    from memtool.capture.transcript import EDITING_TOOLS

    if event.text("tool_name") in EDITING_TOOLS:
        for file in event.edited_files():
            write_edit(event.work, Edit(file, event.text("cwd"), event.work.now()))


def queue_session(event: ClientEvent) -> None:
    """Put the session on the queue and start a worker."""
    from memtool.capture.queue import Job

    session_id, transcript = event.text("session_id"), event.text("transcript_path")
    is_file = False
    with suppress(OSError, ValueError):
        is_file = stat.S_ISREG(os.stat(transcript).st_mode)  # noqa: PTH116
    if not session_id or not is_file:
        event.log(f"there is no transcript at '{transcript}', so the session was not captured")
        return
    answer = _redacted(event, "last_assistant_message")
    job = Job(
        session_id,
        transcript,
        cwd=event.text("cwd"),
        event=event.name,
        said=answer if len(answer) <= limits.LAST_ANSWER else "…" + answer[-limits.LAST_ANSWER :],
        compaction=_redacted(event, "compact_summary"),
        queued_at=time.time(),
        client=event.client,
    )
    _put(event, job)


def sweep(event: ClientEvent) -> None:
    """Let a worker look for sessions that were not captured."""
    from memtool.capture.queue import SWEEP, Job

    transcript, folder = Path(event.text("transcript_path")), None
    if event.text("transcript_path"):
        folder = transcript.parent if event.this_project else transcript.parent.parent
    if folder and event.client:
        from memtool.capture.transcript.forms import form_of_client

        form = form_of_client(event.client)
        # a transcript of ours lies in one folder with all those of its vault
        folder = form.root_of(transcript, this_project=event.this_project) if form.module else transcript.parent
    if folder:
        session_id, now = event.text("session_id"), time.time()
        job = Job(SWEEP, str(folder), event=event.name, besides=session_id, queued_at=now, client=event.client)
        _put(event, job)


def _put(event: ClientEvent, job: Job) -> None:
    from memtool.capture.queue import Queue, start_worker

    Queue(event.work.vault).put(job)
    start_worker(event.work.vault, event.work.environ)


def _redacted(event: ClientEvent, field: str) -> str:
    """Return a field without secrets; nothing where the user's patterns cannot be used, which the worker reports."""
    text = event.text(field)[-limits.TEXT :]
    try:
        if not text:
            return ""
        redact = event.work.redact.of_session()
        for prompt in _last_prompts(event.text("transcript_path")):
            redact(prompt)
        return redact(text)
    except BadSetting:
        return ""


def _last_prompts(transcript: str) -> list[str]:
    """Return what was typed last, as the transcript has it: a secret in it is masked in the answer, too."""
    try:
        with Path(transcript).open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - limits.SMALL_FILE_BYTES, 0))
            lines = file.read().split(b"\n")
    except (OSError, ValueError):
        return []
    typed = [line for line in lines if b'"user"' in line and b'"tool_result"' not in line][-8:]
    return [line[: limits.LAST_ANSWER].decode("utf-8", "replace") for line in typed]


def is_off(environ: Mapping[str, str], settings: CaptureSettings) -> bool:
    """Return whether the session that *environ* tells of is not to be captured, wherever it works."""
    is_printing = is_print_mode(environ.get(_ENTRY, ""))
    return environ.get(SWITCH, "").casefold() in ("off", "0", "no", "false") or (
        is_printing and settings.print_sessions == "no"
    )


def is_print_mode(entry: str) -> bool:
    """Return whether a session with the entry point *entry* was one of `claude -p`, or of a program."""
    return entry.startswith("sdk")


def is_excluded(folder: str, patterns: Sequence[str], home: Path) -> bool:
    """Whether work in *folder* is excluded by one of *patterns*: a folder, or a remote such as `github.com/acme/*`."""
    if not folder or not patterns:
        return False
    places = [pattern for pattern in patterns if pattern.startswith(("~", "*")) or os.path.isabs(pattern)]  # noqa: PTH117
    for place in places:
        path = f"{home}{place[1:]}" if place.startswith("~") else place
        if PurePath(folder).is_relative_to(path) or fnmatch(folder, path) or fnmatch(folder, f"{path}/*"):
            return True
    remotes = [pattern for pattern in patterns if pattern not in places]
    return bool(remotes) and _has_remote(Path(folder), remotes)


def _has_remote(folder: Path, patterns: Sequence[str]) -> bool:
    from memtool.errors import HistoryFailed
    from memtool.vault.project_area import find_project, identities_of, normalise_remote

    wanted = [(normalise_remote(pattern) or pattern).casefold() for pattern in patterns]
    try:
        remote = next(identities_of(find_project(folder, quick=True), quick=True)).casefold()
    except HistoryFailed:
        return True  # nobody knows; what may be excluded is not written down
    return any(fnmatch(remote, pattern) for pattern in wanted)
