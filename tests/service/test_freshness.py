from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from random import Random
from typing import TYPE_CHECKING

import pytest
from desk import Desk
from web.service import PATIENCE, Service

from memtool import __version__
from memtool.errors import MemtoolError
from memtool.index import generations, schema
from memtool.index.engine import Place, place_of, use_index
from memtool.index.sqlite import SqliteIndex, claim
from memtool.service.freshness import Watcher
from memtool.service.inotify import Tree, check_mounts
from memtool.service_client import Address, service_place
from memtool.vault.scan import Outside, changes

if TYPE_CHECKING:
    from pathlib import Path

    from memtool.vault.layout import Vault

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of changes for sure")

NOTE = "areas/global/knowledge/茶.md"


class Watched:
    """A vault with notes that are old enough to be trusted, and somebody who watches it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.root = desk.vault.root
        self.write(NOTE, "# 茶\n\n水温八十度。\n")
        for path in self.root.rglob("*.*"):
            os.utime(path, (1.6e9, 1.6e9))
        self.watcher = Watcher(lambda _folder: desk.work)
        self.settle()

    def write(self, ref: str, text: str) -> Path:
        path = self.root / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def settle(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.watcher.look():
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def is_vouched_for(self, **place: int) -> bool:
        at = place_of(self.desk.work)._replace(**place)  # type: ignore[arg-type]
        path = generations.current(at.generations)
        assert path
        return bool(self.watcher.answer({"ask": "unchanged", **claim(at, path)})["unchanged"])


@pytest.fixture
def watched(desk: Desk) -> Iterator[Watched]:
    found = Watched(desk)
    yield found
    found.watcher.end()
    found.watcher.forget()


def edit_unseen(root: Path) -> None:
    """Change a note so that its size and its time stay as they were."""
    path = root / NOTE
    before = path.stat()
    path.write_bytes(path.read_bytes().replace("八".encode(), "九".encode()))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def move_folder_in(root: Path) -> None:
    outside = root.parent / "moved"
    outside.mkdir()
    (outside / "新.md").write_text("# 新\n", encoding="utf-8")
    outside.rename(root / "areas/global/moved")


CHANGES: dict[str, Callable[[Path], object]] = {
    "written anew": lambda root: (root / NOTE).write_text("# 茶\n\n水温九十度。\n", encoding="utf-8"),
    "edited with its size and time kept": edit_unseen,
    "touched": lambda root: (root / NOTE).touch(),
    "removed": lambda root: (root / NOTE).unlink(),
    "renamed": lambda root: (root / NOTE).rename(root / NOTE.replace("茶", "Tea")),
    "made": lambda root: (root / "areas/new.md").write_text("# New\n"),
    "made in a new folder": lambda root: shutil.copytree(root / "areas", root / "a/b"),
    "moved in with its folder": move_folder_in,
    "locked away": lambda root: (root / NOTE).chmod(0),
    "the vault itself": lambda root: (root.rename(root.parent / "gone"), (root.parent / "gone").rename(root)),
    "the settings": lambda root: (root / "memtool.toml").write_text("[index]\nmax_note_kb = 5\n"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_nobody_vouches_for_a_vault_in_which_something_was(watched: Watched, name: str) -> None:
    assert watched.is_vouched_for()
    assert watched.is_vouched_for()  # asking changes nothing
    CHANGES[name](watched.root)
    assert not watched.is_vouched_for()
    assert not watched.is_vouched_for()


def test_what_belongs_to_no_walk_ends_no_trust(watched: Watched) -> None:
    (watched.root / ".git/config").touch()
    (watched.root / ".obsidian").mkdir()
    assert watched.is_vouched_for()


@pytest.mark.slow
def test_new_folders_are_watched_when_it_was_looked_at_again(watched: Watched) -> None:
    path = watched.write("a/b/c.md", "# C\n")
    os.utime(path, (1.6e9, 1.6e9))
    watched.settle()
    assert watched.is_vouched_for()
    path.write_text("# D\n")
    assert not watched.is_vouched_for()


@pytest.mark.slow
def test_whoever_indexes_otherwise_is_no_witness(watched: Watched) -> None:
    memory = watched.desk.home / ".claude/projects/-home-u-shop/memory/MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("# 记忆\n", encoding="utf-8")
    os.utime(memory, (1.6e9, 1.6e9))
    assert not watched.is_vouched_for()  # files outside the vault are told of by whoever asks
    watched.settle()
    assert watched.is_vouched_for()
    assert not watched.is_vouched_for(max_bytes=1)
    assert watched.is_vouched_for()
    use_index(place_of(watched.desk.work)._replace(outside=Outside()), lambda _index: None)  # and takes them out
    assert not watched.is_vouched_for()


def test_a_file_with_a_second_name_is_vouched_for_by_nobody(watched: Watched) -> None:
    os.link(watched.root / NOTE, watched.root / "second.md")
    with pytest.raises(OSError, match="another name"):
        watched.watcher.look()
    assert not watched.is_vouched_for()


MOUNTS = b"""27 1 254:0 / / rw - ext4 /dev/vda rw
28 27 0:40 / /home/u/net rw - nfs4 server:/export rw
29 27 0:41 / /home/u/two\\040words/\xe8\x8c\xb6/in rw - ext4 /dev/vdb rw
"""


def test_only_disks_of_this_machine_are_vouched_for() -> None:
    check_mounts("/home/u/memory", MOUNTS)
    check_mounts("/home/u/network", MOUNTS)
    for place in ("/home/u/net", "/home/u/net/memory", "/home/u/two words/茶", "/home/u"):
        with pytest.raises(OSError, match="of this machine"):
            check_mounts(place, MOUNTS)


def disturb(root: Path, chance: Random) -> None:
    """Write, move or remove something below *root*."""
    folder = root / chance.choice(["areas", "areas/global", "daily", "x", "x/茶"])
    path, deed = folder / f"{chance.randrange(3)}.md", chance.randrange(5)
    if deed == 0 and folder.parent != root and folder.exists():
        folder.rename(folder.with_name(f"old-{chance.random()}"))
    elif deed == 1 and path.exists():
        path.unlink()
    elif deed == 2 and path.exists():
        path.replace(path.with_name(f"{chance.random()}.md"))
    else:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {chance.random()}\n")
        os.utime(path, (1.6e9, 1.6e9 + chance.random()))


def is_all_indexed(place: Place) -> bool:
    path = generations.current(place.generations)
    assert path
    with closing(schema.connect(path)) as db:
        return not changes(SqliteIndex(place, db, path).stamps(), place.scan())


@pytest.mark.slow
def test_trust_is_never_misplaced_whatever_happens(watched: Watched) -> None:
    chance, trusted, ending = Random(13), 0, threading.Event()

    def look() -> None:
        while not ending.wait(0.01):  # an answer does not wait for a look
            with contextlib.suppress(OSError):  # a folder vanished while it was looked at
                watched.watcher.look()

    looking = threading.Thread(target=look)
    looking.start()
    deadline = time.monotonic() + 8.0
    while time.monotonic() < deadline:
        disturb(watched.root, chance)
        for _ in range(chance.randrange(3)):
            time.sleep(chance.random() * 0.05)
            if watched.is_vouched_for():
                trusted += 1
                assert is_all_indexed(place_of(watched.desk.work))
    ending.set()
    looking.join()
    assert trusted > 3


class Walks:
    """The number of walks over the vault since it was last asked."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._count = 0
        walk = Place.scan

        def counted(place: Place) -> object:
            self._count += 1
            return walk(place)

        patch.setattr(Place, "scan", counted)

    def of(self, work: object) -> int:
        self._count = 0
        use_index(place_of(work), lambda _index: None)  # type: ignore[arg-type]
        return self._count


@pytest.mark.slow
def test_a_search_beside_a_service_walks_only_if_it_must(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in vault.root.rglob("*.*"):
        os.utime(path, (1.6e9, 1.6e9))
    service = Service(vault)
    work, walks = service.work, Walks(monkeypatch)
    deadline = time.monotonic() + PATIENCE
    while walks.of(work):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    (vault.root / "areas/new.md").write_text("# 新\n", encoding="utf-8")
    assert walks.of(work) in (1, 2)  # two, if the service indexes the note meanwhile
    while walks.of(work):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    service.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, service.process.pid, os.WSTOPPED | os.WNOWAIT)  # until then it may answer
    started = time.monotonic()
    assert walks.of(work) == 1
    assert walks.of(work) == 1  # and is not asked again
    assert time.monotonic() - started < 2.0
    service.process.kill()
    service.process.wait()
    assert walks.of(work) == 1
    assert service.end() != 0


def test_nonsense_is_no_answer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    use_index(place_of(desk.work), lambda _index: None)
    at = service_place(desk.work.cache, desk.vault.root)
    at.folder.mkdir(parents=True)
    walks = Walks(monkeypatch)
    # In a folder of its own: below that of a test, the path may be longer than a socket's may be.
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as other:
        path = f"{folder}/sock"
        other.bind(path)
        other.listen()
        other.settimeout(PATIENCE)
        address = Address(str(desk.vault.root), os.getpid(), __version__, parts="http watch", path=path)
        for answer in (b"\0\n", b'{"unchanged": 1}\n', b"[]\n", b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 100_000):
            at.path("json").write_text(json.dumps(address._asdict()), encoding="utf-8")
            at.path("silent").unlink(missing_ok=True)
            with ThreadPoolExecutor() as pool:
                asked = pool.submit(_answer_once, other, answer)
                assert walks.of(desk.work) == 1, answer
                assert b"unchanged" in asked.result(), answer


def _answer_once(other: socket.socket, answer: bytes) -> bytes:
    """Answer the next question with *answer*, and return the question."""
    peer, _ = other.accept()
    with peer, contextlib.suppress(ConnectionError):  # who asks hears as much as it needs
        question = peer.recv(10_000)
        peer.sendall(answer)
    return question


def test_where_nothing_tells_of_changes_nobody_vouches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(OSError, match="only Linux"):
        Tree(tmp_path)


def test_an_index_in_a_database_is_vouched_for_by_nobody(desk: Desk) -> None:
    settings = desk.work.settings
    index = settings.index._replace(engine="postgres", dsn="postgresql://nobody@127.0.0.1:1/none")
    work = desk.work._replace(settings=settings._replace(index=index))
    with pytest.raises(MemtoolError, match="on a server"):
        Watcher(lambda _folder: work).look()
