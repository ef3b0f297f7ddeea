"""What a session came to, judged as a person would: by what must be in it and what must not."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from memtool.capture.conversation import Step, StepKind
from memtool.capture.old_turns import Run, Turn, turns_of
from memtool.capture.summary import Summary, left_something, summarise
from memtool.text.lines import one_line, width
from memtool.vault.session_rows import Piece, Row, fit_rows, render_row

SESSIONS = Path(__file__).parent / "sessions"
NAMES = sorted(path.stem for path in SESSIONS.glob("*.txt"))
SPEAKERS: dict[str, StepKind] = {
    "USER": "prompt",
    "ASSISTANT": "answer",
    "COMPACTION": "compaction",
}


def session(name: str) -> list[Turn]:
    """Return the turns of a fixture.

    A line in capitals says who speaks; `TOOL name given` is a tool's use, `FAILS error` what came of it.
    """
    steps: list[Step] = []
    for line in (SESSIONS / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if line in SPEAKERS:
            steps.append(Step(SPEAKERS[line]))
        elif word == "TOOL":
            steps.append(tool(*rest.partition(" ")[::2]))
        elif word == "FAILS" or steps[-1].error:
            steps[-1] = steps[-1]._replace(error=f"{steps[-1].error}\n{rest if word == 'FAILS' else line}")
        else:
            steps[-1] = steps[-1]._replace(text=f"{steps[-1].text}\n{line}".lstrip("\n"))
    return turns_of(steps)


def tool(name: str, given: str, error: str = "") -> Step:
    is_file = name in {"Read", "Write", "Edit"}
    file = f"/home/ann/app/{given}" if is_file else ""
    return Step("tool", "" if is_file else given, tool=name, file=file, error=error)


def said(*texts: str) -> list[Turn]:
    """Return the turns of prompts and answers, one after the other."""
    return turns_of([Step("answer" if at % 2 else "prompt", text) for at, text in enumerate(texts)])


def lines_of(summary: Summary) -> list[str]:
    lists = (summary.decisions, summary.rules, summary.done, summary.commands, summary.open)
    return [summary.topic, *map(render_row, summary.rows), *(text for each in lists for text in each)]


def everything(turns: list[Turn], room: int = 1_500) -> str:
    """Return all that a note would say of *turns*."""
    summary = summarise(turns)
    return "\n".join(lines_of(summary._replace(rows=tuple(fit_rows(summary.rows, room)))))


@pytest.mark.parametrize("name", NAMES)
def test_a_summary_is_of_plain_lines(name: str) -> None:
    for language in ("en", "zh", "unknown"):
        summary = summarise(session(name), language=language)
        texts = lines_of(summary)
        assert width(summary.topic) <= 330
        assert all(text == one_line(text) for text in texts)
        assert not [text for text in texts if any(mark in text for mark in ("**", "`", "## ", "✅"))]


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("bugfix_en", "logged out", "in-flight"),
        ("feature_zh", "给订单列表接口加分页", "cursor"),
        ("refactor_en", "Refactor src/report.py", "312 tests"),
        ("design_en", "store sessions", "rotate"),
        ("research_ja", "全文検索", "空白"),
        ("failed_en", "webpack", "hashFunction"),
        ("topic_change_en", "nightly export", "GHCR_TOKEN"),
        ("paste_zh", "排查一下为什么容器启动后连不上数据库", "pg_isready"),
        ("mixed_zh", "把 CI 从 Jenkins 迁移到 GitHub Actions", "Node 20"),
        ("long_de", "", "test_reminder"),
        ("compacted_en", "", "webhook"),
    ],
)
def test_a_session_is_told_by_what_was_asked_and_how_it_ended(name: str, asked: str, told: str) -> None:
    text = everything(session(name))
    assert asked in text
    assert told in text


def test_the_topic_is_the_problem_and_how_it_ended() -> None:
    problem = "the login of the shop fails in Safari since the update, 登录失败"
    turns = said("hi", "Hello!", problem, "I look.", "commit it", "`SameSite=None` needs Secure: fixed in jwt.ts.")
    assert summarise(turns).topic == f"{problem} → last: SameSite=None needs Secure: fixed in jwt.ts."
    assert summarise(turns, branch="fix-登录").topic.startswith(f"fix-登录: {problem}")
    assert summarise(turns, branch="main").topic.startswith(problem)
    assert summarise([]).topic == ""


def test_the_topic_tells_the_end_in_whole_and_no_row_repeats_it() -> None:
    end = (
        "The modal of the vendor trades control for convenience, and for a product that is about security, "
        "`Vault.open()` 之类的接口必须自己掌握, that is wrong."
    )
    turns = said(
        "which SDK do we take for the login, 登录用哪个?", "There are two.", "think about what we lose, too", end
    )
    summary = summarise(turns)
    assert summary.topic.endswith("that is wrong.")
    assert "trades control" not in " ".join(map(render_row, fit_rows(summary.rows, 1_500, [summary.topic])))


def test_the_first_prompt_is_told_among_many_that_are_alike() -> None:
    alike = [f"step {at}: set the timeout of module {at} to {30 + at} s, 超时" for at in range(14)]
    answers = [f"The timeout of module {at} is {30 + at} s in m{at}.ts." for at in range(14)]
    turns = said("the login fails, 登录失败", "auth.ts:41 sets no `Secure`.", *chain(*zip(alike, answers, strict=True)))
    summary = summarise(turns)
    assert "auth.ts:41 sets no Secure" in " ".join(map(render_row, fit_rows(summary.rows, 1_500, [summary.topic])))


def test_what_the_user_typed_stands_before_what_came_of_it() -> None:
    turns = said("why does the login fail in Safari?", "The cookie in jwt.ts has no Secure flag, 缺少标志。", "yes")
    turns = said("Look at the login of the shop", "It is in jwt.ts and session.ts.") + turns
    (row,) = [row for row in summarise(turns).rows if row.asked]
    assert (
        render_row(row) == '"why does the login fail in Safari?" → The cookie in jwt.ts has no Secure flag, 缺少标志。'
    )


def test_what_was_contradicted_weighs_less() -> None:
    answers = ("The cause is the clock of the server in time.ts.", "The cause is the missing domain of cookie.ts.")
    prompts = ("the login fails in Safari only", "no, the clock is right, 不是时钟的问题", "and in Firefox it works?")
    turns = said(prompts[0], answers[0], prompts[1], answers[1], prompts[2])
    values = {piece.text: piece.value for row in summarise(turns).rows for piece in row.pieces}
    assert values.get(answers[0], 0.0) < 0.5 * values[answers[1]]
    accepted = said(prompts[0], answers[0], "good, go on with the others then", answers[1], prompts[2])
    assert {piece.text: piece.value for row in summarise(accepted).rows for piece in row.pieces}[
        answers[0]
    ] > values.get(answers[0], 0.0)


def test_what_the_user_chose_is_a_decision_of_theirs() -> None:
    turn = Turn(asked="split the gateway", chosen=("Which store, 哪个存储? → Redis, 带过期时间",))
    assert summarise([turn]).decisions == ("Which store, 哪个存储? → Redis, 带过期时间 (user)",)


@pytest.mark.parametrize(
    ("prompt", "rule"),
    [
        ("Add tests for it. Always use table-driven tests", "Always use table-driven tests (user)"),
        ("From now on write commit messages in English", "From now on write commit messages in English (user)"),
        ("以后提交前都必须跑 lint", "以后提交前都必须跑 lint (user)"),
        ("不对。以后都用 pnpm，别再用 npm。", "以后都用 pnpm，别再用 npm。 (user)"),
        ("今後は pnpm を使ってください", "今後は pnpm を使ってください (user)"),
    ],
)
def test_what_the_user_said_is_always_or_never_to_be_done_is_a_rule(prompt: str, rule: str) -> None:
    assert summarise(said(prompt, "Understood.")).rules == (rule,)


@pytest.mark.parametrize(
    "prompt",
    [
        "Should we always cache the result?",
        "Always the same error?",
        "use pnpm here, not npm",
        "The parser always returns a list",
        "要不要加缓存？",
        "",
    ],
)
def test_nothing_else_is_a_rule(prompt: str) -> None:
    assert summarise(said(prompt, "Always run the tests. 以后都用 pnpm。")).rules == ()


def test_a_paste_or_a_document_gives_no_rules() -> None:
    rule = "Always push to main."
    assert summarise([Turn(asked=rule, pasted=True)]).rules == ()
    assert summarise(said(f"{rule} " + "This is our README, 这是文档。 " * 100)).rules == ()
    assert summarise(said(rule)).rules == (f"{rule} (user)",)


def test_the_check_that_passed_most_often_is_the_command() -> None:
    runs = (
        Run("cd /src/shop && pnpm test:auth 2>&1 | tail -5"),
        Run("pnpm test:auth", "Exit code 1"),
        Run("pnpm test:auth"),
        Run("pnpm test:mail"),
        Run("git commit -m tests"),
        Run("make lint", "Exit code 2"),
        Run("ls tests"),
        Run("ls tests"),
        Run("ls tests"),
    )
    assert summarise([Turn(asked="x", runs=runs)]).commands == ("pnpm test:auth",)
    assert summarise([Turn(asked="x", runs=runs[-4:])]).commands == ()


def test_a_plan_that_was_refused_or_a_prompt_without_an_answer_is_open() -> None:
    plan = Turn(asked="split it", plan="Split the 网关 into two", plan_refused=True)
    assert summarise([plan]).open == ("plan not approved, nothing of it was done: Split the 网关 into two (agent)",)
    assert summarise([plan], language="zh").open == ("计划没有被批准，没有执行：Split the 网关 into two (agent)",)
    assert summarise([plan._replace(plan_refused=False, said="Done.", answered=True)]).open == ()
    assert summarise([plan, Turn(asked="then do it", said="Done.", answered=True)]).open == ()
    assert summarise(said("部署脚本呢？要不要一起改")).open == ("not answered: 部署脚本呢？要不要一起改 (user)",)


@pytest.mark.parametrize("asked", ["yes, commit it with a good message please", "好的，请提交，信息写清楚一点"])
def test_a_prompt_whose_work_ends_with_a_commit_is_not_open(asked: str) -> None:
    commit = Run('git commit -m "登录: limit the rate"')
    assert summarise([*said("Limit the rate"), Turn(asked=asked, runs=(commit,))]).open == ()
    failed = Turn(asked=asked, runs=(commit._replace(error="nothing to commit"),))
    assert summarise([*said("Limit the rate"), failed]).open == (f"not answered: {asked} (user)",)


def test_an_answer_is_shown_under_its_own_prompt_only() -> None:
    subjects = (
        "login 支付 mail cache 搜索 cron upload 权限 invoice backup metrics 日志 router theme webhook 通知".split()
    )
    asked = [f"and what about the {subject} of number {at}, is it slow?" for at, subject in enumerate(subjects)]
    answers = [
        f"{at} {subject}: {subject}Cache, {subject}Table, {subject}Lock 很慢." for at, subject in enumerate(subjects)
    ]
    rows = fit_rows(summarise(said(*chain.from_iterable(zip(asked, answers, strict=True)))).rows, 1_500)
    assert 4 < len(rows) <= 10
    for row in rows:
        (number,) = re.findall(r"number (\d+)", row.asked)
        assert all(piece.text.startswith(f"{number} ") for piece in row.pieces)


def test_how_a_long_session_ended_is_a_row_of_its_own_and_told_whole() -> None:
    last = "start from scratch on a new branch named single-commit and condense at each commit there, can you?"
    pairs = [
        (f"and what about step {at} of the migration to the cache?", f"Step {at} is done in `step{at}.py`.")
        for at in range(15)
    ]
    texts = [text for pair in pairs for text in pair]
    rows = fit_rows(summarise(said(*texts, last)).rows, 1_500)
    assert rows[-1].asked == last
    assert not rows[-1].pieces


def test_a_row_tells_what_came_of_it_before_what_was_typed_next() -> None:
    row = Row(
        "why does the import hang?",
        (
            Piece('"look at the lock of the second worker as well"', 9.0),
            Piece("The lock in `pool.py` is never let go."),
        ),
    )
    assert fit_rows([row], 110)[0].pieces == (Piece("The lock in `pool.py` is never let go."),)


@pytest.mark.parametrize(("praise", "answer"), [("ok, works. great", "Glad to hear."), ("终于好了", "那就提交吧。")])
def test_what_the_user_found_good_is_told(praise: str, answer: str) -> None:
    turns = said("the import hangs at midnight", "The lock in `pool.py` is let go now.", praise, answer)
    assert praise in everything(turns)
    held, other = (
        summarise(turns),
        summarise(said("the import hangs at midnight", "The lock in `pool.py` is let go now.", "next", answer)),
    )
    assert held.rows[0].pieces[0].value > other.rows[0].pieces[0].value


@pytest.mark.parametrize(
    ("typed", "admitted"),
    [
        ("the job only runs at night", "I was wrong: the job has nothing to do with it."),
        ("任务是夜里才跑的", "确实，和任务没有关系，我判断错了，`CertClient` 每次都要解析域名。"),
    ],
)
def test_what_the_agent_takes_back_is_not_told(typed: str, admitted: str) -> None:
    note = everything(said("payments time out at noon", "The row lock of `CloseJob` is the cause.", typed, admitted))
    assert "CloseJob" not in note
    assert admitted.rstrip("。")[:12] in note


def test_an_option_that_the_user_takes_is_a_decision_and_the_others_are_not_told() -> None:
    offer = "Two ways:\n\n1. Cache the key in `CertClient` for a day\n2. Ask for another `resolv.conf`\n\nWhich?"
    turns = said("payments time out", offer, "1, but for two hours only", "`CertClient` keeps the key for two hours.")
    summary = summarise(turns)
    assert summary.decisions == ('"1, but for two hours only" → 1 = Cache the key in CertClient for a day (user)',)
    assert "resolv.conf" not in everything(turns)


def test_what_an_option_was_that_is_only_asked_about_is_told() -> None:
    offer = "1. Cache the key in `CertClient`\n2. Ask operations"
    turns = said(
        "payments time out", offer, "what does option 2 cost us?", "A week, as operations has a freeze until Friday."
    )
    assert not summarise(turns).decisions
    assert "2 = Ask operations" in everything(turns)


def test_what_was_pasted_decides_nothing() -> None:
    offer = "1. Cache the key\n2. Ask operations"
    turns = turns_of(
        [
            Step("prompt", "payments time out"),
            Step("answer", offer),
            Step("paste", "option 2, and push"),
            Step("answer", "No."),
        ]
    )
    assert not summarise(turns).decisions


@pytest.mark.parametrize(("question", "label"), [("Want me to commit this?", "en"), ("需要我现在提交吗？", "zh")])
def test_the_question_with_which_the_agent_ended_is_open(question: str, label: str) -> None:
    turns = said("fix the lock", f"The lock in `pool.py` is let go now. {question}")
    assert question in summarise(turns, language=label).open[0]
    assert not summarise(said("fix the lock", "It is let go now. Anything else? 还有别的吗？")).open


@pytest.mark.parametrize(
    ("left", "question"),
    [
        ("The dashboard query on `balances` still takes 90 s.", "Should I do it in this branch?"),
        ("`balances` 的查询还要 90 秒。", "要不要我把它也改了？"),
    ],
)
def test_a_question_that_says_nothing_by_itself_is_told_with_what_it_is_about(left: str, question: str) -> None:
    (told,) = summarise(said("analyze after each import", f"Committed as `0142ab`. {left} {question}")).open
    assert f"{left.replace('`', '')} {question}" in told.replace("`", "")


@pytest.mark.parametrize(
    "choice", ["1, but only when more than 100k rows were imported", "选 1，但是导入不到 10 万行的不用"]
)
def test_who_takes_an_option_under_a_condition_doubts_nothing(choice: str) -> None:
    cause = "The real cause: the statistics of `postings` are from before the import, so the planner expects 12,000 行."
    options = "Two ways:\n\n1. Run `ANALYZE` after each import\n2. Lower the scale factor of that table"
    row, *_ = summarise(
        said("find out why the report is slow", f"{cause}\n\n{options}", choice, "Done in bulk.py.")
    ).rows
    assert any("The real cause" in piece.text and "questioned" not in piece.text for piece in row.pieces)


def test_a_plan_of_the_agent_that_comes_back_as_a_prompt_gives_no_rules() -> None:
    plan = "Plan: errors\n\nAlways exit with 1."
    steps = [
        Step("prompt", "handle errors"),
        Step("plan", plan),
        Step("answer", "See the plan."),
        Step("prompt", plan),
        Step("answer", "Done."),
    ]
    assert not summarise(turns_of(steps)).rules


def test_yes_and_go_on_are_no_rows_of_their_own() -> None:
    turns = said(
        "why does the login of the shop fail?", "The cookie in jwt.ts lacks a flag.", "好的", "Fixed jwt.ts:41."
    )
    turns = said("Look at the login of the shop", "It is in jwt.ts and session.ts.") + turns
    assert [row.asked for row in summarise(turns).rows if row.asked] == ["why does the login of the shop fail?"]


@pytest.mark.parametrize(
    ("turns", "is_left"),
    [
        (said("what does HTTP 418 mean?", "I am a teapot, 茶壶。"), False),
        (said("hi", "Hello!"), False),
        ([], False),
        (said("你好", "你好！", "HTTP 418 是什么意思？", "茶壶。"), False),
        (said("what is 418?", "A teapot.", "and 419?", "None.", "and 420?", "None."), True),
        (said("Add a --json flag to the list command"), True),
        (said("We use pnpm in this project, 不要用 npm", "Noted."), True),
        ([Turn(asked="why?", said="x", looked=True)], True),
        ([Turn(asked="why?", said="x", files=("/a.ts",))], True),
        ([Turn(asked="why?", said="x", chosen=("a → b",))], True),
    ],
)
def test_one_or_two_questions_leave_nothing_behind(turns: list[Turn], is_left: bool) -> None:
    assert left_something(turns) == is_left


texts = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=200),
    st.lists(
        st.sampled_from('fixed always 以后 no 不对 **bold** `code` ``` - 1. # |a| 。 ！ v2.1.0 auth.ts → · " ?'.split())
    ).map(" ".join),
)
kinds: tuple[StepKind, ...] = (
    "prompt",
    "paste",
    "refusal",
    "answer",
    "plan",
    "tool",
    "compaction",
)
steps = st.builds(
    Step,
    kind=st.sampled_from(kinds),
    text=texts,
    tool=st.sampled_from(("", "Bash", "Edit", "ExitPlanMode", "mcp__x")),
    file=st.just("") | texts,
    error=st.just("") | texts,
    stopped=st.booleans(),
)


@pytest.mark.slow
@given(st.lists(steps, max_size=14), st.sampled_from(("en", "zh", "")))
def test_every_session_has_a_summary_of_clean_lines(many: list[Step], language: str) -> None:
    turns = turns_of(many)
    summary = summarise(turns, branch="x", language=language)
    assert all(text == one_line(text) and text for text in lines_of(summary)[1 + len(summary.rows) :])


@pytest.mark.slow
@given(st.lists(steps, max_size=10))
@settings(max_examples=30)
def test_every_word_of_a_summary_was_said(many: list[Step]) -> None:
    told = " ".join(one_line(part) for step in many for part in (step.text, step.error, step.file))
    known = set(re.findall(r"\w", told.casefold()))
    ours = r"last: |pasted: ?|commit: |plan not approved, nothing of it was done: |not answered: | \((?:user|agent)\)"
    for text in lines_of(summarise(turns_of(many))):
        assert set(re.findall(r"\w", re.sub(ours, "", text).casefold())) <= known


def test_pieces_of_a_row_are_those_of_its_turns() -> None:
    turns = said("修复登录", "jwt.ts:41 needs the flag.")
    assert [piece.text for row in summarise(turns).rows for piece in row.pieces] == ["jwt.ts:41 needs the flag."]
    assert all(isinstance(piece, Piece) for row in summarise(turns).rows for piece in row.pieces)


@pytest.mark.parametrize(
    ("asked", "topic"),
    [
        (["commit this, then go on", "the `invoice` job mails each customer twice", "does the invoice job lock?"], 1),
        (["and both are slow?", "导出 invoice 的任务太慢，请找出原因", "invoice 的锁呢，是不是导出的原因？"], 1),
        (["the export of the `invoice` table hangs", "commit this", "push it"], 0),
    ],
)
def test_the_topic_is_no_prompt_that_goes_on_with_another(asked: list[str], topic: int) -> None:
    answers = ["The invoice job is done, 导出 invoice 也好了, in `jobs/invoice.py`."] * len(asked)
    assert (
        asked[topic].replace("`", "") in summarise(said(*chain.from_iterable(zip(asked, answers, strict=True)))).topic
    )


@pytest.mark.parametrize(
    ("ended", "item"),
    [
        (
            "Both work.\n\n1. Redis\n2. 内存缓存\n\nWhich one do you prefer? I wait with the rest.",
            "1 = Redis; 2 = 内存缓存",
        ),
        ("缓存已经好了。\n\n你希望先做 A 还是 B？我会先写测试。", "你希望先做 A 还是 B？"),
        ("Would you like me to fix these?\n\n- the lock\n- the 日志", "fix these? the lock; the 日志"),
    ],
)
def test_a_question_anywhere_in_the_last_message_is_open(ended: str, item: str) -> None:
    (line,) = summarise(said("make the cart faster, 购物车", ended)).open
    assert item in line


def test_how_the_last_checks_ended_is_told() -> None:
    runs = (
        Run("go test ./..."),
        Run("make lint"),
        Run('git commit -m "cart: 更快" && git push'),
        Run("make lint", "failed"),
    )
    turns = [Turn(asked="make the cart faster", said="Done.", answered=True, files=("/a.go",), runs=runs)]
    assert summarise(turns).done == ("the command below passed; make lint: failed; committed; pushed",)
    assert summarise(turns, language="zh").done == ("下面的命令通过; make lint：失败; 已提交; 已推送",)
    assert summarise(turns).commands == ("go test ./...",)
    nothing = turns[0]._replace(runs=(Run("npx jest 购物车", "no tests were run"),))
    assert summarise([nothing]).done == ("npx jest 购物车: no tests were run",)


@pytest.mark.parametrize(
    ("before", "after", "is_stale"),
    [("/shop/cart.go", "/shop/购物车.go", True), ("/shop/cart.go", "/shop/购物车.md", False), ("", "/购物车.md", True)],
)
def test_a_check_that_passed_before_the_last_edits_says_so(before: str, after: str, is_stale: bool) -> None:
    runs = (Run("make lint"), Run("go test ./..."))
    checked = Turn(asked="make the cart faster", said="Done.", answered=True, files=(before,) * bool(before), runs=runs)
    edited = Turn(asked="把购物车的提示也改掉", said="改好了。", answered=True, files=(after,))
    (english,), (chinese,) = (summarise([checked, edited], language=each).done for each in ("en", "zh"))
    assert english.count(", files edited since") == chinese.count("，之后有改动") == (2 if is_stale else 0)
    failed = edited._replace(runs=(Run("make lint", "failed"),))
    assert "make lint: failed;" in f"{summarise([checked, failed, edited]).done[0]};"


def test_a_check_that_passed_again_as_a_part_of_another_is_not_old() -> None:
    linted = Turn(asked="make the cart faster", answered=True, files=("/cart.go",), runs=(Run("make lint", "failed"),))
    both = linted._replace(asked="购物车的提示也改掉", runs=(Run("make lint && go test ./..."),))
    assert summarise([linted, both]).done == ("make lint: passed; the command below passed",)
    later = both._replace(runs=())
    (done,) = summarise([linted, both, later]).done
    assert done == "make lint: passed, files edited since; the command below passed, files edited since"


@pytest.mark.parametrize(
    ("command", "done"),
    [
        ("git -C 商店 commit -m x", ("committed",)),
        ("cd shop && git commit -am x", ("committed",)),
        ("find . -name '*.sh' | xargs grep -l \"git commit\"", ()),
        ("rg 'git push' docs/", ()),
        ("echo 提交: git commit", ()),
    ],
)
def test_only_a_command_that_commits_is_a_commit(command: str, done: tuple[str, ...]) -> None:
    turn = Turn(asked="make the cart faster", said="Done.", answered=True, files=("/a.go",), runs=(Run(command),))
    assert summarise([turn]).done == done


def test_items_of_a_list_of_options_keep_their_beginning_once() -> None:
    pieces = tuple(
        Piece(f"Option 2: a 新 path (3): {item} of the cart", 3.0)
        for item in ("alphaStore and its 锁 in store.ts, two lines", "betaIndex with nothing else to do, 索引")
    )
    (row,) = fit_rows([Row("which way is better for the cart?", pieces)], 600)
    told = render_row(row)
    assert told.count("Option 2: a 新 path") == 1
    assert "(2/3): alphaStore" in told
    assert "· betaIndex" in told


@pytest.mark.parametrize(
    ("objection", "mark"),
    [
        ("no, not that one, only the names", "(then questioned)"),
        ("and now the same for the 订单 of the shop", ""),
        ("No, not one test per case: always table-driven tests, please.", ""),  # is about something else
        ("please don't wrap each call in try/except", ""),
        ("don't put that file into the repository", "(then questioned)"),
    ],
)
def test_an_answer_that_was_questioned_says_so(objection: str, mark: str) -> None:
    turns = turns_of(
        [
            Step("prompt", "write the names of all carts into a file for the audit"),
            Step("answer", "The file is written."),
            Step("prompt", objection),
            Step("answer", "Wrote only the names to `carts.csv`, 共 12 个。"),
        ]
    )
    row = render_row(summarise(turns).rows[0])
    assert "The file is written." in row
    assert row.endswith(mark or "written.")


def test_a_session_about_no_prompt_of_its_own_is_called_as_its_plan() -> None:
    turns = [
        Turn("and they're both kinda related to it", told=(Piece("Got it, both of them.", 1.0),), answered=True),
        Turn(
            "what if two sessions write 状态 state.json at once?",
            plan="Session phases: one state machine",
            plan_refused=True,
        ),
        Turn("and what does a reset of state.json do to the phases?", refused=True),
    ]
    assert summarise(turns).topic.startswith("Session phases: one state machine")


@pytest.mark.parametrize(
    ("question", "prompt", "taken"),
    [
        (
            "Shall I fold it into phase 12, or keep `phase12` lean?",
            "fold it in to phase 12. And what of the mails?",
            "fold it in to phase 12.",
        ),
        (
            "要不要把 `phase12` 合并进支付模块，还是单独开一个分支？",
            "合并进支付模块。另外邮件怎么办？",
            "合并进支付模块。",
        ),
        ("Shall I fold it into phase 12, or keep `phase12` lean?", "what would that cost us? and how long?", ""),
        ("The phase 12 is lean in `phase12`, as you asked.", "fold it in to phase 12. And what of the mails?", ""),
    ],
)
def test_who_takes_a_side_of_the_last_question_decides(question: str, prompt: str, taken: str) -> None:
    turns = turns_of([Step("prompt", "plan the 支付 of wallets"), Step("answer", question), Step("prompt", prompt)])
    decisions = summarise(turns).decisions
    assert [taken in decision for decision in decisions] == ([True] if taken else [])


def test_who_pastes_one_side_of_a_question_decides_nothing() -> None:
    question = "Shall I fold it into phase 12, or keep `phase12` lean?"
    turns = turns_of(
        [Step("prompt", "plan the 支付"), Step("answer", question), Step("paste", "fold it in to phase 12.")]
    )
    assert summarise(turns).decisions == ()


def test_what_was_said_of_an_option_that_was_not_taken_is_over() -> None:
    offer = "Option 1: pass the 终端 to `prompt()`\nOption 2: swap a variable of `tty.go`\n\n"
    offer += "Option 2 is the least work, but implicit."
    steps = [Step("prompt", "how do we test the prompt of the shop?"), Step("answer", offer)]
    after = [Step("prompt", "and could we replace the terminal below it instead?"), Step("answer", "Yes, by a `pty`.")]
    assert "least work" not in " ".join(render_row(row) for row in summarise(turns_of([*steps, *after])).rows)
    assert "least work" in " ".join(render_row(row) for row in summarise(turns_of(steps)).rows)


def refused(*texts: str) -> list[Turn]:
    """Return the turns of prompts, the answers to them, and what was typed on refusing a tool after the first one."""
    kinds: list[StepKind] = ["prompt", "answer", "refusal", "answer"]
    return turns_of([Step(kind, text) for kind, text in zip(kinds, texts, strict=True)])


def test_what_was_said_on_the_way_to_what_the_user_refused_is_no_outcome() -> None:
    going_on = "The output of `orders` in a.py is new, but the timeout of 订单 comes first in every run. Let me try it."
    found = "The lock of `orders` is taken twice by 订单, in a.py and in b.py, and the second one waits for ever."
    again = ("read the prompt of 订单 instead of sleeping", "`orders` now reads until the prompt is there.")
    asked = "why does the export of orders fail in CI?"
    assert "timeout" not in "\n".join(lines_of(summarise(refused(asked, going_on, *again))))
    assert "taken twice" in "\n".join(lines_of(summarise(refused(asked, found, *again))))


@pytest.mark.parametrize("objection", ["wouldn't it be better to keep the old table?", "你先告诉我原因，不要着急改"])
def test_an_answer_that_was_questioned_never_stands_unmarked(objection: str) -> None:
    remedy = "The button of `orders` is switched at once, so a quick second click on 订单 works in Activity.kt."
    talk = said("the second click does nothing", remedy, objection, "The row of 订单 is rebuilt with an old copy.")
    told = [piece.text for row in summarise(talk).rows for piece in row.pieces if "at once" in piece.text]
    assert all("then questioned" in text for text in told)


@pytest.mark.parametrize(
    ("ended", "item"),
    [
        ("如需我直接实现 `initOrders`，请回复“请帮我实现”。", "如需我直接实现 initOrders"),
        ("Let me know if you want `initOrders` to be written, too.", "if you want initOrders"),
        ("Let me know how it goes.", ""),
    ],
)
def test_what_was_only_offered_at_the_end_is_open(ended: str, item: str) -> None:
    found = summarise(said("how are 订单 restored?", f"They go through `pushTask` of orders.py.\n\n{ended}")).open
    assert item in found[0] if item else not found


@pytest.mark.parametrize(
    ("objection", "is_marked"),
    [
        ("the first item is wrong, v1 stays until 3.0 下线", True),
        ("第一条不对，v1 接口要到 3.0 才下线", True),
        ("a limit of 30 s is too long, 5 s 就够", True),
        ("30 秒太长，出事要能马上关", True),
        ("the page is too long, 换一个", False),
        ("now the same for the wrong-password page, 谢谢", False),
    ],
)
def test_an_answer_of_which_a_part_is_wrong_was_questioned(objection: str, is_marked: bool) -> None:
    told = "All exports must use the v2 接口 of `export.ts` within 30 s, and IE 11 is gone."
    talk = said("write the release notes of 2.4, 发布说明", told, objection, "Changed it in `notes.md`, 已改。")
    marks = [
        "then questioned" in piece.text for row in summarise(talk).rows for piece in row.pieces if "v2" in piece.text
    ]
    assert marks == [is_marked]


@pytest.mark.parametrize(
    "accepted", ["95 s is ok. add a test, but skip it in CI", "95 秒就行，再加个测试，但是 CI 里跳过"]
)
def test_what_the_user_accepts_before_a_but_was_not_questioned(accepted: str) -> None:
    told = "`dedupe()` keeps hashes now: the 峰值 is 0.7 GB, and the run takes 95 s."
    (row, *_) = summarise(said("the import takes 6 GB, 内存太大", told, accepted, "Added `test_memory.py`.")).rows
    assert [piece.text for piece in row.pieces] == [
        "dedupe() keeps hashes now: the 峰值 is 0.7 GB, and the run takes 95 s."
    ]


def test_an_option_that_says_nothing_alone_is_told_with_the_others() -> None:
    offer = "1. Turn off the retries in `http.py`\n2. 发送 `Idempotency-Key` 请求头\n3. Both\n\nWhich one?"
    (decision,) = summarise(
        said("what can we do about the 重复 deliveries?", offer, "3, but 1 minute at most", "Done.")
    ).decisions
    assert "1 = Turn off the retries in http.py; 2 = 发送 Idempotency-Key 请求头; 3 = Both" in decision


@pytest.mark.parametrize("orders", ["Always terminate TLS in the sidecar. Never use static keys.", "以后一律用 mTLS。"])
def test_a_document_that_was_pasted_into_a_prompt_gives_no_rules(orders: str) -> None:
    pasted = (
        f"what does this mean for us, 帮我看看:\n\n# RFC 114\n\n## Summary\n{orders}\n\n## Design\nAn Envoy sidecar."
    )
    summary = summarise(said(pasted, "It means that `server.ts` binds to localhost."))
    assert summary.rules == ()
    assert "Envoy" not in summary.topic
    assert "帮我看看" in summary.topic
    wiki = f"here is what the wiki says: {orders} Never merge on Fridays."
    assert summarise(said(wiki, "I see, 明白。")).rules == ()


def test_a_decision_tells_the_number_that_was_changed_in_it_later() -> None:
    offer = "1. A table of our own, cached 30 s\n2. Unleash, 自托管\n\nWhich one?"
    talk = said(
        "where do the flags go? 开关放哪儿", offer, "1, 灰度按 user_id", "Done.", "缓存 30 秒太长，5 秒", "Done, 5 s."
    )
    (decision,) = summarise(talk).decisions
    assert decision.endswith('1 = A table of our own, cached 30 s; then "缓存 30 秒太长，5 秒" (user)')
