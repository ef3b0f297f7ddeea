"""The index as it is: opened to read, never built, brought up to date or waited for."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from memtool.errors import Busy
from memtool.index import generations, schema

_PATIENCE = 0.05  # seconds; a reader waits for nobody unless somebody repairs the file


@contextmanager
def current_index(folder: Path) -> Iterator[sqlite3.Connection]:
    """Give the index in *folder* (`memtool.index.state`) for the length of a `with` block.

    Raises:
        Busy: there is none, or none that can be used now; the sentence says why.
    """
    path = generations.current(folder / "index")
    if path is None:
        raise Busy("there is no index yet")
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"  # a log of changes can only be read by who may write
        with closing(sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)) as db:
            db.execute("PRAGMA query_only = ON")
            if reason := schema.misfit(db):
                raise Busy(f"the index cannot be used: {reason}")
            yield db
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where a table's definition is no text
        raise Busy(f"the index cannot be used: {error}") from None
