"""Commits of exactly the files that memtool wrote, or of given contents."""

from __future__ import annotations

import os
import re
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memtool.errors import HistoryFailed
from memtool.git import FROM_STDIN, ask, blob_of, environment, refused, tell
from memtool.history import limits
from memtool.history.repository import AUTHOR, Repository, open_repository

SIGNATURE = "Memtool"  # the trailer of memtool's own commits

_UNCHECKED = ("-c", "core.safecrlf=false")
# A commit may tidy up. In the background that would outlive us and hold the folder; of many files, the next one does.
_UNTIDIED = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")
_IN_FOREGROUND = ("-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false")
_TRAILER = re.compile(r"[A-Za-z][A-Za-z-]*: ")
_IDENTITY = ("GIT_AUTHOR_", "GIT_COMMITTER_", "EMAIL")  # variables by which the user says who commits
_UNUSUAL = re.compile(r"[ \t\r\f\v]$|\n{3}|[^\n]\Z", re.MULTILINE)  # what git would clean up in a message
_BRANCH = r"refs/heads/[\w./-]+"
_PERSON = r"\w(?:[^<>\n\r\0]*\w)? <[^<>\s\0]+>"


class NewContent(NamedTuple):
    """The content that a file is to have, and its mode as git writes it."""

    data: bytes
    mode: str = "100644"


def commit(
    repository: Path | Repository,
    names: Sequence[str],
    message: str,
    *,
    is_ours: bool = True,
    author: str = "",
    timeout: float | None = 60.0,
) -> str:
    """Commit the files *names*, relative to the top level of *repository*; return the commit, empty if none changed.

    A file that is gone is committed as removed. What the user has staged stays staged and out of this commit. Folders,
    and files that git ignores or cannot read, are left out. Hooks do not run and nothing is signed: the user may not
    be there to be asked. Each step may take *timeout* seconds; None sets no limit.
    A change that *is_ours* is known as such to `memtool log` and `memtool undo`. *author* is as in `Vault`.

    Raises:
        HistoryFailed: git refuses, or the repository is in the middle of a merge, a rebase or the like.
    """
    at = repository if isinstance(repository, Repository) else open_repository(repository)
    if at is None:
        raise HistoryFailed(f"'{repository}' is no git repository")
    wanted = [name for name in dict.fromkeys(names) if not (at.top / name).is_dir() or (at.top / name).is_symlink()]
    if not wanted:
        return ""
    at.refuse_unsafe(wanted)
    message = signed(message) if is_ours else message
    if len(wanted) == 1 and is_ours and (made := _commit_known(at, wanted[0], message, author)):
        return made
    is_many = len(wanted) > limits.FEW_FILES and _stage_many(at.top, wanted, timeout)
    problem = None if is_many else _stage_few(at, wanted, timeout)
    committing = [*_UNCHECKED, *_IN_FOREGROUND, *(_UNTIDIED if is_many else ()), *at.author_options, "commit"]
    committing += ["--quiet", "--cleanup=whitespace", f"--message={message}"]
    only = (*committing, "--only", *FROM_STDIN)
    variables = _author_variables(author)
    # Naming paths makes git compare each file with each name.
    if is_many or ask(at.top, *only, paths=wanted, timeout=timeout, variables=variables).code:
        listed = tell(at.top, "diff", "--cached", "--name-only", "--no-renames", "-z", timeout=timeout)
        staged = set(listed.split("\0")[:-1])
        changed = [name for name in wanted if name in staged]
        if not changed and problem:
            raise problem
        if not changed:
            return ""
        words, paths = (only, changed) if len(staged) > len(changed) else (committing, ())
        tell(at.top, *words, paths=paths, timeout=timeout, variables=variables)
    return at.head


def _stage_few(repository: Repository, names: Sequence[str], timeout: float | None) -> HistoryFailed | None:
    """Stage *names*; return the error where git takes none, which some that it does not know may make it do."""
    adding = (*_UNCHECKED, "add", "--all", "--ignore-errors", *FROM_STDIN)
    added = ask(repository.top, *adding, paths=names, timeout=timeout)
    if added.code > 1:  # a file is gone that git never knew
        there = [name for name in names if os.path.lexists(repository.top / name)]
        gone = [name for name in names if name not in there]
        tell(repository.top, "update-index", "-z", "--force-remove", "--stdin", paths=gone, timeout=timeout)
        added = ask(repository.top, *adding, paths=there, timeout=timeout) if there else added
    return refused(repository.top, added) if added.code > 1 else None


def _stage_many(folder: Path, names: Sequence[str], timeout: float | None) -> bool:
    """Stage the *names* that git does not ignore, in time that grows with their number; return whether git could.

    `git add` compares each name with each file. What git cannot read makes it stage none here.
    """
    asked = {f"./{name}": name for name in names}  # a colon in front would have a meaning
    magic = {"GIT_LITERAL_PATHSPECS": "0"}  # which this command does not know
    ignored = ask(folder, "check-ignore", "-z", "--stdin", paths=[*asked], timeout=timeout, variables=magic)
    if ignored.code > 1:
        return False
    left_out = set(ignored.out.split("\0"))
    kept = [name for path, name in asked.items() if path not in left_out]
    version = re.search(r"(\d+)\.(\d+)", ask(folder, "version").out)
    # From 2.38 on git writes new contents into one pack; else it makes that of them afterwards.
    packs = version is not None and (int(version[1]), int(version[2])) >= (2, 38)
    packing = ("-c", "core.bigFileThreshold=1", "-c", "pack.compression=1") if packs else ()
    adding = (*_UNCHECKED, *packing, "update-index", "-z", "--add", "--remove", "--stdin")
    parts = (kept[start : start + limits.PACKED_FILES] for start in range(0, len(kept), limits.PACKED_FILES))
    return all(ask(folder, *adding, paths=part, timeout=timeout).code == 0 for part in parts)


def _commit_known(repository: Repository, name: str, message: str, author: str) -> str:
    """Commit the file *name*, which `look_at` found clean, without a look at all others; return the commit, or nothing.

    `git commit --only` asks the disk about every file of the repository, which takes longer than all else that a
    `remember` does in a large vault. Here git's index learns of one file, and the commit is made of the one before it
    and that file. Nothing is committed where the file is unchanged or new to git, where git has another content for it
    than its bytes (line ends, filters), and where more than a name and an address says who commits.
    """
    committer, path = _committer(repository), repository.top / name
    is_plain: object = committer and re.fullmatch(rf"{_PERSON}|", author) and not _UNUSUAL.search(message)
    is_plain = is_plain and re.fullmatch(r'[^"\n][^\n]*', name) and re.fullmatch(_BRANCH, repository.branch, re.ASCII)
    mode = path.lstat().st_mode if os.path.lexists(path) else 0
    is_plain = is_plain and stat.S_ISREG(mode) and not mode & stat.S_IXUSR
    if not (is_plain and name in (repository.clean or ())):
        return ""
    content = path.read_bytes()
    blob = blob_of(content)
    if blob == (repository.clean or {})[name]:
        return ""
    if ask(repository.top, *_UNCHECKED, "update-index", "-z", "--stdin", paths=[name]).code:
        return ""
    when = f"{int(time.time())} {time.strftime('%z')}"
    text = message.encode("utf-8", "replace")
    head = f"commit {repository.branch}\nmark :1\nauthor {author or committer} {when}\ncommitter {committer} {when}\n"
    tail = f"\nfrom {repository.branch}^0\nM 100644 {blob} {name}\n\nget-mark :1\n"
    stream = os.fsencode(f"{head}data {len(text)}\n") + text + os.fsencode(tail)
    made = ask(repository.top, "fast-import", "--quiet", stdin=stream, timeout=60.0)
    return made.out.strip() if made.code == 0 else ""


def _committer(repository: Repository) -> str:
    """Return who commits, `Name <address>`; empty where only git can work that out."""
    known = {each.name: each.value.strip() for each in repository.settings}
    is_named = any(key.startswith(("author.", "committer.")) for key in known)
    if is_named or any(variable.startswith(_IDENTITY) for variable in environment()):
        return ""
    name, address = (known.get(key) or default for key, default in AUTHOR.items())
    person = f"{name} <{address}>"
    return person if re.fullmatch(_PERSON, person) else ""


def commit_contents(
    repository: Repository,
    contents: Mapping[str, NewContent | None],
    message: str,
    *,
    is_ours: bool = True,
    author: str = "",
) -> str:
    """Commit *contents* for the files of those names, whatever is in the folder, and return the new commit.

    None removes a file. What the user has staged of other files stays staged; of these, nothing may be. For a change
    that *is_ours*, see `commit`.

    Raises:
        HistoryFailed: git refuses; nothing is committed.
    """
    folder, head = repository.top, repository.head
    rows = [f"0 {'0' * 40}\t{name}\0" for name, content in contents.items() if content is None]
    for name, content in contents.items():
        if content is not None:
            blob = tell(folder, "hash-object", "-w", f"--path={name}", "--stdin", stdin=content.data).strip()
            rows.append(f"{content.mode} {blob}\t{name}\0")
    entries = os.fsencode("".join(rows))
    with tempfile.TemporaryDirectory(prefix="memtool-index-") as aside:
        variables = {"GIT_INDEX_FILE": str(Path(aside) / "index")}
        tell(folder, "read-tree", head, variables=variables)
        tell(folder, "update-index", "-z", "--index-info", stdin=entries, variables=variables)
        tree = tell(folder, "write-tree", variables=variables).strip()
    options = (*repository.author_options, "commit-tree", tree, "-p", head, "-F", "-")
    message = signed(message) if is_ours else message
    variables = _author_variables(author)
    made = tell(folder, *options, stdin=message.encode("utf-8", "replace"), variables=variables).strip()
    tell(folder, "update-ref", "-m", message.partition("\n")[0], "HEAD", made, head)
    tell(folder, "update-index", "-z", "--index-info", stdin=entries)  # a kill before leaves nothing staged
    return made


def _author_variables(author: str) -> dict[str, str]:
    name, _, address = author.rstrip(">").partition(" <")
    return {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address} if author else {}


def signed(message: str) -> str:
    """Return the commit *message* with the line by which memtool's own commits are known: `Memtool: capture`."""
    subject, _, body = message.strip().partition("\n")
    word, colon, _ = subject.partition(": ")
    kind = word if colon and word.isalpha() else "init"
    last = body.strip().rpartition("\n\n")[2]
    joint = "\n" if last and all(_TRAILER.match(line) for line in last.split("\n")) else "\n\n"
    return f"{message.strip()}{joint}{SIGNATURE}: {kind}\n"


def is_signed(message: str) -> bool:
    """Return whether the commit *message* is memtool's own."""
    return re.search(rf"(?m)^{SIGNATURE}: \w+[ \t]*$", message) is not None
