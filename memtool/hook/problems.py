"""Errors of a hook: each is a line in the log, which `memtool doctor` reads; some are also a hint to the user."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from memtool.capture.log import ERROR, NOTE, WARNING, LogEntry, log_for_vault
from memtool.errors import MemtoolError, NotAVault, VaultNotFound
from memtool.settings import find_vault_path


def report(event: str, error: BaseException | str, vault: str, environ: Mapping[str, str]) -> None:
    """Write *error* to the log; a sentence is a note, which needs no fix. If that fails, nothing else can be done.

    *vault* is the one that the installation names, if it names one. Without *event*, stdin held no event: most likely
    a person tried the program by hand.
    """
    root: Path | None = None
    with contextlib.suppress(Exception):
        root = find_vault_path(vault or None, environ, Path(os.sep))[0].resolve()  # as the hook found it
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    level = NOTE if isinstance(error, str) else ERROR if event else WARNING
    sentence = error if isinstance(error, str) else _sentence(error)
    with contextlib.suppress(Exception):
        log_for_vault(root, environ, LogEntry(now, level, event or "hook", sentence))


def advice(event: Mapping[str, object], error: BaseException, client: str) -> str:
    """Return the answer that tells the user, when a session begins, that there is no vault, and what to do."""
    is_start = (event.get("hook_event_name"), event.get("source")) == ("SessionStart", "startup")
    if client or not is_start or not isinstance(error, VaultNotFound | NotAVault):
        return ""
    return json.dumps({"systemMessage": f"memtool does nothing yet: {error}. {error.hint}"})


def _sentence(error: BaseException) -> str:
    """Return *error* as a sentence. A bug names its place; the event, which may hold a secret, is not quoted."""
    if isinstance(error, MemtoolError):
        return str(error)
    if isinstance(error, OSError):
        return f"the system refused: {error.strerror or type(error).__name__}"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return "the event is no JSON"
    if type(error) in (ValueError, TypeError):
        return str(error)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}{where}"
