from __future__ import annotations

from pathlib import Path

import pytest
from index.notebook import Notebook, fill


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    """An empty vault; the index does not wait for other processes."""
    return Notebook(tmp_path.resolve() / "notes", patience=0.0)


@pytest.fixture
def built(notebook: Notebook) -> Notebook:
    """Twelve notes and their index."""
    fill(notebook)
    notebook.opened()
    return notebook
