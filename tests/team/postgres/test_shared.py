"""Several vaults, or some projects of one, are searched as if they were a vault of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from index.notebook import TODAY, Notebook

from memtool.errors import OnlyReading
from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.search import newest, search
from memtool.team.engine import PostgresEngine
from memtool.team.postgres.connection import GUEST, Database, Reach, connect, enter, reach
from memtool.team.postgres.engine import use_vaults
from memtool.team.postgres.postings import NewPostings

psycopg = pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
pytestmark = pytest.mark.slow

WORDS = "token deploy rollback max_connections getUserById E0308 解密失败 数据库 部署 検索 größe миграция 로그인".split(
    " "
)
PROJECTS = ("shop", "Billing", "支付", "")
Write = Callable[[Notebook, int], None]


@contextlib.contextmanager
def reaching(vaults: Sequence[Notebook], *projects: str) -> Iterator[None]:
    names = frozenset(
        each.place.engine.database.vault for each in vaults if isinstance(each.place.engine, PostgresEngine)
    )
    kept = reach.set(Reach(names, projects))
    try:
        yield
    finally:
        reach.reset(kept)


@pytest.fixture
def notebook(shared_database: str, tmp_path: Path) -> Callable[[str], Notebook]:
    def made(name: str) -> Notebook:
        root = tmp_path.resolve() / name
        return Notebook(root, engine=PostgresEngine(Database(shared_database, str(root))))

    return made


def text_of(number: int) -> str:
    """Return a note that is the same whenever it is asked for."""
    chance = Random(number)
    paragraphs = [" ".join(chance.choices(WORDS, k=chance.randint(3, 40))) for _ in range(chance.randint(1, 4))]
    front = f"---\ntype: knowledge\nproject: {PROJECTS[number % len(PROJECTS)]}\n---\n"
    return f"{front}# {chance.choice(WORDS)} {number}\n\n" + "\n\n".join(f"## Part\n\n{each}" for each in paragraphs)


def questions(count: int) -> list[str]:
    chance = Random(14)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 5))) for _ in range(count)]


def answers(index: Index) -> list[list[Any]]:
    """Return for each question the notes that are found, without the names of their vaults, with their scores."""
    found = (search(index, text, Filter(TODAY), limit=10).hits for text in questions(30))
    return [
        [(hit.memory.path.rpartition("//")[2], hit.memory.place.start_line, hit.score) for hit in hits]
        for hits in found
    ]


def together(vaults: Sequence[Notebook], use: Callable[[Index], Any]) -> Any:
    place = vaults[0].place
    assert isinstance(place.engine, PostgresEngine)
    return use_vaults(place, place.engine.database.address, [str(each.root) for each in vaults], use)


def test_several_vaults_answer_as_one_that_holds_all_their_notes(notebook: Callable[[str], Notebook]) -> None:
    one, two, both = notebook("one"), notebook("two"), notebook("both")
    for number in range(40):  # in the order of their numbers, which decides where scores are equal
        (one if number < 25 else two).write(f"n{number:02}.md", text_of(number))
        both.write(f"n{number:02}.md", text_of(number))
    one.write("gone.md", text_of(99))
    for each in (one, two, both):
        each.opened()
    (one.root / "gone.md").unlink()
    one.opened()
    found, unbuilt = together([one, two], answers)
    assert found == both.use(answers)
    assert sum(map(len, found)) > 150
    assert not unbuilt
    listed, unbuilt = together([one, two, notebook("new")], lambda index: newest(index, Filter(TODAY), limit=50))
    assert {hit.memory.path for hit in listed.hits} == {
        f"{(one if number < 25 else two).root}//n{number:02}.md" for number in range(40)
    }
    assert [Path(name).name for name in unbuilt] == ["new"]


def test_whoever_may_see_some_projects_finds_what_a_vault_of_these_alone_would(
    notebook: Callable[[str], Notebook],
) -> None:
    whole, part = notebook("whole"), notebook("part")
    for number in range(24):
        whole.write(f"n{number:02}.md", text_of(number))
        if PROJECTS[number % 4] in ("Billing", "支付"):
            part.write(f"n{number:02}.md", text_of(number))
    for each in (whole, part):
        each.opened()

    def paths(index: Index) -> list[set[str]]:
        found = (search(index, text, Filter(TODAY), limit=100).hits for text in questions(20))
        return [{hit.memory.path.rpartition("//")[2] for hit in hits} for hits in found]

    with reaching([whole, part], "billing", "支付"):  # as a token may be written
        assert whole.use(paths) == part.use(paths) == together([whole], paths)[0]
        assert sum(map(len, whole.use(paths))) > 20
        assert not whole.find("decrpyt tok")  # the words of all projects complete nothing
    assert whole.use(paths) != part.use(paths)
    with reaching([whole], "shop'; RESET ROLE; --"):
        assert whole.use(paths) == [set()] * 20
    with reaching([part]), pytest.raises(OnlyReading):
        together([part, whole], paths)


def test_what_a_guest_reads_is_brought_up_to_date_as_a_whole(notebook: Callable[[str], Notebook]) -> None:
    notes = notebook("notes")
    for number in range(8):
        notes.write(f"n{number}.md", text_of(number))
    with reaching([notes], "shop"):
        notes.opened()
        assert {hit.memory.path for hit in notes.search("token deploy 数据库", limit=50).hits} <= {"n0.md", "n4.md"}
    assert notes.use(lambda index: len(index.stamps())) == 8
    assert not notes.opened().applied.changed


def test_no_statement_of_a_guest_sees_a_row_of_another_project(notebook: Callable[[str], Notebook]) -> None:
    notes = notebook("notes")
    for number in range(8):
        notes.write(f"n{number}.md", text_of(number))
    notes.opened()
    assert isinstance(notes.place.engine, PostgresEngine)
    with connect(notes.place.engine.database.address) as db:
        find = "SELECT id FROM memtool.vault WHERE name = %s"
        vault = (db.execute(find, (str(notes.root),)).fetchone() or (0,))[0]
        for projects, seen in ((["shop"], 2), (["shop", "billing"], 4), ([], 0), (["*"], 0), (["{shop}"], 0)):
            with db.transaction():
                enter(db, GUEST, [vault], projects=projects)
                assert db.execute("SELECT count(*) FROM memtool.note").fetchone() == (seen,)
                rows = db.execute("SELECT lower(project) FROM memtool.chunk WHERE true OR vault > 0").fetchall()
                assert {project for (project,) in rows} == set(projects if seen else ())
                listed = db.execute("SELECT count(DISTINCT chunk_id) FROM memtool.term_list").fetchone()
                assert listed == (len(rows),)
                assert db.execute("SELECT count(*) FROM memtool.word").fetchone() == (0,)
        for statement in (
            "UPDATE memtool.chunk SET project = 'shop'",
            "SELECT * FROM memtool.term",
            "SELECT * FROM memtool.posting",
            "SELECT * FROM memtool.token",
            "SELECT * FROM memtool.chunk_00",
        ):
            with db.transaction(force_rollback=True):
                enter(db, GUEST, [vault], projects=["shop"])
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    db.execute(statement)


def test_a_guest_is_given_the_postings_of_its_projects_only(notebook: Callable[[str], Notebook]) -> None:
    notes = notebook("notes")
    for number in range(12):
        notes.write(f"n{number:02}.md", text_of(number))
    notes.opened()
    notes.write("n00.md", text_of(16))  # its first chunks are gone, and stand in the postings still
    notes.opened()
    assert isinstance(notes.place.engine, PostgresEngine)
    with connect(notes.place.engine.database.address) as db:
        find = "SELECT id FROM memtool.vault WHERE name = %s"
        vault = (db.execute(find, (str(notes.root),)).fetchone() or (0,))[0]
        enter(db, GUEST, [vault], projects=["shop", "支付"], local=False)
        own = db.execute("SELECT chunk_id, terms FROM memtool.term_list ORDER BY chunk_id").fetchall()
        expected = NewPostings()
        for chunk_id, terms in own:
            expected.add(chunk_id & 0xFFFFFFFF, terms)
        words = expected.columns()[0]
        rows = db.execute("SELECT * FROM memtool.postings_of_projects(%s) ORDER BY segment", (words,)).fetchall()
    found: dict[str, list[bytes]] = {word: [b""] * 4 for word in words}
    for _, word, _, *columns in rows:
        found[word] = [before + more for before, more in zip(found[word], columns, strict=True)]
    assert own
    assert [(word, *columns) for word, columns in found.items()] == list(zip(*expected.columns(), strict=True))
