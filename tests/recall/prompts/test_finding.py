"""What is found for a prompt in a small vault: the memory that is meant, and nothing where none is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from index.notebook import TODAY, Notebook

from memtool.recall import limits
from memtool.recall.answers.likelihood import FLOOR
from memtool.recall.answers.question import question_of
from memtool.recall.given import ALIKE, BELOW_FLOOR, PALE
from memtool.recall.prompts.finding import Recalled, _distinct, find
from memtool.vault.memory import Location, Memory

HARBOUR, ORCHARD = "areas/projects/harbour", "areas/projects/orchard"
FACTS = {
    "tide": "Ships over 90 metres wait for the flood tide before they enter the inner basin.",
    "crane": "The crane controller retries a lost heartbeat after 250 ms, three times at most.",
    "吊机": "吊机控制器的心跳超时不能低于二百毫秒，否则会误触发急停。",
    "manifest": "parseManifest() drops containers without a seal number; see ERR_SEAL_4012.",
    "mixed": "靠泊计划由 berth_planner 每天凌晨两点重新计算。",
    "pilot": "A pilot boards every tanker at the outer buoy.",
}
NOTES = {
    f"{HARBOUR}/decisions/2026-01-05-queue.md": "# Berth requests go through NATS\n\nKafka was too heavy for two ships"
    " an hour. Requests that are older than ten minutes are dropped.\n",
    f"{HARBOUR}/knowledge/2026-01-07-雾.md": "# 大雾天的排队规则\n\n能见度低于五百米时停止引航，"
    "已经排队的船保持原来的顺序。\n",
    "areas/tools/dredger/summary.md": "# dredger\n\nThe dredger's sonar reads too shallow after heavy rain.\n",
    "sessions/a1.md": "# Session: a1\n\n2. **Key points**:\n   - the mooring bot logs in with an account of its own\n",
}


def fact(fact_id: str, text: str, **more: Any) -> dict[str, Any]:
    plain = {"evidence": "e", "timestamp": "2026-01-10", "status": "active", "category": "code"}
    return {"id": fact_id, "fact": text, **plain, **more}


def write_facts(notebook: Notebook, area: str, *facts: dict[str, Any]) -> None:
    notebook.write(f"{area}/facts.json", json.dumps({"facts": facts}, ensure_ascii=False, indent=1))


@pytest.fixture
def harbour(tmp_path: Path) -> Notebook:
    """A vault with two projects, of which the harbour remembers something."""
    notebook = Notebook(tmp_path.resolve() / "vault")
    write_facts(notebook, HARBOUR, *(fact(name, text) for name, text in FACTS.items()))
    for ref, text in NOTES.items():
        notebook.write(ref, text)
    return notebook


def found(notebook: Notebook, prompt: str, project: str = "harbour") -> list[Recalled]:
    looked_up = notebook.use(lambda index: find(index.db, question_of(prompt), project, TODAY))
    return [memory for memory in looked_up.memories if not memory.left_out]


def names(notebook: Notebook, prompt: str, project: str = "harbour") -> list[str]:
    """Return the facts by their ids and the notes by their names, best first."""
    memories = [each.memory for each in found(notebook, prompt, project)]
    return [memory.fact_id or Path(memory.path).stem for memory in memories]


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Do large ships have to wait for the tide before entering the basin?", "tide"),
        ("the crane lost its heartbeat again, how often do we retry?", "crane"),
        ("吊机的心跳超时设多少合适？", "吊机"),
        ("为什么吊机会误触发急停", "吊机"),
        ("parseManifest", "manifest"),
        ("what does ERR_SEAL_4012 mean", "manifest"),
        ("parseManifest 为什么丢了没有封条的柜子?", "manifest"),
        ("berth_planner 什么时候重新计算？", "mixed"),
        ("靠泊计划是怎么算出来的", "mixed"),
        ("Why did we not take Kafka for the berth requests?", "2026-01-05-queue"),
        ("大雾天停止引航以后排队怎么办", "2026-01-07-雾"),
        ("sonar of the dredger after rain", "summary"),
        ("HEARTBEAT OF THE CRANE CONTROLLER", "crane"),
    ],
)
def test_the_memory_that_a_prompt_is_about_is_found_first(harbour: Notebook, prompt: str, name: str) -> None:
    assert names(harbour, prompt)[:1] == [name]


def test_sessions_are_found_by_their_notes(harbour: Notebook) -> None:
    question = question_of("which account does the mooring bot log in with?")
    assert harbour.use(lambda index: find(index.db, question, "harbour", TODAY)).sessions == ["sessions/a1.md"]


@pytest.mark.parametrize(
    "prompt",
    [
        "continue", "继续", "yes please", "好的，就这样", "run the tests again", "再跑一遍测试", "fix the bug",
        "What is the capital of France?", "法国的首都是哪里", "write a haiku about autumn", "帮我写一个快速排序",
        "how do I centre a div in CSS?", "git rebase 和 merge 有什么区别", "rename `nextRun` to `nextExecution`",
        "SELECT name FROM users WHERE age > 30", "🎉🎉🎉", "E0308 mismatched types", "explain getUserById",
    ],
)  # fmt: skip
def test_a_prompt_about_something_else_finds_nothing(harbour: Notebook, prompt: str) -> None:
    assert names(harbour, prompt) == []


def test_what_is_found_is_above_the_floor_in_order_and_says_where_it_is(harbour: Notebook) -> None:
    memories = found(harbour, "the crane lost its heartbeat, how often do we retry?")
    assert [memory.relevance for memory in memories] == sorted((m.relevance for m in memories), reverse=True)
    assert all(FLOOR <= memory.relevance <= 1 for memory in memories)
    first = memories[0].memory
    lines = (harbour.root / first.path).read_text("utf-8").split("\n")
    lines = lines[first.place.start_line - 1 : first.place.end_line]
    assert json.loads("\n".join(lines).rstrip(","))["id"] == "crane"
    assert (first.kind, first.project, first.category, first.date) == ("fact", "harbour", "code", "2026-01-10")


@pytest.mark.parametrize(
    "ended",
    [
        {"status": "superseded", "supersededBy": "new"},
        {"status": "archived"},
        {"expires": "2026-02-09"},
    ],
)
def test_what_has_ended_is_not_found(harbour: Notebook, ended: dict[str, str]) -> None:
    prompt = "when do we wash the fenders?"
    write_facts(harbour, HARBOUR, fact("fenders", "The fenders are washed every Monday."))
    assert names(harbour, prompt) == ["fenders"]
    write_facts(harbour, HARBOUR, fact("fenders", "The fenders are washed every Monday.", **ended))
    assert names(harbour, prompt) == []


def test_what_expires_today_is_found(harbour: Notebook) -> None:
    write_facts(harbour, HARBOUR, fact("fenders", "The fenders are washed every Monday.", expires="2026-02-10"))
    assert names(harbour, "when do we wash the fenders?") == ["fenders"]


@pytest.mark.parametrize("ref", ["archive/sessions/old.md", f"{HARBOUR}/knowledge/old.md"])
def test_an_archived_note_is_not_found(harbour: Notebook, ref: str) -> None:
    matter = "" if ref.startswith("archive/") else "---\nstatus: archived\n---\n\n"
    harbour.write(ref, f"{matter}# Fenders\n\nThe fenders are washed every Monday.\n")
    assert names(harbour, "when do we wash the fenders?") == []


def test_a_memory_of_another_project_counts_for_less(harbour: Notebook) -> None:
    text = "The fenders are washed with salt water."
    write_facts(harbour, HARBOUR, fact("here", text))
    write_facts(harbour, ORCHARD, fact("there", text.replace("salt", "warm")))
    prompt = "how are the fenders washed?"
    relevance = {each.memory.fact_id: each.relevance for each in found(harbour, prompt)}
    assert names(harbour, prompt)[0] == "here"
    assert names(harbour, prompt, "orchard")[0] == "there"
    assert relevance["here"] > relevance.get("there", 0.0)


def test_near_duplicates_come_once(harbour: Notebook) -> None:
    text = "The fenders of the inner basin are washed every Monday with salt water"
    write_facts(harbour, HARBOUR, fact("one", f"{text}."), fact("two", f"{text}!"))
    harbour.write(f"{HARBOUR}/knowledge/2026-01-09-fenders.md", f"# Fenders\n\n- {text}\n")
    assert len(names(harbour, "how are the fenders of the inner basin washed?")) == 1


def test_a_note_comes_once_however_many_of_its_passages_fit(harbour: Notebook) -> None:
    passages = "\n\n".join(f"## Part {number}\n\nFender {number} is washed on day {number}." for number in range(9))
    harbour.write(f"{HARBOUR}/knowledge/2026-01-09-fenders.md", f"# Fenders\n\n{passages}\n")
    assert names(harbour, "when are the fenders washed?") == ["2026-01-09-fenders"]


@pytest.mark.parametrize("ref", ["MEMORY.md", "CLAUDE.md", "rules/memory-loader.md"])
def test_what_every_session_is_given_anyway_is_not_found(harbour: Notebook, ref: str) -> None:
    harbour.write(ref, "# Fenders\n\nThe fenders are washed every Monday.\n")
    assert names(harbour, "when do we wash the fenders?") == []


@pytest.mark.parametrize(
    ("project", "prompt", "given"),
    [
        ("harbour", "Is traffic control for the basins paid by the tonnage of tankers? 灯塔归谁管", []),
        ("harbour", "Who repaints the lighthouse?", ["The lighthouse 灯塔 is repainted by Odette."]),
        ("orchard", "How does harbour do traffic control for its basins?", ["Traffic control for two basins 灯塔."]),
    ],
)
def test_what_a_project_is_is_news_only_to_another_one(
    harbour: Notebook, project: str, prompt: str, given: list[str]
) -> None:
    about = "Traffic control for two basins 灯塔."
    harbour.write(f"{HARBOUR}/summary.md", f"# harbour\n\n{about}\n\n- The lighthouse 灯塔 is repainted by Odette.\n")
    memories = [each.memory for each in found(harbour, prompt, project)]
    memories = [memory for memory in memories if memory.path.endswith("harbour/summary.md")]
    assert [memory.text for memory in memories] == given


def test_an_empty_vault_and_an_empty_question_find_nothing(tmp_path: Path, harbour: Notebook) -> None:
    assert found(Notebook(tmp_path.resolve() / "empty"), "when do we wash the fenders?") == []
    assert found(harbour, "") == found(harbour, "???") == []


def test_a_fact_as_long_as_a_book_is_no_memory(harbour: Notebook) -> None:
    write_facts(
        harbour,
        HARBOUR,
        fact("book", f"The zeppelin docks. {'word ' * 5_000}"),
        fact("gate", "Zeppelins dock at gate 7."),
    )
    assert names(harbour, "where does the zeppelin dock?") == ["gate"]


BUOYS = "The outer buoys are green, 内港的浮标是红色的, and all of them are painted in May."


def test_what_is_unlikely_alike_or_pale_beside_the_best_says_so() -> None:
    def memory(name: str, relevance: float, text: str = "") -> Recalled:
        path = f"{name}.md"
        return Recalled(Memory(path, text or name, "note", Location(path, 1, 1), name), relevance)

    found = _distinct([
        memory("below", 0.1), memory("浮标", 0.4, BUOYS), memory("pale", 0.195),
        memory("near", 0.39, BUOYS.upper()), memory("浮标", 0.3, BUOYS),
    ])  # fmt: skip
    assert [(hit.memory.title, hit.relevance, hit.left_out) for hit in found] == [
        ("浮标", 0.4, ""), ("near", 0.39, ALIKE), ("pale", 0.195, PALE), ("below", 0.1, BELOW_FLOOR),
    ]  # fmt: skip


@pytest.fixture
def two_projects(tmp_path: Path) -> Notebook:
    """A vault with a project of three notes, another of one, and a note that belongs to none."""
    notebook = Notebook(tmp_path.resolve() / "vault")
    for name, text in (("a", "The zeppelin docks."), ("b", "A zeppelin 飞艇."), ("c", "Postgresql 16.")):
        notebook.write(f"areas/projects/two_projects/knowledge/{name}.md", f"# {name}\n\n{text}\n")
    notebook.write("areas/projects/orchard/knowledge/d.md", "# d\n\nA zeppelin over the apples.\n")
    notebook.write("areas/global/knowledge/e.md", "# e\n\nRoll it back, 回滚.\n")
    return notebook


@pytest.mark.parametrize("most", [3, 4000])
def test_what_belongs_to_another_project_is_found_only_where_that_is_named(
    two_projects: Notebook, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(limits, "LARGEST_SCOPE", most)

    def refs(prompt: str, project: str = "two_projects") -> set[str]:
        memories = two_projects.use(lambda index: find(index.db, question_of(prompt), project, TODAY)).memories
        return {Path(each.memory.path).stem for each in memories}

    assert refs("Where does the zeppelin fly over the apples?") == {"a", "b"}
    assert refs("Where does the zeppelin fly in orchard, over the apples?") == {"a", "b", "d"}
    assert refs("Where does the zeppelin fly? <pasted_content>orchard</pasted_content>") == {"a", "b"}
    assert refs("how to roll back, 回滚?") == {"e"}


def test_what_too_many_chunks_hold_finds_none_of_them(two_projects: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CHUNKS", 2)
    assert names(two_projects, "a zeppelin", "two_projects") == []
    assert names(two_projects, "a zeppelin near postgresql", "two_projects") == ["c"]


COMMITS = "Commit messages are in English, imperative, with the reason in the body."


@pytest.mark.parametrize("prompt", ["commit it", "now commit this please", "提交一下代码"])
def test_what_is_to_be_minded_whenever_something_is_done_is_found_when_it_is(harbour: Notebook, prompt: str) -> None:
    write_facts(
        harbour,
        "areas/global",
        fact("commits", COMMITS, category="preference"),
        fact("hook", "The commit hook failed in March because of a full disk.", category="bug"),
        fact("main", "Nobody merges on Fridays; a commit on a branch may wait.", category="preference"),
    )
    assert names(harbour, prompt) == ["commits"]


def test_an_act_of_which_nothing_is_to_be_minded_finds_nothing(harbour: Notebook) -> None:
    write_facts(harbour, "areas/global", fact("commits", COMMITS, category="preference"))
    assert names(harbour, "push it") == []
    assert names(harbour, "now make it nicer") == []
