"""Bringing the vault together with its remote: fetch, merge, push; never by force, and never asking anything.

    commit what memtool wrote
    fetch; merge what is new there, with everybody else kept out of the folder
    push; if another machine was quicker, wait a little and begin anew

Only the user's own remote is used, as the clone's settings name it, over ssh, https or a path.

A remote may hold what somebody else put there, so that the files that a merge would bring are looked at before it.
Refused are links, submodules, memtool's own state, and names that some disk takes for git's own files. A file that only
this machine's ignore rules know would be overwritten by git without a word: it is put aside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from memtool.errors import HistoryFailed, RemoteFailed
from memtool.git import GitAnswer, ask, setting_of, tell
from memtool.history import limits
from memtool.history.commits import commit, signed
from memtool.history.driver import install_driver
from memtool.history.mending import complete_merge, locked, settle, text_of
from memtool.history.one_commit import commit_noted
from memtool.history.repository import get_own_repository, uncommitted_files
from memtool.history.rewriting import refuse_purged
from memtool.processes import note_plan
from memtool.text.lines import counted, some_of
from memtool.vault import files
from memtool.vault.layout import Vault
from memtool.vault.marks import BEGIN, holds_two_texts
from memtool.vault.state import STATE_FOLDER, writing_in

_SINCE = "capture: what was written since\n\nSo that it is known on the other machines."

_PROTOCOLS = {"GIT_ALLOW_PROTOCOL": "ssh:https:file"}
ADDRESS = re.compile(r"(?:ssh|https|file)://\S.*|(?!-)(?:[^:/@\s]+@)?[^:/@\s]+:(?!:|//).+|[./~].*|[A-Za-z]:[\\/].*")
# Settings of a repository that make git run a program to reach a remote or to merge: see `Repository.refuse_programs`.
_PROGRAMS = (
    r"^(filter|hook|credential|protocol)\.|^core\.(sshcommand|gitproxy|askpass)$|^gc\.recentobjectshook$"
    r"|^remote\..*\.(uploadpack|receivepack|vcs|proxy|promisor)$|^merge\..*\.driver$|^ssh\.variant$"
)
_QUIET = ("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.askPass=", "-c", "push.followTags=false")

_UNREACHABLE = (
    "resolve host|unable to access|unreachable|timed out|connection (?:refused|closed|reset)|could not connect|no route"
)
_UNKNOWN = (
    "authentication failed|could not read (?:username|password)|permission denied|host key verification"
    "|terminal prompts disabled|access denied|40[13]"
)
_MISSING = "not appear to be a git repository|repository.*not found|does not exist|no such file"
# What git and ssh say (LC_ALL=C), and what it means.
_MEANINGS = (
    (_UNKNOWN, "it refuses who you are", "Run `git fetch` in the vault: there git and ssh ask what they must know."),
    (_MISSING, "there is no repository", "`git remote -v` in the vault shows the address."),
    (_UNREACHABLE, "it cannot be reached", "Is there a network? Nothing is lost: sync again later."),
    ("transport .* not allowed", "its protocol is not used", "Use an address of ssh or https."),
)


class Remote(NamedTuple):
    """The vault's remote: its name and address, and the branch that is synchronised."""

    name: str
    address: str
    branch: str

    @property
    def tracked(self) -> str:
        """The ref under which the state of the remote is known here."""
        return f"refs/remotes/{self.name}/{self.branch}"


class Synced(NamedTuple):
    """The outcome of a sync.

    Args:
        remote: its name.
        received, sent: changes.
        unsolved: files that hold two texts between marks, or have their other version beside them.
        waiting: files that the user has changed and not committed; they stay here.
        aside: ignored files in whose place the remote has others, with the names that they have now.
    """

    remote: str
    received: int = 0
    sent: int = 0
    unsolved: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    aside: Mapping[str, str] = {}


def sync(
    vault: Vault,
    *,
    wait: Callable[[int], None],
    after_merge: Callable[[], None] = lambda: None,
    join: bool = False,
    edits: bool = False,
    before_commit: Callable[[Sequence[str]], None] | None = None,
    before_merge: Callable[[Remote], None] = lambda _remote: None,
) -> Synced:
    """Bring *vault* and its remote together, after completing a merge of ours that was cut off.

    *wait* is called with the number of the try when another machine was quicker, *after_merge* to bring up to date what
    follows from the files, *before_commit* with the paths that memtool wrote, before they are committed, *before_merge*
    once what is new is fetched: what it raises keeps that out. With *join*, a remote that began as another vault is
    merged as well; with *edits*, the user's own edits are committed, too.

    Raises:
        RemoteFailed: there is no remote, it cannot be reached, or refuses.
        HistoryFailed: the vault has no history, or is in the middle of something.
        Busy: another sync of this vault is at work for too long.
    """
    get_own_repository(vault.root, _PROGRAMS).refuse_programs()
    with locked(vault, "sync", timeout=limits.NETWORK):
        with locked(vault, timeout=limits.PATIENCE):
            complete_merge(vault)
        get_own_repository(vault.root).refuse_unfinished()
        remote = find_remote(vault)
        install_driver(vault)
        received, aside = 0, dict[str, str]()
        for attempt in range(1, limits.PUSHES + 1):
            commit_noted(vault, _SINCE, before=before_commit)
            if edits and (names := uncommitted_files(vault.root)):
                with locked(vault, timeout=limits.PATIENCE):
                    commit(vault.root, names, f"Edits of {counted(len(names), 'file')}", is_ours=False)
            fetch(vault, remote)
            refuse_purged(vault.root, remote.tracked)
            ahead, behind = distance(vault, remote)
            if behind:
                before_merge(remote)
                aside |= _merge(vault, remote, behind, join=join)
                received += behind
                after_merge()
                ahead, _ = distance(vault, remote)
            if not ahead or _push(vault, remote):
                waiting = uncommitted_files(vault.root)
                return Synced(remote.name, received, ahead, unsolved(vault), waiting, aside)
            wait(attempt)
        hint = "Nothing is lost. Sync again in a moment."
        raise RemoteFailed(f"another machine was quicker {limits.PUSHES} times in a row", hint=hint)


def find_remote(vault: Vault) -> Remote:
    """Return the remote of the branch that is checked out, else `origin`, else the only one.

    Raises:
        RemoteFailed: there is none, or it is not reached over ssh, https or a path.
    """
    branch = tell(vault.root, "symbolic-ref", "--short", "HEAD").strip()
    names = tell(vault.root, "remote").split()
    chosen = setting_of(vault.root, f"branch.{branch}.remote")
    name = next((one for one in (chosen, "origin", *names[:1]) if one in names), "")
    if not name:
        hint = "Make an empty private repository, then `git remote add origin ADDRESS` in the vault."
        raise RemoteFailed("the vault has no remote to synchronise with", hint=hint)
    address = setting_of(vault.root, f"remote.{name}.url")
    if not ADDRESS.fullmatch(address):
        hint = "Use an address of ssh or https, or the full path of a folder."
        raise RemoteFailed(f"the remote '{name}' is not reached over ssh, https or a path", hint=hint)
    return Remote(name, address, branch)


def unsolved(vault: Vault) -> tuple[str, ...]:
    """Return the files of the vault that hold two texts between marks."""
    options = ("--threads=1", "-l", "-z", "--no-textconv", "-F")  # half the work of many threads and an expression
    found = ask(vault.root, "grep", *options, "-e", BEGIN, "--", timeout=60.0).out.split("\0")
    return tuple(name for name in found if name and holds_two_texts(text_of(vault, name)))


def fetch(vault: Vault, remote: Remote) -> None:
    """Learn the state of *remote*.

    Raises:
        RemoteFailed: it cannot be reached, or refuses.
    """
    options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    answer = over_network(vault, "fetch", *options, remote.name, f"+refs/heads/{remote.branch}:{remote.tracked}")
    if answer.code and "couldn't find remote ref" in answer.err:
        ask(vault.root, "update-ref", "-d", remote.tracked)  # it is empty, or was emptied
    elif answer.code:
        raise _failure(remote, answer)


def distance(vault: Vault, remote: Remote) -> tuple[int, int]:
    """Return how many changes the remote lacks, and how many are new there."""
    if ask(vault.root, "rev-parse", "--quiet", "--verify", remote.tracked).code:
        return int(tell(vault.root, "rev-list", "--count", "HEAD")), 0
    ahead, behind = tell(vault.root, "rev-list", "--left-right", "--count", f"HEAD...{remote.tracked}").split()
    return int(ahead), int(behind)


def _merge(vault: Vault, remote: Remote, count: int, *, join: bool) -> dict[str, str]:
    """Merge the new commits of the remote; return the files that were put aside for it, with their new names.

    Raises:
        HistoryFailed: files were changed there and, without a commit, here; they are named. Nothing was merged.
        RemoteFailed: it holds what is no file of a vault. Nothing was merged.
    """
    subject = f"sync: {counted(count, 'change')} of another machine"
    message = "--message=" + signed(f"{subject}\n\nBoth went on since they met last.")
    options = ["--no-edit", "--no-stat", "--no-autostash", "--no-verify-signatures", message]
    options += ["--allow-unrelated-histories"] if join else []
    author = get_own_repository(vault.root).author_options
    with locked(vault, timeout=limits.PATIENCE), vault.lock(), vault.lock("daily"):
        commit_noted(vault, _SINCE, is_alone=True)
        news = tell(vault.root, "rev-parse", remote.tracked).strip()  # exactly what is looked at is merged
        with put_aside(vault, arrivals(vault, news)) as aside:
            note_plan(vault.root, {"merge": news, "head": tell(vault.root, "rev-parse", "HEAD").strip()})
            answer = ask(vault.root, *_QUIET, *author, "merge", *options, news, timeout=limits.NETWORK)
            if answer.code == 0:
                return aside
            if ask(vault.root, "rev-parse", "--quiet", "--verify", "MERGE_HEAD").code:
                raise _why_not(vault, remote, answer)
            try:
                settle(vault)
                tell(vault.root, *author, "commit", "--quiet", "--no-verify", "--cleanup=whitespace", message)
            except BaseException:
                ask(vault.root, "merge", "--abort")
                raise
            return aside


def _why_not(vault: Vault, remote: Remote, answer: GitAnswer) -> HistoryFailed:
    """Return the error for a merge that git has not begun."""
    if "unrelated histories" in answer.err:
        hint = "If both are yours, `memtool sync --join` makes one vault of them."
        return RemoteFailed(f"the remote '{remote.name}' holds a vault that began by itself", hint=hint)
    news = tell(vault.root, "diff", "--name-only", "--no-renames", "-z", f"HEAD...{remote.tracked}").split("\0")
    if both := [name for name in uncommitted_files(vault.root) if name in news]:
        hint = "Commit that, or let `memtool sync --edits` do it; then both are merged."
        named = some_of([f"'{name}'" for name in both], 5)
        sentence = f"another machine changed what you have changed and not committed: {named}"
        return HistoryFailed(sentence, hint=hint)
    return HistoryFailed(f"git cannot merge: {_first(answer)}")


def _push(vault: Vault, remote: Remote) -> bool:
    """Send the new commits; return False if another machine was quicker."""
    target = f"HEAD:refs/heads/{remote.branch}"
    options = ("--quiet", "--no-verify", "--no-signed", "--recurse-submodules=no")
    answer = over_network(vault, "push", *options, remote.name, target)
    if answer.code == 0:
        tell(vault.root, "update-ref", remote.tracked, "HEAD")
        return True
    if re.search(r"\[rejected\]|fetch first|non-fast-forward|cannot lock ref|failed to update ref", answer.err):
        return False
    raise _failure(remote, answer)


def over_network(vault: Vault, *args: str) -> GitAnswer:
    """Run git with the protocols that a remote may have, and return its answer."""
    return ask(vault.root, *_QUIET, *args, timeout=limits.NETWORK, variables=_PROTOCOLS)


def _failure(remote: Remote, answer: GitAnswer) -> RemoteFailed:
    for pattern, meaning, hint in _MEANINGS:
        if re.search(pattern, answer.err, re.IGNORECASE):
            sentence = f"the remote '{remote.name}' ({_shown(remote.address)}): {meaning}"
            return RemoteFailed(sentence, hint=hint)
    return RemoteFailed(f"the remote '{remote.name}' ({_shown(remote.address)}) refused: {_first(answer)}")


def _first(answer: GitAnswer) -> str:
    said = [line for line in answer.err.splitlines() if line.strip()] or [f"exit code {answer.code}"]
    line = next((line for line in said if line.startswith(("fatal:", "error:", "remote:", " ! "))), said[0])
    return _shown(re.sub(r"^(?:fatal|error|remote): ?| ! ", "", line).strip().rstrip("."))


def _shown(text: str) -> str:
    """Return *text* without the names and passwords of addresses."""
    return re.sub(r"://[^/@\s]+@", "://", text)


_FILES = ("100644", "100755")
_KNOWN = (".gitignore", ".gitattributes")  # a vault may have these
_RESERVED = (STATE_FOLDER, ".git", ".gitmodules", *_KNOWN)
_SHORT = re.compile(r"(?:git|gitmod|gitatt|gitign|memtoo)~\d+")  # as FAT and NTFS shorten them
# Letters that HFS+ leaves out of names.
_UNSEEN = dict.fromkeys([0x200C, 0x200D, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


class Arrival(NamedTuple):
    """A file that a merge would bring or change: its mode and blob as git writes them, and its path."""

    mode: str
    blob: str
    path: str


def arrivals(vault: Vault, commit: str) -> list[Arrival]:
    """Return the files of *commit* that are new since its history and that of the vault parted.

    Raises:
        HistoryFailed: git refuses.
        RemoteFailed: one of them is no plain file of a vault; the change that brought it is named.
    """
    base = ask(vault.root, "merge-base", "HEAD", commit).out.strip()
    base = base or tell(vault.root, "hash-object", "-t", "tree", "--stdin").strip()
    said = tell(vault.root, "diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "-z", base, commit)
    words = said.split("\0")
    rows = ((words[at].split(), words[at + 1]) for at in range(0, len(words) - 1, 2))
    found = [Arrival(fields[1], fields[3], path) for fields, path in rows if fields[4] != "D"]
    for each in found:
        if fault := _fault(each):
            log = ("log", "-1", "--format=%h of %as by %an", f"HEAD..{commit}", "--", each.path)
            named = ask(vault.root, *log).out.strip() or commit[:10]
            shown = f"`git show {named.split()[0]}` in the vault shows the change"
            hint = f"Nothing was taken. {shown}; have it taken back there."
            raise RemoteFailed(f"the remote brings {fault} '{each.path}' (change {named})", hint=hint)
    return found


def _fault(arrival: Arrival) -> str:
    if arrival.mode == "120000":
        return "a link,"
    if arrival.mode not in _FILES:
        return "a submodule,"
    for name in re.split(r"[/\\]", arrival.path):
        plain = name.translate(_UNSEEN).partition(":")[0].rstrip(" .").casefold()
        if plain == STATE_FOLDER:
            return "what memtool keeps for itself on each machine,"
        if _SHORT.fullmatch(plain) or (plain in _RESERVED and name not in _KNOWN):
            return "what may be taken for git's own,"
    return ""


@contextmanager
def put_aside(vault: Vault, found: Sequence[Arrival]) -> Iterator[dict[str, str]]:
    """Give the new names of the ignored files in whose place *found* is written within the `with` block.

    git ignores them under their new names, too: they may be private. They go back if that fails.

    Raises:
        HistoryFailed: git refuses.
        NotWritable: one cannot be renamed.
    """
    aside: dict[str, str] = {}
    try:
        with writing_in(vault.root):
            for name, blob in _in_the_way(vault, found):
                mark = ask(vault.root, "hash-object", "--no-filters", "--", name).out.strip()
                if mark != blob:
                    path = PurePosixPath(name)
                    aside[name] = str(path.with_name(f"{path.stem}.local-{mark[:7]}{path.suffix}"))
                    _ignore(vault, aside[name])
                    os.replace(vault.root / name, vault.root / aside[name])
        yield aside
    except BaseException:
        for name, beside in aside.items():
            with suppress(OSError):
                if not os.path.lexists(vault.root / name):
                    os.replace(vault.root / beside, vault.root / name)
        raise


def _in_the_way(vault: Vault, found: Sequence[Arrival]) -> Iterator[tuple[str, str]]:
    """Give the ignored files in the place of one of *found* or of its folder, with the blob that would be there."""
    for each in found:
        steps = [each.path, *map(str, PurePosixPath(each.path).parents[:-1])]
        there = next((step for step in steps if os.path.lexists(vault.root / step)), "")
        if there and (there == each.path or not (vault.root / there).is_dir()):
            options = ("--others", "--ignored", "--exclude-standard", "-z")
            ignored = tell(vault.root, "ls-files", *options, "--", there).split("\0")
            yield from ((name, each.blob) for name in ignored if name)


def _ignore(vault: Vault, name: str) -> None:
    path = Path(vault.root, tell(vault.root, "rev-parse", "--git-path", "info/exclude").removesuffix("\n"))
    line = "/" + re.sub(r"([\\*?\[\]! #])", r"\\\1", name) + "\n"
    files.change(path, lambda text: f"{text.rstrip()}\n{line}" if text and text.strip() else line)
