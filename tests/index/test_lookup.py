from __future__ import annotations

import pytest
from index.notebook import Notebook

from memtool.errors import UsageError
from memtool.index.lookup import find_fact
from memtool.vault.memory import Location, Memory

ON_BOTH_ENGINES = True
FACTS = """{"facts": [
  {"id": "f1", "fact": "tokens live 24 hours", "evidence": "jwt.ts", "category": "decision", "status": "active",
   "timestamp": "2026-02-10T00:00:00Z"},
  {"fact": "a fact of another tool, without an id"}
]}"""


def find(notebook: Notebook, fact_id: str) -> Memory | None:
    return notebook.use(lambda index: find_fact(index.db, fact_id))


def test_a_fact_is_found_by_its_id(notebook: Notebook) -> None:
    notebook.write("areas/projects/shop/facts.json", FACTS)

    fact = find(notebook, "f1")

    assert fact == Memory(
        "f1", "tokens live 24 hours\njwt.ts", "fact", Location("areas/projects/shop/facts.json", 2, 3), "shop: facts",
        author="imported", project="shop", category="decision", date="2026-02-10", status="active",
    )  # fmt: skip


@pytest.mark.parametrize("fact_id", ["f2", "", "%", "'", "\x00", "\udcff"])
def test_an_id_that_no_fact_has_finds_none(notebook: Notebook, fact_id: str) -> None:
    notebook.write("facts.json", FACTS)

    assert find(notebook, fact_id) is None


def test_an_id_that_several_facts_have_is_refused(notebook: Notebook) -> None:
    notebook.write("areas/projects/shop/facts.json", FACTS)
    notebook.write("areas/projects/cart/facts.json", FACTS)

    with pytest.raises(UsageError, match="'f1' is the id of 2 facts: areas/projects/cart"):
        find(notebook, "f1")
