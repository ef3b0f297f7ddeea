"""Rewriting the vault's git history, so that a text or a file is in none of its commits, whatever ref leads there.

`git fast-export` writes all commits as one stream, which goes back into the same repository by `git fast-import` with
each content and message masked. Commits before the first that changes keep their ids. Notes and the list of stashes
follow; then all that is out of reach is removed.

The commit of a purge shows what it took out, so that no undo brings that back.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, cast

from memtool.errors import HistoryFailed
from memtool.git import GitAnswer, ask, environment, program_of, refused, tell
from memtool.history.commits import SIGNATURE
from memtool.history.repository import get_own_repository, open_repository
from memtool.redaction.known import KnownSecrets
from memtool.text.lines import some_of
from memtool.vault.masking import Mask, masked_content

PURGED = "memtool.purged"  # the setting that names commits of before, which no sync may bring back

_STASHES = "refs/memtool/stash/"
_LEFTOVERS = ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "gc.log")
_PATHS = re.compile(rb"(?:M [0-7]{6} [^ ]+ |D )(.*)\n")
_OLD_ID = re.compile(r"^(Undoes: )([0-9a-f]{40,64})$", re.MULTILINE)


PURGE = "purge"  # the kind of a commit that purged
KIND = "purged"
_MARKER = f"[redacted: {KIND}]"


class Rewritten(NamedTuple):
    """The outcome: how many commits have another id now, and the remotes that still hold the old ones."""

    commits: int
    remotes: tuple[str, ...]


def refuse_unsafe(root: Path) -> None:
    """Raise where the history of the vault at *root* cannot be rewritten alone.

    Raises:
        HistoryFailed: the sentence says why, and its hint what to do.
    """
    repository = open_repository(root)
    if repository is None:
        raise HistoryFailed("the vault has no history: it is no git repository", hint="Leave --history away.")
    if repository.top != root:
        hint = "Rewrite it there with `git filter-repo --replace-text`, as all of that repository agrees."
        raise HistoryFailed(f"the vault lies in the repository '{repository.top}', which holds more than it", hint=hint)
    repository.refuse_unsafe()
    if staged := [name for name in tell(root, "diff", "--cached", "--name-only", "-z").split("\0") if name]:
        raise HistoryFailed(f"you have staged changes ({some_of(staged, 3)})", hint="Commit or unstage them first.")
    git = repository.git_folder
    parts = {
        "shallow": "it is a shallow clone; `git fetch --unshallow` completes it",
        "objects/info/alternates": "it shares its objects with another repository; `git repack -a -d` copies them",
        "worktrees": "it has other worktrees; `git worktree remove` removes them",
        "modules": "it holds other repositories (submodules); remove them first",
    }
    for name, why in parts.items():
        if (git / name).is_file() or ((git / name).is_dir() and any((git / name).iterdir())):
            raise HistoryFailed(f"the history cannot be rewritten: {why}", hint="Then repeat the command.")


def rewrite_history(root: Path, mask: Mask, gone: Collection[str] = ()) -> Rewritten:
    """Rewrite all commits of the repository at *root*, so that *mask* changes nothing in them and no file is *gone*.

    The folder's own files must be as they are to be.

    Raises:
        HistoryFailed: `refuse_unsafe` says why not, or git failed; then the refs are as they were.
    """
    refuse_unsafe(root)
    stashes = [mask(message) for message in _named_stashes(root)]
    ids = _Stream(root, mask, frozenset(os.fsencode(name) for name in gone)).run()
    changed = {old: new for old, new in ids.items() if old != new}
    _follow(root, changed, stashes)
    tell(root, "reset", "--quiet", "--mixed")
    for old in list(changed)[:1]:
        tell(root, "config", "--local", "--add", PURGED, old)
    git = Path(tell(root, "rev-parse", "--absolute-git-dir").strip())
    for name in _LEFTOVERS:
        with suppress(OSError):
            (git / name).unlink()
    logs = [path.relative_to(git / "logs").as_posix() for path in (git / "logs").rglob("*") if path.is_file()]
    logs = [log for log in logs if log != "refs/stash"]
    tell(root, "reflog", "expire", "--expire=now", "--expire-unreachable=now", *logs)
    never = ("-c", "gc.reflogExpire=never", "-c", "gc.reflogExpireUnreachable=never")
    tell(root, *never, "gc", "--quiet", "--prune=now", timeout=None)
    return Rewritten(len(changed), tuple(tell(root, "remote").split()))


def refuse_purged(root: Path, tip: str) -> None:
    """Raise if the commit *tip*, which came from elsewhere, still holds a text that was purged here.

    Raises:
        HistoryFailed: it does.
    """
    for old in ask(root, "config", "--local", "--get-all", PURGED).out.split():
        if ask(root, "merge-base", "--is-ancestor", old, tip).code == 0:
            hint = "Overwrite it from here, `git push --force --all` in the vault, and clone the vault anew elsewhere."
            raise HistoryFailed("the remote still has the history that was purged here", hint=hint)


def _named_stashes(root: Path) -> list[str]:
    """Give each stash a ref, oldest first, so that it is rewritten as well; return their messages."""
    rows = [row for row in ask(root, "reflog", "--format=%H %gs", "refs/stash").out.splitlines() if row]
    for number, row in enumerate(reversed(rows)):
        tell(root, "update-ref", f"{_STASHES}{number:06d}", row.partition(" ")[0])
    return [row.partition(" ")[2] for row in reversed(rows)]


def _follow(root: Path, changed: dict[str, str], stashes: list[str]) -> None:
    """Bring notes to the commits of now, and the list of stashes."""
    identity = get_own_repository(root).author_options
    pairs = "".join(f"{old} {new}\n" for old, new in changed.items()).encode()
    for ref in tell(root, "for-each-ref", "--format=%(refname)", "refs/notes").split():
        tell(root, *identity, "notes", f"--ref={ref}", "copy", "--force", "--stdin", stdin=pairs)
        old = "\n".join(changed).encode()
        tell(root, *identity, "notes", f"--ref={ref}", "remove", "--ignore-missing", "--stdin", stdin=old)
    if stashes:
        tell(root, "update-ref", "-d", "refs/stash")
    for number, message in enumerate(stashes):
        ref = f"{_STASHES}{number:06d}"
        tell(root, *identity, "stash", "store", "--quiet", "-m", message, ref)
        tell(root, "update-ref", "-d", ref)


class _Stream:
    """The way of all commits out of the repository and into it again."""

    def __init__(self, root: Path, mask: Mask, gone: Collection[bytes]) -> None:
        self._root = root
        self._mask = mask
        self._gone = gone
        self._marks: dict[str, str] = {}  # of commits, by their old ids

    def run(self) -> dict[str, str]:
        """Return the new id of each commit by its old one, in their order.

        Raises:
            HistoryFailed: git failed.
        """
        with tempfile.TemporaryDirectory(prefix="memtool-rewrite-") as aside:
            exported, marks = Path(aside, "stream"), Path(aside, "marks")
            options = ("--all", "--show-original-ids", "--reencode=no", "--signed-tags=strip")
            command = program_of(self._root, "fast-export", *options, "--tag-of-filtered-object=rewrite")
            with exported.open("wb") as file:
                done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, env=environment(), check=False)
            if done.returncode != 0:
                raise refused(self._root, GitAnswer(done.returncode, "", done.stderr.decode("utf-8", "replace")))
            importing = subprocess.Popen(
                program_of(self._root, "fast-import", "--force", "--quiet", f"--export-marks={marks}"),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
            )  # fmt: skip
            to, answers = cast("IO[bytes]", importing.stdin), cast("IO[bytes]", importing.stdout)
            with exported.open("rb") as stream, suppress(BrokenPipeError):
                for piece in self._pieces(stream, to, answers):
                    to.write(piece)
            said = importing.communicate()[1].decode("utf-8", "replace").strip()
            if importing.returncode != 0:
                raise HistoryFailed(f"git could not write the new history: {(said or '?').splitlines()[0]}")
            new = dict(line.split() for line in marks.read_text("ascii").splitlines())
        return {old: new[mark] for old, mark in self._marks.items() if mark in new}

    def _pieces(self, stream: IO[bytes], to: IO[bytes], answers: IO[bytes]) -> Iterator[bytes]:
        """Give the commands of the *stream* as they are to be; *to* is asked for new ids, which come by *answers*."""
        held: list[bytes] = []  # of a commit, up to its message
        mark = kind = b""
        for line in iter(stream.readline, b""):
            if line.startswith((b"commit ", b"blob", b"tag ", b"reset ")):
                yield b"".join(held)
                kind, held = line.split()[0], [line]
                continue
            if line.startswith(b"mark "):
                mark = line[5:].strip()
            elif line.startswith(b"original-oid ") and kind == b"commit":
                self._marks[line[13:].strip().decode()] = mark.decode()
            if line.startswith(b"data "):
                content = stream.read(int(line[5:]))
                content = self._masked(content, kind, to, answers)
                yield b"".join([*held, b"data %d\n" % len(content), content])
                held = []
            elif held and line != b"\n" and kind != b"reset":
                held.append(line)
            elif not ((found := _PATHS.fullmatch(line)) and _unquoted(found[1]) in self._gone):
                yield b"".join([*held, line])
                held = []
        yield b"".join(held)

    def _masked(self, content: bytes, kind: bytes, to: IO[bytes], answers: IO[bytes]) -> bytes:
        masked = masked_content(content, self._mask)
        content = content if masked is None else masked
        if kind != b"commit" or b"Undoes: " not in content:
            return content

        def renamed(found: re.Match[str]) -> str:
            mark = self._marks.get(found[2])
            if mark is None:
                return found[0]
            to.write(f"get-mark {mark}\n".encode())
            to.flush()
            return found[1] + answers.readline().decode().strip()

        return _OLD_ID.sub(renamed, content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _unquoted(path: bytes) -> bytes:
    return path[1:-1].decode("unicode_escape").encode("latin-1") if path.startswith(b'"') else path


def refuse_purged_texts(root: Path, files: Iterable[tuple[bytes | None, bytes | None]]) -> None:
    """Raise if one of *files*, each as it is and as it is to be, would hold a purged text again.

    Raises:
        HistoryFailed: it would.
    """
    known, lines = KnownSecrets(), set[str]()
    for removed, added in _hunks(root):
        around = (map(re.escape, line.split(_MARKER)) for line in added if _MARKER in line)
        masked = [re.compile("(.{4,4096}?)".join(parts)) for parts in around]
        found = [match for line in removed for pattern in masked if (match := pattern.fullmatch(line))]
        for match in found:
            for text in match.groups():
                known.add(text, KIND)
        if not masked:
            gone = set(map(str.strip, removed)) - set(map(str.strip, added))
            lines |= {line for line in gone if len(line) >= 8}  # a shorter one says nothing
    for now, then in files:
        before, after = ((data or b"").decode("utf-8", "replace") for data in (now, then))
        new_lines = {line.strip() for line in after.splitlines()} - {line.strip() for line in before.splitlines()}
        if lines & new_lines or len(list(known.find(after))) > len(list(known.find(before))):
            raise HistoryFailed("that would bring back what was purged", hint="Write the rest of it by hand.")


def _hunks(root: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Give the lines that each hunk of each purge took out, and those that it put in their place."""
    options = ("--format=", "-p", "--unified=0", "--no-renames", "--no-ext-diff", "--no-textconv")
    said = tell(root, "log", *options, f"--grep=^{SIGNATURE}: {PURGE}$", timeout=None)
    for hunk in re.split(r"^(?:@@ |diff --git )", said, flags=re.MULTILINE)[1:]:
        lines = hunk.split("\n")[1:]
        yield [line[1:] for line in lines if line.startswith("-")], [line[1:] for line in lines if line.startswith("+")]
