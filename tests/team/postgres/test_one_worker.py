"""What Citus wants of each statement: that one worker can answer it.

Citus cuts the tables by `vault`, as our partitions do. So a statement that the planner leads to one partition of each
table, the same for all, is one that a worker answers alone. What Citus refuses of tables is looked up in the catalogue.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index.notebook import TODAY, Notebook, fill

import memtool.team.postgres
from memtool.embeddings.known_scripts import ALL_SCRIPTS
from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.lookup import status
from memtool.index.reach import projects_in
from memtool.index.search import newest, search
from memtool.index.semantic import Vectors, chunks_skipped, chunks_waiting, embed, forget_unused, open_vectors
from memtool.settings import Settings
from memtool.team.engine import PostgresEngine
from memtool.team.postgres.connection import WRITER, Database, connect, enter

psycopg = pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
pytestmark = pytest.mark.slow

LOCAL = {"vault", "model", "migration", "token", "audit"}  # tables that stay on the coordinator
ASKED = ("log in 解密失败", "wrod1", "authen commo", "login " + " ".join(f"word{number}" for number in range(60)))
_SETTING = re.compile(r"BEGIN|ROLLBACK|COMMIT|SET |ANALYZE|CREATE |SELECT (set_config|pg_|to_regclass)")
_USE = re.compile(r"(FROM|JOIN|INTO|UPDATE) memtool\.(\w+)")


class Model:
    """An embedder whose vectors depend on the length of a text."""

    dimension, scripts = 8, ALL_SCRIPTS

    def __init__(self, name: str) -> None:
        self.name = name

    def embed_notes(self, texts: Any) -> Any:
        return np.array([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Any:
        vector = np.random.default_rng(len(text)).normal(size=self.dimension)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The statements that connections are given, with their values."""
    statements: list[tuple[str, Any]] = []
    execute, many = psycopg.Connection.execute, psycopg.Cursor.executemany

    def listen(db: Any, query: str, values: Any = None, **how: Any) -> Any:
        statements.append((query.rpartition("; ")[2], values))
        return execute(db, query, values, **how)

    def listen_to_many(cursor: Any, query: str, rows: Any, **how: Any) -> Any:
        statements.extend((query, values) for values in rows)
        return many(cursor, query, rows, **how)

    monkeypatch.setattr(psycopg.Connection, "execute", listen)
    monkeypatch.setattr(psycopg.Cursor, "executemany", listen_to_many)
    return statements


def live(notes: Notebook) -> None:
    """Do all that is done with an index."""
    fill(notes)
    notes.write(
        "areas/projects/shop/decisions/a.md", "---\nproject: shop\n---\n# JWT\n\nlog in, 登录 login getUserById\n"
    )

    def ask(index: Index) -> None:
        for name in ("old", "new"):
            model = Model(name)
            with open_vectors(index, model) as store:
                embed(index, model, store)
                vectors = Vectors(model, store)
                for text in ASKED:
                    search(index, text, Filter(TODAY), limit=6, mode="hybrid", vectors=vectors)
                    search(index, text, Filter(TODAY, projects=("shop",)), limit=6, mode="hybrid", vectors=vectors)
                forget_unused(index, model, store)
            chunks_waiting(index.db, name)
            chunks_skipped(index.db, name)
        newest(index, Filter(TODAY), limit=3)
        projects_in(index.db)
        index.db.holding([["common", "word1"]], 5)
        index.broken_notes()
        status(index, Settings(), notes.root)

    notes.use(ask)
    notes.write("n3.md", "# Other\n\nwords\n")
    (notes.root / "n4.md").unlink()
    (notes.root / "archive").mkdir()
    (notes.root / "n5.md").rename(notes.root / "archive/n5.md")
    (notes.root / "n6.md").touch()
    notes.use(ask)
    notes.use(ask, rebuild=True)


@contextlib.contextmanager
def writing(notes: Notebook) -> Iterator[tuple[Any, int]]:
    """Give a connection that may write the rows of the vault, and the vault's number."""
    assert isinstance(notes.place.engine, PostgresEngine)
    with contextlib.closing(connect(notes.place.engine.database.address)) as db, db.transaction(force_rollback=True):
        enter(db, WRITER, [], name=notes.place.engine.database.vault)
        row = db.execute("SELECT id FROM memtool.vault").fetchone()
        assert row
        enter(db, WRITER, [row[0]])
        yield db, row[0]


def relations(plan: Any) -> Iterator[str]:
    """Give the tables that a plan reads or writes."""
    if isinstance(plan, dict):
        if (
            "Relation Name" in plan and plan.get("Node Type", "ModifyTable") != "ModifyTable"
        ):  # which names the whole table, too
            yield plan["Relation Name"]
        for each in plan.values():
            yield from relations(each)
    elif isinstance(plan, list):
        for each in plan:
            yield from relations(each)


def test_each_statement_is_for_one_worker(
    shared_database: str, tmp_path: Path, heard: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtool.team.limits.SEGMENTS_MERGED", 2)
    monkeypatch.setattr("memtool.team.limits.LEAST_DEAD", 1)
    root = tmp_path.resolve() / "notes"
    notes = Notebook(root, patience=0.0, engine=PostgresEngine(Database(shared_database, str(root))))
    live(notes)
    statements = {query: values for query, values in heard if not _SETTING.match(query)}
    heard.clear()
    with writing(notes) as (db, _):
        # The planner may read a small table whole: then its filter is what leads it to one part.
        for query, values in statements.items():
            plan = db.execute(f"EXPLAIN (FORMAT JSON) {query}", values).fetchone()[0]
            parts = {name.rpartition("_")[2] for name in relations(plan) if name not in LOCAL}
            assert len(parts) <= 1, query
            assert all(map(str.isdigit, parts)), query
            assert not re.search(r"SET vault\b", query), query
    source = "".join(path.read_text() for path in Path(memtool.team.postgres.__file__).parent.glob("*.py"))
    heard_uses = {use for query in statements for use in _USE.findall(query)}
    assert set(_USE.findall(source)) - heard_uses <= {("FROM", "migration"), ("INTO", "migration")}


def test_what_citus_wants_of_the_tables(shared_database: str) -> None:
    ours = "pg_class AS c WHERE c.relnamespace = 'memtool'::regnamespace AND c.relkind = 'p'"
    with contextlib.closing(connect(shared_database)) as db:
        tables = {row[0] for row in db.execute(f"SELECT relname FROM {ours}")}
        keys = "pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        of_ours = f"IN (SELECT c.oid FROM {ours})"
        find = f"SELECT i.indrelid::regclass::text, a.attname FROM {keys} WHERE i.indisunique AND i.indrelid {of_ours}"
        unique = set(db.execute(find))
        assert unique == {(table, "vault") for table in tables}
        assert tables.isdisjoint(LOCAL)
        for forbidden in (
            "FROM pg_constraint WHERE contype = 'f' AND conrelid",  # foreign keys
            "FROM pg_attribute WHERE attidentity <> '' AND attrelid",  # numbers that the database gives
            "FROM pg_trigger WHERE tgrelid",
        ):
            assert db.execute(f"SELECT * {forbidden} {of_ours}").fetchall() == []
        find = "SELECT polrelid::regclass::text, pg_get_expr(polqual, polrelid) FROM pg_policy"
        find += " WHERE polname = 'of_visible_vaults' AND polrelid"
        rules = dict(db.execute(f"{find} {of_ours}").fetchall())
        assert rules.keys() == tables
        assert len(set(rules.values())) == 1
