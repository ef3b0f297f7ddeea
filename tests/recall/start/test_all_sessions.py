"""What was decided in any session is given, or what replaced it, however many sessions have followed."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from desk import Desk
from notes import note_of
from trees import write

from memtool.recall.start.last_sessions import gather_standing
from memtool.recall.start.session_start import session_context
from memtool.vault.layout import Vault
from memtool.vault.sessions import Line, render_session

ULIDS = "We use ULIDs for order numbers, because they sort by time"
NAMES = [f"{letter}{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
RULE = "提交前必须先跑 pnpm test"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """An empty vault in a home folder of its own."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memtool.toml").touch()
    return Vault((tmp_path / "memory").resolve())


def session(vault: Vault, number: int, project: str = "shop", **said: tuple[str, ...]) -> str:
    """Write the note of a session; the higher its *number*, the newer it is."""
    month, day = divmod(number // 4, 28)
    note = note_of(
        f"s{number:04}",
        project=project,
        updated=f"{2024 + month // 12}-{month % 12 + 1:02}-{day + 1:02} {number % 4 + 10}:00",
        title=f"fix: the basket of page {number} is emptied once",
        **said,
    )
    lines = (*note.draft.lines, Line(f"basket.ts clears page {number}", asked="fix it"))
    ref = f"sessions/{note.updated[:10]}-s{number:04}.md"
    write(vault, ref, render_session(note._replace(draft=note.draft._replace(lines=lines))))
    return ref


def started(vault: Vault, project: str = "shop") -> str:
    desk = Desk(vault, now=datetime(2027, 3, 6, 12, tzinfo=UTC))
    desk.folder = desk.home
    return session_context(desk.work, project).text


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, 60, 600])
def test_a_decision_and_a_rule_of_the_first_session_are_given_after_any_number_of_sessions(
    vault: Vault, count: int
) -> None:
    session(vault, 0, decisions=(f"{ULIDS} (user)",), rules=(f"{RULE} (user)",))
    for number in range(1, count):
        decided = (f"page {NAMES[number // 26 % 26]}{NAMES[number % 26]} gets its own basket (user)",)
        session(vault, number, decisions=decided if number % 3 == 0 else ())
        session(vault, number, project=f"other-{number % 3}") if number % 7 == 0 else None
    gather_standing(vault)
    text = started(vault)
    assert f"- {ULIDS} (user, 2024-01-01)" in text
    assert f"- {RULE} (user, 2024-01-01)" in text
    assert text.count("\n- 20") == 5  # the newest five sessions


@pytest.mark.slow
def test_a_decision_that_was_replaced_is_named_by_the_newer_one_only(vault: Vault) -> None:
    session(
        vault,
        0,
        decisions=("The sessions of users live 15 minutes in Redis (user)", "Where do orders lie? → PostgreSQL"),
    )
    for number in range(1, 300):
        session(vault, number)
    session(vault, 300, decisions=("The sessions of users live 30 minutes in Redis (user)",))
    session(vault, 301, decisions=("Where do orders lie? → in SQLite, 一个文件就够",))
    for number in range(302, 600):
        session(vault, number)
    gather_standing(vault)
    text = started(vault)
    shown = [line for line in text.splitlines() if "orders lie" in line or "live" in line]
    assert len(shown) == 2
    assert "in place of “The sessions of users live 15 minutes in Redis” of 2024-01-01" in text
    assert "in place of “Where do orders lie? → PostgreSQL” of 2024-01-01" in text


def test_of_decisions_long_ago_those_come_first_that_the_newest_sessions_speak_of(vault: Vault) -> None:
    session(vault, 0, decisions=("The basket is cleared by its own queue (user)",))
    for number in range(1, 40):
        session(vault, number, decisions=(f"mail template {number} has a blue header (user)",))
    gather_standing(vault)
    assert "- The basket is cleared by its own queue (user, 2024-01-01)" in started(vault)


def test_what_was_decided_is_given_from_the_archive_too_but_not_what_was_open_there(vault: Vault) -> None:
    old = session(
        vault, 0, decisions=(f"{ULIDS} (user)",), rules=(f"{RULE} (user)",), open=("the certificate expires",)
    )
    for number in range(1, 9):
        session(vault, number)
    (vault.root / "archive/sessions").mkdir(parents=True)
    (vault.root / old).rename(vault.root / f"archive/{old}")
    gather_standing(vault)
    text = started(vault)
    assert f"- {ULIDS} (user, 2024-01-01)" in text
    assert RULE in text
    assert "certificate" not in text


def test_the_list_holds_no_text_and_follows_what_changes(vault: Vault) -> None:
    old = session(vault, 0, decisions=(f"{ULIDS} (user)",))
    for number in range(1, 40):
        session(vault, number)
    gather_standing(vault)
    listed = (vault.state_path / "standing.json").read_text("utf-8")
    assert json.loads(listed) == {"shop": [["2024-01-01 10:00", old]]}
    assert ULIDS in started(vault)
    path = vault.root / old
    path.write_text(path.read_text("utf-8").replace("\n---\n", "\nstatus: archived\n---\n", 1), "utf-8")
    assert ULIDS not in started(vault)  # before the worker has come
    gather_standing(vault)
    assert json.loads((vault.state_path / "standing.json").read_text("utf-8")) == {}
    path.unlink()
    session(vault, 1, decisions=("订单号用 UUIDv7 (user)",))
    gather_standing(vault)
    assert "订单号用 UUIDv7" in started(vault)


def test_only_notes_that_changed_are_read_again(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        session(vault, number, decisions=(f"{ULIDS} (user)",))
    gather_standing(vault)
    read: list[str] = []
    monkeypatch.setattr("memtool.recall.start.last_sessions.Folder.read", lambda _self, name, _most: read.append(name))
    ref = session(vault, 1, decisions=("other (user)",))
    os.utime(vault.root / ref, (1, 1))
    gather_standing(vault)
    assert read == [ref.removeprefix("sessions/")]


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"shop": 3}', '{"shop": [[1, 2], ["2024-01-01"]]}', "null"])
def test_a_list_that_is_broken_or_missing_is_done_without(vault: Vault, broken: str) -> None:
    session(vault, 0, decisions=(f"{ULIDS} (user)",))
    write(vault, ".memtool/standing.json", broken)
    assert ULIDS in started(vault)
    gather_standing(vault)
    assert ULIDS in started(vault)
