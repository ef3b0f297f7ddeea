"""The labelled recall set, and how it is measured."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from benchmarks.recall import __main__ as program
from benchmarks.recall.labelled import (
    FRESH,
    PARTS,
    BadSet,
    Conversation,
    Prompt,
    parse_areas,
    parse_conversations,
    read_areas,
    read_conversations,
)
from benchmarks.recall.measures import WINDOW, measure
from benchmarks.recall.sessions import Hook, HookFailed, Turn, hold
from benchmarks.recall.vaults import Shelf, write_vault
from memtool.capture.log import ERROR, LogEntry, log

AREAS = """# projects/茶馆
A tea house.

- t-01 · decision · 12d · 白毫银针用八十度的水。
- t-02 · bug · 3d · The kettle stops at 79 °C.

## t-n1 · knowledge · 30d · Why the kettle stops
Its sensor sits in the lid.

It reads low.

## t-s1 · session · 2d · 换壶
- 新壶下周到

# global

- g-01 · preference · 90d · Answers are short.
"""
TALK = """# kettle · 茶馆 · mixed
- 水温多少?
  + t-01 t-02
- why?
    it says 79
  + t-n1
  > t-01
  ~ t-02
- draw me a kettle
  =
- thanks
"""
TODAY = date(2026, 2, 10)


def turn(*given: str, relevant: str = "", implied: str = "", tolerated: str = "", tokens: int | None = None) -> Turn:
    named, hinted, allowed = (frozenset(ids.split()) for ids in (relevant, implied, tolerated))
    prompt = Prompt("?", named, hinted, allowed)
    return Turn(prompt, given, len(given) if tokens is None else tokens)


def test_memories_are_read_as_they_are_written() -> None:
    house, everywhere = parse_areas(AREAS)
    assert (house.name, house.about) == ("projects/茶馆", "A tea house.")
    assert [(memory.id, memory.kind, memory.days) for memory in house.memories] == [
        ("t-01", "fact", 12), ("t-02", "fact", 3), ("t-n1", "knowledge", 30), ("t-s1", "session", 2),
    ]  # fmt: skip
    assert house.memories[2].text == "Its sensor sits in the lid.\nIt reads low.\n"
    assert [memory.category for memory in everywhere.memories] == ["preference"]


def test_conversations_are_read_as_they_are_written() -> None:
    [talk] = parse_conversations(TALK)
    assert (talk.name, talk.project, talk.language) == ("kettle", "茶馆", "mixed")
    assert [prompt.text for prompt in talk.prompts] == ["水温多少?", "why?\n  it says 79", "draw me a kettle", "thanks"]
    assert list(map(set, talk.prompts[1][1:4])) == [{"t-n1"}, {"t-01"}, {"t-02"}]
    assert talk.prompts[1].relevant == {"t-n1", "t-01"}
    assert [prompt.is_near for prompt in talk.prompts] == [False, False, True, False]
    assert [prompt.is_unrelated for prompt in talk.prompts] == [False, False, False, True]


@pytest.mark.parametrize(
    "text",
    ["- a · b", "# a\n- t-01 decision 3d text", "# a\n## t · poem · 3d · Title", "# a\n- t · bug · 3d · x\nmore"],
)
def test_a_memory_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadSet):
        parse_areas(text)


@pytest.mark.parametrize("text", ["# a\n- hello", "- hello", "# a · b · c\n  + t-01"])
def test_a_conversation_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadSet):
        parse_conversations(text)


def test_a_label_without_a_memory_and_a_name_given_twice_are_refused(tmp_path: Path) -> None:
    (tmp_path / "development.md").write_text(TALK, encoding="utf-8")
    with pytest.raises(BadSet, match="t-n1"):
        read_conversations("development", ["t-01", "t-02"], tmp_path)
    (tmp_path / "development.md").write_text(TALK + TALK, encoding="utf-8")
    with pytest.raises(BadSet, match="'kettle' is there twice"):
        read_conversations("development", ["t-01", "t-02", "t-n1"], tmp_path)


@pytest.fixture(scope="module")
def memories() -> list[str]:
    return [memory.id for area in read_areas() for memory in area.memories]


@pytest.mark.parametrize("part", PARTS)
def test_each_part_has_unrelated_prompts_and_every_language(part: str, memories: list[str]) -> None:
    talks = read_conversations(part, memories)
    prompts = [prompt for talk in talks for prompt in talk.prompts]
    assert len(talks) >= (12 if part == FRESH else 20)
    assert {talk.language for talk in talks} >= {"en", "zh", "mixed"}
    assert sum(prompt.is_unrelated for prompt in prompts) >= (0.2 if part == FRESH else 0.35) * len(prompts)
    assert all(3 <= len(talk.prompts) <= 8 for talk in talks)


def test_no_prompt_is_in_two_parts(memories: list[str]) -> None:
    texts = [
        p.text for part in PARTS for talk in read_conversations(part, memories) for p in talk.prompts if p.relevant
    ]
    assert [text for text, count in Counter(texts).items() if count > 1] == []


def test_every_memory_is_known_by_the_place_where_it_stands(tmp_path: Path) -> None:
    places = write_vault(tmp_path / "vault", parse_areas(AREAS), TODAY)
    assert places["t-n1"] == "areas/projects/茶馆/knowledge/2026-01-11-t-n1.md"
    shelf = Shelf(places)
    for memory_id, place in places.items():
        ref, _, line = place.partition(":")
        held = (tmp_path / "vault" / ref).read_text(encoding="utf-8").splitlines()
        assert held[int(line) - 1].strip() == "{" if line else held
        assert shelf.given(f"- see README.md · bug ({place}-99)") == [memory_id]
        assert shelf.given(f"- 「某事」{ref}:{int(line or 1) + 1}") == [memory_id]


def test_a_prompt_is_served_by_one_of_its_memories() -> None:
    measured = measure([[turn("a", relevant="a b"), turn("c", relevant="d"), turn(relevant="e")]])
    assert measured["served"] == pytest.approx(1 / 3)
    assert measured["found"] == pytest.approx(1 / 4)
    assert measured["relevant_lines"] == pytest.approx(1 / 2)


def test_prompts_count_apart_that_name_their_memory_and_those_about_the_project_without_one() -> None:
    near = turn("x")._replace(prompt=Prompt("?", is_near=True))
    measured = measure([[turn("a", relevant="a"), turn(implied="b"), near, turn()]])
    assert measured["served"] == pytest.approx(1 / 2)
    assert measured["served_named"] == 1
    assert (measured["disturbed"], measured["disturbed_near"]) == (0, 1)


def test_what_was_given_within_five_turns_is_not_owed_again_and_repeats_when_given() -> None:
    silent = [turn() for _ in range(WINDOW - 1)]
    again = measure([[turn("a", relevant="a"), *silent, turn("a", relevant="a")]])
    assert (again["served"], again["repeats"]) == (1, 1)
    later = measure([[turn("a", relevant="a"), *silent, turn(), turn(relevant="a")]])
    assert later["served"] == pytest.approx(1 / 2)
    assert later["repeats"] == 0
    assert measure([[turn("a", "a", relevant="a")]])["repeats"] == 1
    assert measure([[turn("a", relevant="a")], [turn("a", relevant="a")]])["repeats"] == 0  # another session


def test_a_control_is_disturbed_by_any_text_and_a_tolerated_memory_is_no_fault() -> None:
    measured = measure([[turn(tokens=3), turn(), turn("a", tolerated="a"), turn(tolerated="a")]])
    assert measured["disturbed"] == pytest.approx(1 / 2)
    assert measured["relevant_lines"] == 1
    assert measured["served"] is None


class Oracle:
    """Gives every relevant memory once, and nothing else."""

    late = 0
    helper = contextlib.nullcontext

    def __init__(self, folder: Path, vault: Path, *_: Path | str | None) -> None:
        areas = read_areas()
        [note] = vault.rglob("*-gl-n1.md")
        [age] = (memory.days for area in areas for memory in area.memories if memory.id == "gl-n1")
        written_on = date.fromisoformat(note.name[:10]) + timedelta(days=age)
        self._places = write_vault(folder / "again", areas, written_on)
        self._labels = {
            (talk.name, prompt.text): prompt.relevant
            for part in PARTS
            for talk in read_conversations(part, self._places)
            for prompt in talk.prompts
        }
        self._told: set[tuple[str, str]] = set()

    def ask(self, conversation: Conversation, prompt: str) -> str:
        new = {(conversation.name, name) for name in self._labels[conversation.name, prompt]} - self._told
        self._told |= new
        return "\n".join(f"- {self._places[name]}" for _, name in sorted(new))

    def check(self) -> None:
        return


class Silent:
    late = 0
    helper = contextlib.nullcontext

    def __init__(self, *_: Path | str | None) -> None:
        return

    def ask(self, *_: object) -> str:
        return ""

    def check(self) -> None:
        return


class Broken(Silent):
    def check(self) -> None:
        raise HookFailed("2 errors in the hook's log")


@pytest.mark.slow
@pytest.mark.parametrize(("hook", "code"), [(Oracle, 0), (Silent, 1), (Broken, 1)])
def test_the_exit_code_says_whether_the_plain_part_reaches_its_goals(
    hook: type, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "Hook", hook)
    assert program.main([]) == code
    told = capsys.readouterr()
    assert ("| what | plain | development | held-out | fresh | goal |" in told.out) is (hook is not Broken)


@pytest.mark.slow
def test_faults_of_the_held_out_part_stay_unseen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "Hook", Silent)
    program.main(["--faults", "--part", "held_out"])
    assert capsys.readouterr().err == ""
    program.main(["--faults", "--part", "development"])
    assert "missed lj-07: " in capsys.readouterr().err


@pytest.fixture
def hook(tmp_path: Path) -> Callable[[], Hook]:
    write_vault(tmp_path / "vault", parse_areas(AREAS), TODAY)
    return lambda: Hook(tmp_path, tmp_path / "vault")


@pytest.mark.slow
def test_the_hook_itself_is_asked_and_its_errors_are_not_taken_for_silence(
    hook: Callable[[], Hook], tmp_path: Path
) -> None:
    asked = hook()
    [talk] = parse_conversations(TALK)
    turns = hold(talk, asked.ask, Shelf({}))
    assert [turn.prompt for turn in turns] == list(talk.prompts)
    asked.check()
    log([tmp_path / "vault" / ".memtool"], LogEntry("2026-02-10T14:30:00+08:00", ERROR, "UserPromptSubmit", "it broke"))
    with pytest.raises(HookFailed, match="it broke"):
        asked.check()
