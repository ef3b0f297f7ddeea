"""The errors of memtool: each is a sentence, an exit code, a status for HTTP, and a hint how to fix it.

Exit codes: 0 done, 1 failed, 2 usage, 3 a bug in memtool, 20-29 the vault, 30-39 providers and settings,
40-49 what is captured, 75 try again, 130 interrupted. `docs/reference/exit-codes.md` is generated from this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class MemtoolError(Exception):
    """An error that the user can understand and fix."""

    exit_code = 1
    http_status = 409
    hint = ""

    def __init__(self, sentence: str, *, hint: str | None = None) -> None:
        super().__init__(sentence)
        if hint is not None:
            self.hint = hint


def sentence_of(error: Exception) -> str:
    """Return *error* as a sentence for the user: its own one, or that it is a bug."""
    bug = f"a bug in memtool, please report it: {type(error).__name__}: {error}"
    return str(error) if isinstance(error, MemtoolError) else bug


def in_words(error: Exception) -> str:
    """Return *error*, which is one of memtool's or of the system, with its hint: for a person or an agent."""
    if isinstance(error, OSError):
        return f"the system refused: {error.strerror or error}"
    return f"{str(error).rstrip('.')}. {getattr(error, 'hint', '')}".strip()


def faults_in(errors: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the first of pydantic's *errors* as `field: what is wrong`, without repeating long values."""
    faults = []
    for error in errors[:10]:
        value = error.get("input")
        is_short = isinstance(value, int | float) or (isinstance(value, str) and len(value) < 60)
        field = ".".join(map(str, error["loc"])) or "arguments"
        faults.append(f"{field}: {error['msg']}{f' (got {value!r})' if is_short else ''}")
    return faults


class UsageError(MemtoolError):
    """The command line is wrong: an option, an argument or a combination of them."""

    exit_code = 2
    http_status = 400
    hint = "See `memtool --help`."


class NoteNotFound(MemtoolError):
    """No note, fact or line range matches the reference."""

    exit_code = 20
    http_status = 404
    hint = "Find it with `memtool search WORDS`."

    def __init__(self, ref: str) -> None:
        super().__init__(f"no note matches '{ref}'")


class VaultNotFound(MemtoolError):
    """The named vault, or the default one, does not exist."""

    exit_code = 21
    http_status = 503
    hint = "Make one with `memtool init PATH`, or name yours with `--vault PATH`."


class NotAVault(MemtoolError):
    """The path of the vault is a file, is no vault, or cannot be opened."""

    exit_code = 22
    http_status = 503
    hint = "A vault is a folder of Markdown files."


class VaultTooNew(MemtoolError):
    """A newer memtool made this vault."""

    exit_code = 23
    http_status = 503
    hint = "Install a newer memtool."


class BrokenVaultFile(MemtoolError):
    """A file of the vault breaks its format."""

    exit_code = 24
    hint = "Fix the file by hand; `git log` in the vault shows its older versions."


class OutsideVault(MemtoolError):
    """A path or a symlink leads out of the vault."""

    exit_code = 25
    http_status = 404
    hint = "Name a file inside the vault."


class NotWritable(MemtoolError):
    """The vault, or a file in it, cannot be written."""

    exit_code = 26
    http_status = 507
    hint = "Check the permissions of the folder and the free space of the disk."


class HistoryFailed(MemtoolError):
    """git failed, or refused."""

    exit_code = 27
    hint = "Run `git status` in the vault."


class SessionNotFound(MemtoolError):
    """No session with memories or kept turns matches the name."""

    exit_code = 28
    http_status = 404
    hint = "`memtool given --last` shows the last session anywhere."


class RemoteFailed(HistoryFailed):
    """The vault has no remote, or the remote cannot be reached or refuses you."""

    exit_code = 29
    hint = "Run `git fetch` in the vault: git may ask for what memtool cannot."


class BadSetting(MemtoolError):
    """A settings file or variable holds a value that memtool cannot use."""

    exit_code = 30
    http_status = 503
    hint = "`memtool doctor` shows where each setting comes from."


class ProviderMissing(MemtoolError):
    """An optional part is not installed, or its model is not on this machine."""

    exit_code = 31
    http_status = 503


class ProviderFailed(MemtoolError):
    """A provider answered with an error, or unusably."""

    exit_code = 32
    http_status = 502


LONGEST_WAIT = 30.0  # seconds that a provider may ask us to wait


class Unavailable(ProviderFailed):
    """A provider fails now, and may work soon. *wait* is the seconds that it asks for, 0 if it names none."""

    hint = "Try again later."

    def __init__(self, sentence: str, wait: float = 0.0) -> None:
        super().__init__(sentence, hint=f"It asks to wait {wait:.0f} seconds." if wait > LONGEST_WAIT else None)
        self.wait = wait


class DatabaseUnavailable(MemtoolError):
    """The shared database cannot be reached, or refuses the connection."""

    exit_code = 33
    http_status = 503
    hint = "Check that the server runs and that `index.dsn` (or MEMTOOL_POSTGRES) names it; then try again."


class SchemaMismatch(MemtoolError):
    """The shared database has the tables of another version of memtool."""

    exit_code = 34
    http_status = 503
    hint = "Run `memtool index`, which brings them up to date."


class OnlyReading(MemtoolError):
    """The token may read a team's vault, but not write it."""

    exit_code = 35
    http_status = 403
    hint = "Ask the operator of the team's service for a token with the scope `write`."


class TranscriptUnreadable(MemtoolError):
    """The transcript of a session does not exist, or cannot be read."""

    exit_code = 40
    hint = "Claude Code deletes transcripts after 30 days; `cleanupPeriodDays` in its settings keeps them longer."

    def __init__(self, path: object, reason: str, *, hint: str | None = None) -> None:
        super().__init__(f"cannot read the transcript '{path}': {reason}", hint=hint)


class NoteChanged(MemtoolError):
    """Someone else changed it in the meantime."""

    exit_code = 75
    hint = "Nothing was overwritten. Read the file again and repeat."


class Busy(MemtoolError):
    """Another memtool process holds what this one needs."""

    exit_code = 75
    http_status = 503
    hint = "Try again in a moment."
