"""The log of a hook's problems, a line each, in the vault or, if that cannot be written, in the user's cache."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from memtool import settings
from memtool.capture.log import ERROR, NOTE, WARNING, LogEntry, log
from memtool.errors import MemtoolError, NotAVault, VaultNotFound
from memtool.hook.occasion import Options, vault_path
from memtool.vault.layout import Vault
from memtool.vault.state import STATE_FOLDER, make_state_folder, outer_folder


def report(event: str, error: BaseException, options: Options, environ: Mapping[str, str]) -> None:
    """Write *error* to the log. If that is not possible either, nobody can be told.

    Without *event* what came was none: most likely somebody has tried the program by hand.
    """
    write(LogEntry(_now(), ERROR if event else WARNING, event or "hook", _sentence(error)), options, environ)


def advice(event: Mapping[str, object], error: BaseException, options: Options) -> str:
    """Return the answer that tells the user, when a session begins, that there is no vault, and what to do."""
    is_start = (event.get("hook_event_name"), event.get("source")) == ("SessionStart", "startup")
    if options.client or not is_start or not isinstance(error, VaultNotFound | NotAVault):
        return ""
    return json.dumps({"systemMessage": f"memtool does nothing yet: {error}. {error.hint}"})


def write(entry: LogEntry, options: Options, environ: Mapping[str, str]) -> None:
    """Write *entry* to the log."""
    folders: list[Path] = []
    root: Path | None = None
    with contextlib.suppress(Exception):
        root = vault_path(options, environ).resolve()
        with contextlib.suppress(OSError, MemtoolError):
            Vault(root).check_made()
            make_state_folder(root / STATE_FOLDER)
            folders.append(root / STATE_FOLDER)
    with contextlib.suppress(Exception):
        cache = settings.user_cache_path(environ)
        outer = outer_folder(root, cache) if root else cache
        outer.mkdir(mode=0o700, parents=True, exist_ok=True)
        folders.append(outer)
    with contextlib.suppress(Exception):
        log(folders, entry)


def note(event: str, sentence: str, options: Options, environ: Mapping[str, str]) -> None:
    """Write to the log what nobody needs to mend."""
    write(LogEntry(_now(), NOTE, event, sentence), options, environ)


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _sentence(error: BaseException) -> str:
    """Return *error* as a sentence. A bug says where it is; nothing quotes the event, which may hold a secret."""
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
