"""The vault's history: a git repository of its own, and commits of exactly the files that memtool wrote."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from memtool.errors import HistoryFailed
from memtool.git import FROM_STDIN, ask, blob_of, refused, tell

BRANCH = "main"
AUTHOR = {"user.name": "memtool", "user.email": "memtool@localhost"}  # for users who have told git no name
OWN_DRIVER = "merge.memtool.driver"  # the one program that memtool itself names: see `memtool.history.syncing`
SIGNATURE = "Memtool"  # the trailer of memtool's own commits


class NewContent(NamedTuple):
    """The content that a file is to have, and its mode as git writes it."""

    data: bytes
    mode: str = "100644"


@dataclass(frozen=True)
class HistoryStatus:
    """The state of a vault's history, for `memtool doctor`. *repository* is the top level that holds it, or None."""

    repository: Path | None = None
    is_own: bool = False  # the vault is that top level, so that memtool may commit
    has_commits: bool = False
    uncommitted: int = 0  # files that are changed, or new and not ignored
    problem: str = ""


class Repository(NamedTuple):
    """A git repository: its top level, and the folder in which git keeps the state of this working tree.

    Args:
        settings: what `look_at` read of its settings; else each commit reads them.
        clean: the contents, by git's name, of the files that `look_at` found committed or ignored; None if one was not.
    """

    top: Path
    git_folder: Path
    settings: tuple[_Setting, ...] | None = None
    clean: Mapping[str, str] | None = None


def open_repository(folder: Path) -> Repository | None:
    """Return the git repository that *folder* lies in, or None.

    Raises:
        HistoryFailed: git is missing or does not trust the folder.
    """
    answer = ask(folder, "rev-parse", "--is-inside-work-tree", "--show-prefix", "--absolute-git-dir")
    if "\0" in answer.out:
        raise HistoryFailed("git answers with what is no path", hint="Look what `git` is: `command -v git`.")
    is_inside, _, rest = answer.out.removesuffix("\n").partition("\n")
    if answer.code != 0 or is_inside != "true":
        return None
    prefix, _, git_folder = rest.partition("\n" if rest.startswith("\n") else "/\n")
    here = folder.resolve()
    return Repository((here, *here.parents)[prefix.count("/") + 1 if prefix else 0], Path(git_folder))


def find_repository(folder: Path) -> Path | None:
    """Return the top level of the git repository that *folder* lies in, or None. It raises as `open_repository`."""
    repository = open_repository(folder)
    return repository.top if repository else None


def ignores(repository: Path, folder: Path) -> bool:
    """Return whether the git repository at *repository* ignores *folder*, which is, or lies below, its top level."""
    if folder == repository:
        return False
    name = folder.relative_to(repository).as_posix()
    options = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    listed = ask(repository, "ls-files", *options, "--", name).out.split("\0")
    return any(entry and f"{name}/".startswith(entry) for entry in listed)


def make_repository(folder: Path) -> None:
    """Make a git repository of *folder*, for its owner only."""
    tell(folder, "-c", f"init.defaultBranch={BRANCH}", "init", "--quiet")
    with contextlib.suppress(OSError):  # a disk that knows no owners
        (folder / ".git").chmod(0o700)


def has_commits(folder: Path) -> bool:
    """Return whether the repository has at least one commit."""
    return ask(folder, "rev-parse", "--quiet", "--verify", "HEAD").code == 0


def commit(
    repository: Path | Repository,
    names: Sequence[str],
    message: str,
    *,
    is_ours: bool = True,
    author: str = "",
    timeout: float | None = 60.0,
) -> tuple[str, ...]:
    """Commit the files *names*, relative to the top level of *repository*, and return those that had changed.

    A file that is gone is committed as removed. What the user has staged stays staged and out of this commit. Files
    that git ignores or cannot read are left out. Hooks do not run and nothing is signed: there may be nobody to ask.
    Each step may take *timeout* seconds; None sets no limit.
    A change that *is_ours* is known as such to `memtool log` and `memtool undo`. *author* is as in `Vault`.

    Raises:
        HistoryFailed: git refuses, or the repository is in the middle of a merge, a rebase or the like.
    """
    unique = dict.fromkeys(names)
    if not unique:
        return ()
    at = repository if isinstance(repository, Repository) else open_repository(repository)
    if at is None:
        raise HistoryFailed(f"'{repository}' is no git repository")
    folder = at.top
    there = [name for name in unique if os.path.lexists(folder / name)]
    gone = unique.keys() - set(there)
    settings = _refuse_or_read_settings(at, there)
    options = ("--quiet", "--cleanup=whitespace", f"--message={signed(message) if is_ours else message}")
    committing = (*_UNCHECKED, *_IN_FOREGROUND, *_author_options(settings), "commit", *options)
    only = (*committing, "--only", *FROM_STDIN)
    variables = _author_variables(author)
    adding = (*_UNCHECKED, "add", "--ignore-errors", *FROM_STDIN)
    if len(unique) == len(there) == 1 and not (folder / there[0]).is_dir():
        first = [] if unique.keys() <= (at.clean or {}).keys() else [adding]
        each = (ask(folder, *words, paths=there, timeout=timeout, variables=variables) for words in (*first, only))
        if all(answer.code == 0 for answer in each):
            return tuple(unique)
    if gone:  # git has it, or one who removed it died before the commit, or it is unknown
        tell(folder, *_UPDATE_INDEX, "--force-remove", "--stdin", paths=sorted(gone), timeout=timeout)
    is_staged = len(there) > _FEW and _stage_many(folder, there, timeout)
    added = None if is_staged or not there else ask(folder, *adding, paths=there, timeout=timeout)
    staged = _listed(folder, "diff", "--cached", "--name-only", "--no-renames", timeout=timeout)
    changed = tuple(name for name in unique if name in staged)
    if changed:
        # Naming paths makes git compare each file with each name.
        words, paths = (only, changed) if len(staged) > len(changed) else (committing, ())
        tell(folder, *(_UNTIDIED if is_staged else ()), *words, paths=paths, timeout=timeout, variables=variables)
    elif added and added.code > 1:
        raise refused(folder, added)
    return changed


def look_at(repository: Repository, names: Iterable[str]) -> Repository:
    """Return *repository* with its settings, and with *names* as clean files if none of them was changed.

    Raises:
        HistoryFailed: as `commit`.
    """
    unique = list(dict.fromkeys(names))
    looked = repository._replace(settings=_refuse_or_read_settings(repository, unique), clean=None)
    if len(unique) > _FEW or (unique and tell(repository.top, "status", "--porcelain", "-z", *_STATUS, "--", *unique)):
        return looked
    there = ((name, repository.top / name) for name in unique)
    return looked._replace(clean={name: blob_of(path.read_bytes()) for name, path in there if path.is_file()})


def _refuse_or_read_settings(repository: Repository, names: Iterable[str]) -> tuple[_Setting, ...]:
    """Return the settings that a commit of the files *names* heeds; raise if git may not be asked to make one."""
    refuse_unfinished(repository)
    settings = repository.settings
    if settings is None:
        settings = tuple(_settings(repository.top, f"{_PROGRAMS}|{_AUTHOR}"))
        _refuse_programs(settings)
    refuse_pipes(repository.top, _folders_above(names))
    return settings


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
    adding = (*_UNCHECKED, *_packing(folder), *_UPDATE_INDEX, "--add", "--remove", "--stdin")
    parts = (kept[start : start + _PACKED] for start in range(0, len(kept), _PACKED))
    return all(ask(folder, *adding, paths=part, timeout=timeout).code == 0 for part in parts)


def _packing(folder: Path) -> tuple[str, ...]:
    """Return the options with which git writes new contents into one pack: else it makes that of them afterwards."""
    version = re.search(r"(\d+)\.(\d+)", ask(folder, "version").out)
    knows_how = version is not None and (int(version[1]), int(version[2])) >= (2, 38)
    return ("-c", "core.bigFileThreshold=1", "-c", "pack.compression=1") if knows_how else ()


def _folders_above(names: Iterable[str]) -> set[str]:
    folders = {name.rpartition("/")[0] for name in names}
    return {step.as_posix() for folder in folders for step in (Path(folder), *Path(folder).parents)}


def commit_contents(
    folder: Path, contents: Mapping[str, NewContent | None], message: str, *, is_ours: bool = True, author: str = ""
) -> str:
    """Commit *contents* for the files of those names, whatever is in the folder, and return the new commit.

    None removes a file. What the user has staged of other files stays staged; of these, nothing may be. For a change
    that *is_ours*, see `commit`.

    Raises:
        HistoryFailed: git refuses; nothing is committed.
    """
    rows = [f"{_entry_of(folder, name, content)}\t{name}" for name, content in contents.items()]
    entries = os.fsencode("".join(f"{row}\0" for row in rows))
    head = tell(folder, "rev-parse", "HEAD").strip()
    with tempfile.TemporaryDirectory(prefix="memtool-index-") as aside:
        variables = {"GIT_INDEX_FILE": str(Path(aside) / "index")}
        tell(folder, "read-tree", head, variables=variables)
        tell(folder, "update-index", "-z", "--index-info", stdin=entries, variables=variables)
        tree = tell(folder, "write-tree", variables=variables).strip()
    options = (*author_options(folder), "commit-tree", tree, "-p", head, "-F", "-")
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
    deed = word if colon and word.isalpha() else "init"
    last = body.strip().rpartition("\n\n")[2]
    joint = "\n" if last and all(_TRAILER.match(line) for line in last.split("\n")) else "\n\n"
    return f"{message.strip()}{joint}{SIGNATURE}: {deed}\n"


def is_signed(message: str) -> bool:
    """Return whether the commit *message* is memtool's own."""
    return re.search(rf"(?m)^{SIGNATURE}: \w+[ \t]*$", message) is not None


def status(folder: Path) -> HistoryStatus:
    """Return the state of the vault's history. Where git cannot be asked, *problem* says why."""
    try:
        repository = find_repository(folder)
        if repository is None:
            return HistoryStatus()
        is_own = repository == folder.resolve()
        refuse_programs(folder)
        refuse_pipes(repository, (way for way, _, _ in os.walk(repository)))
        listed = tell(folder, "status", "--porcelain", "-z", *_STATUS, "--", ".")
        return HistoryStatus(repository, is_own, has_commits(folder), listed.count("\0"), _unfinished(folder))
    except HistoryFailed as error:
        return HistoryStatus(problem=f"{error}. {error.hint}")


_STATUS = ("--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")  # no git is run in submodules
_FEW = 100  # files, for which one `git add` is quicker
_PACKED = 10_000  # files in one pack: git compares each new content with all others in it
_UPDATE_INDEX = ("update-index", "-z")
_UNCHECKED = ("-c", "core.safecrlf=false")
# A commit may tidy up. In the background that would outlive us and hold the folder; of many files, the next one does.
_UNTIDIED = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")
_IN_FOREGROUND = ("-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false")
_UNFINISHED = {
    "MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "BISECT_LOG": "bisect",
    "rebase-merge": "rebase", "rebase-apply": "rebase",
}  # fmt: skip
_TRAILER = re.compile(r"[A-Za-z][A-Za-z-]*: ")

# Hooks by name are those of git 2.54 and later, which `core.hooksPath` does not stop.
_PROGRAMS = r"^(filter|hook)\.|^gc\.recentobjectshook$"
_AUTHOR = r"^(user|author|committer)\.(name|email)$"


def uncommitted_files(folder: Path) -> tuple[str, ...]:
    """Return the files that are changed, or new and not ignored, and in no commit."""
    return tuple(line[3:] for line in tell(folder, "status", "--porcelain", "-z", *_STATUS).split("\0") if line)


def refuse_unfinished(repository: Path | Repository) -> None:
    """Raise if the repository is in the middle of something that only its owner can finish.

    Raises:
        HistoryFailed: a merge, a rebase or the like is under way, or no branch is checked out.
    """
    if problem := _unfinished(repository):
        raise HistoryFailed(problem, hint="Finish or abort it: `git status` in the vault says how.")


def refuse_unfinished_vault(root: Path) -> None:
    """Raise if the vault at *root* is a repository of its own in the middle of a merge, a rebase or the like.

    Raises:
        HistoryFailed: to abort that would bring back what is moved now, beside it.
    """
    is_own = False
    with contextlib.suppress(HistoryFailed):  # without git
        is_own = find_repository(root) == root
    if is_own:
        refuse_unfinished(root)


def refuse_programs(folder: Path, pattern: str = _PROGRAMS) -> None:
    """Raise if the repository's own settings name programs that git would run, such as to look at a file or to commit.

    A folder that was downloaded may bring such settings along. Those in the user's settings are the user's choice.
    *pattern* is that of the settings' names.
    """
    _refuse_programs(_settings(folder, pattern))


class _Setting(NamedTuple):
    scope: str
    name: str
    value: str


def _settings(folder: Path, pattern: str) -> list[_Setting]:
    """Return the settings of everybody whose names match *pattern*, those that overrule others last."""
    answer = ask(folder, "config", "--includes", "--show-scope", "-z", "--get-regexp", pattern)
    if answer.code > 1:
        raise refused(folder, answer)
    parts = answer.out.split("\0")
    pairs = zip(parts[::2], parts[1::2], strict=False)
    return [_Setting(scope, *entry.partition("\n")[::2]) for scope, entry in pairs]


def _refuse_programs(settings: Iterable[_Setting]) -> None:
    own = [each.name for each in settings if each.scope in ("local", "worktree")]
    foreign = [name for name in own if not re.match(_AUTHOR, name) and name != OWN_DRIVER]
    if foreign:
        hint = "If you trust it, move that setting to your own ~/.gitconfig."
        raise HistoryFailed(f"the repository's own settings name a program for git to run ({foreign[0]})", hint=hint)


def refuse_pipes(folder: Path, below: Iterable[str]) -> None:
    """Raise if git would wait in vain for a pipe in place of a file that it reads *below* the folder."""
    infos = (f".git/info/{name}" for name in ("exclude", "attributes"))
    for name in (*infos, *(f"{step}/{name}" for step in below for name in (".gitignore", ".gitattributes"))):
        with contextlib.suppress(OSError, ValueError):
            if not stat.S_ISFIFO(os.stat(folder / name).st_mode):  # noqa: PTH116  (speed)
                continue
            shown = os.path.relpath(folder / name, folder)
            raise HistoryFailed(f"'{shown}' is a pipe, for which git would wait", hint="Move it away.")


def _listed(folder: Path, *args: str, timeout: float | None = 60.0) -> set[str]:
    return set(tell(folder, *args, "-z", timeout=timeout).split("\0")) - {""}


def author_options(folder: Path) -> list[str]:
    """Return the options with which a user without a name commits as memtool."""
    return _author_options(_settings(folder, _AUTHOR))


def _author_options(settings: Iterable[_Setting]) -> list[str]:
    known = {each.name: each.value.strip() for each in settings}
    return [word for key, value in AUTHOR.items() if not known.get(key) for word in ("-c", f"{key}={value}")]


def _unfinished(where: Path | Repository) -> str:
    repository = where if isinstance(where, Repository) else open_repository(where)
    if repository is None:
        return ""
    for name, deed in _UNFINISHED.items():
        if os.path.lexists(repository.git_folder / name):
            return f"a {deed} was left unfinished, so memtool cannot commit"
    if _is_detached(repository):
        return "no branch is checked out (a detached HEAD), so memtool cannot commit"
    return ""


def _is_detached(repository: Repository) -> bool:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        head = (repository.git_folder / "HEAD").read_text(encoding="utf-8").strip()
        if head.startswith("ref: ") and not head.endswith("/.invalid"):  # as the newer format of references says it
            return False
    return ask(repository.top, "symbolic-ref", "--quiet", "HEAD").code != 0


def _entry_of(folder: Path, name: str, content: NewContent | None) -> str:
    """Return the entry of a file for git's index, after the content has been stored."""
    if content is None:
        return f"0 {'0' * 40}"
    stored = tell(folder, "hash-object", "-w", f"--path={name}", "--stdin", stdin=content.data)
    return f"{content.mode} {stored.strip()}"
