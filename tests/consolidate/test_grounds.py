from __future__ import annotations

from dialogues import told, view_of

from memtool.capture.turns import Turn
from memtool.consolidate.evidence import hashes_in, missing_spans
from memtool.consolidate.grounds import Grounds
from memtool.consolidate.sessions import SessionView
from memtool.vault.session_lines import lines_of

NOTE = """# 登录 fails in Safari → last: the cookie needs SameSite=None together with Secure

1. **Key points**:
   - "why twice?" → each worker opens five connections of its own …
"""


def grounds(*turns: Turn) -> tuple[Grounds, SessionView]:
    view = view_of([])._replace(text=NOTE, lines=tuple(lines_of(NOTE)))
    return Grounds(view, turns), view


def test_a_turn_stands_where_it_was_asked_else_where_it_ended() -> None:
    ended = "the cookie needs SameSite=None together with Secure"
    turns = (
        Turn(asked="登录 fails in Safari"),
        Turn(asked="look into db.py", told=told("each worker opens five connections of its own by it")),
        Turn(asked="go on", ended=ended, told=told(ended)),
        Turn(asked="thanks", ended="done", told=told("done")),
    )  # fmt: skip
    found, view = grounds(*turns)
    spans = [found.of(at) for at in range(4)]
    assert [span.text if span else None for span in spans] == [
        "登录 fails in Safari", "each worker opens five connections of its own …", f"last: {ended}", None,
    ]  # fmt: skip
    fields = [span.as_field() for span in spans if span]
    assert missing_spans(fields, {"s1": hashes_in(view.text)}) == []
    assert missing_spans(fields, {"s1": hashes_in("# something else\n")}) == ["s1#1", "s1#2", "s1#3"]
