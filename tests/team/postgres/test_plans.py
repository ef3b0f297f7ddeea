"""What the planner knows: for a join that it takes for large, it reads all of a table for the sake of some rows."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from index.notebook import Notebook

from memtool.index.engine import Index
from memtool.team.engine import PostgresEngine
from memtool.team.postgres.connection import Database, connect
from memtool.team.postgres.engine import PostgresIndex

pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
pytestmark = pytest.mark.slow

_ASKED = 50
_PARTS = "SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE relkind = 'r'"


def estimate(index: Index) -> int:
    """Return how many rows the planner expects of what search reads of some chunks."""
    assert isinstance(index, PostgresIndex)
    ids = [row[0] for row in index.db.execute("SELECT id FROM chunk ORDER BY id").fetchall()][:_ASKED]
    plan = index.db.db.execute(
        "EXPLAIN (FORMAT JSON) SELECT c.id FROM memtool.chunk AS c"
        " JOIN memtool.note AS n ON n.vault = %(vault)s AND n.id = c.note_id"
        " JOIN memtool.term_list AS l ON l.vault = %(vault)s AND l.chunk_id = c.id"
        " WHERE c.vault = %(vault)s AND c.id = ANY(%(ids)s)",
        {"vault": index.db.vault, "ids": ids},
    ).fetchone()
    assert plan
    return int(plan[0][0]["Plan"]["Plan Rows"])


def write_notes(notes: Notebook, numbers: range) -> None:
    for number in numbers:
        notes.write(f"n{number}.md", f"# Note {number}\n\n解密失败 {number}\n")


@pytest.mark.parametrize("first", [0, 3, 700])
def test_joins_are_planned_by_what_there_is_also_when_a_vault_began_small(
    shared_database: str, tmp_path: Path, first: int
) -> None:
    root = tmp_path.resolve() / "notes"
    notes = Notebook(root, patience=0.0, engine=PostgresEngine(Database(shared_database, str(root))))
    write_notes(notes, range(first))
    notes.opened()
    write_notes(notes, range(700))
    notes.opened()
    with contextlib.closing(connect(shared_database)) as db, db.transaction():
        for (part,) in db.execute(_PARTS).fetchall():  # as the server does by itself, after a while
            db.execute(f"ANALYZE {part}")
    assert notes.use(estimate) <= _ASKED
