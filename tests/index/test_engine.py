from __future__ import annotations

import builtins
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from index.notebook import LONG_AGO_NS, Notebook, fill, finds_all

from memtool.errors import NotWritable
from memtool.index import engine, generations, limits, sqlite
from memtool.index.engine import Index, Unbuilt
from memtool.index.lookup import status
from memtool.index.rows import NoteRow
from memtool.index.writer import FileContent, Writer
from memtool.settings import Settings
from memtool.settings.sections import EmbeddingSettings
from memtool.vault import scan
from memtool.vault.files import KnownStamp
from memtool.vault.scan import Changes, Ignores, Scan

ON_BOTH_ENGINES = True
SECOND = 1_000_000_000


def test_notes_are_found_as_they_are_now(notebook: Notebook) -> None:
    notebook.write("a.md", "alpha")
    notebook.write("b.md", "beta")
    assert (notebook.find("alpha"), notebook.find("beta")) == (["a.md"], ["b.md"])

    notebook.write("c/d.md", "gamma")
    notebook.write("a.md", "delta")
    (notebook.root / "b.md").rename(notebook.root / "c/e.md")

    assert notebook.opened().applied.added == ["c/d.md", "c/e.md"]
    assert (notebook.find("alpha"), notebook.find("delta")) == ([], ["a.md"])
    assert (notebook.find("beta"), notebook.find("gamma")) == (["c/e.md"], ["c/d.md"])

    shutil.rmtree(notebook.root / "c")

    assert notebook.opened().applied.removed == ["c/d.md", "c/e.md"]
    assert notebook.find("beta") == notebook.find("gamma") == []


def test_a_note_that_goes_to_the_archive_is_not_cut_anew(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "---\ntype: session\nproject: shop\n---\n\n# Login 登录\n\n- alpha 解密失败\n"
    notebook.write("sessions/s1.md", said)
    notebook.write("daily/2026-02-09.md", "- 10:00 **shop**: alpha\n")
    notebook.write("areas/projects/shop/knowledge/a.md", "# Alpha\n\nalpha")
    notebook.opened()
    (notebook.root / "archive").mkdir()
    for name in ("sessions", "daily", "areas"):
        (notebook.root / name).rename(notebook.root / "archive" / name)
    cut: list[str] = []
    row = Writer._row

    def counted(writer: Writer, ref: str, read: FileContent) -> NoteRow:
        cut.append(ref)
        return row(writer, ref, read)

    monkeypatch.setattr(Writer, "_row", counted)

    applied = notebook.opened().applied

    moved = ["areas/projects/shop/knowledge/a.md", "daily/2026-02-09.md", "sessions/s1.md"]
    assert sorted(applied.added) == [f"archive/{ref}" for ref in moved]
    assert sorted(applied.removed) == moved
    assert cut == ["archive/areas/projects/shop/knowledge/a.md"]  # its place named its project
    assert notebook.find("alpha") == []
    assert sorted(notebook.find("解密失败 alpha", archived=True)) == [f"archive/{ref}" for ref in moved]
    assert _rows(notebook) == _rows(notebook, rebuild=True)


def _rows(notebook: Notebook, *, rebuild: bool = False) -> list[tuple[Any, ...]]:
    """Return what the index holds of each chunk, but for its number."""
    columns = "ref, hash, title, names, start_line, text, kind, project, category, status, date, tags, archived, author"
    find = f"SELECT {columns} FROM chunk JOIN note ON note.id = note_id ORDER BY ref, start_line"
    return notebook.use(lambda index: index.db.execute(find).fetchall(), rebuild=rebuild)


def test_what_opening_changed_is_said_once(notebook: Notebook) -> None:
    notebook.write("a.md", "alpha")
    notebook.write("b.md", "beta")
    assert notebook.opened().applied.added == ["a.md", "b.md"]

    notebook.write("a.md", "other")
    (notebook.root / "b.md").unlink()

    applied = notebook.opened().applied
    assert (applied.added, applied.changed, applied.removed) == ([], ["a.md"], ["b.md"])
    applied = notebook.opened().applied
    assert (applied.added, applied.changed, applied.removed) == ([], [], [])


def test_a_change_that_leaves_the_stamp_of_a_young_file_is_seen(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path / "notes", now_ns=lambda: LONG_AGO_NS + SECOND)
    notebook.write("a.md", "alpha", mtime_ns=LONG_AGO_NS)
    assert notebook.find("alpha") == ["a.md"]

    notebook.write("a.md", "gamma", mtime_ns=LONG_AGO_NS)

    assert (notebook.find("alpha"), notebook.find("gamma")) == ([], ["a.md"])


def test_where_nothing_changed_one_walk_and_one_comparison_are_enough(notebook: Notebook) -> None:
    notebook.write("a.md", "alpha", mtime_ns=LONG_AGO_NS)
    notebook.write("笔记/b.md", "beta", mtime_ns=LONG_AGO_NS)

    assert notebook.use(lambda index: index.is_settled_by(scan.scan(notebook.root)))
    notebook.write("a.md", "gamma", mtime_ns=LONG_AGO_NS + 1)
    notebook.opened()
    assert notebook.use(lambda index: index.is_settled_by(scan.scan(notebook.root)))


@pytest.mark.parametrize("change", ["content", "time", "name", "new", "gone", "young"])
def test_any_change_needs_a_closer_look(notebook: Notebook, change: str) -> None:
    path = notebook.write("a.md", "alpha", mtime_ns=LONG_AGO_NS)
    notebook.write("b.md", "beta", mtime_ns=LONG_AGO_NS)

    def look(index: Index) -> bool:
        match change:
            case "content":
                notebook.write("a.md", "gamma delta", mtime_ns=LONG_AGO_NS)
            case "time":
                os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS + 1))
            case "name":
                path.rename(path.with_name("c.md"))
            case "new":
                notebook.write("c.md", "gamma", mtime_ns=LONG_AGO_NS)
            case "gone":
                path.unlink()
        return index.is_settled_by(scan.scan(notebook.root))

    if change == "young":
        notebook = Notebook(notebook.root, now_ns=lambda: LONG_AGO_NS + SECOND)
    assert not notebook.use(look)


def test_a_change_is_found_by_one_walk(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(notebook, 3)
    notebook.opened()
    notebook.write("n1.md", "other")
    walks: list[Path] = []

    def counted(root: Path, is_ignored: Ignores, within: tuple[str, ...] | None) -> Scan:
        walks.append(root)
        return scan.scan(root, is_ignored, within)

    monkeypatch.setattr(engine, "scan", counted)

    assert notebook.opened().applied.changed == ["n1.md"]
    assert walks == [notebook.root]


@pytest.mark.of_sqlite
def test_a_change_is_found_by_one_comparison(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(notebook, 3)
    notebook.opened()
    notebook.write("n1.md", "other")
    compared: list[int] = []

    def counted(known: Mapping[str, KnownStamp], found: Scan) -> Changes:
        compared.append(len(known))
        return scan.changes(known, found)

    monkeypatch.setattr(sqlite, "changes", counted)

    assert notebook.opened().applied.changed == ["n1.md"]
    assert compared == [3]


def test_a_folder_that_could_not_be_read_and_then_goes_is_forgotten(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write("secret/a.md", "alpha", mtime_ns=LONG_AGO_NS)
    notebook.write("b.md", "beta", mtime_ns=LONG_AGO_NS)
    notebook.opened()
    with monkeypatch.context() as patch:
        unreadable(patch, scan, "_entries", notebook.root / "secret")
        notebook.write("b.md", "gamma", mtime_ns=LONG_AGO_NS)
        assert notebook.find("alpha gamma") == ["secret/a.md", "b.md"]
    shutil.rmtree(notebook.root / "secret")

    assert notebook.find("alpha gamma") == ["b.md"]


@pytest.mark.parametrize("wrong_by", [-10 * 365 * 86_400, 10 * 365 * 86_400])
def test_a_clock_that_jumps_hides_no_change(tmp_path: Path, wrong_by: int) -> None:
    notebook = Notebook(tmp_path / "notes", now_ns=lambda: LONG_AGO_NS + wrong_by * SECOND)
    notebook.write("a.md", "alpha", mtime_ns=LONG_AGO_NS)
    notebook.find("alpha")

    notebook.write("a.md", "gamma", mtime_ns=LONG_AGO_NS + 1)

    assert notebook.find("gamma") == ["a.md"]


def unreadable(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, path: Path) -> None:
    """Let *name* of *module* refuse *path*; permissions mean nothing to root."""
    true = getattr(module, name)

    def refuse(asked: Any, *args: Any, **more: Any) -> Any:
        if isinstance(asked, str | os.PathLike) and os.fspath(asked).rstrip("/") == str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return true(asked, *args, **more)

    monkeypatch.setattr(module, name, refuse)


def test_a_folder_that_cannot_be_read_is_not_deleted(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook.write("secret/a.md", "alpha")
    notebook.write("b.md", "beta")
    notebook.opened()
    unreadable(monkeypatch, scan, "_entries", notebook.root / "secret")
    (notebook.root / "b.md").unlink()

    index = notebook.opened()

    assert index.applied.removed == ["b.md"]
    assert [problem.ref for problem in index.problems] == ["secret/"]
    assert notebook.find("alpha") == ["secret/a.md"]


def test_a_vault_that_cannot_be_read_loses_nothing(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook.write("a.md", "alpha")
    notebook.opened()
    unreadable(monkeypatch, scan, "_entries", notebook.root)

    assert notebook.find("alpha") == ["a.md"]


def test_a_file_that_cannot_be_read_is_not_deleted(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook.write("a.md", "alpha")
    notebook.opened()
    path = notebook.write("a.md", "gamma")
    with monkeypatch.context() as patch:
        unreadable(patch, builtins, "open", path)

        index = notebook.opened()

        assert [(problem.ref, problem.reason) for problem in index.problems] == [
            ("a.md", "cannot be read: Permission denied")
        ]
        assert notebook.find("alpha") == ["a.md"]
    assert notebook.find("gamma") == ["a.md"]


class Unstattable:
    """An entry of a folder that may be listed and not entered."""

    def __init__(self, entry: os.DirEntry[str]) -> None:
        self._entry = entry

    def stat(self, **_: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied", self._entry.path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)


def test_a_file_whose_folder_may_be_listed_only_is_not_deleted(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write("secret/a.md", "alpha")
    notebook.opened()
    true = scan._entries

    def listing(path: str) -> Iterator[Any]:
        return (Unstattable(entry) if "secret" in path else entry for entry in true(path))

    monkeypatch.setattr(scan, "_entries", listing)

    assert notebook.find("alpha") == ["secret/a.md"]


@pytest.mark.of_sqlite
def test_a_note_that_vanishes_after_the_scan_is_no_error(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook.write("a.md", "alpha")
    notebook.opened()
    notebook.write("a.md", "beta")
    notebook.write("b.md", "beta")
    true = sqlite._apply

    def late(*args: Any, **more: Any) -> Any:
        for name in ("a.md", "b.md"):
            (notebook.root / name).unlink()
        return true(*args, **more)

    monkeypatch.setattr(sqlite, "_apply", late)

    assert notebook.opened().applied.removed == ["a.md"]
    monkeypatch.undo()
    assert notebook.find("alpha beta") == []


def test_what_another_process_has_indexed_since_our_scan_is_not_removed(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write("a.md", "alpha")
    notebook.opened()
    notebook.write("a.md", "beta")
    true: Callable[..., Scan] = engine.scan  # type: ignore[attr-defined]

    def scan_and_be_overtaken(root: Path, is_ignored: Ignores, within: tuple[str, ...] | None) -> Scan:
        found = true(root, is_ignored, within)
        monkeypatch.undo()
        notebook.write("new.md", "gamma")
        assert notebook.find("gamma") == ["new.md"]
        return found

    monkeypatch.setattr(engine, "scan", scan_and_be_overtaken)

    assert notebook.opened().applied.removed == []
    assert notebook.find("gamma") == ["new.md"]


def test_a_note_that_was_too_large_is_read_when_the_limit_is_raised(notebook: Notebook) -> None:
    small = Notebook(notebook.root, max_bytes=100, now_ns=lambda: LONG_AGO_NS + 9 * SECOND)
    small.write("a.md", "alpha " * 100, mtime_ns=LONG_AGO_NS)
    assert small.find("alpha") == []
    assert [problem.ref for problem in small.use(Index.broken_notes)] == ["a.md"]

    assert notebook.find("alpha") == ["a.md"]
    assert notebook.use(Index.broken_notes) == []


def test_who_cannot_wait_uses_the_index_as_it_is_and_hears_what_is_missing(notebook: Notebook) -> None:
    hurried = notebook.place._replace(at_once=1)
    notebook.write("a.md", "alpha", mtime_ns=LONG_AGO_NS)
    notebook.write("b.md", "beta", mtime_ns=LONG_AGO_NS)
    with pytest.raises(Unbuilt, match="2 files are to be read first"):
        engine.use_index(hurried, lambda _: None)

    notebook.find("alpha")
    notebook.write("a.md", "gamma", mtime_ns=LONG_AGO_NS + SECOND)
    notebook.write("c.md", "delta", mtime_ns=LONG_AGO_NS)

    def look(index: Index) -> tuple[int, list[str]]:
        return index.waiting, index.notices()

    assert engine.use_index(hurried, look) == (2, ["2 new or changed files are being read: they may be missing"])
    (notebook.root / "c.md").unlink()
    assert engine.use_index(hurried, look) == (0, [])
    assert notebook.find("gamma") == ["a.md"]


def test_what_somebody_follows_is_used_without_a_walk(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = notebook.place._replace(is_followed=True)
    notebook.write("a.md", "alpha")
    assert engine.use_index(followed, Index.stamps).keys() == {"a.md"}  # there was none: it is built
    monkeypatch.setattr(engine, "scan", None)
    assert engine.use_index(followed, Index.stamps).keys() == {"a.md"}


@pytest.mark.of_sqlite
def test_of_some_folders_alone_the_index_is_fresh_and_the_rest_stays_as_it_was(notebook: Notebook) -> None:
    shop = notebook.place._replace(within=("areas/projects/shop/", "areas/global/"))
    followed = notebook.place._replace(is_followed=True)

    def texts(index: Index) -> dict[str, str]:
        return dict(index.db.execute("SELECT n.ref, c.text FROM note AS n JOIN chunk AS c ON n.id = c.note_id"))

    for ref in ("areas/projects/shop/a.md", "areas/projects/shop2/b.md", "areas/projects/shop/gone.md", "n.md"):
        notebook.write(ref, "alpha", mtime_ns=LONG_AGO_NS)
    engine.use_index(shop, lambda _: None)
    assert len(engine.use_index(followed, texts)) == 4  # there was none: it is built in whole

    for ref in ("areas/projects/shop/a.md", "areas/projects/shop2/b.md", "areas/global/解密.md", "n.md"):
        notebook.write(ref, "gamma", mtime_ns=LONG_AGO_NS + SECOND)
    (notebook.root / "areas/projects/shop/gone.md").unlink()
    assert len(engine.use_index(shop, Index.stamps)) == 3
    assert engine.use_index(followed, texts) == {
        "areas/projects/shop/a.md": "gamma",
        "areas/global/解密.md": "gamma",
        "n.md": "gamma",
        "areas/projects/shop2/b.md": "alpha",
    }
    assert engine.use_index(notebook.place, texts)["areas/projects/shop2/b.md"] == "gamma"


@pytest.mark.of_sqlite
def test_a_stranger_s_vault_does_not_choose_what_is_deleted(notebook: Notebook, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "0badf00d.sqlite").write_text("precious")
    notebook.place.folder.mkdir()
    notebook.place.generations.symlink_to(precious)

    with pytest.raises(NotWritable, match="symlink"):
        notebook.find("alpha")
    assert [path.read_text() for path in precious.iterdir()] == ["precious"]


@pytest.mark.of_sqlite
@pytest.mark.parametrize("name", ["locks", "index"])
def test_a_folder_that_cannot_be_made_is_said_in_a_sentence(notebook: Notebook, name: str) -> None:
    notebook.write("a.md", "alpha")
    notebook.opened()
    shutil.rmtree(notebook.place.folder / name)
    (notebook.place.folder / name).touch()
    notebook.write("b.md", "beta")

    with pytest.raises(NotWritable):
        notebook.opened()


@pytest.mark.of_sqlite
def test_the_status_counts_what_is_there(notebook: Notebook, tmp_path: Path) -> None:
    fill(notebook, 3)
    fact = {"id": "f1", "fact": "x", "evidence": "y", "timestamp": "2026-01-01T00:00:00Z"}
    notebook.write("facts.json", json.dumps({"facts": [fact | {"status": "active", "category": "bug"}]}))
    notebook.write("broken.md", b"\xff")
    settings = Settings(embeddings=EmbeddingSettings(provider="none"))

    counts = notebook.use(lambda index: status(index, settings, tmp_path))

    assert (counts["notes"], counts["chunks"], counts["facts"]) == (5, 5, 1)
    assert [problem["path"] for problem in counts["problems"]] == ["broken.md"]
    assert counts["vectors"] == {"model": "", "chunks": 0, "skipped": 0, "why": "no embedder is set up"}
    assert counts["bytes"] >= notebook.generation().stat().st_size


class InterruptedBuild(Exception):
    """What ends a build that is not ended by the user."""


def interrupted_at(file: int, ends: type[BaseException]) -> Callable[[int, int], None]:
    def progress(done: int, _: int) -> None:
        if done == file:
            raise ends

    return progress


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "ends"), [*((file, KeyboardInterrupt) for file in (0, 2, 3, 7, 9)), (4, InterruptedBuild)]
)
def test_a_first_index_that_was_interrupted_goes_on_where_it_stopped(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, file: int, ends: type[BaseException]
) -> None:
    monkeypatch.setattr(limits, "AT_ONCE", 3)
    fill(notebook, 9)
    kept = file // 3 * 3 if file < 9 else 9
    with pytest.raises(ends) as interrupt:
        engine.use_index(notebook.place._replace(progress=interrupted_at(file, ends)), lambda index: index)
    assert getattr(interrupt.value, "__notes__", []) == (
        [f"{kept} of 9 files are indexed; the next run goes on there"] if ends is KeyboardInterrupt else []
    )

    notebook.write("new.md", "# New\n\nnewer 解密")
    index, notices = notebook.use(lambda index: (index, index.notices()))

    assert (index.resumed, len(index.applied.added), index.rebuilt) == (kept, 10 - kept, "")
    assert notices == ([f"indexing was interrupted before and went on: {kept} files were done already"] if kept else [])
    assert finds_all(notebook, 9)
    assert notebook.place.engine or len(notebook.index_files()) == 2
    assert notebook.opened().resumed == 0


def test_what_changed_and_went_since_the_interruption_is_noticed(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "AT_ONCE", 3)
    fill(notebook, 9)
    with pytest.raises(KeyboardInterrupt):
        engine.use_index(
            notebook.place._replace(progress=interrupted_at(7, KeyboardInterrupt)), lambda index: index, rebuild=True
        )
    notebook.write("n0.md", "zanzibar")
    (notebook.root / "n1.md").unlink()

    index = notebook.opened()

    assert (index.applied.changed, index.applied.removed, index.resumed) == (["n0.md"], ["n1.md"], 6)
    assert notebook.find("zanzibar") == ["n0.md"]
    assert "n1.md" not in notebook.find("common", limit=20)


@pytest.mark.of_sqlite
@pytest.mark.parametrize("damage", ["cut off", "garbage", "of another version", "gone"])
def test_an_interrupted_index_that_cannot_be_gone_on_with_is_begun_anew(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(limits, "AT_ONCE", 3)
    fill(notebook, 9)
    with pytest.raises(KeyboardInterrupt):
        engine.use_index(notebook.place._replace(progress=interrupted_at(7, KeyboardInterrupt)), lambda index: index)
    begun = generations.begun(notebook.place.generations)
    assert begun is not None
    match damage:
        case "cut off":
            begun.write_bytes(begun.read_bytes()[:20_000])
        case "garbage":
            begun.write_bytes(b"garbage" * 5000)
        case "of another version":
            with closing(sqlite3.connect(begun)) as db:
                db.execute("PRAGMA user_version = 1")
        case "gone":
            begun.unlink()

    index = notebook.opened()

    assert (index.resumed, len(index.applied.added)) == (0, 9)
    assert finds_all(notebook, 9)
    assert len(notebook.index_files()) == 2


@pytest.mark.of_sqlite
def test_a_disk_that_fills_up_keeps_no_half_of_an_index(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "AT_ONCE", 3)
    fill(notebook, 9)

    def full(done: int, _: int) -> None:
        if done == 7:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    with pytest.raises(NotWritable, match="full"):
        engine.use_index(notebook.place._replace(progress=full), lambda index: index)

    assert notebook.index_files() == ["begun"]
    assert finds_all(notebook, 9)


@pytest.mark.of_sqlite
def test_an_index_in_the_making_brings_no_vault_back_that_is_gone(notebook: Notebook) -> None:
    place = notebook.place._replace(folder=notebook.root / ".memtool/own")
    notebook.root.rename(notebook.root.with_name("elsewhere"))
    with pytest.raises(NotWritable):
        engine.use_index(place, lambda _index: None)
    assert not notebook.root.exists()
