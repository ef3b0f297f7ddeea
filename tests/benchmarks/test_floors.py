from __future__ import annotations

import contextlib
from pathlib import Path

from benchmarks import floors
from benchmarks.vaults import write_vault
from memtool.vault.scan import scan


def test_the_bare_walk_sees_the_files_that_memtool_sees(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", 20)
    (vault / ".memtool").mkdir()
    (vault / ".memtool" / "note.md").touch()
    walked = {Path(path).relative_to(vault).as_posix() for path in floors.walk(str(vault))}
    assert walked - {"memtool.toml"} == scan(vault).stamps.keys()


def test_what_was_inserted_is_found_best_first(tmp_path: Path) -> None:
    texts = {"one.md": "密钥轮换后解密失败", "two.md": "密钥 and nothing else", "three.md": "nothing at all"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with contextlib.closing(floors.create(tmp_path / "floor.sqlite")) as db:
        floors.insert(db, [str(tmp_path / name) for name in texts])
        ranked = floors.best(db, "密钥 解密")
    assert [number for number, _ in ranked] == [1, 2]
    assert ranked[0][1] > ranked[1][1]


def test_the_plain_floor_holds_the_files_as_fts5_cuts_them(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("解密 getUserById", encoding="utf-8")
    with contextlib.closing(floors.create(tmp_path / "floor.sqlite")) as db:
        floors.insert_plain(db, [str(tmp_path / "one.md")])
        find = "SELECT count(*) FROM plain WHERE plain MATCH ?"
        assert [db.execute(find, (f'"{word}"',)).fetchone()[0] for word in ("解密", "getuserbyid", "user")] == [1, 1, 0]


def test_a_floor_begins_empty_even_where_one_was_before(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("token", encoding="utf-8")
    for _ in range(2):
        with contextlib.closing(floors.create(tmp_path / "floor.sqlite")) as db:
            floors.insert(db, [str(tmp_path / "note.md")])
            assert len(floors.best(db, "token")) == 1
