from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from desk import NOW, Desk
from trees import write

from memtool.errors import NoteNotFound
from memtool.index.engine import place_of, use_index
from memtool.memory.timeline import Timeline, timeline
from memtool.vault.layout import open_vault

SESSION = """\
---
type: session
date: 2026-02-09
project: shop
---

# Tokens: leeway 商店

- **Project**: shop
- **Time**: 2026-02-09 14:30 (last update)

---

1. **Topic**: tokens: leeway 商店
2. **Decisions**:
   - tokens live 24 hours 令牌 (user)
"""
DAILY = """\
---
type: daily
date: 2026-02-09
---

# Daily: 2026-02-09

- 09:05 **shop**: `a.ts`, `支付.ts`
- 09:30 **teahouse**: `茶.py`
- 23:10 **shop**: `b.ts`

## Sessions

- 14:32 **shop**: [tokens: leeway](../sessions/3f2a9c.md)
- 15:10 **teahouse**: [tea](../sessions/77aa11.md)
"""


def fact(fact_id: str, text: str, timestamp: str, **more: Any) -> dict[str, Any]:
    return {"id": fact_id, "fact": text, "evidence": "e", "timestamp": timestamp, "status": "active",
            "category": "code", **more}  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A vault of some days of two projects."""
    root = tmp_path / "vault"
    facts = [
        fact("f1", "Tea at noon.", "2026-02-09T12:00:00+08:00"),
        fact("f2", "Late.", "2026-02-09T20:00:00Z"),
        fact("f3", "旧的", "2026-02-08", status="superseded", supersededBy="f1"),
    ]
    for ref, text in {
        "memtool.toml": "",
        "sessions/3f2a9c.md": SESSION,
        "daily/2026-02-09.md": DAILY,
        "daily/2026-02-07.md": "# A walk\n\nOnly my own words.\n",
        "archive/sessions/0001.md": SESSION.replace("02-09", "01-02").replace("Tokens", "Zebras"),
        "areas/projects/shop/facts.json": json.dumps({"facts": facts}, indent=1),
        "areas/projects/shop/summary.md": "---\ndate: 2026-02-09\n---\n\n# Shop\n",
        "areas/projects/teahouse/decisions/2026-02-10-oolong.md": "# Oolong 乌龙\n\nGreen tea was bitter.\n",
        "areas/global/knowledge/undated.md": "# Nothing with a day: quagga\n",
    }.items():
        write(root, ref, text)
    return Desk(open_vault(root))


def around(desk: Desk, asked: str = "", **wanted: Any) -> Timeline:
    return use_index(place_of(desk.work), lambda index: timeline(desk.work, index, asked, **wanted))


def told(line: Timeline) -> list[str]:
    return [f"{event.day[5:]} {event.minute} {event.kind} {event.id}" for event in line.events]


SIZES = ((0, 0), (2, 3), (50, 50))
ALL = [
    "01-02 14:30 session 0001",
    "01-02 14:30 decision archive/sessions/0001.md:16",
    "02-07  daily daily/2026-02-07.md",
    "02-08  fact f3",
    "02-09 09:05 edit daily/2026-02-09.md:8",
    "02-09 09:30 edit daily/2026-02-09.md:9",
    "02-09 12:00 fact f1",
    "02-09 14:30 session 3f2a9c",
    "02-09 14:30 decision sessions/3f2a9c.md:16",
    "02-09 15:10 session 77aa11",
    "02-09 23:10 edit daily/2026-02-09.md:10",
    "02-09  fact f2",
    "02-10  decision areas/projects/teahouse/decisions/2026-02-10-oolong.md",
]


def test_without_an_anchor_it_is_the_newest_in_order(desk: Desk) -> None:
    line = around(desk, before=50)
    assert told(line) == ALL
    assert (line.anchor, line.earlier, line.later) == (None, False, False)
    assert around(desk, before=3).events == line.events[-3:]
    assert around(desk, before=3).earlier


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("f1", 6), ("3f2a9c", 7), ("sessions/3f2a9c.md", 7), ("3f2a", 7), ("f3", 3), ("f2", 11), ("oolong", 12),
        ("24 hours 令牌", 7), ("乌龙", 12), ("zebras", 0), ("the walk", 2),
    ],
)  # fmt: skip
def test_around_an_anchor_are_so_many_before_and_after(desk: Desk, asked: str, place: int) -> None:
    for before, after in SIZES:
        line = around(desk, asked, before=before, after=after)
        assert told(line) == ALL[max(0, place - before) : place + 1 + after]
        assert line.anchor == min(before, place)
        assert (line.earlier, line.later) == (place > before, place + after < len(ALL) - 1)


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("2026-02-09", 4), ("2026-02-09T14:30", 7), ("2026-02-09 14:31", 9), ("yesterday", 4), ("3d", 2),
        ("2026-02-06", 2), ("2026-02-11", 13), ("2025", 0), ("昨天", 4),
    ],
)  # fmt: skip
def test_of_a_time_what_happened_from_then_on_comes_after(desk: Desk, asked: str, place: int) -> None:
    for before, after in SIZES:
        line = around(desk, asked, before=before, after=after)
        assert told(line) == ALL[max(0, place - before) : place + after]
        assert line.anchor is None


def test_of_a_project_are_its_lines_and_what_belongs_to_none(desk: Desk) -> None:
    line = around(desk, "2026-02-09", projects=("shop", ""), before=1, after=50)
    assert told(line) == [each for each in ALL[3:-1] if "md:9" not in each and "77aa11" not in each]
    assert {event.project for event in line.events} == {"shop"}


def test_of_some_kinds_are_the_events_that_their_notes_tell_of(desk: Desk) -> None:
    assert {event.kind for event in around(desk, kinds=("daily",), before=50).events} == {"edit", "session", "daily"}
    assert {event.kind for event in around(desk, kinds=("session",), before=50).events} == {"session", "decision"}


def test_what_is_named_by_its_id_is_shown_in_its_own_project(desk: Desk) -> None:
    line = around(desk, ALL[-1].rsplit(" ", 1)[-1], projects=("shop", ""), before=1)
    assert told(line) == ALL[-2:]
    assert line.anchor == 1


def test_each_event_says_who_and_what_and_where(desk: Desk) -> None:
    session, decision = around(desk, "3f2a9c", before=0, after=1).events
    assert (session.project, session.text) == ("shop", "Tokens: leeway 商店")
    assert (session.path, session.id, session.status) == ("sessions/3f2a9c.md", "3f2a9c", "")
    assert (decision.text, decision.id) == ("tokens live 24 hours 令牌", "sessions/3f2a9c.md:16")
    assert decision.place == ("sessions/3f2a9c.md", 16, 16)
    assert decision.author == "user"
    (old,) = around(desk, "f3", before=0, after=0).events
    assert (old.text, old.status) == ("旧的", "superseded")


def test_a_file_that_changes_meanwhile_costs_its_minutes_only(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: Path, _: int) -> bytes:
        raise FileNotFoundError(path)

    monkeypatch.setattr("memtool.memory.timeline.read_head", gone)
    line = around(desk, before=50)
    assert len(line.events) == 8
    assert all(not event.minute for event in line.events)
    assert NOW.date().isoformat() == line.events[-1].date


def test_a_timeline_never_centres_on_a_line_that_it_hides(desk: Desk) -> None:
    def centre(asked: str, *projects: str) -> str:
        found = around(desk, asked, projects=projects)
        return "" if found.anchor is None else found.events[found.anchor].text

    assert centre("支付.ts") == "a.ts, 支付.ts"
    assert centre("茶.py") == "茶.py"
    assert centre("b.ts", "shop", "") == "b.ts"
    with pytest.raises(NoteNotFound):  # a line of another project, in the note of all
        centre("茶.py", "shop", "")
    assert centre("daily/2026-02-09.md:9") == "茶.py"
    assert centre("daily/2026-02-09.md:15") == "tea"
    assert centre("daily/2026-02-09.md:14") == ""  # the session's own note tells of it
    assert centre("Only my own words") == "A walk"


@pytest.mark.parametrize("name", ["sessions/2026-02-09-tokens-leeway.md", "sessions/2026/令牌.md"])
@pytest.mark.parametrize("is_listed_by", ["name", "former"])
def test_a_session_whose_note_bears_a_name_is_one_event_and_found_by_its_id(
    desk: Desk, name: str, is_listed_by: str
) -> None:
    former = "sessions/3f2a9c.md"
    (desk.vault.root / former).rename(desk.vault.root / "old")
    write(desk, name, SESSION.replace("project: shop\n", 'project: shop\nsession: "3f2a9c"\n'))
    if is_listed_by == "name":
        write(desk, "daily/2026-02-09.md", DAILY.replace(f"../{former}", f"../{name}"))
    (desk.vault.root / "old").unlink()
    line = around(desk, "3f2a9c", before=20, after=20)
    sessions = [
        event for event in line.events if (event.kind, event.project, event.day) == ("session", "shop", "2026-02-09")
    ]
    assert [(event.path, event.id) for event in sessions] == [(name, Path(name).stem)]
    assert line.anchor is not None
    assert line.events[line.anchor] == sessions[0]


def test_a_session_of_two_days_is_told_of_on_both(desk: Desk) -> None:
    write(desk, "daily/2026-02-08.md", DAILY.replace("02-09", "02-08").replace("3f2a9c.md", "2026-02-09-令牌.md"))
    write(desk, "sessions/2026-02-09-令牌.md", SESSION)
    sessions = [event for event in around(desk, "2026-02-08", before=0, after=50).events if "令牌" in event.id]
    assert [(event.day, event.path) for event in sessions if event.kind == "session"] == [
        ("2026-02-08", "daily/2026-02-08.md"),
        ("2026-02-09", "sessions/2026-02-09-令牌.md"),
    ]
