from __future__ import annotations

from pathlib import Path

import pytest
from index.notebook import Notebook, fill

from memtool.team.engine import PostgresEngine
from memtool.team.postgres.connection import Database

ENGINES = ("sqlite", pytest.param("postgres", marks=pytest.mark.slow))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try the tests of a module that says `ON_BOTH_ENGINES` on both, but for those that are marked as SQLite's."""
    is_contract = getattr(metafunc.module, "ON_BOTH_ENGINES", False)
    if is_contract and "notebook" in metafunc.fixturenames and not metafunc.definition.get_closest_marker("of_sqlite"):
        metafunc.parametrize("notebook", ENGINES, indirect=True)


@pytest.fixture
def notebook(tmp_path: Path, request: pytest.FixtureRequest) -> Notebook:
    """An empty vault; the index does not wait for other processes."""
    root = tmp_path.resolve() / "notes"
    if getattr(request, "param", "sqlite") == "sqlite":
        return Notebook(root, patience=0.0)
    return Notebook(
        root, patience=0.0, engine=PostgresEngine(Database(request.getfixturevalue("shared_database"), str(root)))
    )


@pytest.fixture
def built(notebook: Notebook) -> Notebook:
    """Twelve notes and their index."""
    fill(notebook)
    notebook.opened()
    return notebook
