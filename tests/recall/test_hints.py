from __future__ import annotations

import pytest
from desk import Desk

from memtool.recall.hints import (
    Hint,
    ProgramCall,
    calls_in,
    for_command,
    for_failure,
    for_file,
    gather_hints,
    hints_of_project,
    still_standing,
)
from memtool.vault.facts import Fact, update_facts
from memtool.vault.layout import Vault
from memtool.vault.session_lines import Fix, render_fix
from memtool.vault.sessions import KeyPoint, SessionNote, render_session

FIX = Fix("pytest tests/db -q", "sqlite3.OperationalError: no such table: users", "migrations run first in conftest.py")
HINT = Hint("fix", "sessions/a.md", render_fix(FIX, "en"), "2026-02-10", "a", "shop", (FIX.command, FIX.error))
RULE = Hint("line", "sessions/a.md", "never edit api/schema.ts by hand", "2026-02-10", "a", "shop", ("api/schema.ts",))


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/db",
        "pytest -x tests/db 2>&1 | tail -20",
        "cd /src/shop && PYTHONPATH=. .venv/bin/pytest tests/db -q",
        'echo "测试" && pytest "tests/db"',
    ],
)
def test_the_same_command_is_given_its_fix_whatever_its_options(command: str) -> None:
    assert for_command([HINT, RULE], command) == [HINT]


@pytest.mark.parametrize(
    "command",
    ["pytest tests/web", "pytest", "pytest tests/db tests/web", "ruff check tests/db", "ls tests/db", "", "&& |"],
)
def test_other_commands_are_given_nothing(command: str) -> None:
    assert for_command([HINT, RULE], command) == []


def test_a_runner_is_known_with_what_it_runs() -> None:
    wanted = [("npm run test", {"unit"}), ("mise run lint", set()), ("go test", {"./..."}), ("make all", set())]
    for (program, arguments), command in zip(
        wanted, ["npm run test unit --watch", "mise run lint", "go test -race ./...", "make all -j4"], strict=True
    ):
        assert calls_in(command) == [ProgramCall(program, frozenset(arguments))]


def test_a_failure_is_known_by_its_error_or_by_most_of_its_command() -> None:
    said = "Exit code 1\nE   sqlite3.OperationalError: no such table: orders"
    assert for_failure([HINT], "pytest tests/orders", said) == [HINT]
    assert for_failure([HINT], "pytest tests/orders", "Exit code 1\nAssertionError: 3 != 4") == []
    assert for_failure([HINT], "pytest tests/db tests/web", "Exit code 1") == [HINT]
    assert for_failure([HINT], "npm test", said) == []


def test_a_file_is_given_what_names_it() -> None:
    assert for_file([HINT, RULE], "/src/shop/api/schema.ts") == [RULE]
    assert for_file([HINT, RULE], "C:\\shop\\api\\schema.ts") == [RULE]
    assert for_file([HINT, RULE], "/src/shop/web/schema.ts") == []
    assert for_file([HINT, RULE], "/src/shop/api/schema.tsx") == []


def note(desk: Desk, name: str, **said: object) -> None:
    fields = {"project": "shop", "updated": "2026-02-10 14:00"} | said
    path = desk.vault.root / f"sessions/{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(render_session(SessionNote(name, **fields)), encoding="utf-8")  # type: ignore[arg-type]


def test_hints_are_gathered_from_notes_and_facts_of_their_project(desk: Desk) -> None:
    note(desk, "a", key_points=(KeyPoint(render_fix(FIX, "en"), "fix"),), rules=("绝不手工修改 api/schema.ts (user)",))
    note(desk, "b", project="other", rules=("never touch b.py (user)",))
    note(desk, "c", rules=("the agent says: never touch c.py (agent)",))
    fact = Fact(id="f", fact="Dates are UTC in orders.py", evidence="x", timestamp="2026-02-11", category="decision",
                author="user")  # fmt: skip
    update_facts(desk.vault, "areas/projects/shop/facts.json", lambda facts: (*facts, fact))
    gather_hints(desk.vault)
    found = hints_of_project(desk.vault, "shop")
    assert [hint.text for hint in found] == [fact.fact, render_fix(FIX, "en"), "绝不手工修改 api/schema.ts"]
    assert found[0].source == "f"
    assert for_file(found, "/x/api/schema.ts")


def test_what_was_deleted_or_superseded_is_not_given(desk: Desk) -> None:
    note(desk, "a", rules=("never touch a.py (user)",))
    gather_hints(desk.vault)
    (hint,) = hints_of_project(desk.vault, "shop")
    assert still_standing(desk.vault, [hint, hint]) == [hint]
    note(desk, "a", rules=("b (user)",))
    assert still_standing(desk.vault, [hint]) == []
    gather_hints(desk.vault)
    assert hints_of_project(desk.vault, "shop") == []


def test_only_what_changed_is_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from memtool.recall import hints

    for name in "abc":
        note(desk, name, rules=(f"never touch {name}.py (user)",))
    gather_hints(desk.vault)
    read: list[str] = []
    real = hints._hints_in

    def noticed(vault: Vault, ref: str) -> list[Hint]:
        read.append(ref)
        return real(vault, ref)

    monkeypatch.setattr(hints, "_hints_in", noticed)
    note(desk, "b", rules=("never touch bb.py (user)",))
    gather_hints(desk.vault)
    assert read == ["sessions/b.md"]
    assert len(hints_of_project(desk.vault, "shop")) == 3


def test_a_file_that_somebody_else_wrote_does_no_harm(desk: Desk) -> None:
    desk.vault.state_path.mkdir(exist_ok=True)
    for content in ("{", "[]", '{"a": 5}', '{"a": [5, ["fix", 1], ["fix", "r", "t", "d", "s", "shop", []]]}'):
        (desk.vault.state_path / "hints.json").write_text(content)
        assert hints_of_project(desk.vault, "shop") == []


def test_a_huge_command_is_looked_at_to_some_length() -> None:
    assert calls_in("pytest tests; " + "a; " * 100_000)[0].program == "pytest"
    assert len(calls_in("a; " * 100_000)) < 10_000
