"""What other memory programs kept, in databases that these programs made themselves, becomes notes and facts."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from desk import Desk
from notes import text_of
from trees import write

from memtool.errors import UsageError
from memtool.exchange.bundle_import import ADDED, SAME, Imported, import_bundle
from memtool.exchange.stores import STORES, Taken, files_of, read_store
from memtool.vault.facts import parse_facts
from memtool.vault.layout import Vault
from memtool.vault.sessions import parse_session

MADE = Path(__file__).parent / "stores"
ORDER_IDS = "sessions/5f0c1b7e-1111-4222-8333-944455556666.md"
PAYMENT = "sessions/6a0c1b7e-2222-4222-8333-944455556666.md"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    vault = tmp_path / "库 vault"
    vault.mkdir()
    (vault / "memtool.toml").touch()
    return Desk(Vault(vault.resolve()))


@pytest.fixture
def made(tmp_path: Path) -> dict[str, Path]:
    """Return what each program keeps, by its name."""
    for script in MADE.glob("*.sql"):
        with closing(sqlite3.connect(tmp_path / f"{script.stem}.db")) as db:
            db.executescript(script.read_text(encoding="utf-8"))
    notes = tmp_path / "notes"
    write(notes, "shop/Order ids.md", "---\ntitle: Order ids\npermalink: shop/ids\n---\n\n- [decision] ULIDs #ids\n")
    write(notes, "shop/支付/支付回调.md", "验签前要先做 URL 解码。\r\n\r\n- relates_to [[Order ids]]\r\n")
    write(notes, "broken.md", "---\ntitle: [\n---\n\nx\n")
    write(notes, ".obsidian/hidden.md", "no")
    write(notes, "picture.txt", "no note")
    return {
        "claude-mem": tmp_path / "claude-mem.db",
        "memory-service": tmp_path / "memory-service.db",
        "mem0": tmp_path / "mem0.db",
        "basic-memory": notes,
        "markdown": notes,
    }


def bring(desk: Desk, name: str, path: Path, project: str = "") -> tuple[Taken, Imported]:
    taken = files_of(desk.work, name, read_store(name, path), project)
    return taken, import_bundle(desk.work, taken.files, name)


def read(desk: Desk, ref: str) -> str:
    return (desk.vault.root / ref).read_bytes().decode()


def facts(desk: Desk, ref: str = "areas/global/facts.json") -> dict[str, str]:
    return {fact.fact: fact.status for fact in parse_facts(read(desk, ref)).facts}


def test_sessions_of_claude_mem_become_session_notes(desk: Desk, made: dict[str, Path]) -> None:
    taken, done = bring(desk, "claude-mem", made["claude-mem"])
    assert set(done.of(ADDED)) == {ORDER_IDS, PAYMENT, "areas/projects/shop/facts.json"}
    assert (taken.items, taken.known) == (3, 0)
    note = parse_session(read(desk, ORDER_IDS))
    assert note.draft.title == "Give orders ids that sort by time"
    assert [(line.role, line.author) for line in note.draft.lines] == [
        ("decision", "imported"),
        ("fix", "imported"),
        ("finding", "imported"),
        ("", "imported"),
        ("open", "imported"),
    ]
    assert note.draft.lines[0].text.startswith("ULIDs rather than UUIDv4 for order ids: The team compared")
    assert note.tags[:2] == ("trade-off", "why-it-exists")
    assert note.draft.files == ("src/orders/id.ts", "tests/orders/test_id.py")
    assert [line.text for line in note.draft.lines[-2:]] == [
        "Order ids are ULIDs now, with tests",
        "Migrate the old rows",
    ]
    assert "client: claude-mem\n" in read(desk, ORDER_IDS)
    assert "验签失败的原因是网关对参数做了两次编码; 签名串按字典序拼接" in read(desk, PAYMENT)
    assert list(facts(desk, "areas/projects/shop/facts.json")) == ["Use ULIDs for order ids, because they sort by time"]


def test_a_session_that_the_vault_knows_by_itself_stays(desk: Desk, made: dict[str, Path]) -> None:
    own = text_of("5f0c1b7e-1111-4222-8333-944455556666", title="ours", updated="2026-01-01 10:00")
    write(desk.vault.root, ORDER_IDS, own)
    taken, _ = bring(desk, "claude-mem", made["claude-mem"])
    assert (taken.known, read(desk, ORDER_IDS)) == (1, own)


@pytest.mark.parametrize("project", ["", "商店"])
def test_memories_become_facts_and_long_ones_notes(desk: Desk, made: dict[str, Path], project: str) -> None:
    taken, done = bring(desk, "memory-service", made["memory-service"], project)
    folder = f"areas/projects/{project}" if project else "areas/global"
    note = f"{folder}/knowledge/2026-02-10-release-checklist.md"
    assert set(done.of(ADDED)) == {f"{folder}/facts.json", note}
    assert taken.items == 3  # the deleted one is none
    assert set(facts(desk, f"{folder}/facts.json")) == {
        "The shop uses pnpm, never npm",
        "支付回调验签前要先做 URL 解码",
    }
    assert "tags: [release]\nauthor: imported\n" in read(desk, note)
    assert read(desk, note).endswith("# Release checklist\n\n1. bump the version\n2. tag\n3. `make release`\n\n")


def test_a_superseded_memory_names_the_newer_one(desk: Desk, made: dict[str, Path]) -> None:
    with closing(sqlite3.connect(made["memory-service"])) as db, db:
        newer = db.execute("SELECT content_hash FROM memories WHERE id = 2").fetchone()[0]
        db.execute("UPDATE memories SET superseded_by = ? WHERE id = 1", (newer,))
    bring(desk, "memory-service", made["memory-service"])
    old, new = parse_facts(read(desk, "areas/global/facts.json")).facts
    assert (old.status, old.superseded_by, new.status) == ("superseded", new.id, "active")


@pytest.mark.parametrize("kept", ["mem0.db", "mem0.json"])
def test_memories_of_mem0_are_read_from_its_history_and_from_its_json(
    desk: Desk, made: dict[str, Path], tmp_path: Path, kept: str
) -> None:
    shutil.copy(MADE / "mem0.json", tmp_path)
    bring(desk, "mem0", tmp_path / kept)
    assert set(facts(desk)) == {"The shop uses pnpm 9, never npm", "支付回调验签前要先做 URL 解码"}
    _, done = bring(desk, "mem0", made["mem0"])
    assert done.of(SAME) == ["areas/global/facts.json"]


def test_markdown_stays_word_for_word_but_for_its_day_and_origin(desk: Desk, made: dict[str, Path]) -> None:
    _, done = bring(desk, "basic-memory", made["basic-memory"], "shop")
    base = "areas/projects/shop/knowledge"
    assert set(done.of(ADDED)) == {f"{base}/shop/Order ids.md", f"{base}/shop/支付/支付回调.md", f"{base}/broken.md"}
    ids, payment = read(desk, f"{base}/shop/Order ids.md"), read(desk, f"{base}/shop/支付/支付回调.md")
    assert 'sources: ["basic-memory:shop/ids"]' in ids.replace("'", '"')
    assert ids.endswith("---\n\n- [decision] ULIDs #ids\n")
    assert payment.endswith("\r\n验签前要先做 URL 解码。\r\n\r\n- relates_to [[Order ids]]\r\n")
    assert read(desk, f"{base}/broken.md") == "---\ntitle: [\n---\n\nx\n"


@pytest.mark.parametrize("name", STORES)
def test_what_is_imported_twice_is_there_once_and_the_source_is_untouched(
    desk: Desk, made: dict[str, Path], name: str
) -> None:
    before = {path: path.read_bytes() for path in made[name].parent.rglob("*") if path.is_file()}
    beside = set(made[name].parent.iterdir())
    bring(desk, name, made[name])
    standing = {path: path.read_bytes() for path in desk.vault.root.rglob("*") if path.is_file()}
    taken, again = bring(desk, name, made[name])
    assert set(again.fates.values()) <= {SAME}
    assert {path: path.read_bytes() for path in standing} == standing
    assert {path: path.read_bytes() for path in before} == before
    assert set(made[name].parent.iterdir()) == beside
    assert taken.items


def test_what_one_program_took_from_another_is_known_already(desk: Desk, made: dict[str, Path]) -> None:
    bring(desk, "mem0", made["mem0"])
    taken, _ = bring(desk, "memory-service", made["memory-service"])
    assert taken.known == 1
    assert len(facts(desk)) == 3


def test_secrets_and_strange_names_do_not_come_in(desk: Desk, made: dict[str, Path]) -> None:
    with closing(sqlite3.connect(made["claude-mem"])) as db, db:
        db.execute("UPDATE observations SET project = '../../../etc', narrative = ?", (f"the key is {SECRET}",))
    _, done = bring(desk, "claude-mem", made["claude-mem"])
    assert done.redacted
    assert not [path for path in desk.vault.root.rglob("*.*") if path.is_file() and SECRET in path.read_text("utf-8")]
    assert all(ref.startswith(("sessions/", "areas/")) and ".." not in ref for ref in done.fates)


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize(
    "content", [b"", b"SQLite format 3\0", b"{}", b'{"results": [1]}', b"\xff\xfe", b"[" * 100_000]
)
def test_what_is_no_store_is_called_so(desk: Desk, tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is not a file of"):
        files_of(desk.work, name, read_store(name, path))
    with pytest.raises(UsageError, match="there is no"):
        read_store(name, tmp_path / "nothing")


def test_a_result_without_a_date_or_a_text_is_no_crash(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps([{"id": 1, "memory": "一", "created_at": None, "categories": ["preference"]}]), "utf-8")
    bring(desk, "mem0", path)
    assert parse_facts(read(desk, "areas/global/facts.json")).facts[0].category == "preference"
