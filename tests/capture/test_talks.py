"""Notes of invented sessions in the client's format: what a colleague must find in them, and what would mislead."""

from __future__ import annotations

import pytest
from capture.talk import TALKS, note_of

from memtool.text.lines import width
from memtool.vault.sessions import lines_of

NAMES = sorted(path.stem for path in TALKS.glob("*.txt"))


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {name: note_of(tmp_path_factory.mktemp(name), name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_note_is_small(notes: dict[str, str], name: str) -> None:
    assert width(notes[name]) <= 2_600


COUNTS = [
    ("payment_zh", "真正的原因是 DNS"),
    ("payment_zh", "缓存时间改成 2 小时，平台换证书只提前 4 小时通知"),
    ("payment_zh", "P99 从 5.1 秒降到 86 毫秒"),
    ("payment_zh", "不要直接改库"),
    ("payment_zh", "目前还没有执行 --apply"),
    ("export_zh", "还是乱码，客户用的是 WPS for Mac"),
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
