"""What memtool does at each event of the client."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memtool import settings as settings_module
from memtool.errors import BadSetting
from memtool.hook.occasion import Action, Occasion, Reply
from memtool.hook.options import Options, vault_path
from memtool.hook.problems import note, report
from memtool.vault.layout import open_vault
from memtool.workspace import Workspace

_LONGEST_READ = 65_536  # characters of it that are looked through for secrets; far more than are kept
_LONGEST_ANSWER = 8_000  # characters of the last answer that are kept for a transcript that lags


def act(name: str, event: Mapping[str, Any], options: Options, environ: Mapping[str, str]) -> str:
    """Do what is to be done at the event *name*, and return what the client is told: mostly nothing.

    What goes wrong in one action is written to the log and does not keep the others from being done.

    Raises:
        Exception: the vault or its settings cannot be opened; the caller writes it to the log.
    """
    actions = ACTIONS.get(name)
    if actions is None:
        note(name, "memtool does not know this event", options, environ)
        return ""
    vault = open_vault(vault_path(options, environ))
    vault.check_made()
    home = Path.home()
    folder = event.get("cwd")
    folder = Path(folder) if isinstance(folder, str) and os.path.isabs(folder) else home  # noqa: PTH117
    loaded = settings_module.load(vault.settings_path, environ)
    occasion = Occasion(name, event, Workspace(vault, loaded, environ, home, folder), options)
    if _is_private(occasion):
        actions = tuple(action for action in actions if action not in (note_edit, queue_session))
    answers = [_done(action, occasion) for action in actions]
    return _spoken(name, next((answer for answer in answers if answer and answer.text), Reply()))


def _is_private(occasion: Occasion) -> bool:
    """Whether the session is not to be captured; one that the user has switched off is passed over by sweeps, too."""
    from memtool.capture.switches import is_excluded, is_off, switch_off

    if is_off(occasion.work.environ, occasion.work.settings.capture):
        if occasion.name != "PostToolUse" and occasion.text("session_id"):
            switch_off(occasion.work.vault, occasion.text("session_id"))
        return True
    return is_excluded(occasion.text("cwd"), occasion.work.settings.capture.exclude, occasion.work.home)


def _spoken(name: str, answer: Reply) -> str:
    """Return what is printed so that the client gives the text to its model; before a compaction, to its summariser."""
    if not answer.text or name not in ("SessionStart", "UserPromptSubmit"):
        return answer.text
    import json

    context = {"hookEventName": name, "additionalContext": answer.text}
    notice = {"systemMessage": answer.notice} if answer.notice else {}
    return json.dumps({**notice, "hookSpecificOutput": context})


def _done(action: Action, occasion: Occasion) -> Reply | None:
    try:
        return action(occasion)
    except Exception as error:  # noqa: BLE001
        report(occasion.name, error, occasion.options, occasion.work.environ)
        return None


def note_edit(occasion: Occasion) -> None:
    """Write the edited file into the daily note."""
    from memtool.capture.conversation import EDITING_TOOLS
    from memtool.capture.edits import Edit, note_edit as write_edit

    if occasion.text("tool_name") not in EDITING_TOOLS:
        return
    write_edit(occasion.work, Edit(_edited_file(occasion.event), occasion.text("cwd"), occasion.work.now()))


def know_own_note(occasion: Occasion) -> None:
    """Count a note of the vault that the session itself writes as given to it: it is no news."""
    file = Path(_edited_file(occasion.event))
    if occasion.text("session_id") and file.is_relative_to(occasion.work.vault.root):
        from memtool.hook.recalling import count_as_given

        count_as_given(occasion, file.relative_to(occasion.work.vault.root).as_posix())


def queue_session(occasion: Occasion) -> None:
    """Put the session on the queue and start a worker."""
    from memtool.capture.queue import Job

    session_id, transcript = occasion.text("session_id"), occasion.text("transcript_path")
    if not session_id or not _is_file(transcript):
        sentence = f"there is no transcript at '{transcript}', so the session was not captured"
        note(occasion.name, sentence, occasion.options, occasion.work.environ)
        return
    job = Job(
        session_id,
        transcript,
        cwd=occasion.text("cwd"),
        event=occasion.name,
        said=_tail(_redacted(occasion, "last_assistant_message")),
        compaction=_redacted(occasion, "compact_summary"),
        queued_at=time.time(),
    )
    _put(occasion, job)


def sweep(occasion: Occasion) -> None:
    """Let a worker look for sessions that nobody captured."""
    from memtool.capture.queue import SWEEP, Job

    transcript = occasion.text("transcript_path")
    if transcript:
        projects = Path(transcript).parent
        folder = projects if occasion.options.this_project else projects.parent
        job = Job(SWEEP, str(folder), event=occasion.name, besides=occasion.text("session_id"), queued_at=time.time())
        _put(occasion, job)


def give_context(occasion: Occasion) -> Reply:
    """Give the memory of the project to a session that begins."""
    from memtool.hook.recalling import context_of_session

    return context_of_session(occasion)


def warm_up(occasion: Occasion) -> None:
    """Let a helper hold the model, where vectors are set up: no prompt has the time to load it."""
    from memtool.hook.recalling import warm_up as start

    start(occasion)


def give_memories(occasion: Occasion) -> Reply:
    """Give a prompt the memories that matter to it."""
    from memtool.hook.recalling import memories_of_prompt

    return memories_of_prompt(occasion)


def tell_summariser(occasion: Occasion) -> Reply:
    """Tell the client what its summary must keep, and forget what was given: it will be gone from the context."""
    from memtool.hook.recalling import what_summary_keeps

    return what_summary_keeps(occasion)


def close_ledger(occasion: Occasion) -> None:
    """Forget what the session was given, now that it ends; one that is resumed is reminded of it."""
    from memtool.hook.recalling import end_ledger, forget_given

    (forget_given if occasion.text("reason") == "clear" else end_ledger)(occasion)


ACTIONS: dict[str, tuple[Action, ...]] = {
    "PostToolUse": (note_edit, know_own_note),
    "Stop": (queue_session,),
    "PreCompact": (queue_session, tell_summariser),
    "PostCompact": (queue_session,),
    "SessionEnd": (queue_session, close_ledger),
    "SessionStart": (give_context, warm_up, sweep),
    "UserPromptSubmit": (give_memories,),
}


def _put(occasion: Occasion, job: Any) -> None:  # noqa: ANN401  (a `Job`, imported only where one is made)
    from memtool.capture.background import start_worker
    from memtool.capture.queue import Queue

    Queue(occasion.work.vault).put(job)
    start_worker(occasion.work.vault, occasion.work.environ)


def _edited_file(event: Mapping[str, Any]) -> str:
    asked = event.get("tool_input")
    for name in ("file_path", "notebook_path"):
        value = asked.get(name) if isinstance(asked, dict) else None
        if isinstance(value, str) and Path(value).is_absolute():
            return value
    return ""


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except (OSError, ValueError):
        return False


def _tail(text: str) -> str:
    return text if len(text) <= _LONGEST_ANSWER else "…" + text[-_LONGEST_ANSWER:]


def _redacted(occasion: Occasion, field: str) -> str:
    """Return a field without secrets; nothing of it where the user's patterns cannot be used, so the worker says so."""
    text = occasion.text(field)[-_LONGEST_READ:]
    try:
        return occasion.work.redact(text) if text else ""
    except BadSetting:
        return ""
