"""Where the words of a prompt occur: in real indexes of small vaults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from index.notebook import Notebook

from memtool.recall.prompts import occurrences
from memtool.recall.prompts.occurrences import Scope, completed, find_scope, of_meaning, of_terms
from memtool.recall.prompts.question import ask
from memtool.recall.prompts.thesaurus import Meaning

T = TypeVar("T")
WIDE = Scope(50, None)


@pytest.fixture
def harbour(tmp_path: Path) -> Notebook:
    """A vault with a project of three notes, another of one, and a note that belongs to none."""
    notebook = Notebook(tmp_path.resolve() / "vault")
    for name, text in (("a", "The zeppelin docks."), ("b", "A zeppelin 飞艇."), ("c", "Postgresql 16.")):
        notebook.write(f"areas/projects/harbour/knowledge/{name}.md", f"# {name}\n\n{text}\n")
    notebook.write("areas/projects/orchard/knowledge/d.md", "# d\n\nA zeppelin over the apples.\n")
    notebook.write("areas/global/knowledge/e.md", "# e\n\nRoll it back, 回滚.\n")
    return notebook


def read(notebook: Notebook, use: Callable[..., T]) -> T:
    return notebook.use(lambda index: use(index.db))


def test_words_are_rare_among_the_project_and_what_belongs_to_none(harbour: Notebook) -> None:
    scope = read(harbour, lambda db: find_scope(db, "harbour"))
    assert (scope.size, len(scope.ids or ())) == (50, 4)
    found = read(harbour, lambda db: of_terms(db, ask("the zeppelin"), scope))
    assert (len(found["zeppelin"].chunks), found["zeppelin"].frequency) == (3, 2)


@pytest.mark.parametrize("project", ["", "harbour"])
def test_without_a_project_or_in_a_large_one_it_is_the_vault(
    harbour: Notebook, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(occurrences, "_MOST_OF_SCOPE", 3)
    monkeypatch.setattr(occurrences, "_LEAST_SCOPE", 1)
    assert read(harbour, lambda db: find_scope(db, project)) == Scope(5, None)


def test_what_stands_in_too_many_chunks_finds_none_of_them(harbour: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrences, "_MOST_CHUNKS", 2)
    found = read(harbour, lambda db: of_terms(db, ask("a zeppelin near postgresql"), WIDE))
    assert (found["zeppelin"].chunks, found["zeppelin"].frequency) == ((), 5)
    assert found["postgresql"].frequency == 1


@pytest.mark.parametrize("others", [(("roll", "back"),), (("回滚",),), (("nowhere",), ("回滚",))])
def test_other_words_are_found_in_every_script_and_phrases_by_all_their_words(
    harbour: Notebook, others: tuple[tuple[str, ...], ...]
) -> None:
    assert read(harbour, lambda db: of_meaning(db, Meaning(("revert",), others), WIDE)).frequency == 1
    assert read(harbour, lambda db: of_meaning(db, Meaning(("x",), (("roll", "zeppelin"),)), WIDE)).frequency == 0


@pytest.mark.parametrize(
    ("prompt", "stem"),
    [
        ("is postgres slow", "postgresql"),
        ("die zeppelinen", "zeppelin"),
        ("which zepelin is it", "zeppelin"),
        ("那个 zeppeiln 在哪里", "zeppelin"),
        ("tune gresql", "postgresql"),
    ],
)
def test_a_word_that_occurs_nowhere_is_completed_cut_or_spelt_right(harbour: Notebook, prompt: str, stem: str) -> None:
    question = ask(prompt)
    meanings = read(harbour, lambda db: list(completed(db, question, of_terms(db, question, WIDE))))
    assert [meaning.others for meaning in meanings] == [((stem,),)]
    assert read(harbour, lambda db: list(completed(db, ask("zeppelin"), of_terms(db, ask("zeppelin"), WIDE)))) == []


def test_of_many_words_that_occur_nowhere_only_a_few_are_looked_up(harbour: Notebook) -> None:
    question = ask("quixotic flummoxed bumfuzzled zepelin")
    assert read(harbour, lambda db: list(completed(db, question, of_terms(db, question, WIDE)))) == []
