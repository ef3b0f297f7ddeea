from __future__ import annotations

import difflib
import json
import secrets
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

import memtool.vault.facts as facts_module
from memtool.errors import BrokenVaultFile, MemtoolError, NoteNotFound, OutsideVault, UsageError
from memtool.vault.facts import (
    FIELDS,
    NO_FACTS,
    STATUSES,
    Fact,
    add,
    archive,
    new_fact_id,
    parse_facts,
    purge,
    render_facts,
    supersede,
    supersede_by,
    update_facts,
    without,
    wrong_fields,
)
from memtool.vault.memory import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from memtool.vault.layout import Vault

REF = "areas/projects/shop/facts.json"
SCHEMA = json.loads(Path(facts_module.__file__).with_name("facts.schema.json").read_text(encoding="utf-8"))
RAW = {
    "id": "fact-001",
    "fact": "访问令牌有效 24 小时 (JWT)",
    "evidence": "auth.ts",
    "timestamp": "2026-02-10",
    "status": "active",
    "category": "decision",
}


def make(fact_id: str, **fields: Any) -> Fact:
    given = {"fact": f"statement {fact_id}", "evidence": "a test", "timestamp": "2026-02-10"} | fields
    return Fact(id=fact_id, **given)


def in_file(*items: object) -> str:
    return json.dumps({"facts": items}, ensure_ascii=False)


# Reading


def test_a_fact_of_another_tool_is_read_as_it_is() -> None:
    (fact,) = parse_facts(in_file({**RAW, "supersededBy": None, "accessCount": 3})).facts
    assert (fact.id, fact.fact, fact.category) == ("fact-001", "访问令牌有效 24 小时 (JWT)", "decision")
    assert (fact.superseded_by, fact.extra) == ("", {"accessCount": 3})


def test_every_field_of_the_format_has_a_place_in_a_fact() -> None:
    anchors = [{"path": "auth.ts", "blob": "ab12"}]
    spans = [{"source": "3f2a9c#4", "hash": "9f3a1c04be27d0b8"}]
    full: dict[str, object] = RAW | {
        "status": "superseded",
        "supersededBy": "b",
        "supersedes": "a",
        "subject": "令牌 tokens",
        "tags": ["auth", "令牌"],
    }
    full |= {
        "source": "3f2a9c#4",
        "author": "user",
        "confidence": 0.9,
        "expires": "2027-01-01",
        "anchors": anchors,
        "spans": spans,
        "review": "auth.ts has changed since",
        "domain": "auth",
        "project": "shop",
        "summary": "令牌",
        "updated": "2026-02-10T14:30:00+08:00",
    }
    assert full.keys() == FIELDS.keys() == SCHEMA["$defs"]["fact"]["properties"].keys()
    (fact,) = parse_facts(in_file(full)).facts
    assert (fact.tags, fact.confidence, fact.anchors, fact.extra) == (("auth", "令牌"), 0.9, tuple(anchors), {})
    assert (fact.spans, fact.review, fact.domain) == (tuple(spans), "auth.ts has changed since", "auth")
    assert json.loads(render_facts([fact])) == {"facts": [full]}


def test_one_bad_fact_does_not_hide_the_others() -> None:
    file = parse_facts(in_file(RAW, "no object", {"id": "b"}, RAW | {"id": "c", "status": "future"}, RAW | {"id": "d"}))
    assert [fact.id for fact in file.facts] == ["fact-001", "d"]
    assert any("is not of type 'object'" in problem for problem in file.problems)
    assert any("'fact' is a required property" in problem for problem in file.problems)
    assert any("'status': 'future' is not one of" in problem for problem in file.problems)


def test_a_field_of_the_wrong_kind_is_reported_and_the_fact_is_still_read() -> None:
    file = parse_facts(in_file(RAW | {"category": "milestone", "tags": "auth", "confidence": True}), "x/facts.json")
    (fact,) = file.facts
    assert (fact.category, fact.tags, fact.confidence) == ("general", (), None)
    assert fact.extra == {"category": "milestone", "tags": "auth", "confidence": True}
    assert file.problems[0].startswith("'x/facts.json' line 1: 'category': 'milestone' is not one of")


def test_facts_that_share_an_id_are_all_there_and_reported() -> None:
    file = parse_facts(in_file(RAW, RAW))
    assert len(file.facts) == 2
    assert file.problems == ("'facts.json': the id 'fact-001' is used more than once",)


@pytest.mark.parametrize("name", sorted(FIELDS))
@pytest.mark.parametrize("value", [[], {}, [[]], 1.5])
def test_a_field_of_any_type_is_a_problem_and_no_crash(name: str, value: object) -> None:
    file = parse_facts(in_file(RAW | {name: value}))
    assert all(name in problem for problem in file.problems)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1, column 1"),
        ("null", "should be an object"),
        ("{}", "no list 'facts'"),
        ('{"facts": {}}', "expected a list (line 1, column 11)"),
        ('{"facts": [],\n "facts": []}', "twice (line 2"),
        ('{"facts": [\n{"id": 1},\n]}', "line 3, column 1"),
        ('{"facts": [{"id": "a"}', "expected ',' or ']'"),
        ('{"facts": []} {}', "text after the end"),
        ("{'facts': []}", "double quotes"),
        ('{"facts" []}', "expected ':'"),
        ('{"facts": [], }', "double quotes"),
        ('{"facts": [\n\n{"confidence": NaN}]}', "NaN is not JSON (line 3"),
        ('{"facts": [{"confidence": -Infinity}]}', "-Infinity is not JSON"),
        ('{"facts": [{"confidence": 1e999}]}', "too large"),
        ('{"facts": [{"confidence": ' + "9" * 5000 + "}]}", "digits"),
        ('{"facts": [' + "[" * 200_000, "nested too deeply"),
        ('{"x": ' + '{"a":' * 200_000, "nested too deeply"),
        ('{"facts": [\n<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n]}', "line 2, column 1"),
    ],
)
def test_a_broken_file_is_one_sentence_that_names_the_place(text: str, said: str) -> None:
    with pytest.raises(BrokenVaultFile) as caught:
        parse_facts(text, "areas/x/facts.json")
    assert said in str(caught.value)
    assert "'areas/x/facts.json'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_half_a_character_is_a_problem_of_its_fact_alone() -> None:
    text = '{"facts": [{"id": "a", "fact": "\\ud83d"}, ' + json.dumps(RAW) + ', {"fact": "\\ud83d\\ude00"}]}'
    file = parse_facts(text)
    assert [fact.fact for fact in file.facts] == [RAW["fact"], "😀"]
    assert "half a character" in file.problems[0]
    assert "half a character" in parse_facts(text).problems[0]


def test_a_list_without_its_object_is_read_reported_and_written_as_it_is() -> None:
    file = parse_facts(json.dumps([RAW]))
    assert "should be in an object" in file.problems[0]
    text = render_facts(add(file.facts, make("b")), file)
    assert [fact["id"] for fact in json.loads(text)] == ["fact-001", "b"]


def test_a_byte_order_mark_and_windows_line_ends_are_kept() -> None:
    text = "\ufeff" + json.dumps({"facts": [RAW]}, indent=2).replace("\n", "\r\n")
    file = parse_facts(text)
    assert file.places[0][2:] == (3, 10)
    after = render_facts(add(file.facts, make("b")), file)
    assert after.startswith("\ufeff{\r\n")
    assert after.count("\n") == after.count("\r\n")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@given(
    items=st.lists(st.dictionaries(st.sampled_from(["id", "fact", "行\n", "x"]), json_values), max_size=5),
    other=json_values,
    indent=st.sampled_from([None, 0, 1, 4]),
    before=st.booleans(),
)
def test_places_are_right_for_any_formatting(items: list[Any], other: object, indent: int | None, before: bool) -> None:
    items = [{"id": str(number), "fact": "x", **item} | {"fact": "f"} for number, item in enumerate(items)]
    parts = {"other": other, "facts": items} if before else {"facts": items, "other": other}
    text = "\n\n " + json.dumps(parts, indent=indent, ensure_ascii=False)
    file = parse_facts(text)
    assert len(file.facts) == len(items)
    for item, place in zip(items, file.places, strict=True):
        assert json.loads(text[place.start : place.end]) == item
        assert place.start_line == text[: place.start].count("\n") + 1
        assert place.end_line == text[: place.end].count("\n") + 1


# The hand checks and the schema

valid_values: dict[str, st.SearchStrategy[Any]] = {
    "id": st.sampled_from(["fact-001", "事实-1"]),
    "status": st.sampled_from(STATUSES),
    "category": st.sampled_from(list(CATEGORIES)),
    "timestamp": st.sampled_from(["2026-02-10", "2026-02-10T14:30:00+08:00", "2026-02-10 14:30"]),
    "expires": st.sampled_from(["2027-12-31", None]),
    "tags": st.lists(st.text(max_size=3), max_size=2),
    "confidence": st.floats(0, 1) | st.sampled_from([0, 1, None]),
    "anchors": st.lists(st.fixed_dictionaries({"path": st.just("a.ts")}, optional={"blob": st.just("ab")})),
    "spans": st.lists(st.fixed_dictionaries({"source": st.just("3f2a9c#4"), "hash": st.just("9f3a")})),
}
doubtful = (
    json_values
    | st.sampled_from(["", " ", "a b", "2026-02-10\n", "2026-13-10", "2026-2-1", "２０２６-02-10", "20260210", 1.5, -1])
    | st.just([{"path": ""}])
    | st.just([{"path": "a", "blob": 1}])
    | st.just([{"source": "a", "hash": ""}])
)


@st.composite
def raw_facts(draw: st.DrawFn) -> dict[str, Any]:
    fact = {name: draw(valid_values.get(name, st.just("text"))) for name in FIELDS}
    for name in draw(st.lists(st.sampled_from([*FIELDS, "unknown"]), max_size=2)):
        fact[name] = draw(doubtful)
    for name in draw(st.lists(st.sampled_from(list(FIELDS)), max_size=2)):
        fact.pop(name, None)
    return fact


@pytest.mark.slow
@given(raw_facts() | json_values)
def test_the_hand_checks_and_the_schema_agree(item: Any) -> None:
    is_valid = Draft202012Validator(SCHEMA).is_valid({"facts": [item]})
    assert (isinstance(item, dict) and not wrong_fields(item)) == is_valid


def test_reading_does_not_import_jsonschema() -> None:
    code = (
        "import sys; from memtool.vault.facts import parse_facts; "
        f"parse_facts({in_file(RAW, {'id': 1})!r}); sys.exit('jsonschema' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_schema_says_which_field_is_wrong_and_quotes_little() -> None:
    (problem,) = parse_facts(in_file(RAW | {"anchors": [{"path": 5}]})).problems
    assert problem.startswith("'facts.json' line 1: 'anchors.0.path': 5 is not of type")
    (problem,) = parse_facts(in_file(RAW | {"category": "x" * 100_000})).problems
    assert len(problem) < 300


# The life of a fact


def test_a_superseded_fact_stays_and_both_name_each_other() -> None:
    old, new = supersede((make("a"),), "a", make("b"))
    assert (old.status, old.superseded_by, old.fact) == ("superseded", "b", "statement a")
    assert (new.status, new.supersedes) == ("active", "a")


def test_what_came_to_its_end_is_not_superseded_again() -> None:
    facts = supersede((make("a"), make("c")), "a", make("b"))
    with pytest.raises(MemtoolError, match="'a' is superseded by 'b' already"):
        supersede(facts, "a", make("d"))
    with pytest.raises(MemtoolError, match="'c' is archived already"):
        supersede(archive(facts, "c"), "c", make("d"))
    with pytest.raises(MemtoolError, match="superseded by 'b'"):
        archive(facts, "a")


def test_an_id_is_given_once() -> None:
    with pytest.raises(UsageError, match="there is a fact 'a' already"):
        add((make("a"),), make("a"))
    with pytest.raises(UsageError, match="there is a fact 'a' already"):
        supersede((make("a"),), "a", make("a"))


@pytest.mark.parametrize("fact_id", ["missing", ""])
def test_an_unknown_id_is_not_found(fact_id: str) -> None:
    with pytest.raises(NoteNotFound):
        archive((make("a"), Fact(fact="of another tool, without an id")), fact_id)


def test_an_id_that_two_facts_share_means_neither() -> None:
    with pytest.raises(MemtoolError, match="2 facts have the id 'a'"):
        archive((make("a"), make("a")), "a")


def test_ids_are_unique_across_machines(clock: Callable[[], datetime]) -> None:
    ids = {new_fact_id(clock, secrets.token_hex) for _ in range(1000)}
    assert len(ids) == 1000
    assert new_fact_id(clock, lambda count: "ab" * count) == "fact-20260210-ababababab"
    assert not parse_facts(render_facts([make(next(iter(ids)))])).problems


# Writing

facts_strategy = st.lists(
    st.builds(
        # Of a named tuple itself, hypothesis would invent the fields that are not named here.
        lambda **fields: Fact(**fields),  # noqa: PLW0108
        id=st.uuids().map(str),
        fact=st.sampled_from(["令牌 lives 24 h", 'a "quoted" \\ line\nbreak']),
        evidence=st.just("x"),
        timestamp=st.just("2026-02-10"),
        status=st.sampled_from(["active", "archived"]),
        tags=st.lists(st.text(max_size=4)).map(tuple),
        confidence=st.none() | st.floats(0, 1),
        extra=st.dictionaries(st.text(min_size=1, max_size=3).map(lambda name: f"x{name}"), json_values, max_size=2),
    ),
    max_size=4,
)


@pytest.mark.slow
@given(facts_strategy)
def test_what_is_rendered_is_read_back_and_rendered_alike(facts: list[Fact]) -> None:
    text = render_facts(facts)
    file = parse_facts(text)
    assert file.facts == tuple(facts)
    assert not file.problems
    assert render_facts(file.facts, file) == text
    assert render_facts(file.facts) == text


@pytest.mark.slow
@given(facts_strategy, st.sampled_from([None, 1, 4]), st.booleans(), st.data())
def test_a_change_touches_its_fact_alone(facts: list[Fact], indent: int | None, own: bool, data: st.DataObject) -> None:
    text = render_facts(facts)
    if not own:
        text = json.dumps({"v": 1, "facts": ["broken", *json.loads(text)["facts"]], "z": [2]}, indent=indent)
    before = parse_facts(text)
    chosen = data.draw(st.integers(0, len(facts)))
    new = make("new") if chosen == len(facts) else facts[chosen]._replace(fact="changed 改了")
    changed = (*before.facts[:chosen], new, *before.facts[chosen + 1 :])
    after = parse_facts(render_facts(changed, before))
    assert after.facts == changed
    assert after.problems == before.problems
    for old, now, fact in zip(before.places, after.places, facts, strict=False):
        if fact.id != new.id:
            assert text[old.start : old.end] == after.text[now.start : now.end]
    assert not own or json.loads(after.text).keys() == {"facts"}


def test_in_our_own_formatting_a_change_is_one_line_of_the_diff() -> None:
    before = render_facts([make("a"), make("b", tags=("x", "y")), make("c")])
    after = render_facts(archive(parse_facts(before).facts, "b"), parse_facts(before))
    changed = [line for line in difflib.ndiff(before.split("\n"), after.split("\n")) if line[0] in "-+"]
    assert changed == ['-       "status": "active",', '+       "status": "archived",']


def test_a_new_fact_follows_the_style_of_the_last() -> None:
    on_lines = '{"facts": [\n\t{"id": "a", "fact": "f"}\n]}'
    file = parse_facts(on_lines)
    assert "\n\t" + '{"id": "b"' in render_facts(add(file.facts, make("b")), file)
    minified = parse_facts('{"facts":[{"id":"a","fact":"f"}]}')
    assert "\n" not in render_facts(add(minified.facts, make("b")), minified)


def test_no_fact_is_removed_or_moved() -> None:
    file = parse_facts(render_facts([make("a"), make("b")]))
    for facts in ([], [make("b")], [make("b"), make("a")]):
        with pytest.raises(ValueError, match="never removed or moved"):
            render_facts(facts, file)


def test_the_first_fact_of_a_vault_makes_its_file(vault: Vault) -> None:
    update_facts(vault, REF, lambda facts: add(facts, make("a", fact="中文 and English")))
    path = vault.path(REF)
    assert json.loads(path.read_text(encoding="utf-8"))["facts"][0]["fact"] == "中文 and English"
    assert parse_facts(path.read_text(encoding="utf-8")).problems == ()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_fact_that_breaks_a_rule_is_not_written(vault: Vault) -> None:
    update_facts(vault, REF, lambda facts: add(facts, make("a")))
    before = vault.path(REF).read_bytes()
    for bad in (
        make("b", category="milestone"),
        make("b", evidence=""),
        make("b", confidence=float("inf")),
        make("has space"),
        make("b")._replace(status="superseded"),
    ):
        with pytest.raises(UsageError, match="is not valid"):
            update_facts(vault, REF, lambda facts, bad=bad: add(facts, bad))  # type: ignore[misc]
    with pytest.raises(UsageError, match="more than once"):
        update_facts(vault, REF, lambda facts: (*facts, make("a")))
    with pytest.raises(BrokenVaultFile, match="NaN"):
        update_facts(vault, REF, lambda facts: add(facts, make("b", extra={"x": float("nan")})))
    with pytest.raises(BrokenVaultFile, match="no file can hold"):
        update_facts(vault, REF, lambda facts: add(facts, make("b", fact="\ud800")))
    assert vault.path(REF).read_bytes() == before


def test_a_foreign_fact_with_old_faults_can_be_superseded_and_loses_nothing(vault: Vault) -> None:
    foreign = {"id": "fact-001", "fact": "old", "category": "milestone", "evidence": ["a", "b"], "weight": 1.0}
    text = json.dumps({"facts": [foreign, 5]}, indent=2)
    vault.path(REF).parent.mkdir(parents=True)
    vault.path(REF).write_text(text)
    update_facts(vault, REF, lambda facts: supersede(facts, "fact-001", make("b")))
    old, broken, new = json.loads(vault.path(REF).read_text())["facts"]
    assert old == foreign | {"status": "superseded", "supersededBy": "b"}
    assert (broken, new["supersedes"]) == (5, "fact-001")


def test_a_file_outside_the_vault_is_not_touched(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text(NO_FACTS)
    vault.path("areas/out.json").symlink_to(tmp_path / "facts.json")
    for ref in ("../facts.json", "areas/out.json"):
        with pytest.raises(OutsideVault):
            update_facts(vault, ref, lambda facts: add(facts, make("a")))


def test_a_symlink_inside_the_vault_stays_a_symlink(vault: Vault) -> None:
    link = vault.path("areas/facts.json")
    link.symlink_to("global/facts.json")
    update_facts(vault, "areas/facts.json", lambda facts: add(facts, make("a")))
    assert link.is_symlink()
    assert parse_facts(vault.path("areas/global/facts.json").read_text()).facts[0].id == "a"


def test_a_folder_in_the_place_of_the_file_is_one_sentence(vault: Vault) -> None:
    with pytest.raises(BrokenVaultFile, match="cannot be read"):
        update_facts(vault, "areas/global", lambda facts: facts)


WRITER = """
import sys
from pathlib import Path
from memtool.vault.facts import Fact, add, update_facts
from memtool.vault.layout import open_vault
vault = open_vault(Path(sys.argv[1]))
for number in range(5):
    new = Fact(id=f"{sys.argv[2]}-{number}", fact="f", evidence="e", timestamp="2026-02-10")
    update_facts(vault, "areas/global/facts.json", lambda facts: add(facts, new))
"""


@pytest.mark.slow
def test_several_processes_add_facts_and_none_is_lost(vault: Vault) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(vault.root), str(n)]) for n in range(3)]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0]
    file = parse_facts(vault.path("areas/global/facts.json").read_text())
    assert {fact.id for fact in file.facts} == {f"{writer}-{n}" for writer in range(3) for n in range(5)}
    assert not file.problems


def test_a_fact_that_stands_already_can_take_the_place_of_another() -> None:
    facts = (make("a"), make("b"), make("c"))
    one, two, three = supersede_by(facts, "c", "a")
    assert (one.id, one.supersedes, two.id, three.status, three.superseded_by) == ("a", "c", "b", "superseded", "a")
    with pytest.raises(NoteNotFound):
        supersede_by(facts, "c", "d")


@pytest.mark.parametrize("gone", ["a", "b", "c"])
@pytest.mark.parametrize(
    "style", ['{{"facts": [{}, {}, {}], "x": 1}}', '{{\n"facts": [\n  {},\n  {},\n\n  {}\n ]\n}}\n']
)
def test_a_fact_that_is_purged_takes_its_comma_with_it(gone: str, style: str) -> None:
    text = style.format(*(json.dumps(RAW | {"id": name, "fact": "a, [b]"}) for name in "abc"))
    left = without(parse_facts(text), gone)
    assert [fact.id for fact in parse_facts(left).facts] == [name for name in "abc" if name != gone]
    assert left.startswith(text[:9])
    assert left.endswith(text[-5:])


def test_the_last_fact_leaves_an_empty_list(vault: Vault) -> None:
    text = in_file(RAW)
    assert json.loads(without(parse_facts(text), RAW["id"]))["facts"] == []
    path = vault.root / "areas" / "global" / "facts.json"
    path.write_text(text)
    purge(vault, "areas/global/facts.json", RAW["id"])
    assert json.loads(path.read_text())["facts"] == []
    with pytest.raises(NoteNotFound):
        purge(vault, "areas/global/facts.json", RAW["id"])
