"""The call that reads the turns of a kept session."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query

from memtool.memory.search import read_turns
from memtool.web.calls import LONGEST_NAME, example
from memtool.workspace import OpenWorkspace

_MOST = 1_000_000  # the number of a turn


def add_turn_calls(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add the call to *app*."""

    @app.get(
        "/api/session/turns",
        tags=["sessions"],
        summary="List the turns of a kept session; with `turn`, give that one as a whole",
        openapi_extra=example(_TURNS),
    )
    def turns(
        session_id: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)],
        turn: Annotated[int, Query(ge=0, le=_MOST)] = 0,
    ) -> dict[str, Any]:
        found = read_turns(open_workspace(None), session_id, turn)
        rows = [row._asdict() | {"at": row.at.isoformat() if row.at else ""} for row in found.rows]
        listed = rows[turn - 1 : turn] if turn else rows
        return found._asdict() | {"rows": listed, "turns": len(rows)}


_TURNS = {
    "session": "s-1", "path": "sessions/2026-02-10-login.md", "title": "Login uses JWT", "date": "2026-02-10",
    "project": "shop", "turns": 1, "text": "TURN 1\nUSER: Use JWT.",
    "rows": [{"number": 1, "at": "2026-02-10T14:30:00+08:00", "typed": "Use JWT.", "ended": "Done.", "size": 21}],
}  # fmt: skip
