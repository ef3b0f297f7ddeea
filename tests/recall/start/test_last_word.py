from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from memtool.recall.budget import BlockLine, BlockPart, render
from memtool.recall.start.last_word import Heard, LastWord
from memtool.recall.start.settled import settled as settled_parts
from memtool.text.similarity import words

TAKEN_BACK = [
    ("Change of plan: UUIDv7 instead of ULIDs.", "use ULIDs for order ids, because they sort by time"),
    ("改用 UUIDv7，不再用 ULID", "订单号用 ULID，因为能按时间排序"),
    ("缓存不再用 Memcached，改用 Valkey", "缓存放在 Memcached 里"),
    ("把 ULID 换成 UUIDv7", "订单号由 ULID 生成"),
    ("No longer ULIDs: snowflake ids", "the ULID column was added"),
    ("switch from redis to valkey for the cache", "the cache is redis 7"),
    ("replace MySQL with PostgreSQL", "MySQL 8 is the database"),
    ("Let's use UUIDv7 for the order ids after all, not ULIDs.", "order ids are ULIDs"),
    ("We switch the order ids from ULIDs to UUIDv7.", "new order ids are ULIDs"),
    ("Forget ULIDs, take UUIDv7.", "ULIDs, because they sort by time"),
    ("UUIDv7 it is: ULIDs were a mistake", "ULIDs, because they sort by time"),
    ("We decided against ULIDs; make the order ids UUIDv7.", "ULIDs for the order ids"),
    ("ULID 不合适，订单号用 UUIDv7 吧", "订单号由 ULID 生成"),
    ("ULID ではなく UUIDv7 を使う", "注文番号は ULID"),
    ("Scrap Celery, Dramatiq runs the jobs.", "Celery starts the jobs of the runner"),
    ("Swap Celery out for Dramatiq in the runner.", "Celery in the runner, since the ops people know it"),
    ("We reconsidered the job runner: Celery out, Dramatiq in.", "Set up the job runner, I'd go for Celery."),
    ("We're moving the jobs off Celery and onto Dramatiq.", "the jobs run in Celery"),
    ("money amounts: integer cents turned out too coarse", "money amounts are stored as integer cents"),
    ("任务队列换掉 Celery，上 Dramatiq 吧", "搭一下任务队列，用 Celery 就行"),
    ("不要用整数分了，以后金额统一存 Decimal", "金额统一用整数分存，浮点会有误差"),
    ("金额别再用整数分，改用四位小数", "金额按整数分保存"),
    ("时间统一存 UTC，不再用本地时区", "时间按本地时区存"),
    ("令牌有效期从 20 分钟缩短到 10 分钟", "令牌有效期 20 分钟"),
    ("legal won't let us keep Firebase, port the push service", "scaffold the push service, Firebase for delivery"),
    ("statt auth_v1.py nehmen wir auth_v2.py", "die Anmeldung steht in auth_v1.py"),
]
STILL_SO = [
    ("use a switch instead of linked ifelse", "fixed the chain in auth.go"),
    ("we drop the tests folder", "all of it passes with the new tests"),
    ("改用 UUIDv7，不再用 ULID", "令牌有效期为 24 小时"),
    ("UUIDv7 instead of ULIDs", "the ULIDX format is another one"),
    ("the bug is in auth.ts, not jwt.ts", "a leeway of 30 s in jwt.ts"),
    ("no, the tests fail", "the tests pass"),
    ("please don't drop Redis", "the cache is Redis 7"),
    ("请不要放弃 Redis", "缓存放在 Redis 里"),
    ("copy it from main.py to app.py", "main.py starts the server"),
    ("Now add a dashboard for RabbitMQ and NATS", "For the queue we use RabbitMQ"),
    ("it turned out that RabbitMQ was not running", "For the queue we use RabbitMQ"),
    ("the time out, and the log out of the queue", "the log of the queue is kept"),
    ("不要改金额那张表", "金额统一用整数分存"),
    ("这次不用测试了，直接提交", "提交之前先跑测试"),
    ("把 RabbitMQ 的配置从 a.conf 复制到 b.conf", "消息队列用 RabbitMQ，配置在 a.conf"),
    ("rather than waiting, poll", "the queue holds 200 jobs"),
]


@pytest.mark.parametrize(("later", "line"), TAKEN_BACK)
def test_what_the_user_takes_back_no_longer_stands(later: str, line: str) -> None:
    last_word = LastWord()
    assert last_word.lets_stand(later, by_user=True)
    assert not last_word.lets_stand(line)


@pytest.mark.parametrize(("later", "line"), STILL_SO)
def test_what_was_not_taken_back_stands(later: str, line: str) -> None:
    last_word = LastWord()
    last_word.lets_stand(later, by_user=True)
    assert last_word.lets_stand(line)


@pytest.mark.parametrize(
    ("later", "line"),
    [
        (
            "Change the order ids to UUIDv7, please.",
            "Add the model. For the order ids let's use ULIDs, they sort by time.",
        ),
        ("Actually let's go with UUIDv7 for the ids, Postgres has it.", "For the ids we use ULIDs"),
        ("The cache should be Valkey now", "use Redis for the cache"),
        ("订单号改成 UUIDv7。", "新增订单模型。订单号我们用 ULID，因为它能按时间排序。"),
        ("订单号换 UUIDv7 吧", "订单号用 ULID"),
        ("I've reconsidered: the queue is going to be NATS.", "For the queue we use RabbitMQ, ops runs it already."),
        ("The queue moves to NATS.", "For the queue we use RabbitMQ, ops runs it already."),
        ("我重新考虑了一下，消息队列用 NATS", "消息队列用 RabbitMQ，运维已经在跑了"),
    ],
)
def test_another_choice_for_the_same_thing_takes_the_earlier_one_back(later: str, line: str) -> None:
    last_word = LastWord()
    last_word.hear_choices([Heard(line, "2026-01-01 10:00"), Heard(later, "2026-01-02 10:00")])
    assert not last_word.lets_stand(line, when="2026-01-01 10:00")
    assert last_word.lets_stand(later, when="2026-01-02 10:00")


@pytest.mark.parametrize(
    ("later", "line"),
    [
        ("Change the colour of the button to TEAL_500", "For the order ids let's use ULIDs"),
        ("Use UUIDv7 for the tickets", "Use ULIDs for the ids"),
        ("Use API_KEY for the client", "Use BASE_URL for the client"),
        ("Actually, fix auth.ts before you touch the ids", "For the ids we use ULIDs"),
        ("Don't change the ids to UUIDv7", "For the ids we use ULIDs"),
        ("按钮的颜色改成 TEAL_500", "订单号用 ULID"),
    ],
)
def test_a_choice_for_something_else_takes_nothing_back(later: str, line: str) -> None:
    last_word = LastWord()
    last_word.hear_choices([Heard(line, "2026-01-01 10:00"), Heard(later, "2026-01-02 10:00")])
    assert last_word.lets_stand(line, when="2026-01-01 10:00")


def test_who_goes_back_to_an_earlier_choice_has_it_again() -> None:
    said = [
        ("use ULIDs for the order ids", "2026-01-01"),
        ("change the order ids to UUIDv7", "2026-01-02"),
        ("change the order ids back to ULIDs", "2026-01-03"),
    ]
    last_word = LastWord()
    last_word.hear_choices(map(Heard._make, [(*each, "") for each in said]))
    assert [last_word.lets_stand(*each[:1], when=each[1]) for each in said] == [True, False, True]


def test_a_line_that_is_a_sentence_of_another_does_not_take_that_back() -> None:
    last_word = LastWord()
    assert last_word.lets_stand("不要用整数分了，以后金额统一存 Decimal。", by_user=True)
    assert last_word.lets_stand("金额精度不够。不要用整数分了，以后金额统一存 Decimal。", by_user=True)


def test_the_agent_takes_nothing_back() -> None:
    last_word = LastWord()
    last_word.lets_stand("I used UUIDv7 instead of ULIDs.")
    assert last_word.lets_stand("use ULIDs for order ids")


def test_what_was_taken_back_takes_nothing_back_itself() -> None:
    last_word = LastWord()
    last_word.lets_stand("snowflake_ids instead of UUIDv7", by_user=True)
    assert not last_word.lets_stand("UUIDv7 instead of ULIDs", by_user=True)
    assert last_word.lets_stand("we had ULIDs once")


def test_what_was_said_later_than_what_takes_it_back_stands() -> None:
    last_word = LastWord()
    last_word.hear("UUIDv7 instead of ULIDs", "2026-01-02 10:00")
    assert not last_word.lets_stand("订单号用 ULID", when="2026-01-01 24:00")
    assert last_word.lets_stand("ULIDs again, for the log", when="2026-01-02 10:01")
    assert last_word.lets_stand("UUIDv7 instead of ULIDs", when="2026-01-01 10:00"), "it says so itself"


@pytest.mark.slow
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_taken(later: str, line: str) -> None:
    last_word = LastWord()
    assert last_word.lets_stand(later, by_user=True)
    last_word.lets_stand(line)


def part(title: str, *lines: str) -> BlockPart:
    """Return a part of lines such as `Tokens live 24 hours (user, 2026-03-01)`."""
    return BlockPart(title, "sessions/", "", 0.1, (tuple(map(_line, lines)),), more="… 另有 {count} 条")


def _line(text: str) -> BlockLine:
    said, _, about = text.rpartition(" (")
    author, _, day = about.removesuffix(")").partition(", ")
    return BlockLine(f"- {text}", "sessions/a.md:3", said=said, when=day, author=author)


def settled(parts: list[BlockPart], most: int, said: Sequence[frozenset[str]] = ()) -> list[BlockPart]:
    return settled_parts(parts, most, said, contradicted="与 {date} 的说法矛盾")


def texts(parts: list[BlockPart]) -> list[str]:
    return [line.text for part in parts for line in part.lines]


def test_what_two_parts_say_is_said_once_and_as_it_was_said_last() -> None:
    told = settled(
        [
            part("Decided", "Tokens live 24 hours (user, 2026-03-01)"),
            part("Facts", "tokens live 24 hours (decision, 2026-02-01)"),
        ],
        40,
    )
    assert texts(told) == ["- Tokens live 24 hours (user, 2026-03-01)"]


def test_questions_contradict_nothing() -> None:
    asked = [
        "asked at the end: Which do you prefer? 1 = commit this branch of 订单; 2 = no branch (agent, 2026-03-01)",
        "asked at the end: Do you want me to commit this branch of 订单? (agent, 2026-02-01)",
    ]
    assert texts(settled([part("Left open", *asked)], 40)) == [f"- {text}" for text in asked]


def test_of_two_that_contradict_each_other_the_older_is_marked_with_the_date_of_the_newer() -> None:
    told = texts(
        settled(
            [part("Decided", "令牌有效期为 24 小时 (user, 2026-03-01)", "令牌有效期为 12 小时 (user, 2026-02-01)")], 40
        )
    )
    assert told[0] == "- 令牌有效期为 24 小时 (user, 2026-03-01)"
    assert told[1].endswith("[与 2026-03-01 的说法矛盾]")


def test_the_users_word_is_stronger_than_a_newer_one_of_the_agent() -> None:
    told = texts(
        settled(
            [
                part(
                    "Decided",
                    "the login service listens on port 8080 (agent, 2026-03-01)",
                    "the login service listens on port 9090 (user, 2026-02-01)",
                )
            ],
            40,
        )
    )
    assert "矛盾" in told[0]
    assert "矛盾" not in told[1]


def test_what_the_client_reads_by_itself_is_not_said_again() -> None:
    said = [words("- Always write table-driven tests."), words("永远不要直接推送到 main 分支")]
    told = settled(
        [part("Asked for", "always write table-driven tests (user, 2026-03-01)", "use pnpm, not npm (user, 2026-03-01)",
              "永远不要直接推送到 main 分支 (user, 2026-03-01)")],
        40,
        said,
    )  # fmt: skip
    assert texts(told) == ["- use pnpm, not npm (user, 2026-03-01)"]


def test_of_many_lines_the_rest_is_counted_and_where_it_stands_is_said() -> None:
    names = ["apple", "pear", "plum", "quince", "cherry"]
    (told,) = settled(
        [part("Facts", *(f"the {name} belongs to shelf {at} (fact, 2026-03-01)" for at, name in enumerate(names)))], 2
    )
    assert len(told.lines) == 2
    assert render(told).endswith("- … 另有 3 条")


def test_things_that_only_look_alike_do_not_contradict_each_other() -> None:
    told = settled(
        [part("Facts", "worker 3 reads its queue from stage_3 (agent, 2026-03-02)",
              "worker 4 reads its queue from stage_4 (agent, 2026-03-01)")],
        40,
    )  # fmt: skip
    assert not any("contradicted" in text for text in texts(told))


def test_an_open_item_that_a_session_left_open_as_well_is_told_once() -> None:
    todos = BlockPart(
        "Open items",
        "todos.md",
        "",
        0.1,
        ((BlockLine("- 短信模板仍然是英文", "todos.md:3", said="短信模板仍然是英文"),),),
    )
    told = settled([todos, part("Left open", "短信模板仍然是英文 (agent, 2026-03-01)")], 40)
    assert len(texts(told)) == 1


@pytest.mark.parametrize(
    ("later", "line"),
    [
        (
            "five minutes turned out to be far too long. cap the backoff at 30 seconds from now on",
            "exponential backoff capped at 5 minutes is enough for us",
        ),
        (
            "the dashboard wants fewer round trips, make the page size 200",
            "the export needs pagination, page size 50 should do since the app shows 20 rows",
        ),
        ("三点和备份撞上了，清理任务挪到五点", "写个定时任务清理过期订单，每天凌晨三点跑就行"),
        ("本地内存会不一致，缓存还是放到 Redis 里", "缓存就放本地内存里吧，单机部署用不着 Redis"),
        ("put the cache into Redis after all", "keep the cache in memory, no need for Redis"),
    ],
)
def test_a_later_line_replaces_one_that_says_otherwise_of_the_same(later: str, line: str) -> None:
    last_word = heard((line, "2026-01-01"), (later, "2026-01-02"))
    assert not last_word.lets_stand(line, when="2026-01-01")
    assert last_word.lets_stand(later, when="2026-01-02")


@pytest.mark.parametrize(
    ("later", "line"),
    [
        ("set the upload timeout to 60 seconds", "the session timeout is 30 minutes"),
        ("raise the limit of the export to 200 rows", "the import takes 50 rows at once"),
        ("make the button 20 pixels wide", "the page has 50 rows"),
        ("now add Redis to the compose file", "the worker is a cron job, no need for Celery"),
        ("周报任务挪到五点", "备份每天凌晨三点跑"),
    ],
)
def test_another_number_of_something_else_replaces_nothing(later: str, line: str) -> None:
    assert heard((line, "2026-01-01"), (later, "2026-01-02")).lets_stand(line, when="2026-01-01")


LINTED = "add lint rules for the new hooks added react-hooks/rules-of-hooks for ESLint in .eslintrc.json"


@pytest.mark.parametrize(
    ("later", "before", "line"),
    [
        ("no, we use Biome", LINTED, "Set up linting for the frontend, ESLint with Prettier like everywhere else"),
        ("nope, it's Biome here", LINTED, "let's use ESLint"),
        ("不是 npm，这里用的是 pnpm", "", "已用 `npm install` 安装依赖"),
        ("不对，我们用 Vitest", "给购物车加测试 已用 Jest 写了 5 个用例", "购物车的测试用 Jest"),
        ("no, not npm, we use pnpm", "", "run npm install first"),
    ],
)
def test_a_denial_takes_back_what_the_agent_did(later: str, before: str, line: str) -> None:
    last_word = heard((line, "2026-01-01"), (later, "2026-01-02", before))
    assert last_word.lets_stand(later, by_user=True, when="2026-01-02")
    assert not last_word.lets_stand(line, when="2026-01-01")


@pytest.mark.parametrize(
    ("later", "before", "line"),
    [
        ("no, we use Biome", LINTED, "the login fails in Safari"),
        ("no, the tests fail", LINTED, "lint with ESLint"),
        ("no, use the other button", "moved the Save button in Settings", "the Settings page is slow in Safari"),
        ("we use Biome", LINTED, "let's use ESLint"),
        ("不是这个文件，改 jwt.ts", "已修改 auth.ts", "auth.ts 里有登录"),
    ],
)
def test_a_denial_of_something_else_takes_nothing_back(later: str, before: str, line: str) -> None:
    last_word = heard((line, "2026-01-01"), (later, "2026-01-02", before))
    last_word.lets_stand(later, by_user=True, when="2026-01-02")
    assert last_word.lets_stand(line, when="2026-01-01")


def heard(*lines: tuple[str, ...]) -> LastWord:
    """Return the last word after these lines of the user, each with when, and what was before it."""
    last_word = LastWord()
    last_word.hear_choices([Heard(*line) for line in lines])
    return last_word
