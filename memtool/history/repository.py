"""The git repository that a folder lies in: where it is, whether memtool may commit, and the settings that matter."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from memtool.errors import HistoryFailed
from memtool.git import ask, blob_of, refused, tell
from memtool.history import limits
from memtool.vault.files import read_content

BRANCH = "main"
AUTHOR = {"user.name": "memtool", "user.email": "memtool@localhost"}  # for users whose git knows no name
OWN_DRIVER = "merge.memtool.driver"  # the one program that memtool itself names: see `memtool.history.driver`


_STATUS = ("--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")  # no git is run in submodules
_UNFINISHED = {
    "MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "BISECT_LOG": "bisect",
    "rebase-merge": "rebase", "rebase-apply": "rebase",
}  # fmt: skip
# Settings that name programs, which git would run to look at a file or to commit. Hooks by name are those of git 2.54
# and later, which `core.hooksPath` does not stop.
PROGRAMS = r"^(filter|hook)\.|^gc\.recentobjectshook$"
_AUTHOR = r"^(user|author|committer)\.(name|email)$"
_PLACE = r"^core\.(worktree|bare)$"  # settings by which a repository is not where its folder `.git` is


class Setting(NamedTuple):
    """A setting of git, and whose it is: `local` and `worktree` are the repository's own."""

    scope: str
    name: str
    value: str


class Repository(NamedTuple):
    """A git repository, as it was when it was opened.

    Args:
        top: its top level.
        git_folder: where git keeps the state of this working tree.
        settings: the programs that it names, and who commits.
        clean: the contents, by git's name, of the files that `look_at` found committed or ignored; None if one was not.
    """

    top: Path
    git_folder: Path
    settings: tuple[Setting, ...]
    clean: Mapping[str, str] | None = None

    @property
    def problem(self) -> str:
        """Why memtool cannot commit now: something that only its owner can finish; empty if it can."""
        for name, deed in _UNFINISHED.items():
            if os.path.lexists(self.git_folder / name):
                return f"a {deed} was left unfinished, so memtool cannot commit"
        is_known = bool(self.branch) and not self.branch.endswith("/.invalid")  # of the newer format of references
        if not is_known and ask(self.top, "symbolic-ref", "--quiet", "HEAD").code != 0:
            return "no branch is checked out (a detached HEAD), so memtool cannot commit"
        return ""

    @property
    def branch(self) -> str:
        """The reference of the branch that is checked out; empty where git's file names none."""
        head = _reference(self.git_folder / "HEAD")
        return head.removeprefix("ref: ") if head.startswith("ref: ") else ""

    @property
    def head(self) -> str:
        """The commit that is checked out; empty if there is none."""
        found = _reference(self.git_folder / self.branch)
        if re.fullmatch(r"[0-9a-f]{40,64}", found):
            return found
        return ask(self.top, "rev-parse", "--quiet", "--verify", "HEAD").out.strip()

    @property
    def author_options(self) -> list[str]:
        """The options with which a user without a name commits as memtool."""
        known = {each.name: each.value.strip() for each in self.settings}
        return [word for key, value in AUTHOR.items() if not known.get(key) for word in ("-c", f"{key}={value}")]

    def refuse_unsafe(self, names: Iterable[str] = ()) -> None:
        """Raise if git may not be asked to commit the files *names*.

        A folder that was downloaded may bring settings along that name programs. Those in the user's own settings are
        the user's choice.

        Raises:
            HistoryFailed: a merge or the like is under way, no branch is checked out, the repository's own settings
                name a program, or git would wait in vain for a pipe in place of a file that it reads.
        """
        self.refuse_unfinished()
        self.refuse_programs()
        folders = {Path(name).parent for name in names}
        refuse_pipes(self.top, {step.as_posix() for folder in folders for step in (folder, *folder.parents)})

    def refuse_unfinished(self) -> None:
        """Raise if the repository is in the middle of something that only its owner can finish.

        Raises:
            HistoryFailed: it is.
        """
        if problem := self.problem:
            raise HistoryFailed(problem, hint="Finish or abort it: `git status` in the vault says how.")

    def refuse_programs(self) -> None:
        """Raise if the repository's own settings name programs that git would run.

        Raises:
            HistoryFailed: one does.
        """
        for scope, name, _ in self.settings:
            if scope in ("local", "worktree") and name != OWN_DRIVER and not re.match(f"{_AUTHOR}|{_PLACE}", name):
                hint = "If you trust it, move that setting to your own ~/.gitconfig."
                raise HistoryFailed(f"the repository's own settings name a program for git to run ({name})", hint=hint)


def open_repository(folder: Path, programs: str = PROGRAMS) -> Repository | None:
    """Return the git repository that *folder* lies in, or None.

    *programs* is the pattern of the settings that name programs.

    Raises:
        HistoryFailed: git is missing or does not trust the folder.
    """
    pattern = f"{programs}|{_AUTHOR}|{_PLACE}"
    listed = ask(folder, "config", "--includes", "--show-scope", "-z", "--get-regexp", pattern)
    if listed.code > 1:
        raise refused(folder, listed)
    parts = listed.out.split("\0")
    pairs = zip(parts[::2], parts[1::2], strict=False)  # those that overrule others last
    settings = tuple(Setting(scope, *entry.partition("\n")[::2]) for scope, entry in pairs)
    here = folder.resolve()
    if _is_top(here, settings):
        return Repository(here, here / ".git", settings)
    answer = ask(folder, "rev-parse", "--is-inside-work-tree", "--show-prefix", "--absolute-git-dir")
    if "\0" in answer.out:
        raise HistoryFailed("git answers with what is no path", hint="Look what `git` is: `command -v git`.")
    is_inside, _, rest = answer.out.removesuffix("\n").partition("\n")
    if answer.code != 0 or is_inside != "true":
        return None
    prefix, _, git_folder = rest.partition("\n" if rest.startswith("\n") else "/\n")
    return Repository((here, *here.parents)[prefix.count("/") + 1 if prefix else 0], Path(git_folder), settings)


def _is_top(folder: Path, settings: Iterable[Setting]) -> bool:
    """Return whether *folder* is surely the top level of a repository, so that git need not be asked.

    The signs are those by which git knows one; it would look for another one further up if one was missing.
    """
    git = folder / ".git"
    if any(re.match(_PLACE, name) and value != "false" for _, name, value in settings):
        return False
    is_head = re.match(r"ref: refs/|[0-9a-f]{40}", _reference(git / "HEAD"))
    return is_head is not None and (git / "objects").is_dir() and (git / "refs").is_dir()


def _reference(path: Path) -> str:
    """Return the text of git's file at *path*; empty where there is none, or a pipe in its place."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return read_content(path, largest=4_096).decode("utf-8").strip()
    return ""


def own_repository(root: Path) -> Repository | None:
    """Return the repository of the vault at *root*, or None if it has none of its own; as `open_repository`."""
    repository = open_repository(root)
    return repository if repository and repository.top == root else None


def get_own_repository(root: Path, programs: str = PROGRAMS) -> Repository:
    """Return the repository of the vault at *root*.

    Raises:
        HistoryFailed: git is missing, or the vault is no git repository of its own.
    """
    repository = open_repository(root, programs)
    if repository is None or repository.top != root:
        where = f"it lies in the repository '{repository.top}'" if repository else "it is no git repository"
        hint = "`memtool init` in the vault makes it one; from then on its changes are kept."
        raise HistoryFailed(f"the vault has no history of its own: {where}", hint=hint)
    return repository


def refuse_unfinished_vault(root: Path) -> None:
    """Raise if the vault at *root* is a repository of its own in the middle of a merge, a rebase or the like.

    Raises:
        HistoryFailed: to abort that would bring back what is moved now, beside it.
    """
    repository = None
    with contextlib.suppress(HistoryFailed):  # without git
        repository = own_repository(root)
    if repository:
        repository.refuse_unfinished()


def find_repository(folder: Path) -> Path | None:
    """Return the top level of the git repository that *folder* lies in, or None. It raises as `open_repository`."""
    repository = open_repository(folder)
    return repository.top if repository else None


def look_at(repository: Repository, names: Iterable[str]) -> Repository:
    """Return *repository* with *names* as clean files if none of them was changed since its commit.

    Raises:
        HistoryFailed: a commit would be refused.
    """
    unique = list(dict.fromkeys(names))
    repository.refuse_unsafe(unique)
    if len(unique) > limits.FEW_FILES or (
        unique and tell(repository.top, "status", "--porcelain", "-z", *_STATUS, "--", *unique)
    ):
        return repository._replace(clean=None)
    there = ((name, repository.top / name) for name in unique)
    return repository._replace(clean={name: blob_of(path.read_bytes()) for name, path in there if path.is_file()})


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


def uncommitted_files(folder: Path) -> tuple[str, ...]:
    """Return the files that are changed, or new and not ignored, and in no commit."""
    return tuple(line[3:] for line in tell(folder, "status", "--porcelain", "-z", *_STATUS).split("\0") if line)


def refuse_pipes(folder: Path, below: Iterable[str]) -> None:
    """Raise if git would wait in vain for a pipe in place of a file that it reads *below* the folder.

    Raises:
        HistoryFailed: it would.
    """
    infos = (f".git/info/{name}" for name in ("exclude", "attributes"))
    for name in (*infos, *(f"{step}/{name}" for step in below for name in (".gitignore", ".gitattributes"))):
        with contextlib.suppress(OSError, ValueError):
            path = os.path.join(folder, name)  # noqa: PTH118  (speed)
            if not stat.S_ISFIFO(os.stat(path).st_mode):  # noqa: PTH116
                continue
            shown = os.path.relpath(path, folder)
            raise HistoryFailed(f"'{shown}' is a pipe, for which git would wait", hint="Move it away.")


def _folders(top: Path) -> Iterator[str]:
    """Give the folders from *top* on down, without those of git."""
    for folder, below, _ in os.walk(top):
        below[:] = [name for name in below if name != ".git"]
        yield folder


@dataclass(frozen=True)
class HistoryStatus:
    """The state of a vault's history, for `memtool doctor`. *repository* is the top level that holds it, or None."""

    repository: Path | None = None
    is_own: bool = False  # the vault is that top level, so that memtool may commit
    has_commits: bool = False
    uncommitted: int = 0  # files that are changed, or new and not ignored
    problem: str = ""


def status(folder: Path) -> HistoryStatus:
    """Return the state of the vault's history. Where git cannot be asked, *problem* says why."""
    try:
        repository = open_repository(folder)
        if repository is None:
            return HistoryStatus()
        repository.refuse_programs()
        refuse_pipes(repository.top, _folders(repository.top))
        listed = tell(folder, "status", "--porcelain", "-z", *_STATUS, "--", ".")
        is_own = repository.top == folder.resolve()
        return HistoryStatus(repository.top, is_own, bool(repository.head), listed.count("\0"), repository.problem)
    except HistoryFailed as error:
        return HistoryStatus(problem=f"{error}. {error.hint}")
