"""The events of the client, and the actions of memtool at each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from memtool import settings as settings_module
from memtool.hook.occasion import Action, Occasion, Options, Reply, vault_path
from memtool.vault.layout import Vault, open_vault
from memtool.workspace import Workspace

# event -> the functions of `memtool.hook` that act on it; their modules are imported when it comes.
ACTIONS: dict[str, tuple[str, ...]] = {
    "PreToolUse": ("hinting.before_tool",),
    "PostToolUseFailure": ("hinting.after_failure",),
    "PostToolUse": ("capturing.note_edit", "capturing.know_own_note"),
    "Stop": ("capturing.queue_session",),
    "PreCompact": ("capturing.queue_session", "recalling.what_summary_keeps"),
    "PostCompact": ("capturing.queue_session",),
    "SessionEnd": ("capturing.queue_session", "recalling.close_ledger"),
    "SessionStart": (
        "recalling.context_of_session",
        "recalling.warm_up",
        "capturing.sweep",
        "recalling.week_was_missed",
    ),
    "UserPromptSubmit": ("recalling.memories_of_prompt",),
}
_HINTING = ("PreToolUse", "PostToolUseFailure")
_GIVING = ("SessionStart", "UserPromptSubmit", *_HINTING)  # their text reaches the model only as JSON
# What a private session is spared.
_CAPTURING = ("capturing.note_edit", "capturing.queue_session", "keeping.keep")


def act(name: str, event: Mapping[str, Any], options: Options, environ: Mapping[str, str]) -> str:
    """Do what is to be done at the event *name*, and return what the client is told: mostly nothing.

    What goes wrong in one action is written to the log and does not keep the others from being done.

    Raises:
        Exception: the vault or its settings cannot be opened; the caller writes it to the log.
    """
    if name not in ACTIONS:
        from memtool.hook.problems import note

        note(name, "memtool does not know this event", options, environ)
        return ""
    vault = open_vault(vault_path(options, environ))
    vault.check_made()
    home = Path.home()
    folder = event.get("cwd")
    folder = Path(folder) if isinstance(folder, str) and os.path.isabs(folder) else home  # noqa: PTH117
    loaded = settings_module.load(vault.settings_path, environ)
    actions = ACTIONS[name]
    if options.client:
        event, actions = _with_own_transcript(event, actions, vault, options.client)
    occasion = Occasion(name, event, Workspace(vault, loaded, environ, home, folder), options)
    # Before a command, and after one that failed, nothing is captured, and nobody should wait for that question.
    spared = _CAPTURING if name not in _HINTING and passes_over(occasion) else ()
    answers = [_done(action, occasion) for action in actions if action not in spared]
    text = next((answer.text for answer in answers if answer and answer.text), "")
    reply = Reply(text, "\n".join(answer.notice for answer in answers if answer and answer.notice))
    return _spoken(name, reply, options.client)


def _with_own_transcript(
    event: Mapping[str, Any], actions: tuple[str, ...], vault: Vault, client: str
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return the event of a client that keeps no transcript with the one that we keep, and that keeping comes first."""
    from memtool.clients import CLIENTS

    if CLIENTS[client].history:
        return event, actions
    from memtool.hook.keeping import heard_path

    path = heard_path(vault, str(event.get("session_id", "")))
    return {**event, "transcript_path": str(path)}, ("keeping.keep", *actions)


def _done(action: str, occasion: Occasion) -> Reply | None:
    try:
        module, _, function = action.partition(".")
        act_on: Action = getattr(import_module(f"memtool.hook.{module}"), function)
        return act_on(occasion)
    except Exception as error:  # noqa: BLE001
        from memtool.hook.problems import report

        report(occasion.name, error, occasion.options, occasion.work.environ)
        return None


def passes_over(occasion: Occasion) -> bool:
    """Return whether nothing of the session is to be captured; sweeps are told where the user has switched it off."""
    from memtool.capture.switches import is_excluded, is_off

    if is_off(occasion.work.environ, occasion.work.settings.capture):
        if occasion.name != "PostToolUse" and occasion.text("session_id"):
            from memtool.capture.captured import switch_off  # no hook after an edit needs them

            switch_off(occasion.work.vault, occasion.text("session_id"))
        return True
    return is_excluded(occasion.text("cwd"), occasion.work.settings.capture.exclude, occasion.work.home)


def _spoken(name: str, answer: Reply, client: str) -> str:
    """Return the output by which the client gives the text to its model; before a compaction, to its summariser."""
    if client:
        from memtool.hook.translation import answered

        return answered(client, name, answer.text, answer.notice)
    if not (answer.text or answer.notice) or name not in _GIVING:
        return answer.text
    import json

    notice = {"systemMessage": answer.notice} if answer.notice else {}
    context = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": answer.text}} if answer.text else {}
    return json.dumps({**notice, **context})
