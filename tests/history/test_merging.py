from __future__ import annotations

import itertools
import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given, strategies as st
from notes import text_of

from memtool.history.merging import emptied, merge
from memtool.text.frontmatter import parse_fields
from memtool.text.merging import split_fields
from memtool.vault.daily import DailyEntry, DailySession, listed_entries, put_together, render_daily, take_apart
from memtool.vault.facts import parse_facts
from memtool.vault.marks import BETWEEN, FIRST, GENERATED, GENERATED_END, LAST, holds_two_texts
from memtool.vault.sessions import is_as_written

DAY = date(2026, 11, 22)
DAILY = "daily/2026-11-22.md"
FACTS = "areas/projects/商店/facts.json"
TODOS = "areas/projects/商店/todos.md"
MEMORY = "MEMORY.md"

MINUTES = st.sampled_from(["00:05", "09:00", "14:30", "14:31", "23:59"])
PROJECTS = st.sampled_from(["", "shop", "博客"])
ENTRIES = st.lists(st.builds(DailyEntry, MINUTES, PROJECTS, st.just(("auth.ts",)) | st.just(("文章.md", "b.md"))))
SESSIONS = st.lists(st.builds(DailySession, MINUTES, PROJECTS, st.sampled_from("abcd"), st.just("登录 of the shop")))


def facts_text(*facts: dict[str, Any]) -> str:
    return json.dumps({"facts": facts}, ensure_ascii=False, indent=2) + "\n"


def fact(fact_id: str, *, at: str = "2026-02-10", status: str = "active", **more: Any) -> dict[str, Any]:
    return {
        "id": fact_id, "fact": f"事实 {fact_id}", "evidence": "seen", "timestamp": at, "status": status,
        "category": "code", **more,
    }  # fmt: skip


def merged_facts(base: str, ours: str, theirs: str) -> dict[str, dict[str, Any]]:
    text = merge(FACTS, base, ours, theirs).text
    assert merge(FACTS, base, theirs, ours).text == text
    return {fact["id"]: fact for fact in json.loads(text)["facts"]}


class TestFacts:
    def test_facts_of_both_sides_are_there_once_by_time(self) -> None:
        base = facts_text(fact("a"))
        ours, theirs = facts_text(fact("a"), fact("z", at="2026-03-01")), facts_text(fact("a"), fact("b"))
        assert list(merged_facts(base, ours, theirs)) == ["a", "b", "z"]

    @pytest.mark.parametrize(
        ("one", "other", "wanted"),
        [("active", "archived", "archived"), ("archived", "superseded", "superseded")],
    )
    def test_the_end_of_a_fact_beats_its_life(self, one: str, other: str, wanted: str) -> None:
        sides = [
            fact("a", status=status, **({"supersededBy": "b"} if status == "superseded" else {}))
            for status in (one, other)
        ]
        assert merged_facts(facts_text(), *(facts_text(side) for side in sides))["a"]["status"] == wanted

    def test_a_fact_that_one_side_brought_back_comes_back(self) -> None:
        gone, back = facts_text(fact("a", status="archived")), facts_text(fact("a"))
        other = facts_text(fact("a", status="archived", tags=["新"]))
        assert merged_facts(gone, back, other)["a"] == fact("a", tags=["新"])

    def test_of_two_successors_the_later_one_is_named(self) -> None:
        def side(new: str, at: str) -> str:
            return facts_text(fact("a", status="superseded", supersededBy=new), fact(new, at=at, supersedes="a"))

        found = merged_facts(facts_text(fact("a")), side("b", "2026-03-01"), side("c", "2026-03-02"))
        assert found["a"]["supersededBy"] == "c"
        assert {found[name]["supersedes"] for name in "bc"} == {"a"}

    def test_the_later_statement_beats_the_earlier_one_whatever_its_zone(self) -> None:
        def said(text: str, at: str) -> str:
            return facts_text(fact("a", at=at) | {"fact": text})

        ours, theirs = said("one", "2026-03-01T10:00:00+08:00"), said("another", "2026-03-01T03:00:00Z")
        assert merged_facts(facts_text(fact("a")), ours, theirs)["a"]["fact"] == "another"

    def test_fields_that_memtool_does_not_know_are_kept(self) -> None:
        base = json.dumps({"由": "另一个工具", "facts": [fact("a")]})
        ours = json.dumps({"由": "另一个工具", "facts": [fact("a", 重要=True)], "version": 2})
        theirs = json.dumps({"由": "另一个工具", "facts": [fact("a", tags=["b", "a"]), "no fact"]})
        text = merge(FACTS, base, ours, theirs).text
        answer = json.loads(text)
        assert answer == {
            "version": 2, "由": "另一个工具", "facts": [fact("a", tags=["b", "a"], 重要=True), "no fact"],
        }  # fmt: skip

    def test_a_purged_fact_stays_away_whatever_the_other_side_made_of_it(self) -> None:
        base, purged = facts_text(fact("a"), fact("b")), facts_text(fact("a"))
        changed = facts_text(fact("a"), fact("b", tags=["改"]))
        assert list(merged_facts(base, purged, changed)) == ["a"]
        superseded = facts_text(fact("a"), fact("b", status="superseded", supersededBy="c"), fact("c", supersedes="b"))
        found = merged_facts(base, purged, superseded)
        assert list(found) == ["a", "c"]
        assert "supersedes" not in found["c"]

    def test_what_three_machines_remembered_is_one_fact(self) -> None:
        says = "令牌有效期为 24 小时"
        same = [
            fact("x", at="2026-03-01", author="agent") | {"fact": says},
            fact("y", at="2026-03-03", author="user") | {"fact": f" {says}。"},
            fact("z", at="2026-03-02", author="agent") | {"fact": says},
        ]
        base = facts_text(fact("a"))
        for one, two, three in itertools.permutations(facts_text(fact("a"), each) for each in same):
            found = merged_facts(base, merge(FACTS, base, one, two).text, three)
            assert [name for name, each in found.items() if each["status"] == "active"] == ["a", "y"]
            assert {each.get("supersededBy") for name, each in found.items() if name in "xz"} <= {"y", "x", "z"}

    def test_what_a_twin_superseded_is_superseded_by_the_one_that_stays(self) -> None:
        def side(name: str, day: int) -> str:
            new = fact(name, at=f"2026-03-0{day}", supersedes="a") | {"fact": "端口 8080"}
            return facts_text(fact("a", status="superseded", supersededBy=name), new)

        found = merged_facts(facts_text(fact("a")), side("b", 1), side("c", 2))
        assert [found[name].get("supersededBy") for name in "abc"] == ["b", None, "b"]

    def test_what_is_no_json_is_left_to_its_owner_with_both_texts(self) -> None:
        merged = merge(FACTS, facts_text(fact("a")), facts_text(fact("a", tags=["我"])), '{"facts": [\n')
        assert merged.conflicts
        assert "我" in merged.text

    @pytest.mark.slow
    @given(st.data())
    def test_every_order_of_merges_gives_the_same_bytes(self, data: st.DataObject) -> None:
        statuses = st.sampled_from(["active", "archived", "superseded"])
        any_fact = st.builds(
            lambda name, at, status, tags, confidence: fact(
                name, at=at, status=status, tags=tags, confidence=confidence,
                **({"supersededBy": "z"} if status == "superseded" else {}),
            ),
            st.sampled_from("abc"), st.sampled_from(["2026-02-10", "2026-02-11T01:00:00+08:00"]), statuses,
            st.lists(st.sampled_from(["红", "x"]), unique=True), st.sampled_from([0.5, 0.9]),
        )  # fmt: skip
        files = st.lists(any_fact, max_size=3, unique_by=lambda one: one["id"]).map(lambda facts: facts_text(*facts))
        base = data.draw(files)
        sides = [data.draw(files) for _ in range(3)]
        results = set()
        for one, two, three in itertools.permutations(sides):
            results.add(merge(FACTS, base, merge(FACTS, base, one, two).text, three).text)
        bytewise = {json.dumps(json.loads(text), sort_keys=True) for text in results}
        assert len(bytewise) == 1
        if all(side != base for side in sides) and len(set(sides)) == 3:
            assert len(results) == 1


class TestDaily:
    @given(ENTRIES, SESSIONS, st.sampled_from(["en", "zh"]))
    def test_a_note_that_is_taken_apart_is_put_together_again(
        self, entries: list[DailyEntry], sessions: list[DailySession], language: str
    ) -> None:
        text = render_daily(DAY, entries, sessions, language=language)
        again = put_together(take_apart(text))
        assert sorted(again) == sorted(text)  # lines of the same minute may change places
        assert put_together(take_apart(again)) == again

    @pytest.mark.slow
    @given(ENTRIES, ENTRIES, ENTRIES, SESSIONS, SESSIONS)
    def test_every_line_of_either_side_is_there_once_in_the_order_of_time(
        self,
        before: list[DailyEntry],
        mine: list[DailyEntry],
        other: list[DailyEntry],
        my_sessions: list[DailySession],
        other_sessions: list[DailySession],
    ) -> None:
        base = render_daily(DAY, before)
        ours = render_daily(DAY, [*before, *mine], my_sessions)
        theirs = render_daily(DAY, [*before, *other], other_sessions)
        merged = merge(DAILY, base, ours, theirs)
        assert merged == merge(DAILY, base, theirs, ours)
        assert not merged.conflicts
        found = listed_entries(merged.text)
        wanted = {(e.minute, e.project, name) for e in (*before, *mine, *other) for name in e.files}
        assert {(e.minute, e.project, name) for e in found for name in e.files} == wanted
        assert [e.minute for e in found] == sorted(e.minute for e in found)
        assert len({(e.minute, e.project) for e in found}) == len(found)
        sessions = take_apart(merged.text).sessions
        assert set(sessions) == {one.session_id for one in (*my_sessions, *other_sessions)}
        assert merged.text.count("](../sessions/") == len(sessions)

    def test_two_machines_that_begin_the_same_day_agree(self) -> None:
        ours = render_daily(DAY, [DailyEntry("14:30", "shop", ("a.ts",))], [DailySession("14:32", "shop", "x", "登录")])
        theirs = render_daily(DAY, [DailyEntry("09:00", "博客", ("文章.md",))])
        assert merge(DAILY, None, ours, theirs).text == (
            "---\ntype: daily\ndate: 2026-11-22\n---\n\n# Daily: 2026-11-22\n\n- 09:00 **博客**: `文章.md`\n"
            "- 14:30 **shop**: `a.ts`\n\n## Sessions\n\n- 14:32 **shop**: [登录](../sessions/x.md)\n"
        )

    def test_the_words_of_the_owner_stay(self) -> None:
        base = render_daily(DAY, [DailyEntry("14:30", "shop", ("a.ts",))])
        ours = base.replace("`a.ts`\n", "`a.ts`\n  我写的话\n") + "\n## Thoughts\n\nA walk.\n"
        theirs = base.replace("`a.ts`", "`a.ts`, `b.ts`")
        text = merge(DAILY, base, ours, theirs).text
        assert "- 14:30 **shop**: `a.ts`, `b.ts`\n  我写的话\n" in text
        assert text.endswith("\n## Thoughts\n\nA walk.\n")

    def test_an_entry_that_was_taken_back_stays_away(self) -> None:
        one, two = DailyEntry("14:30", "shop", ("a.ts",)), DailyEntry("14:31", "shop", ("b.ts",))
        base, ours = render_daily(DAY, [one]), render_daily(DAY, [one, two])
        without = emptied(DAILY, base)
        assert without == render_daily(DAY)
        assert merge(DAILY, base, ours, without).text == render_daily(DAY, [two])


class TestTodos:
    BASE = "---\ntype: todo\n---\n\n# Todos\n\n- [ ] write the tests\n- [ ] 写文档\n"

    def test_items_of_both_sides_are_there_once_and_done_beats_open(self) -> None:
        ours = self.BASE.replace("[ ] 写文档", "[x] 写文档") + "- [ ] ours\n- [ ] both\n"
        theirs = self.BASE + "- [ ] theirs\n- [ ] both\n"
        merged = merge(TODOS, self.BASE, ours, theirs)
        assert merged == merge(TODOS, self.BASE, theirs, ours)
        lines = merged.text.split("\n")[6:-1]
        assert lines[:2] == ["- [ ] write the tests", "- [x] 写文档"]
        assert sorted(lines[2:]) == ["- [ ] both", "- [ ] ours", "- [ ] theirs"]

    def test_what_was_struck_out_here_and_what_was_reopened_there_is_as_it_was_left(self) -> None:
        base = self.BASE.replace("[ ] write", "[x] write")
        ours, theirs = base.replace("[x] write", "[ ] write"), base.replace("[ ] 写文档", "[x] ~~写文档~~")
        assert merge(TODOS, base, ours, theirs).text == self.BASE.replace("[ ] 写文档", "[x] ~~写文档~~")


class TestSessions:
    def note(self, minute: str, topic: str) -> str:
        return text_of("x", project="商店", updated=f"2026-11-22 {minute}", title=topic)

    def test_the_later_capture_stands(self) -> None:
        earlier, later = self.note("10:00", "开始 begun"), self.note("11:00", "完成 done")
        assert merge("sessions/x.md", None, earlier, later).text == later
        assert merge("archive/sessions/x.md", self.note("09:00", ""), later, earlier).text == later

    def test_what_its_owner_wrote_into_the_earlier_one_is_kept(self) -> None:
        base = self.note("10:00", "begun")
        edited, later = base + "\n我的备注\n", self.note("11:00", "done")
        merged = merge("sessions/x.md", base, edited, later)
        assert "我的备注" in merged.text
        assert "done" in merged.text
        assert not is_as_written(merged.text)


class TestProse:
    def test_changes_in_different_places_are_both_there(self) -> None:
        base = "# 记忆\n\none\n\ntwo\n"
        assert merge(MEMORY, base, base.replace("one", "一"), base.replace("two", "二")).text == "# 记忆\n\n一\n\n二\n"

    def test_a_true_conflict_keeps_both_texts_and_says_so(self) -> None:
        merged = merge(MEMORY, "# M\n\none\n", "# M\n\n甲\n", "# M\n\n乙\n")
        assert merged.text == f"# M\n\n{FIRST}\n乙\n{BETWEEN}\n甲\n{LAST}\n"
        assert merged.conflicts == 1
        assert holds_two_texts(merged.text)
        assert not holds_two_texts("# M\n\none\n")

    def test_front_matter_with_two_values_can_still_be_read(self) -> None:
        base = "---\ntype: decision\nstatus: proposed\n---\n\ntext\n"
        sides = [base.replace("proposed", status) for status in ("accepted", "superseded")]
        merged = merge("areas/projects/x/decisions/a.md", base, *sides)
        assert merged.text == base.replace("proposed", "accepted\n# the other text: status: superseded")
        assert merged.conflicts == 1

    def test_lines_that_both_added_to_a_list_are_no_conflict(self) -> None:
        base = "# M\n\n- one\n"
        merged = merge(MEMORY, base, base + "- 甲\n", base + "- 乙\n- 甲\n")
        assert not merged.conflicts
        assert merged.text == base + "- 乙\n- 甲\n"


def test_facts_that_are_emptied_can_be_filled() -> None:
    assert parse_facts(emptied(FACTS, facts_text(fact("a"))) or "").facts == ()
    assert emptied(TODOS, TestTodos.BASE) == "---\ntype: todo\n---\n\n# Todos\n\n"
    assert emptied(MEMORY, "text") is None


class TestFrontMatter:
    SUMMARY = "areas/projects/商店/summary.md"

    def summary(self, *identities: str, body: str = "", **fields: str) -> str:
        more = "".join(f"{key}: {value}\n" for key, value in fields.items())
        return f"---\ntype: project\nidentities: [{', '.join(identities)}]\n{more}---\n\n# 商店\n{body}"

    def test_two_machines_that_made_one_summary_agree_without_marks(self) -> None:
        ours, theirs = self.summary("path:/甲/shop", "example.org/shop"), self.summary("path:/b/shop", status="aktiv")
        merged = merge(self.SUMMARY, None, ours, theirs)
        assert merged == merge(self.SUMMARY, None, theirs, ours)
        assert not merged.conflicts
        assert merged.text.count("# 商店") == 1
        assert parse_fields(split_fields(merged.text)[0]) == {
            "type": "project", "status": "aktiv",
            "identities": ["path:/b/shop", "path:/甲/shop", "example.org/shop"],
        }  # fmt: skip

    def test_only_prose_that_differs_stands_between_marks(self) -> None:
        ours, theirs = (self.summary(one, body=f"\n## 构成\n\n{one}\n\n## End\n") for one in ("甲", "乙"))
        merged = merge(self.SUMMARY, None, ours, theirs)
        marked = f"\n## 构成\n\n{FIRST}\n乙\n{BETWEEN}\n甲\n{LAST}\n\n## End\n"
        assert merged.text.endswith(f"\n# 商店\n{marked}")
        assert parse_fields(split_fields(merged.text)[0]) == {"type": "project", "identities": ["乙", "甲"]}

    def test_a_list_of_lines_and_one_on_a_line_become_one(self) -> None:
        ours = self.summary("a").replace("[a]", "\n  - a  # 旧\n  - 乙")
        fields = parse_fields(split_fields(merge(self.SUMMARY, None, ours, self.summary("c")).text)[0])
        assert isinstance(fields, dict)
        assert set(fields["identities"]) == {"a", "乙", "c"}

    @given(st.permutations(["proposed", "accepted", "驳回"]))
    def test_three_values_of_one_field_are_all_there_in_any_order(self, values: list[str]) -> None:
        base = self.summary(status="new")
        one, two, three = (base.replace("status: new", f"status: {value}") for value in values)
        text = merge(self.SUMMARY, base, merge(self.SUMMARY, base, one, two).text, three).text
        assert "status: accepted\n# the other text: status: proposed\n# the other text: status: 驳回\n---" in text

    def test_a_field_that_one_took_out_and_the_other_changed_stays(self) -> None:
        base = self.summary("a", status="x")
        text = merge(self.SUMMARY, base, self.summary("a"), self.summary("a", status="y")).text
        assert text == self.summary("a", status="y")


class TestThreeMachines:
    @given(st.permutations(["甲\n", "乙\n乙乙\n", "three\n"]), st.booleans())
    def test_marks_do_not_nest_and_no_text_is_lost(self, texts: list[str], has_base: bool) -> None:
        base = "# M\n\n旧\n\nend\n" if has_base else None
        one, two, three = (f"# M\n\n{text}\nend\n" for text in texts)
        merged = merge(MEMORY, base, merge(MEMORY, base, one, two).text, three)
        between = BETWEEN.join(("\nthree\n", "\n乙\n乙乙\n", "\n甲\n"))
        assert merged.text == f"# M\n\n{FIRST}{between}{LAST}\n\nend\n"

    def test_who_solved_a_conflict_has_solved_it_for_all(self) -> None:
        open_text = f"# M\n\n{FIRST}\n甲\n{BETWEEN}\n乙\n{LAST}\n"
        solved, elsewhere = "# M\n\n甲\n", f"{open_text}\n新\n"
        assert merge(MEMORY, open_text, solved, elsewhere).text == "# M\n\n甲\n\n新\n"

    def test_what_each_wrote_into_the_day_by_hand_stands_there_without_marks(self) -> None:
        days = [
            render_daily(DAY, [DailyEntry(minute, "shop", (f"{name}.ts",))]).replace("\n- ", f"\n{words}\n\n- ")
            for minute, name, words in (("09:00", "a", "早上好 walk"), ("10:00", "b", "Rain."), ("11:00", "c", "晚饭"))
        ]
        for one, two, three in itertools.permutations(days):
            merged = merge(DAILY, None, merge(DAILY, None, one, two).text, three)
            assert not merged.conflicts
            assert not holds_two_texts(merged.text)
            assert all(merged.text.count(words) == 1 for words in ("早上好 walk", "Rain.", "晚饭", "# Daily", "type: "))
            assert [entry.minute for entry in listed_entries(merged.text)] == ["09:00", "10:00", "11:00"]

    def test_generated_sections_are_no_conflict(self) -> None:
        texts = [f"# M\n\n我的话\n\n{GENERATED}\n## Ways\n\n- {one}\n{GENERATED_END}\n" for one in ("甲", "乙")]
        assert merge(MEMORY, "# M\n\n我的话\n", *texts).text in texts
        assert merge(MEMORY, texts[0], texts[1], texts[1].replace("乙", "丙")).text in (
            texts[1],
            texts[1].replace("乙", "丙"),
        )
