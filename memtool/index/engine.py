"""The index of a vault: its place, what is seen of it when it is open, and the way to bring it up to date.

What keeps it is an `Engine` (`memtool.index.engines`): a file of this machine (`memtool.index.sqlite`), or a server.
"""

from __future__ import annotations

import contextlib
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from memtool.errors import Busy, MemtoolError
from memtool.index import generations
from memtool.index.engines import Engine, engine_of, files_in
from memtool.index.writer import Applied, Writer
from memtool.processes import lock
from memtool.service_client import FOLDER
from memtool.vault.files import KnownStamp, is_suspect
from memtool.vault.layout import Vault
from memtool.vault.scan import Changes, Outside, Scan, broken, ignores, scan
from memtool.vault.state import writing_in
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.index.tables import Tables, VectorShelf
    from memtool.vault.note import BrokenNote

T = TypeVar("T")
Progress = Callable[[int, int], None]  # files done, files in all


class Unbuilt(Busy):
    """There is no index yet, and reading all files would take longer than whoever asks may wait."""

    def __init__(self, files: int) -> None:
        super().__init__(f"the index is being built: {files:,} files are to be read first")


def no_progress(done: int, total: int) -> None:
    """Say nothing."""


class Place(NamedTuple):
    """The place of an index, and how it is kept.

    Args:
        vault: the vault that it follows.
        folder: holds the generations, the vectors and the locks (see `memtool.vault.state`).
        max_bytes: larger notes are reported and not read.
        patience: seconds to wait for another process that is writing.
        progress: is called with (files done, files in all).
        now_ns: the clock.
        outside: the files outside the vault that are indexed, too.
        ignore: patterns of files and folders that are not (`memtool.vault.scan`).
        at_once: how many files may be read before an index is used; None sets no limit. Where it takes more, the index
            is used as it is, and says how many are `waiting`; where there is none, that is `Unbuilt`.
        is_followed: somebody else has just looked at the vault, or follows it: an index is used without a walk.
        services: the folder in which a service is found that watches the vault; None asks none.
        within: the folders that are looked at besides the files above all folders, where an index is there: of the
            rest it may be older than the vault. None looks at all of it, and at what is outside.
        engine: what keeps the index; None keeps it in a file in *folder*.
        migrates: whether a server's tables of an older memtool are brought up to date; else that is an error.
    """

    vault: Vault
    folder: Path
    max_bytes: int = 10_485_760
    patience: float = 1.0
    progress: Progress = no_progress
    now_ns: Callable[[], int] = time.time_ns
    outside: Outside = Outside()
    ignore: tuple[str, ...] = ()
    at_once: int | None = None
    is_followed: bool = False
    services: Path | None = None
    within: tuple[str, ...] | None = None
    engine: Engine | None = None
    migrates: bool = False

    @property
    def keeper(self) -> Engine:
        """What keeps the index."""
        return self.engine or files_in(self.folder)

    def takes_too_long(self, files: int) -> bool:
        """Return whether reading so many *files* takes longer than whoever asks may wait."""
        return self.at_once is not None and files > self.at_once

    def scan(self) -> Scan:
        """Return the stamps of all that belongs in the index."""
        found = scan(self.vault.root, ignores(self.ignore), self.within)
        if self.within is None:
            self.outside.add_to(found, self.vault.root)
        return found

    @property
    def generations(self) -> Path:
        """The folder of the index's own files."""
        return self.folder / "index"

    @contextlib.contextmanager
    def lock(self, name: str = "index") -> Iterator[None]:
        """Hold the lock of everyone who writes the index (or, with the *name* `vectors`, those).

        Raises:
            Busy: another process held it for longer than our patience.
            NotWritable: the lock file cannot be made.
        """
        locks = self.folder / "locks"
        with contextlib.ExitStack() as held:
            with writing_in(locks):
                generations.make_folder(locks)
                held.enter_context(lock(locks / f"{name}.lock", timeout=self.patience))
            yield


def place_of(work: Workspace, *, progress: Progress = no_progress, patience: float = 1.0) -> Place:
    """Return where the index of the vault at hand lies."""
    return Place(
        work.vault,
        work.index_folder,
        max_bytes=work.max_bytes,
        patience=patience,
        progress=progress,
        outside=work.outside,
        ignore=work.settings.index.ignore,
        services=work.cache / FOLDER,
        engine=engine_of(work),
        is_followed=work.vault.is_followed,
    )


def catch_up(work: Workspace, refs: Sequence[str] = ()) -> None:
    """Bring the index up to date with what was just written: the next prompt takes it as it is.

    If only the files *refs* were written, the vault is not walked.
    """
    place = place_of(work)._replace(is_followed=False)
    with contextlib.suppress(MemtoolError):  # what was written stands, and the next search will find it
        if refs:
            place.keeper.read_again(place, refs)
        else:
            use_index(place, lambda _index: None)


class Index(ABC):
    """An open index. *applied* is what bringing it up to date has changed, *problems* are files it cannot read.

    *rebuilt* says why it had to be built anew, *resumed* how many files were in it when an interrupted build went on;
    *behind* that another process is writing, so it may be older; *waiting* how many files were left to others;
    *unanswered* that a service watches the vault and did not answer.
    """

    db: Tables

    def __init__(self, place: Place) -> None:
        self.place = place
        self.applied = Applied()
        self.problems: list[BrokenNote] = []
        self.rebuilt = ""
        self.resumed = 0
        self.behind = False
        self.waiting = 0
        self.unanswered = False

    def stamps(self) -> dict[str, KnownStamp]:
        """Return the stamps of the files in the index, by path: those of the folders that are looked at."""
        # A file that was too large to read, and is so no longer, counts as just written. Other hashes are longer.
        read_at = "CASE WHEN length(hash) < 64 AND size <= ? THEN mtime_ns ELSE read_at_ns END"
        find, size = f"SELECT ref, size, mtime_ns, {read_at} FROM note", self.place.max_bytes
        if self.place.within is None:
            rows = list(self.db.execute(find, (size,)))
        else:
            rows = list(self.db.execute(f"{find} WHERE instr(ref, '/') = 0", (size,)))
            for folder in self.place.within:  # `0` is the character behind `/`
                rows += self.db.execute(f"{find} WHERE ref >= ? AND ref < ?", (size, folder, f"{folder[:-1]}0"))
        return {row[0]: cast("KnownStamp", row[1:]) for row in rows}  # named tuples would take longer than the query

    def broken_notes(self) -> list[BrokenNote]:
        """Return the files of the vault that could not be read, or only in part."""
        rows = self.db.execute("SELECT ref, problem FROM note WHERE problem <> '' ORDER BY ref")
        return [*self.problems, *(broken(ref, problem) for ref, problem in rows)]

    def notices(self) -> list[str]:
        """Return a sentence for each thing that the user should know of the index that was opened."""
        notices = []
        if self.rebuilt:
            notices.append(f"the index was built anew: {self.rebuilt}")
        if self.resumed:
            notices.append(f"indexing was interrupted before and went on: {self.resumed:,} files were done already")
        if self.behind:
            notices.append("another process is indexing: the newest notes may be missing")
        if self.unanswered:
            notices.append(
                "the service of this vault does not answer: search goes on without it. `memtool serve --status`"
            )
        if self.waiting:
            notices.append(f"{self.waiting:,} new or changed files are being read: they may be missing")
        touched = {*self.applied.added, *self.applied.changed}
        news = [note for note in self.broken_notes() if note.ref in touched] if touched else []
        notices += [f"{note.ref}: {note.reason}" for note in news[:3]]
        if len(news) > 3:
            notices.append(f"and {len(news) - 3} more files that cannot be read well: see `memtool doctor`")
        return notices

    @abstractmethod
    def is_settled_by(self, found: Scan) -> bool:
        """Return whether the index is known to hold all that *found* shows, with no file to be read again."""

    @property
    @abstractmethod
    def address(self) -> str:
        """Where the index lies, as a person should see it."""

    @abstractmethod
    def size(self) -> int:
        """Return how many bytes the index takes, without its vectors."""

    @abstractmethod
    def lock_of_vectors(self, *, waits: bool = True) -> AbstractContextManager[None]:
        """Hold the lock of whoever makes vectors; `Busy` is raised where another process has it."""

    @abstractmethod
    def open_vectors(self, model: str, dimension: int) -> VectorShelf:
        """Return the vectors of *model*."""

    @abstractmethod
    def forget_vectors(self, model: str, store: VectorShelf) -> None:
        """Drop the vectors in *store* of texts that are gone, and those of other models than *model*."""


def use_index(place: Place, use: Callable[[Index], T], *, rebuild: bool = False) -> T:
    """Return the result of *use* on the index, fresh from the vault. A damaged index is built anew, once.

    Where nothing can be written, an index that has nothing to learn is used as it is.

    Raises:
        Busy: another process is building the first index and has not finished; or it is `Unbuilt`.
        NotWritable: the index's folder, or the disk, refuses a write.
        DatabaseUnavailable, SchemaMismatch: the server refuses.
    """
    return place.keeper.use(place, use, rebuild=rebuild)


def once(folder: Path, notices: Iterable[str]) -> list[str]:
    """Return those of *notices* that were not returned before for the vault whose state is in *folder*."""
    fresh = []
    for notice in notices:
        said = folder / "said" / f"{zlib.crc32(notice.encode()):08x}"
        if not said.exists():
            fresh.append(notice)
            with contextlib.suppress(OSError):  # if it cannot be remembered, it is said again
                said.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                said.touch(mode=0o600)
    return fresh


def apply(place: Place, writer: Writer, found: Scan, pending: Changes, *, batch: int = 0) -> Applied:
    """Write what is *pending*: additions first, so that a moved note is never missing.

    It is one transaction, so that no reader sees half of it; or, where nobody reads yet, one for each *batch* of files.
    """
    suspects = pending.suspects
    applied = Applied()
    batch = batch or len(suspects) or 1
    for start in range(0, len(suspects) or 1, batch):
        is_last = start + batch >= len(suspects)
        some, gone = suspects[start : start + batch], pending.gone if is_last else ()
        with writer.batch((*some, *gone)):
            for done, ref in enumerate(some, start):
                place.progress(done, len(suspects))
                writer.put(ref, place.now_ns(), applied)
            for ref in gone:
                writer.remove(ref, applied)
            is_settled = (
                is_last
                and place.within is None
                and not any(is_suspect(writer.stamps.get(ref), found.stamps[ref]) for ref in suspects)
            )
            writer.finish(settled=found.as_bytes() if is_settled else None)
    place.progress(len(suspects), len(suspects))
    return applied
