"""The note without a model: title, what was asked, what came of it, what is open, commands and files."""

from __future__ import annotations

import pytest
from capture.talk import TALKS, note_of
from hypothesis import given, strategies as st

from memtool.capture.outcomes import outcomes_in
from memtool.capture.rules_note import leaves_note, write_by_rules
from memtool.capture.turns import AgentPlan, FileEdit, Run, Turn
from memtool.text.lines import width
from memtool.vault.sessions import Draft, SessionNote, lines_of, parse_session, render_session

EDIT = (FileEdit("/src/shop/carts/expire.py", 12, 3),)
NIGHTLY = "Expired carts are deleted by `carts/expire.py` in a nightly job."
LONG = "This sentence of the agent names `carts/expire.py` and goes on " + "and on " * 40 + "to its end."
ASKED = "How do we get rid of the carts that nobody paid for?"


def lines(draft: Draft, role: str) -> list[str]:
    return [line.text for line in draft.lines if line.role == role]


def worked(typed: str, *messages: str, **more: object) -> Turn:
    """Return a turn with an edit."""
    return Turn(typed=typed, messages=messages, edits=EDIT)._replace(**more)  # type: ignore[arg-type]


def test_the_title_names_what_came_of_it() -> None:
    turns = [Turn(typed=ASKED, messages=("Two ways: a trigger or a job.",)), worked("A nightly job, please.", NIGHTLY)]
    draft = write_by_rules(turns)
    assert draft.title == "Expired carts are deleted by carts/expire.py in a nightly job"
    assert draft.asked == ASKED


def test_a_remark_on_the_way_is_no_title() -> None:
    turns = [
        worked("Delete the carts that nobody paid for.", "Done for all carts."),
        worked("注释改一下", "Both comments of `cart.py` are in Chinese now."),
        worked("@cart.py @expire.py 再看一下日志", "1. `a.log` has 3 lines.\n2. `b.log` has 4 lines."),
    ]
    assert write_by_rules(turns).title == "Delete the carts that nobody paid for"


def test_a_chinese_session_has_a_chinese_title() -> None:
    draft = write_by_rules(
        [worked("过期的购物车怎么清理？每晚跑一个任务。", "每晚的清理任务已经加到 `carts/expire.py`。")], language="zh"
    )
    assert draft.title == "每晚的清理任务已经加到 carts/expire.py"


@pytest.mark.parametrize(
    ("said", "commit"),
    [(LONG, "Delete expired carts each night"), ("Committed.", "Delete expired carts each night")],
)
def test_a_commit_names_the_session(said: str, commit: str) -> None:
    turn = worked(ASKED, said, runs=(Run(f'git commit -m "{commit}"'),))
    assert write_by_rules([turn]).title == commit


@pytest.mark.parametrize(
    ("typed", "said", "title"),
    [
        (
            "The carts are slow, can you look?",
            "I've moved the carts of the shop to a table of their own so that the list of orders is fast again.",
            "expire.py: Moved the carts of the shop to a table of their own",
        ),
        ("Fix the slow carts, please", "Done.", "expire.py: Fix the slow carts, please"),
        (
            "购物车列表太慢了，帮我看看",
            "购物车已移到独立的表，列表查询只需要 20 毫秒，其余接口保持不变，不需要改动前端。",
            "购物车已移到独立的表，列表查询只需要 20 毫秒，其余接口保持不变",
        ),
    ],
)
def test_a_title_ends_at_a_clause_and_names_the_file(typed: str, said: str, title: str) -> None:
    assert write_by_rules([worked(typed, said)]).title == title


SECTIONS = "## The problem\n\nThe carts are locked twice in `cart.py`.\n\n## The fix\n\n`cart.py` takes one lock now."
HEADS = "All three jobs are still there:\n\n" + "\n".join(f"- Job {n} - it {'deletes and ' * 20}" for n in "123")


@pytest.mark.parametrize(
    ("said", "done"),
    [
        (SECTIONS, ["cart.py takes one lock now."]),
        (HEADS, ["All three jobs are still there: Job 1; Job 2; Job 3"]),
        ("All tests pass. 购物车的锁在 `cart.py` 里只取一次。", ["购物车的锁在 cart.py 里只取一次。"]),
        ("Step 2: Start a new session of `shop`. The key of `cart.py` is new.", ["The key of cart.py is new."]),
    ],
)
def test_what_was_done_is_told_whole_and_without_talk(said: str, done: list[str]) -> None:
    commit = Run('git commit -m "Simplify the carts of the shop"')
    typed = "Look at the locks of the carts."
    turns = [worked(typed, said, runs=(commit,)), Turn("Which mail is sent?", messages=(NIGHTLY,))]
    draft = write_by_rules(turns)
    assert lines(draft, "") == done
    assert lines(draft, "finding") == [NIGHTLY.replace("`", "")]


def test_a_turn_that_was_stopped_tells_nothing() -> None:
    turns = [worked(ASKED, "The trigger of `cart.py` is in place."), worked("No trigger.", NIGHTLY, refused=True)]
    assert "trigger is" not in " ".join(line.text for line in write_by_rules(turns).lines)


def test_a_session_that_ends_with_a_plan_is_planned() -> None:
    turn = Turn(typed=ASKED, messages=("Here it is.",), plans=(AgentPlan("# Delete old carts", "turned down"),))
    assert write_by_rules([turn]).title == "Planned: Delete old carts"
    assert write_by_rules([turn], language="zh").title == "计划：Delete old carts"


def test_the_title_of_a_talk_is_what_the_answer_says() -> None:
    talk = Turn("Which of the two queues of the shop is the slow one?", messages=("The queue of the mails is slow.",))
    assert write_by_rules([talk]).title == "The queue of the mails is slow"


@given(st.lists(st.builds(worked, st.text(), st.text())))
def test_any_session_has_a_note_that_is_read_back(turns: list[Turn]) -> None:
    draft = write_by_rules(turns, branch="carts")
    assert width(draft.title) <= 70
    assert not set("→·\n") & set(draft.title)
    note = parse_session(render_session(SessionNote(id="1f0e", draft=draft)))
    assert [line.text for line in note.draft.lines if line.role != "asked"] == [line.text for line in draft.lines]


def test_what_came_of_a_turn_is_whole_sentences_under_its_prompt() -> None:
    draft = write_by_rules(
        [worked(ASKED, f"{LONG} {NIGHTLY} It passes for all carts of the shop, even those of the last year.")]
    )
    done = [line for line in draft.lines if not line.role]
    assert {line.asked for line in done} == {ASKED}
    assert lines(draft, "") == [
        "It passes for all carts of the shop, even those of the last year."
    ]  # the title says the other


def test_items_of_one_list_are_one_line() -> None:
    first, second = "`expire.py`: deletes what is old, each night at two", "`cart.py`: keeps the day of the last visit"
    said = f"Changed files:\n\n- {first}, as the shop asked for\n- {second} of each cart, in UTC, without its time"
    draft = write_by_rules([worked("Delete the old carts.", said)])
    (line,) = lines(draft, "")
    assert line.startswith("Changed files: expire.py: deletes")
    assert "; cart.py: keeps" in line


@pytest.mark.parametrize(
    "correction",
    [
        (Turn(typed="the ids have no date", messages=("You're right, the ids are plain UUIDs.",)),),
        (Turn(typed="ok"), Turn(typed="编号里没有日期", messages=("You're right, the ids are plain UUIDs.",))),
    ],
)
def test_what_the_agent_takes_back_is_not_told(correction: tuple[Turn, ...]) -> None:
    turns = [
        worked("Why do the ids fail?", "The ids of `carts` begin with a date, as in 2026-01-05-uuid."),
        *correction,
    ]
    assert not any("2026-01-05" in line.text for line in write_by_rules(turns).lines)


def test_a_proposal_that_was_not_taken_up_is_not_told() -> None:
    proposal = "I suggest to make the clock of `carts/expire.py` injectable for the tests."
    turns = [Turn(typed=ASKED, messages=(proposal,)), worked("Which cart is the oldest of all?", NIGHTLY)]
    assert "clock" not in " ".join(line.text for line in write_by_rules(turns).lines)
    assert any("clock" in line for line in lines(write_by_rules(turns[:1]), "finding"))


@pytest.mark.parametrize(
    ("turn", "stands"),
    [
        (Turn(typed=ASKED, messages=("Let me look at the carts.",)), f"not answered: {ASKED}"),
        (Turn(typed=ASKED, plans=(AgentPlan("# Delete old carts\n\nEach night.", "turned down"),)),
         "plan not approved, nothing of it was done: Delete old carts"),
        (Turn(typed=ASKED, messages=(f"{NIGHTLY} Should I delete the drafts, too?",)),
         "asked at the end: Should I delete the drafts, too?"),
    ],
)  # fmt: skip
def test_open_ends(turn: Turn, stands: str) -> None:
    assert lines(write_by_rules([turn]), "open") == [stands]


def test_a_last_prompt_without_an_answer_is_open_unless_only_prompts_are_left() -> None:
    turns = [worked("过期的购物车怎么清理？", NIGHTLY), Turn(typed=ASKED)]
    assert lines(write_by_rules(turns), "open") == [f"not answered: {ASKED}"]


def test_a_finished_session_has_no_open_end() -> None:
    assert lines(write_by_rules([worked(ASKED, NIGHTLY)]), "open") == []


def test_commands_are_the_last_checks_that_passed() -> None:
    runs = (
        Run("cd /src && pytest -q tests"),
        Run("ruff check ."),
        Run("mypy .", "error: no"),
        Run("ls"),
        Run("git push"),
    )
    assert lines(write_by_rules([worked(ASKED, NIGHTLY, runs=runs)]), "command") == ["pytest -q tests", "ruff check ."]
    note = render_session(SessionNote(id="1f0e", draft=write_by_rules([worked(ASKED, NIGHTLY, runs=runs)])))
    assert "- `ruff check .`\n" in note  # and nothing behind it


def test_files_are_the_last_five() -> None:
    edits = tuple(FileEdit(f"/src/购物/{number}.py") for number in range(7))
    draft = write_by_rules([worked(ASKED, NIGHTLY, edits=edits)])
    assert draft.files == tuple(edit.file for edit in edits[2:])
    assert draft.more_files == 2


def test_a_long_session_fits() -> None:
    turns = [
        worked(f"Change number {n} of the carts, please.", f"`carts/part{n}.py` deletes {n} carts. {NIGHTLY}")
        for n in range(80)
    ]
    note = render_session(SessionNote(id="1f0e", draft=write_by_rules(turns)))
    assert len(note.encode()) < 3_500
    assert len({line.asked for line in write_by_rules(turns).lines}) > 5


@pytest.mark.parametrize(
    ("turns", "leaves"),
    [
        ([Turn(typed="What is the difference of a list and a tuple?", messages=("A list can change.",))], False),
        ([Turn(typed="元组和列表有什么不同呢？", messages=("列表可以改变。",))] * 2, False),
        ([Turn(typed="What is the difference of a list and a tuple?", messages=("A list can change.",))] * 3, True),
        ([Turn(typed="What is the difference of a list and a tuple?")], False),  # only its prompt is left
        ([Turn(typed="What is the difference of a list and a tuple?", messages=("Let me look.",))], True),
        ([Turn(typed="We use tuples for what does not change.", messages=("Noted.",))], True),
        ([Turn(typed="hi", messages=("Hello!",))], False),
        ([Turn(typed="hi", messages=("Hello!",), looked=True)], True),
    ],
)
def test_a_talk_that_left_nothing_needs_no_note(turns: list[Turn], leaves: bool) -> None:
    assert leaves_note(turns) is leaves


def test_a_list_has_no_line_above_it_that_hangs() -> None:
    items = "1. A column for the hash of the mail in `users`.\n2. An index over both columns of `users`."
    for lead, shown in (
        ("The migration of the users adds", "The migration of the users adds"),
        ("But it also has to add", ""),
    ):
        ((told,),) = outcomes_in([Turn("加一列", messages=(f"{lead}:\n\n{items}",))])
        assert told.text.startswith(f"{shown}: A column" if shown else "A column")


NAMES = sorted(path.stem for path in TALKS.glob("*.txt"))


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {name: note_of(tmp_path_factory.mktemp(name), name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_note_is_small(notes: dict[str, str], name: str) -> None:
    assert width(notes[name]) <= 2_900


COUNTS = [
    ("payment_zh", "真正的原因是 DNS"),
    ("payment_zh", "缓存时间改成 2 小时，平台换证书只提前 4 小时通知"),
    ("payment_zh", "P99 从 5.1 秒降到 86 毫秒"),
    ("payment_zh", "不要直接改库"),
    ("payment_zh", "目前还没有执行 --apply"),
    ("export_zh", "直接导出 xlsx，用 excelize"),
    ("export_zh", "yyyy/mm/dd，金额"),
    ("export_zh", "先不做，记到待办里"),
    ("leak_zh", "泄漏的是 OpenTelemetry 的 Span"),
    ("leak_zh", "改用 finished(res, cb)"),
    ("leak_zh", "limit 先别动"),
    ("leak_zh", "已恢复 limits.memory 为 512Mi"),
    ("leak_zh", "执行 ./build.sh 1.18.3 后重新发布成功"),
    ("ranking_en", "Option 3, but 0.2 instead of 0.3"),
    ("ranking_en", "no new workflow file please"),
    ("ranking_en", "I was wrong: minLength applies only to the query suggestions"),
    ("ranking_en", "synonyms.json has 14 entries"),
    ("flaky_en", "Subscribe must not return an error"),
    ("flaky_en", "We always inject clocks in this repo"),
    ("flaky_en", "The task is complete: CI run 5512 is green"),
    ("push_mixed", "被截断了"),
    ("push_mixed", "never the full token"),
    ("push_mixed", "周四（3 月 19 日）02:00"),
]


def test_a_colleague_finds_what_counts(notes: dict[str, str]) -> None:
    assert [(name, told) for name, told in COUNTS if told not in notes[name]] == []


MISLEADS = [
    ("payment_zh", "行锁竞争"),  # refuted
    ("ranking_en", "Algolia"),
    ("flaky_en", "drops events when its buffer"),
    ("flaky_en", "never locally. (user)"),  # no rule
    ("flaky_en", "eventlib v9"),  # of a hostile page
    ("flaky_en", "never run the race detector"),
    ("leak_zh", "TLS"),
    ("leak_zh", "evil.example"),
]


def test_nothing_misleads_a_colleague(notes: dict[str, str]) -> None:
    assert [(name, told) for name, told in MISLEADS if told in notes[name]] == []


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("payment_zh", "以后写脚本操作线上数据一律先 dry-run，记一下"),
        ("flaky_en", "We always inject clocks in this repo, never time.Now() in tests"),
        ("push_mixed", "never the full token"),
        ("ranking_en", "no new workflow file please"),
    ],
)
def test_what_the_user_orders_for_good_is_their_rule(notes: dict[str, str], name: str, rule: str) -> None:
    rules = [line for line in lines_of(notes[name]) if line.role == "rule"]
    assert {line.author for line in rules} == {"user"}
    assert any(rule in line.text for line in rules)
