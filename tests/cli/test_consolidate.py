from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from desk import Desk
from session_notes import lines, write_note

from memtool.cli.consolidate import ask_each
from memtool.consolidate.review import KEEP, Choice, read_choices, stored_proposals, weeks_to_review
from memtool.consolidate.run import apply_review

if TYPE_CHECKING:
    from terminal import Memtool

    from memtool.vault.layout import Vault


@pytest.fixture
def worked(vault: Vault) -> list[str]:
    updated = f"{dt.datetime.now().astimezone():%Y-%m-%d %H:%M}"
    said = lines(rules=("always write table-driven tests", "提交之前始终运行 `pnpm test`"))
    write_note(vault, "one", *said, updated=updated, title="登录 login")
    return ["--vault", str(vault.root)]


@pytest.mark.slow
def test_a_run_tells_what_it_did_and_how_to_undo(memtool: Memtool, worked: list[str]) -> None:
    planned = memtool("consolidate", "--accept", "--dry-run", *worked)
    assert "2 facts would be new" in planned.err
    ran = memtool("consolidate", "--accept", *worked)
    assert (ran.code, "fact of shop: always write table-driven tests" in ran.out) == (0, True)
    assert "Undo: " in ran.err
    again = memtool("consolidate", "--accept", *worked)
    assert (again.out, "Nothing to change." in again.err) == ("", True)
    shown = memtool("consolidate", "--open", *worked)
    assert "登录 login" in shown.out
    paths = [hit["path"] for hit in memtool("search", "table-driven", "--json", *worked).answer["hits"]]
    assert not any(path.startswith("reports/") for path in paths)


@pytest.mark.slow
def test_json_names_each_proposal_with_its_fate(memtool: Memtool, worked: list[str]) -> None:
    answer = memtool("consolidate", "--json", *worked).answer
    assert [(one["fate"], one["author"], one["sources"]) for one in answer["proposals"]] == [
        ("new", "user", ["one"])
    ] * 2
    assert answer["files"]
    assert answer["commit"]


@pytest.mark.slow
def test_a_review_is_left_in_a_note_and_applied(memtool: Memtool, worked: list[str], vault: Vault) -> None:
    ran = memtool("consolidate", "--review", *worked)
    assert "2 proposed facts to decide on" in ran.err
    assert memtool("facts", "list", "--json", *worked).answer["facts"] == []
    assert memtool("consolidate", "--apply", *worked).code == 0
    assert len(memtool("facts", "list", "--json", *worked).answer["facts"]) == 2
    assert not list(Path(vault.root / "reports").glob("*proposals*"))
    assert memtool("consolidate", "--apply", *worked).code == 20


@pytest.mark.slow
def test_at_a_terminal_a_key_decides_and_what_is_left_open_stays_in_the_note(
    memtool: Memtool, worked: list[str], vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "2 proposed facts to decide on" in memtool("consolidate", "--review", *worked).err
    (week,) = weeks_to_review(vault)
    first, second = stored_proposals(vault, week)
    keys = iter("xks")  # any other key asks again
    monkeypatch.setattr("click.getchar", lambda: next(keys))
    choices = ask_each([first, second])
    assert choices == {first.proposal.id: Choice(KEEP, first.proposal.text)}
    assert [one.fate for one in apply_review(Desk(vault).work, week, choices).judged] == ["new"]
    (note,) = (vault.root / "reports").glob("*proposals*")
    assert [*read_choices(note.read_text(encoding="utf-8"))] == [second.proposal.id]
    assert f"{week}: 1 fact new" in memtool("consolidate", "--apply", *worked).err
    assert not note.exists()


@pytest.mark.slow
def test_facts_wait_for_the_user_until_they_are_accepted(memtool: Memtool, worked: list[str], vault: Vault) -> None:
    write_note(vault, "two", *lines(rules=("要不要以后一律用 pnpm？",)))
    ran = memtool("consolidate", *worked)
    assert "  shop: always write table-driven tests (preference, user)\n" in ran.out
    assert "2 proposed facts to decide on, 0 known, 1 not kept." in ran.err
    assert "Not kept: shop: 要不要以后一律用 pnpm？ (preference, user): it is a question" in ran.err
    assert "Decide on them with `memtool facts review`." in ran.err
    assert memtool("facts", "list", "--json", *worked).answer["facts"] == []
    assert "2 proposed facts to decide on; " in memtool("doctor", *worked).out.replace("\n", "; ")
    assert "2 proposed facts to decide on: `memtool facts review`" in memtool("schedule", "status", *worked).out
    assert memtool("facts", "review", *worked).out == ran.out
    first, second = memtool("facts", "review", "--json", *worked).answer["proposals"]
    assert memtool("facts", "review", "--keep", "nothing", *worked).code == 2
    decided = memtool("facts", "review", "--keep", first["id"], "--drop", "all", *worked)
    assert f"fact of shop: {first['text']} (fact-" in decided.out
    assert [one["fact"] for one in memtool("facts", "list", "--json", *worked).answer["facts"]] == [first["text"]]
    assert second["text"] not in memtool("consolidate", *worked).out
    assert "No proposed fact waits for you." in memtool("facts", "review", *worked).err


@pytest.mark.slow
def test_what_waits_is_not_asked_for_again_in_another_week(memtool: Memtool, vault: Vault) -> None:
    updated = f"{dt.datetime.now().astimezone() - dt.timedelta(days=8):%Y-%m-%d %H:%M}"
    write_note(vault, "one", *lines(rules=("以后一律用 pnpm 安装",)), updated=updated)
    root = str(vault.root)
    assert memtool("consolidate", "--week", "last", "--vault", root).code == 0
    assert memtool("consolidate", "--vault", root).code == 0
    assert memtool("facts", "review", "--vault", root).out.count("以后一律用 pnpm 安装") == 1
    assert len(list((vault.root / "reports").glob("*-proposals.md"))) == 1


@pytest.mark.slow
def test_a_setting_writes_facts_at_once(memtool: Memtool, worked: list[str], vault: Vault) -> None:
    vault.settings_path.write_text('format = 1\n[consolidate]\nreview = "accept"\n', encoding="utf-8")
    assert "2 facts new" in memtool("consolidate", *worked).err


@pytest.mark.usefixtures("notes")
def test_what_does_not_go_together_is_a_sentence(memtool: Memtool) -> None:
    assert memtool("consolidate", "--week", "2026-W99").code == 2
    assert memtool("consolidate", "--open", "--dry-run").code == 2
    assert memtool("consolidate", "--apply", "--review").code == 2
    ran = memtool("consolidate", "--open", "--week", "2026-W07")
    assert (ran.code, ran.err.splitlines()[1]) == (20, "`memtool consolidate --week 2026-W07` writes it.")
