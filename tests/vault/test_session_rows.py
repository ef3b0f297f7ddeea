"""Rows are read as they were written, and made smaller they fit into their room."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.text.lines import one_line, width
from memtool.vault.session_rows import (
    ARROW,
    JOINT,
    Piece,
    Row,
    fit_rows,
    parse_row,
    render_row,
    shortened_fairly,
    without_middle,
    without_texts,
)

LOGIN = Row(
    "登录在 Safari 里失败, why?",
    (
        Piece("SameSite=None needs Secure in jwt.ts:41", 3.0),
        Piece('"no, keep the old cookie, too"', 2.0),
        Piece("两个 cookie 都保留 until v2.1.0", 1.0),
    ),
)


def test_a_row_reads_as_what_was_wanted_and_what_came_of_it() -> None:
    text = render_row(LOGIN)
    assert text == (
        '"登录在 Safari 里失败, why?" → SameSite=None needs Secure in jwt.ts:41'
        ' · "no, keep the old cookie, too" · 两个 cookie 都保留 until v2.1.0'
    )
    values = {piece.text: piece.value for piece in LOGIN.pieces}
    assert parse_row(text, values) == LOGIN
    assert [piece.is_typed for piece in LOGIN.pieces] == [False, True, False]


def test_a_row_may_have_no_question_or_no_answer() -> None:
    assert render_row(Row("", (Piece("done"),))) == "done"
    assert render_row(Row("and now?")) == '"and now?"'
    assert parse_row('"and now?"') == Row("and now?")
    assert parse_row("→ done").pieces[0].text == "done"
    assert parse_row("").pieces == ()


def test_a_line_that_its_owner_wrote_is_a_row_of_one_piece() -> None:
    row = parse_row("ask Ann about the 令牌")
    assert (row.asked, [piece.text for piece in row.pieces]) == ("", ["ask Ann about the 令牌"])


def test_a_statement_that_names_something_is_worth_more_than_one_that_does_not() -> None:
    named, vague = parse_row(
        "retries are in gateway.ts now, at most 3 of them · it is much better than it was before"
    ).pieces
    assert named.value > vague.value


def test_no_text_breaks_out_of_its_place() -> None:
    row = Row(f'a"{ARROW}b', (Piece(f"c{JOINT}d\ne"),))
    again = parse_row(render_row(row))
    assert len(again.pieces) == 1
    assert "\n" not in render_row(row)


texts = st.text(st.sampled_from('ab 令牌ü"→·.1/-\u0301😀'), max_size=60) | st.text(max_size=40)
long_texts = st.builds(lambda text, times: f"{text} " * times, texts, st.integers(1, 12)).map(one_line)
pieces = st.builds(Piece, long_texts | long_texts.map(lambda text: f'"{text}"'), st.floats(0.01, 20))
rows = st.builds(Row, long_texts, st.lists(pieces, max_size=6).map(tuple), st.floats(0.3, 3))


@pytest.mark.slow
@given(rows)
def test_a_row_that_was_read_is_written_as_it_was(row: Row) -> None:
    text = render_row(parse_row(render_row(row)))
    assert render_row(parse_row(text)) == text


@pytest.mark.slow
@given(st.lists(rows, max_size=8), st.integers(0, 2_000))
def test_rows_fit_into_their_room(many: list[Row], room: int) -> None:
    fitted = fit_rows(many, room)
    assert sum(width(render_row(row)) for row in fitted) <= room
    assert all(row.asked or row.pieces for row in fitted)


@pytest.mark.slow
@given(st.lists(rows, max_size=8), st.integers(100, 2_000))
def test_nothing_is_in_fitted_rows_that_was_not_in_the_rows(many: list[Row], room: int) -> None:
    told = "\n".join(piece.text for row in many for piece in row.pieces)
    for row in fit_rows(many, room):
        for piece in row.pieces:
            for part in piece.text.strip('"').split(" … "):
                assert part.removesuffix("…").rstrip() in told


def test_what_is_worth_most_for_its_width_stays_longest() -> None:
    many = [
        LOGIN,
        Row("warum ist der Build so langsam geworden?", (Piece("the cache key had no lock file hash: ci.yml", 9.0),)),
    ]
    small = fit_rows(many, 190, least_row=60)
    said = " ".join(map(render_row, small))
    assert "the cache key had no lock file hash" in said
    assert "两个 cookie" not in said
    assert fit_rows(many, 2_000) == many


def test_each_question_keeps_the_best_of_what_came_of_it() -> None:
    many = [
        Row("why is the build slow?", (Piece("the key of the cache in ci.yml had no hash of the lock file", 9.0),)),
        Row("登录为什么失败?", (Piece("jwt.ts:41 没有设置 Secure 标志", 0.7),)),
        Row("and the mails?", (Piece("queue.py sends each of them twice after a restart", 5.0),)),
    ]
    assert [len(row.pieces) for row in fit_rows(many, 380)] == [1, 1, 1]


def test_of_more_questions_than_fit_the_first_and_the_newest_stay() -> None:
    many = [Row(f"第 {at} 个问题 about the login page of the shop") for at in range(30)]
    asked = [row.asked for row in fit_rows(many, 500)]
    assert asked[0].startswith("第 0 个")
    assert asked[-1].startswith("第 29 个")
    assert 2 < len(asked) < 10


def test_nothing_is_said_twice() -> None:
    twice = [
        Row(
            "why?",
            (Piece("the retry of gateway.ts charges twice", 2.0), Piece("gateway.ts charges twice: the retry", 1.0)),
        ),
        Row("和令牌?", (Piece("令牌有效期为二十四小时", 1.0),)),
    ]
    fitted = fit_rows(twice, 2_000, said=["令牌有效期为二十四小时"])
    assert [piece.text for row in fitted for piece in row.pieces] == ["the retry of gateway.ts charges twice"]


def test_items_of_one_list_name_it_once() -> None:
    row = Row("what is left?", (Piece("Left to do: limits.ts 限流", 2.0), Piece("Left to do: mail.ts 邮件", 2.0)))
    assert render_row(fit_rows([row], 500)[0]) == '"what is left?" → Left to do: limits.ts 限流 · mail.ts 邮件'


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("short", 10, "short"),
        ("the login fails in Safari, but please keep the old cookie, and not the new one", 60, None),
        ("登录在浏览器里失败了，看一下 SameSite 的设置。请先保留旧的 cookie", 50, None),
        (
            "in theory we can detect that a session which was active goes on",
            40,
            "in theory we can detect that a session…",
        ),
        ("我们理论上可以发现一个会话还在继续进行并且没有结束", 24, None),
        ("x" * 50, 20, ""),
    ],
)
def test_of_a_long_prompt_both_ends_stay(text: str, limit: int, short: str | None) -> None:
    cut = without_middle(text, limit)
    assert width(cut) <= limit
    if short is not None:
        assert cut == short
    else:
        beginning, end = cut.removesuffix("…").split(" … ") if " … " in cut else (cut.removesuffix("…"), text)
        assert text.startswith(beginning)
        assert text.endswith(end)
        assert beginning
        assert end


@given(long_texts, st.integers(5, 200))
def test_a_text_without_its_middle_fits(text: str, limit: int) -> None:
    assert width(without_middle(text, limit)) <= limit


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (
            "The retry covers all uploads of the shop, of its partners and of the mobile app, but not the nightly job",
            "The retry covers all uploads of the shop… but not the nightly job",
        ),
        (
            "重试覆盖商店、合作方以及移动端的所有上传，也覆盖后台的批量导入任务，但不包括夜间任务",
            "重试覆盖商店、合作方以及移动端的所有上传 … 但不包括夜间任务",
        ),
        (
            "The retry covers all uploads of the shop, of its partners, of the mobile app and of the nightly job",
            "The retry covers all uploads of the shop, of its partners…",
        ),
    ],
)
def test_a_text_that_is_cut_keeps_its_but(text: str, cut: str) -> None:
    short = shortened_fairly(text, 74)
    assert width(short) <= 74
    assert short.replace(" … ", "… ") == cut.replace(" … ", "… ")


def test_where_there_is_not_room_for_all_the_best_answers_are_told() -> None:
    rows = [
        Row(f"问题 {at} of the shop, what is wrong with part {at}?", (Piece(f"part{at}.ts: " + f"w{at} " * 20, at),))
        for at in range(1, 6)
    ]
    told = [bool(row.pieces) for row in fit_rows(rows, 500, least_row=90)]
    assert told == [False] * (len(told) - 2) + [True, True]


def test_items_of_a_list_that_is_told_by_its_heads_do_not_repeat_the_lead() -> None:
    pieces = (
        Piece("Open: ghost files; 内容损坏 of rows; wrong trees", 3.0),
        Piece("Open (3): ghost files - of a dismissed run in a.ts", 2.0),
    )
    (row,) = fit_rows([Row("what is open?", pieces)], 600)
    assert [piece.text for piece in row.pieces] == [pieces[0].text, "ghost files - of a dismissed run in a.ts"]


@pytest.mark.parametrize(
    ("row", "cut"),
    [
        (
            "A session finds a branch: Orphaned (no state): Old = SessionIDConflictError in a.go, New = Reset, 继续",
            "A session finds a branch: Orphaned (no state): … New = Reset, 继续",
        ),
        (
            "状态同步: 具体描述 = 只在添加时写入数据库，状态变更没有同步到数据库, 建议优化 = 每次变更都写入",
            "状态同步: … 建议优化 = 每次变更都写入",
        ),
    ],
)
def test_of_a_row_of_a_table_the_last_cell_is_kept(row: str, cut: str) -> None:
    assert shortened_fairly(row, 84) == cut


def test_a_prompt_for_whose_answer_there_was_no_room_gives_way() -> None:
    rows = [
        Row("write the 订单 into a file", (Piece("w" * 400, 9.0),)),
        Row("and now?", (Piece("done in a.py:3", 1.0),)),
    ]
    assert [row.asked for row in fit_rows(rows, 300)] == ["and now?"]
    assert [row.asked for row in fit_rows([Row("write the 订单 into a file"), rows[1]], 300)] == [
        "write the 订单 into a file",
        "and now?",
    ]


@pytest.mark.parametrize(
    ("prompt", "outcome", "names"),
    [
        ("set the timeout of {} to {} seconds", "Done: the timeout of {} is {} s now, in src/clients.py.", "en"),
        ("把 {} 的超时改成 {} 秒", "已改：src/clients.py 里 {} 的超时现在是 {} 秒。", "zh"),
        ("turn on keepalive for {1}_{0}", "Keepalive is on for {1}_{0} in src/clients.py, tests pass.", "en"),
    ],
)
def test_prompts_that_differ_in_a_name_or_a_number_only_are_all_told(prompt: str, outcome: str, names: str) -> None:
    services = ["auth", "billing", "export"] if names == "en" else ["登录", "账单", "导出"]
    rows = [
        Row(prompt.format(name, at + 3), (Piece(outcome.format(name, at + 3), 2.0),))
        for at, name in enumerate(services)
    ]
    assert fit_rows(rows, 1_200) == rows


def test_a_prompt_whose_outcome_the_topic_tells_is_shown_though_it_is_cut() -> None:
    corrected = "ok, 04:00. But no boto3: sign it with the standard library. " + "The image is too large. " * 20
    rows = [
        Row("where does the export run?", (Piece("It runs at 02:30 from cron/export.cron.", 2.0),)),
        Row(corrected, (Piece("The export signs its own requests in jobs/s3.py.", 2.0),)),
        Row("and the docs?", (Piece("They name the new bucket in docs/export.md now.", 2.0),)),
    ]
    fitted = fit_rows(rows, 900, ["the export → last: The export signs its own requests in jobs/s3.py."])
    assert "But no boto3" in fitted[1].asked


@pytest.mark.parametrize("language", ["en", "zh"])
def test_of_a_long_prompt_a_row_shows_what_the_topic_does_not(language: str) -> None:
    prompt = {
        "en": "We need to move the nightly export of the accounting data to the new bucket. "
        "The files keep their names, since the advisor imports them by name. Credentials come from the environment.",
        "zh": "我们要把每晚的会计数据导出从旧的 FTP 服务器迁到新的存储桶，月底 FTP 就关了。"
        "文件名必须保持不变，因为税务顾问按文件名导入；凌晨两点到三点在做备份，那段时间不能跑。密钥一律从环境变量里读。",
    }[language]
    topic = f"{without_middle(prompt, 130)} → last: 5 tests pass"
    row = Row(prompt, (Piece("The export runs at 02:30 from cron/export.cron.", 2.0),))
    (fitted,) = fit_rows([row], 1_000, [topic])
    began, _, ended = topic.partition(" → ")[0].partition(" … ")
    assert fitted.asked.startswith("… ")
    assert fitted.asked.removeprefix("… ") in prompt
    assert began not in fitted.asked
    assert ended not in fitted.asked
    assert ("keep their names" in fitted.asked) or ("文件名必须保持不变" in fitted.asked)
    assert without_texts([row], [fitted.asked])[0].asked == ""
