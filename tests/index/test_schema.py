from __future__ import annotations

import pytest
from index.notebook import Notebook, fill

from memtool.index.engine import Index
from memtool.index.schema import terms_of


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
