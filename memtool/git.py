"""git, run by name and without a shell: its answer, or an error with a sentence."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memtool import settings
from memtool.errors import HistoryFailed
from memtool.processes import handles

# Set when memtool is run from a git hook: they would send us to somebody else's repository.
_FOREIGN = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_CONFIG",
)  # fmt: skip
# A partial clone fetches what it lacks, by any program that its settings name: fetching is disabled for every protocol.
_OWN = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C",
    "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
}  # fmt: skip
# A repository may name programs to run, or be hidden among the files of another. memtool needs none of
# these; it does need clean filters (git-crypt, LFS): see `memtool.history.commits`.
_NO_PROGRAMS = (
    "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false",
    "-c", "rerere.enabled=false", "-c", "safe.bareRepository=explicit",
)  # fmt: skip
FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")  # options that go with *paths*
_LOCKED = "Another git is at work, or one was killed: `memtool doctor --fix` removes a lock that is older than an hour."


class GitAnswer(NamedTuple):
    """The answer of git. Paths in *out* are decoded as the file system does it."""

    code: int
    out: str
    err: str


NO_VARIABLES: Mapping[str, str] = {}


def program_of(folder: Path, *args: str) -> list[str]:
    """Return the command line of `git ARGS` in *folder*, which runs none of the repository's own programs."""
    return ["git", "-C", str(folder), *_NO_PROGRAMS, *args]


def environment() -> dict[str, str]:
    """Return the environment in which git finds this repository, and never prompts."""
    environ = {name: value for name, value in settings.environment().items() if name not in _FOREIGN}
    return {**environ, **_OWN}


def ask(
    folder: Path,
    *args: str,
    paths: Sequence[str] = (),
    stdin: bytes | None = None,
    timeout: float | None = 10.0,
    variables: Mapping[str, str] = NO_VARIABLES,
) -> GitAnswer:
    """Run `git ARGS` in *folder* and return its answer, whatever the exit code.

    To its stdin goes *stdin*, else *paths*, NUL-separated. *variables* of the environment are set for this run.
    Without a *timeout*, in seconds, it may take as long as it likes.

    Raises:
        HistoryFailed: git is missing, too slow, or does not trust the folder's owner.
    """
    import subprocess

    try:
        done = subprocess.run(
            program_of(folder, *args),
            input=b"\0".join(os.fsencode(path) for path in paths) if stdin is None else stdin,
            capture_output=True,
            timeout=timeout,
            check=False,
            env={**environment(), **variables},
            start_new_session=True,  # it has no terminal then, at which ssh could ask
            pass_fds=() if os.name == "nt" or "GIT_ALLOW_PROTOCOL" in variables else handles(),  # not to ssh's helpers
        )
    except FileNotFoundError:
        raise HistoryFailed("git is not installed", hint="Install git; without it no change can be undone.") from None
    except subprocess.TimeoutExpired:
        raise HistoryFailed(f"git did not answer within {timeout:g} seconds") from None
    except (OSError, ValueError) as error:
        raise HistoryFailed(f"git cannot be run: {error}") from None
    answer = GitAnswer(done.returncode, os.fsdecode(done.stdout), done.stderr.decode("utf-8", "replace"))
    if "dubious ownership" in answer.err:
        hint = f"If you trust it, run `git config --global --add safe.directory '{folder}'`."
        raise HistoryFailed(f"git does not trust '{folder}', because another user owns it", hint=hint)
    return answer


def tell(
    folder: Path,
    *args: str,
    paths: Sequence[str] = (),
    stdin: bytes | None = None,
    timeout: float | None = 60.0,
    variables: Mapping[str, str] = NO_VARIABLES,
) -> str:
    """Run `git ARGS` in *folder* and return its output.

    Raises:
        HistoryFailed: git is missing, or refused; its own first line is quoted.
    """
    answer = ask(folder, *args, paths=paths, stdin=stdin, timeout=timeout, variables=variables)
    if answer.code != 0:
        raise refused(folder, answer)
    return answer.out


def texts_in(folder: Path, commit: str, names: Iterable[str]) -> dict[str, str]:
    """Return the texts of those of the files *names* that *commit* holds, by one process; bytes as in `GitAnswer`."""
    asked = [name for name in names if "\n" not in name]
    lines = os.fsencode("".join(f"{commit}:{name}\n" for name in asked))
    out = os.fsencode(ask(folder, "cat-file", "--batch", stdin=lines, timeout=60.0).out) if asked else b""
    found, at = dict[str, str](), 0
    for name in asked:
        end = out.find(b"\n", at)
        head, at = out[at:end], end + 1
        if end < 0 or head.endswith(b" missing"):
            continue
        size = int(head.rpartition(b" ")[2])
        found[name] = os.fsdecode(out[at : at + size])
        at += size + 1
    return found


def blob_of(content: bytes) -> str:
    """Return the name by which git knows *content*, where it stores it as it is."""
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


def setting_of(folder: Path, name: str) -> str:
    """Return the setting *name* of the repository at *folder* itself; empty if it has none."""
    return ask(folder, "config", "--local", "--get", name).out.removesuffix("\n")


def refused(folder: Path, answer: GitAnswer) -> HistoryFailed:
    """Return the error for an *answer* that is no success; git's own first line is in it."""
    line = (answer.err.strip() or answer.out.strip() or f"exit code {answer.code}").splitlines()[0]
    hint = _LOCKED if ".lock': File exists" in line else None
    return HistoryFailed(f"git refused in '{folder}': {line.rstrip('.')}", hint=hint)
