from __future__ import annotations

import pytest
from desk import Desk
from notes import text_of

from memtool.recall.hints import Hint, for_file, gather_hints, hints_of_project, still_standing
from memtool.vault.facts import Fact, update_facts
from memtool.vault.layout import Vault

FIX = "`pytest -q`: “sqlite3.OperationalError: no such table: users” → migrations run first → conftest.py ✓ passed"
RULE = Hint("sessions/a.md", "never edit api/schema.ts by hand", "2026-02-10", "a", "shop", ("api/schema.ts",))
OTHER = Hint("sessions/a.md", "时间一律用 UTC，见 orders.py", "2026-02-10", "a", "shop", ("orders.py",))


def test_a_file_is_given_what_names_it() -> None:
    assert for_file([OTHER, RULE], "/src/shop/api/schema.ts") == [RULE]
    assert for_file([OTHER, RULE], "C:\\shop\\api\\schema.ts") == [RULE]
    assert for_file([OTHER, RULE], "/src/shop/web/schema.ts") == []
    assert for_file([OTHER, RULE], "/src/shop/api/schema.tsx") == []


def note(desk: Desk, name: str, **said: object) -> None:
    fields = {"project": "shop", "updated": "2026-02-10 14:00"} | said
    path = desk.vault.root / f"sessions/{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text_of(name, **fields), encoding="utf-8")  # type: ignore[arg-type]


def test_hints_are_gathered_from_notes_and_facts_of_their_project(desk: Desk) -> None:
    note(desk, "a", fixes=(FIX,), rules=("绝不手工修改 api/schema.ts (user)",))
    note(desk, "b", project="other", rules=("never touch b.py (user)",))
    note(desk, "c", rules=("the agent says: never touch c.py (agent)",))
    fact = Fact(id="f", fact="Dates are UTC in orders.py", evidence="x", timestamp="2026-02-11", category="decision",
                author="user")  # fmt: skip
    update_facts(desk.vault, "areas/projects/shop/facts.json", lambda facts: (*facts, fact))
    gather_hints(desk.vault)
    found = hints_of_project(desk.vault, "shop")
    assert [hint.text for hint in found] == [fact.fact, "绝不手工修改 api/schema.ts"]  # and no fix: too few hold
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
    for content in ("{", "[]", '{"a": 5}', '{"a": [5, ["fix", 1], ["r", "t", "d", "s", "shop", []]]}'):
        (desk.vault.state_path / "hints.json").write_text(content)
        assert hints_of_project(desk.vault, "shop") == []


def test_what_an_earlier_version_gathered_is_gathered_anew(desk: Desk) -> None:
    note(desk, "a", rules=("绝不修改 a.py (user)",))
    gather_hints(desk.vault)
    path = desk.vault.state_path / "hints.json"
    path.write_text('{"sessions/a.md": [["fix", "sessions/a.md", "x", "2026-02-10", "a", "shop", ["make", "x"]]]}')
    gather_hints(desk.vault)
    assert [hint.text for hint in hints_of_project(desk.vault, "shop")] == ["绝不修改 a.py"]
