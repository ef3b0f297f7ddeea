from __future__ import annotations

import sqlite3

import pytest
from hypothesis import example, given, strategies as st
from index.notebook import Notebook, fill

from memtool.index.engine import Index
from memtool.index.schema import SqliteTables, pack_terms, terms_of
from memtool.text.tokens import index_terms

LETTERS = st.text(st.characters(exclude_categories=["Cs"]))


@given(terms=LETTERS, text=LETTERS)
@example(terms="", text="")
@example(terms="解 密 解密 token", text="解密 Token")
@example(terms="x" * 70_000, text="X" * 70_000)
@example(terms=" ".join(map(str, range(9_000))), text=" 解密".join(map(str, range(9_000))))
def test_packed_terms_come_back_as_they_were(terms: str, text: str) -> None:
    assert SqliteTables.unpacked(pack_terms(terms, text), text) == terms


@pytest.mark.parametrize(
    "text", ["The quick foxes were jumping over the lazy dogs. " * 20, "解密失败时返回错误。" * 50]
)
def test_terms_take_little_room_beside_their_text(text: str) -> None:
    terms = " ".join(index_terms(text))

    assert len(pack_terms(terms, text)) * 4 < len(terms.encode())


def test_terms_that_are_damaged_are_damage_of_the_index() -> None:
    with pytest.raises(sqlite3.DatabaseError, match="damaged"):
        SqliteTables.unpacked(b"\xff\xff\xff", "text")


@pytest.mark.parametrize("condition", ["", "c.kind = 'note'"])
def test_of_chunks_as_good_as_each_other_the_first_are_kept(notebook: Notebook, condition: str) -> None:
    for number in range(9):
        notebook.write(f"notes/{number}.md", "# 解密 token\n\nrotated\n")
    notebook.write("notes/z.md", "# 解密 token token\n\nrotated token\n")

    found = notebook.use(lambda index: index.db.best(["token", "解密"], 4, condition))

    assert [chunk_id for chunk_id, _ in found] == [10, 1, 2, 3]


def test_the_index_keeps_the_terms_of_a_chunk_once(built: Notebook) -> None:
    def tables(index: Index) -> tuple[set[str], str]:
        names = {row[0] for row in index.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        return names, terms_of(index.db, 1)

    names, terms = built.use(tables)

    assert "chunk_terms_content" not in names
    assert "common" in terms.split()


def test_what_is_forgotten_leaves_no_term_behind(notebook: Notebook) -> None:
    def contents(index: Index) -> list[object]:
        find = ("SELECT term, doc, cnt FROM vocabulary ORDER BY term", "SELECT count(*) FROM term_list")
        ranks = "SELECT rank FROM chunk_terms WHERE chunk_terms MATCH 'common' ORDER BY rowid"
        return [index.db.execute(sql).fetchall() for sql in (*find, "SELECT count(*) FROM chunk", ranks)]

    fill(notebook, 3)
    fresh = notebook.use(contents)
    notebook.write("n1.md", "# Another\n\nzanzibar 丢失 common " * 30)
    notebook.write("gone.md", "gone 过去")
    notebook.opened()
    fill(notebook, 3)
    (notebook.root / "gone.md").unlink()

    assert notebook.use(contents) == fresh
