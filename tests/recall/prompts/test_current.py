"""What an index that is older than its files has found, and what is left of it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from index.notebook import TODAY, Notebook

from memtool.index.files import FileEngine
from memtool.recall.answers.question import question_of
from memtool.recall.prompts.current import current_note, still_said
from memtool.recall.prompts.finding import Recalled, find
from memtool.settings.sections import IndexSettings
from memtool.vault.files import read_head
from memtool.vault.layout import Vault
from memtool.vault.memory import Location, Memory
from memtool.vault.scan import Outside
from memtool.workspace import Workspace

FACTS = "areas/projects/harbour/facts.json"
NOTE = "areas/projects/harbour/knowledge/2026-01-07-buoys.md"
TODOS = "areas/projects/harbour/todos.md"
TIDE, CRANE = "When do ships wait for the flood tide?", "吊机的心跳超时是多少？"
BUOYS = "which colour do the outer buoys have?"


def fact(fact_id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": fact_id, "fact": text, "evidence": "e", "timestamp": "2026-01-10", "status": "active", **more}


TIDE_FACT = fact("tide", "Ships wait for the flood tide above 90 metres.")
CRANE_FACT = fact("吊机", "吊机的心跳超时是二百毫秒。")
BODY = "# Buoys\n\nThe outer buoys have a green colour.\n\n- 内港的浮标是红色的\n"


def work_on(vault: Vault, claude_projects: Path | None = None) -> Workspace:
    known = IndexSettings(client_memory="yes" if claude_projects else "no")
    desk = Desk(vault, index=known)
    return desk.work.of_client(claude_projects.parent) if claude_projects else desk.work


class Harbour(Notebook):
    """A vault that was indexed once, and has been changed since."""

    def facts(self, *facts: object) -> None:
        self.write(FACTS, json.dumps({"facts": facts}, ensure_ascii=False, indent=1))

    def told(self, prompt: str, session_id: str = "s9", claude_projects: Path | None = None) -> list[Recalled]:
        """Return what the index as it is finds for *prompt*, as it stands now."""
        vault = self.place.vault
        with FileEngine(self.place.folder).current() as db:
            hits = [hit for hit in find(db, question_of(prompt), "harbour", TODAY).memories if not hit.left_out]
            return still_said(hits, db, work_on(vault, claude_projects), session_id)


@pytest.fixture
def harbour(tmp_path: Path) -> Harbour:
    """Two facts and a note, as they were indexed."""
    harbour = Harbour(tmp_path.resolve() / "vault", outside=Outside(tmp_path.resolve() / "projects"))
    harbour.facts(TIDE_FACT, CRANE_FACT)
    harbour.write(NOTE, BODY)
    harbour.opened()
    return harbour


def said(memories: list[Recalled]) -> list[tuple[str, int, int]]:
    return [(hit.memory.text, hit.memory.place.start_line, hit.memory.place.end_line) for hit in memories]


def test_what_has_not_changed_is_given_as_it_was_found(harbour: Harbour) -> None:
    assert said(harbour.told(TIDE)) == [(TIDE_FACT["fact"], 3, 9)]
    assert said(harbour.told(CRANE)) == [(CRANE_FACT["fact"], 10, 16)]
    assert said(harbour.told(BUOYS)) == [("The outer buoys have a green colour.", 3, 3)]


# Facts


@pytest.mark.parametrize(
    "now",
    [
        {"status": "archived"},
        {"status": "superseded", "supersededBy": "x"},
        {"status": ["active"]},
        {"expires": "2026-02-09"},
        {"id": "another"},
        {"id": ["tide"]},
        {"fact": None},
    ],
)
def test_a_fact_that_holds_no_longer_is_not_given(harbour: Harbour, now: dict[str, Any]) -> None:
    harbour.facts(TIDE_FACT | now, CRANE_FACT)
    assert harbour.told(TIDE) == []
    assert said(harbour.told(CRANE)) != []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"facts": 3}', '{"facts": [null, 3, "tide"]}', "[" * 100_000, "\ufeff"]
)
def test_a_fact_that_cannot_be_read_any_more_is_not_given(harbour: Harbour, text: str) -> None:
    harbour.write(FACTS, text)
    assert harbour.told(TIDE) == []


def test_a_note_that_two_texts_stand_in_since_is_not_given(harbour: Harbour) -> None:
    said_now = "<<<<<<< one text\nThe outer buoys have a green colour.\n=======\n外港的浮标\n>>>>>>> the other text\n"
    harbour.write(NOTE, f"# Buoys\n\n{said_now}")
    assert harbour.told(BUOYS) == []


def test_a_fact_is_said_as_it_is_worded_now_and_where_it_stands(harbour: Harbour) -> None:
    harbour.facts(fact("new", "大潮时不引航。"), CRANE_FACT | {"fact": "吊机的心跳超时是三百毫秒。"}, TIDE_FACT)
    assert said(harbour.told(CRANE)) == [("吊机的心跳超时是三百毫秒。", 10, 16)]
    assert said(harbour.told(TIDE)) == [(TIDE_FACT["fact"], 17, 23)]


def test_what_expires_today_holds_and_so_does_a_fact_without_a_status(harbour: Harbour) -> None:
    bare = {name: value for name, value in TIDE_FACT.items() if name != "status"}
    harbour.facts(bare | {"expires": TODAY.isoformat()})
    assert len(harbour.told(TIDE)) == 1


def test_a_fact_without_an_id_is_known_by_its_words(harbour: Harbour) -> None:
    nameless = TIDE_FACT | {"id": ""}
    harbour.facts(nameless)
    harbour.opened()
    harbour.facts(CRANE_FACT, nameless)
    assert said(harbour.told(TIDE)) == [(TIDE_FACT["fact"], 10, 16)]
    harbour.facts(CRANE_FACT, nameless | {"status": "archived"})
    assert harbour.told(TIDE) == []


# Notes


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_passage_that_has_moved_is_given_with_its_lines(harbour: Harbour, newline: str) -> None:
    moved = "---\ntags: [a]\n---\n\n# Buoys\n\nNew.\n\nThe outer buoys have\na green colour.\n\n- 内港的浮标是红色的\n"
    harbour.write(NOTE, moved.replace("\n", newline))
    assert [hit[1:] for hit in said(harbour.told(BUOYS))] == [(9, 10)]
    assert [hit[1:] for hit in said(harbour.told("内港的浮标是什么颜色？"))] == [(12, 12)]


def test_a_passage_below_another_title_is_given_without_the_old_one(harbour: Harbour) -> None:
    harbour.write(NOTE, BODY.replace("# Buoys", "# 航标"))
    assert [(hit.memory.title, hit.memory.text) for hit in harbour.told(BUOYS)] == [
        ("", "The outer buoys have a green colour.")
    ]


@pytest.mark.parametrize(
    "now",
    [
        BODY.replace("green", "white"),
        f"---\nstatus: archived\n---\n{BODY}",
        f"---\nstatus: 'Superseded' # by the pilots\n---\n{BODY}",
        f"---\nstatus: active\nstatus: archived\n---\n{BODY}",
        f"---\nexpires: 2026-02-09\n---\n{BODY}",
        "",
    ],
)
def test_a_passage_that_is_gone_or_ended_is_not_given(harbour: Harbour, now: str) -> None:
    harbour.write(NOTE, now)
    assert harbour.told(BUOYS) == []


def test_an_item_that_was_done_since_is_not_given(harbour: Harbour) -> None:
    harbour.write(TODOS, "# Open\n\n- [ ] 给外港的浮标换电池\n- [ ] Repair the foghorn\n")
    harbour.opened()
    harbour.write(TODOS, "# Open\n\n- [x] Repair the foghorn\n- [x] 给外港的浮标换电池\n- [ ] 给外港的浮标换电池\n")
    assert harbour.told("repair the foghorn") == []
    assert said(harbour.told("外港的浮标什么时候换电池")) == [("给外港的浮标换电池", 5, 5)]


def test_what_was_found_by_its_title_is_given_while_it_bears_it(harbour: Harbour) -> None:
    ref = NOTE.replace("buoys", "fog")
    harbour.write(ref, "# Pilotage in dense fog\n\nNobody enters.\n")
    harbour.opened()
    harbour.write(ref, "# Pilotage in dense fog\n\nEverybody waits.\n")
    assert [(hit.memory.title, hit.memory.text, hit.summary) for hit in harbour.told("pilotage in dense fog")] == [
        ("Pilotage in dense fog", "", "Everybody waits.")
    ]
    harbour.write(ref, "# Pilotage in snow\n\nEverybody waits.\n")
    assert harbour.told("pilotage in dense fog") == []


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# 大雾天的引航\n\n全部停航。等待通知。\n", "全部停航。等待通知。"),
        ("---\nsummary: 'Nobody enters'\n---\n# 大雾天的引航\n\nx\n", "Nobody enters"),
        ("---\nsummary: >-\n  Nobody\n  enters\ntags: [a]\n---\n# 大雾天的引航\n", "Nobody enters"),
        ("---\ndescription: 全部停航\n---\n# 大雾天的引航\n", "全部停航"),
        ("# 大雾天的引航\n\n- [x] done\n- stay at anchor\n", "[x] done"),
        ("# 大雾天的引航\n", ""),
    ],
)
def test_a_note_that_is_found_by_its_title_says_its_summary_or_how_it_begins(
    harbour: Harbour, text: str, summary: str
) -> None:
    title = Recalled(Memory(NOTE, "", "knowledge", Location(NOTE, 1, 1), "大雾天的引航"))
    harbour.write(NOTE, text)
    with FileEngine(harbour.place.folder).current() as db:
        (hit,) = still_said([title], db, work_on(harbour.place.vault), "")
    assert hit.summary == summary


# Files


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
@pytest.mark.parametrize("kind", ["gone", "folder", "pipe", "elsewhere"])
def test_of_what_is_no_file_of_the_vault_nothing_is_given(harbour: Harbour, kind: str) -> None:
    for ref in (FACTS, NOTE):
        path = harbour.root / ref
        moved = path.rename(harbour.root.parent / path.name)
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "elsewhere":
            path.symlink_to(moved)
    assert [harbour.told(prompt) for prompt in (TIDE, CRANE, BUOYS)] == [[], [], []]


def test_each_file_is_read_once(harbour: Harbour, monkeypatch: pytest.MonkeyPatch) -> None:
    harbour.facts(
        *(fact(f"f{number}", f"Ships wait for flood tide {number} {'xyz'[number] * 40}") for number in range(3))
    )
    harbour.opened()
    read: list[str] = []

    def watched(path: Path, most: int) -> bytes:
        read.append(path.name)
        return read_head(path, most)

    monkeypatch.setattr("memtool.recall.prompts.current.read_head", watched)
    assert len(harbour.told(TIDE)) == 3
    assert read == ["facts.json"]


def test_of_changed_files_no_more_is_looked_through_than_a_prompt_has_time_for(
    harbour: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    harbour.write(NOTE, f"{BODY}\n港口\n")
    monkeypatch.setattr("memtool.recall.limits.LARGEST_CHANGED", len(BODY.encode()))
    assert harbour.told(BUOYS) == []
    assert len(harbour.told(TIDE)) == 1


def test_the_clients_memory_is_left_out_where_it_is_not_to_be_read(harbour: Harbour) -> None:
    projects = harbour.root.parent / "projects"
    path = projects / "-home-harbour" / "memory" / "radio.md"
    path.parent.mkdir(parents=True)
    path.write_text("The harbour radio speaks on channel 12.\n", encoding="utf-8")
    harbour.opened()
    prompt = "on which channel does the harbour radio speak?"
    assert [hit.memory.path for hit in harbour.told(prompt, claude_projects=projects)] == [path.as_posix()]
    assert harbour.told(prompt) == []
    assert harbour.told(prompt, claude_projects=harbour.root.parent / "others" / "projects") == []


# The session's own


def test_what_the_session_wrote_itself_is_no_news_to_it(harbour: Harbour) -> None:
    harbour.facts(TIDE_FACT | {"source": "s1"}, CRANE_FACT)
    harbour.write(NOTE, f"---\nsources: [s2]\n---\n{BODY}")
    lines = "".join(f"- a line about dredging, number {number}\n" for number in range(200))
    harbour.write("daily/2026-02-10.md", f"{lines}- 港口主任周五休假（会话 s4）\n")
    harbour.opened()
    prompts = {"s1": TIDE, "s2": BUOYS, "s4": "港口主任什么时候休假？"}
    for session_id, prompt in prompts.items():
        assert harbour.told(prompt, session_id) == []
        assert len(harbour.told(prompt)) == 1
    assert len(harbour.told(CRANE, "s1")) == 1


def test_a_note_of_a_session_is_read_as_it_is_unless_it_is_its_own_or_ended(harbour: Harbour) -> None:
    ref, text = "sessions/s3.md", "# 灯塔\n\n## Rules\n- “the keeper's salary is paid in gold”\n"
    work = work_on(harbour.place.vault)
    assert current_note(ref, work, "s9") == ""
    harbour.write(ref, f"---\ntype: session\nsession: s3\n---\n\n{text}")
    assert current_note(ref, work, "s9").endswith(text)
    assert current_note(ref, work, "s3") == ""
    harbour.write(ref, f"---\ntype: session\nstatus: archived\n---\n\n{text}")
    assert current_note(ref, work, "s9") == ""


@pytest.mark.parametrize("changed", [False, True])
def test_a_fact_that_is_to_be_looked_at_again_says_so(harbour: Harbour, changed: bool) -> None:
    marked = fact("tide", TIDE_FACT["fact"], review='tides.toml has "changed" since')
    harbour.facts(marked, CRANE_FACT)
    harbour.opened()
    if changed:
        harbour.facts(fact("first", "Something else of the harbour."), marked, CRANE_FACT)
    assert [memory.review for memory in harbour.told(TIDE)] == ['tides.toml has "changed" since']
    assert [memory.review for memory in harbour.told(CRANE)] == [""]


def test_the_mark_of_another_fact_on_the_same_line_is_not_taken(harbour: Harbour) -> None:
    marked = fact("crane", "吊机的臂长是四十米。", review="crane.toml has changed since")
    harbour.write(FACTS, json.dumps({"facts": [TIDE_FACT, marked]}, ensure_ascii=False))
    harbour.opened()
    assert [memory.review for memory in harbour.told(TIDE)] == [""]
