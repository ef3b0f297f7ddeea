from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from desk import NOW, Desk
from session_notes import lines, note_of
from unprivileged import unprivileged

from memtool.consolidate.run import consolidate
from memtool.consolidate.week import week_of
from memtool.errors import Busy, HistoryFailed, NotWritable
from memtool.git import tell
from memtool.history.commits import commit
from memtool.memory.fact_book import root_of, verify
from memtool.memory.remember import remember
from memtool.recall.given import PROMPT, GivenLine, Giving, keep_giving
from memtool.recall.ledger import ledger_folder
from memtool.recall.start.session_start import session_context
from memtool.recall.uses import USES, Fate, keep_fates
from memtool.text.json_places import JsonList, parse_list
from memtool.vault import daily as vault_daily, facts as vault_facts
from memtool.vault.facts import parse_facts
from memtool.vault.layout import Vault, open_vault, session_ref
from memtool.vault.marks import GENERATED, GENERATED_END
from memtool.vault.memory import NewMemory
from memtool.vault.sessions import SessionNote, parse_session
from memtool.workspace import Workspace

WEEK = week_of(NOW.date())
FIX = "no such table: users → the tests begin before the migrations → conftest.py runs these first ✓ `pytest tests/db`"


@pytest.fixture
def work(vault: Vault) -> Workspace:
    return Desk(vault).work


def write(vault: Vault, ref: str, text: str) -> None:
    path = vault.root / ref
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    commit(vault.root, [ref], ref)


def session(vault: Vault, name: str, *, days_ago: int = 1, project: str = "shop", **said: Any) -> None:
    at = (NOW - timedelta(days=days_ago)).strftime("%Y-%m-%d 10:00")
    ref = session_ref(name)
    write(vault, ref, note_of(name, *lines(**said), project=project, updated=at, title=f"work of {name}"))


def facts(vault: Vault, project: str = "shop") -> dict[str, Any]:
    path = vault.root / f"areas/projects/{project}/facts.json"
    return {fact.fact: fact for fact in parse_facts(path.read_text(encoding="utf-8")).facts} if path.exists() else {}


def commits(vault: Vault) -> list[str]:
    return tell(vault.root, "log", "--format=%s").splitlines()


@pytest.mark.slow
def test_what_the_user_decided_and_demanded_and_a_proved_fix_become_facts(work: Workspace) -> None:
    vault = work.vault
    session(vault, "one", rules=("always write table-driven tests",), commands=("pnpm test",))
    session(vault, "two", decisions=("“Order ids are ULIDs, because they sort by time.”",), commands=("pnpm test",))
    guesses = "connection refused → 端口 80 → another port in settings.py", "端口被占用 → settings.py ✓ `make test`"
    session(vault, "three", fixes=(FIX, *guesses), done=("The gateway must listen on port 8443.",))
    session(vault, "四", rules=("提交之前始终运行 `pnpm test`",))
    session(vault, "五", decisions=("会话存储改用 Redis",), author="agent")
    before = len(commits(vault))
    outcome = consolidate(work, WEEK)
    found = facts(vault)
    assert {text: (fact.category, fact.author) for text, fact in found.items()} == {
        "always write table-driven tests": ("preference", "user"),
        "Order ids are ULIDs, because they sort by time.": ("decision", "user"),
        "提交之前始终运行 `pnpm test`": ("preference", "user"),
        FIX.partition(" ✓")[0]: ("bug", "agent"),
    }
    assert found["always write table-driven tests"].evidence == '"always write table-driven tests" (one.md:13)'
    assert len(commits(vault)) == before + 1
    assert commits(vault)[0].startswith(f"consolidate: {WEEK}: 4 facts")
    assert "\n- fact of shop: 提交之前始终运行 `pnpm test` (fact-" in tell(vault.root, "log", "-1", "--format=%B")
    assert tell(vault.root, "status", "--porcelain") == ""
    report = (vault.root / f"reports/{WEEK}.md").read_text(encoding="utf-8")
    assert "[work of one](../sessions/one.md)" in report
    assert outcome.kept.commit
    assert [finding.kind for finding in verify(work)] == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("“我们用 ULID 做订单号，因为能按时间排序”", "我们用 ULID 做订单号，因为能按时间排序"),
        ("“方案二” → 网关统一限流", "网关统一限流"),
        (
            "“2, but at most 5 a minute” → the gateway limits logins",
            "the gateway limits logins (“2, but at most 5 a minute”)",
        ),
        ("Where do sessions live? → “in Redis”", "Where do sessions live? → “in Redis”"),
    ],
)
def test_a_fact_reads_without_its_note(work: Workspace, line: str, said: str) -> None:
    session(work.vault, "one", decisions=(line,))
    assert [judged.proposal.text for judged in consolidate(work, WEEK, dry=True).judged] == [said]


@pytest.mark.parametrize("author", ["agent", "tool", "imported"])
def test_only_the_users_own_word_is_a_decision_or_a_rule(work: Workspace, author: str) -> None:
    rules, decisions = ("以后一律用 zebra 部署",), ("We use zebra instead of Postgres.",)
    session(work.vault, "one", author=author, rules=rules, decisions=decisions)
    assert consolidate(work, WEEK).judged == []


def test_a_week_parses_each_session_note_once(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        session(work.vault, f"s{number}", days_ago=60 + number, rules=(f"never touch schema{number}.ts by hand",))
    session(work.vault, "新", rules=("提交之前始终运行 `pnpm test`",))
    parsed: list[str] = []

    def counting(text: str) -> SessionNote:
        parsed.append(text)
        return parse_session(text)

    monkeypatch.setattr("memtool.consolidate.proposals.parse_session", counting)
    monkeypatch.setattr("memtool.memory.fact_book.lines_of", lambda _: pytest.fail("a note was parsed again"))
    consolidate(work, WEEK, review_first=True)
    assert sorted(parsed) == sorted({*parsed})
    assert len(parsed) == 5


def test_a_week_parses_each_facts_file_once_as_it_was_and_once_as_it_is(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, project in enumerate(("shop", "茶馆", "cli")):
        session(work.vault, f"s{number}", project=project, rules=(f"never touch schema{number}.ts by hand",))
    consolidate(work, WEEK)
    session(work.vault, "新", rules=("提交之前始终运行 `pnpm test`",))
    parsed: list[str] = []

    def counting(text: str, name: str) -> JsonList:
        parsed.append(text)
        return parse_list(text, name)

    monkeypatch.setattr(vault_facts, "parse_list", counting)
    parse_facts.cache_clear()
    consolidate(work, WEEK)
    assert len({*parsed}) == 5  # an empty area, three as they were, one as it is
    assert len(parsed) <= 6  # the index reads the changed one again


def test_a_note_may_have_any_name_and_its_facts_are_still_verified(work: Workspace) -> None:
    session(work.vault, "3f2a9c", rules=("以后一律用 `pnpm` 安装依赖",))
    consolidate(work, WEEK)
    folder = work.vault.root / "sessions"
    (folder / "3f2a9c.md").rename(folder / "2026-02-09-用-pnpm.md")
    assert verify(work) == []
    (fact,) = facts(work.vault).values()
    assert fact.source == "3f2a9c"
    assert [judged.fate for judged in consolidate(work, WEEK).judged] == ["known"]


def test_what_was_saved_in_a_session_is_not_written_a_second_time(work: Workspace) -> None:
    saved = NewMemory("Order ids are ULIDs, made in ids.ts, because they sort by time", source="one", project="shop")
    remember(work, saved)
    session(work.vault, "one", decisions=("We use ULIDs as order ids, because they sort by time",))
    session(work.vault, "二", decisions=("会话存储改用 Redis，不用内存",))
    assert [judged.fate for judged in consolidate(work, WEEK).judged] == ["known", "new"]
    assert sum("ULIDs" in text for text in facts(work.vault)) == 1


@pytest.mark.slow
def test_a_second_run_changes_nothing(work: Workspace) -> None:
    session(work.vault, "one", rules=("always write table-driven tests",), commands=("pnpm test",))
    consolidate(work, WEEK)
    before = tell(work.vault.root, "rev-parse", "HEAD")
    again = consolidate(work, WEEK)
    assert (again.changes, [*again.written], again.kept.commit) == ([], [], "")
    assert tell(work.vault.root, "rev-parse", "HEAD") == before


@pytest.mark.slow
def test_a_dry_run_writes_nothing(work: Workspace) -> None:
    session(work.vault, "one", rules=("always write table-driven tests",))
    session(work.vault, "old", days_ago=100)
    for number in range(5):
        session(work.vault, f"n{number}")
    before = sorted(path for path in work.vault.root.rglob("*") if ".git" not in path.parts)
    outcome = consolidate(work, WEEK, dry=True)
    assert any("table-driven" in change for change in outcome.changes)
    assert any("archive" in change for change in outcome.changes)
    after = sorted(path for path in work.vault.root.rglob("*") if ".git" not in path.parts)
    assert {path for path in after if ".memtool" not in path.parts} == {p for p in before if ".memtool" not in p.parts}
    assert tell(work.vault.root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_vault_that_cannot_be_written_can_be_tried(work: Workspace) -> None:
    session(work.vault, "one", rules=("always write table-driven tests",))
    said = consolidate(work, WEEK, dry=True).changes
    state = work.vault.state_path
    for path in (*state.rglob("*"), state, work.vault.root):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        with unprivileged():
            assert len(consolidate(work, WEEK, dry=True).changes) == len(said) > 0
            with pytest.raises(NotWritable):
                consolidate(work, WEEK)
    finally:
        for path in (work.vault.root, state, *state.rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.slow
def test_what_was_archived_is_not_proposed_again(work: Workspace) -> None:
    session(work.vault, "one", rules=("always write table-driven tests",))
    consolidate(work, WEEK)
    ref = "areas/projects/shop/facts.json"
    text = (work.vault.root / ref).read_text().replace('"active"', '"archived"')
    write(work.vault, ref, text)
    session(work.vault, "two", rules=("always write table-driven tests",))
    assert [judged.fate for judged in consolidate(work, WEEK).judged] == ["rejected"]


@pytest.mark.slow
def test_what_the_user_says_again_gains_confidence_and_no_copy(work: Workspace) -> None:
    session(work.vault, "one", rules=("always write table-driven tests",))
    consolidate(work, WEEK)
    (before,) = facts(work.vault).values()
    session(work.vault, "two", rules=("Always write table-driven tests.",))
    consolidate(work, WEEK)
    (after,) = facts(work.vault).values()
    assert after.confidence > before.confidence
    assert [span["source"] for span in after.spans] == ["one", "two"]


def test_a_fact_says_what_was_typed_without_the_words_that_open_it(work: Workspace) -> None:
    session(work.vault, "one", rules=("Alright, always write table-driven tests",))
    session(work.vault, "四", rules=("好的，嗯，以后一律用 `pnpm` 安装依赖",))
    consolidate(work, WEEK)
    found = facts(work.vault)
    assert set(found) == {"always write table-driven tests", "以后一律用 `pnpm` 安装依赖"}
    assert [finding.kind for finding in verify(work)] == []


@pytest.mark.slow
def test_a_later_word_on_the_same_subject_supersedes_with_both_dates(work: Workspace) -> None:
    session(work.vault, "one", days_ago=5, rules=("the gateway must always listen on port 8443",))
    session(work.vault, "一", days_ago=4, decisions=("会话存储用 Redis",))
    consolidate(work, WEEK)
    session(work.vault, "two", rules=("the gateway must always listen on port 9443",))
    session(work.vault, "二", decisions=("会话存储不再用 Redis，改用 PostgreSQL",))
    changes = consolidate(work, WEEK).changes
    found = facts(work.vault)
    for was, now in (
        ("the gateway must always listen on port 8443", "the gateway must always listen on port 9443"),
        ("会话存储用 Redis", "会话存储不再用 Redis，改用 PostgreSQL"),
    ):
        old, new = found[was], found[now]
        assert (old.status, old.superseded_by, new.supersedes) == ("superseded", new.id, old.id)
        assert any(old.timestamp[:10] in line and new.timestamp[:10] in line for line in changes)
    assert consolidate(work, WEEK).changes == []


def test_what_only_looks_like_another_fact_waits_beside_it(work: Workspace) -> None:
    session(work.vault, "one", days_ago=5, decisions=("The storefront caches pages in Redis", "缓存放在 Redis"))
    session(work.vault, "two", decisions=("The storefront caches pages in Varnish", "缓存放在 Memcached"))
    judged = consolidate(work, WEEK).judged
    assert [one.fate for one in judged] == ["new", "new", "review", "review"]
    assert {fact.status for fact in facts(work.vault).values()} == {"active"}


def test_what_was_given_up_may_be_decided_again(work: Workspace) -> None:
    first = ("Order ids are 26 characters long", "订单号长度是 26 位")
    second = ("Order ids are 32 characters long", "订单号长度是 32 位")
    for days_ago, said in ((6, first), (4, second), (2, first)):
        session(work.vault, f"s{days_ago}", days_ago=days_ago, decisions=said)
        consolidate(work, WEEK)
    holding = [fact.fact for fact in facts(work.vault).values() if fact.status == "active"]
    assert sorted(holding) == sorted(first)
    assert consolidate(work, WEEK).changes == []


@pytest.mark.slow
def test_old_notes_go_to_the_archive_with_their_links(work: Workspace) -> None:
    vault = work.vault
    for number in range(6):
        session(vault, f"s{number}", days_ago=40 + number)
    day = (NOW - timedelta(days=45)).date().isoformat()
    write(
        vault,
        f"daily/{day}.md",
        f"---\ntype: daily\ndate: {day}\n---\n\n## Sessions\n\n- 10:00: [a](../sessions/s5.md)\n",
    )
    write(vault, "daily/2025-01-01.md", "- 10:00: `a.py`\n\n## Sessions\n\n- 10:00: [b](../sessions/s5.md)\n")
    consolidate(work, WEEK)
    assert not (vault.root / "sessions/s5.md").exists()
    assert (vault.root / "archive/sessions/s5.md").exists()
    assert (vault.root / "sessions/s4.md").exists()  # of the newest five
    assert "](../archive/sessions/s5.md)" in (vault.root / f"daily/{day}.md").read_text()
    assert "](../sessions/s5.md)" in (vault.root / "archive/daily/2025-01-01.md").read_text()
    assert tell(vault.root, "status", "--porcelain") == ""
    assert consolidate(work, WEEK).changes == []


@pytest.mark.slow
def test_an_old_week_takes_nothing_from_later_ones(work: Workspace) -> None:
    vault = work.vault
    for month in range(12):
        name, days_ago = f"s{month}", 20 + 30 * month
        session(vault, name, days_ago=days_ago, decisions=(f"端口 {month} → 80{month:02}",))
        at = NOW - timedelta(days=days_ago)
        listed = vault_daily.DailySession("10:00", "shop", name, f"work of {name}")
        write(vault, f"daily/{at:%Y-%m-%d}.md", vault_daily.render_daily(at.date(), sessions=[listed]))
    before = session_context(work, "shop").text
    old = week_of((NOW - timedelta(days=200)).date())
    consolidate(work, old)
    left = sorted(path.stem for path in (vault.root / "daily").glob("*.md"))
    archived = [path.stem for path in (vault.root / "archive").rglob("????-??-??.md")]
    assert archived
    assert max(archived) <= old.last.isoformat() < min(day for day in left if day > max(archived))
    assert len(left) == 6
    assert all(name in session_context(work, "shop").text for name in ("work of s0", "work of s4"))
    assert before.count("work of") == session_context(work, "shop").text.count("work of")


def test_a_journal_of_the_user_stays_and_the_days_beside_it_are_told_of_and_archived(work: Workspace) -> None:
    settings_path = work.vault.settings_path
    settings_path.write_text('daily_folder = "日记"\n' + settings_path.read_text(encoding="utf-8"), encoding="utf-8")
    vault = open_vault(work.vault.root)
    work = work._replace(vault=vault)
    (yesterday,) = (day for day in WEEK.days() if day == NOW.date() - timedelta(days=1))
    for day in ("2025-01-01", yesterday.isoformat()):
        write(vault, f"日记/{day}.md", "# 我的日记\n\n今天天气很好。\n")
        write(vault, f"日记/{day}.memtool.md", "---\ntype: daily\n---\n\n## Edits\n\n- 10:00 **shop**: `a.py`\n")
    before = len(vault_daily.listed_entries((vault.root / "日记/2025-01-01.memtool.md").read_text(encoding="utf-8")))
    consolidate(work, WEEK)
    names = sorted(path.name for path in (vault.root / "日记").iterdir())
    assert names == ["2025-01-01.md", f"{yesterday}.md", f"{yesterday}.memtool.md"]
    assert [path.name for path in (vault.root / "archive/日记").iterdir()] == ["2025-01-01.memtool.md"]
    report = (vault.root / f"reports/{WEEK}.md").read_text(encoding="utf-8")
    assert re.search(rf"{yesterday} +{before} ", report)


@pytest.mark.slow
def test_a_session_that_goes_on_after_it_was_archived_is_archived_once(work: Workspace) -> None:
    vault = work.vault
    for number in range(6):
        session(vault, f"s{number}", days_ago=100 + number)
    day = (NOW - timedelta(days=105)).date().isoformat()
    write(vault, f"daily/{day}.md", "- 09:00 **shop**: `a.py`\n\n## Sessions\n\n- 10:00: [a](../sessions/s5.md)\n")
    consolidate(work, WEEK)
    session(vault, "s5", days_ago=105, rules=("写测试时一律用 table.py",))
    write(vault, f"daily/{day}.md", "- 11:00 **shop**: `b.py`\n\n## Sessions\n\n- 11:00: [a](../sessions/s5.md)\n")
    consolidate(work, WEEK)
    archived = sorted(path.name for path in (vault.root / "archive").rglob("*.md"))
    assert archived == sorted([f"{day}.md", "s5.md"])
    assert "table.py" in (vault.root / "archive/sessions/s5.md").read_text(encoding="utf-8")
    text = (vault.root / f"archive/daily/{day}.md").read_text(encoding="utf-8")
    assert all(said in text for said in ("`a.py`", "`b.py`", "](../sessions/s5.md)"))
    assert consolidate(work, WEEK).changes == []


@pytest.mark.slow
def test_the_next_start_of_a_project_at_rest_still_knows_its_sessions(work: Workspace) -> None:
    vault = work.vault
    session(vault, "last", days_ago=200, project="tea", rules=("prices in tea.sql are always in cents",))
    day = (NOW - timedelta(days=200)).date().isoformat()
    write(vault, f"daily/{day}.md", "## Sessions\n\n- 10:00 **tea**: [茶 the prices](../sessions/last.md)\n")
    before = session_context(work, "tea").text
    assert "work of last" in before
    consolidate(work, WEEK)
    assert "work of last" in session_context(work, "tea").text
    assert "in cents" in session_context(work, "tea").text
    assert consolidate(work, WEEK).changes == []


@pytest.mark.slow
def test_done_items_and_generated_sections(work: Workspace) -> None:
    vault = work.vault
    write(vault, "areas/projects/shop/todos.md", "# Open items\n\n- [ ] rate limiting of the login route\n")
    write(vault, "areas/projects/shop/summary.md", "---\ntype: project\n---\n\n# shop\n\nSells shoes. 卖鞋。\n")
    for name in ("one", "two", "three"):
        session(vault, name, commands=("pnpm test",), done=("commit: rate limiting of the login route, with tests",))
    session(vault, "four", rules=("always write table-driven tests",), decisions=("订单号用 ULID",))
    session(vault, "five", project="api", rules=("always write table-driven tests",), commands=("go vet ./...",))
    consolidate(work, WEEK)
    assert (
        "- [x] rate limiting of the login route (done in session one)"
        in (vault.root / "areas/projects/shop/todos.md").read_text()
    )
    summary = (vault.root / "areas/projects/shop/summary.md").read_text(encoding="utf-8")
    day = (NOW - timedelta(days=1)).date()
    assert summary.endswith(
        f"Sells shoes. 卖鞋。\n\n{GENERATED}\n## Decisions\n\n- 订单号用 ULID ({day})\n\n"
        f"## Rules\n\n- always write table-driven tests ({day})\n\n"
        f"## Commands\n\n- `pnpm test`\n{GENERATED_END}\n"
    )
    assert f"- always write table-driven tests (api, shop, {day})" in (vault.root / "MEMORY.md").read_text()
    assert consolidate(work, WEEK).changes == []
    path = vault.root / "areas/projects/shop/summary.md"
    path.write_text(summary.replace("Sells shoes.", "Sells boots.") + "\n手写 below\n", encoding="utf-8")
    session(vault, "six", decisions=("Refunds are paid by hand",))
    consolidate(work, WEEK)
    edited = path.read_text(encoding="utf-8")
    assert "Sells boots. 卖鞋。" in edited
    assert edited.endswith("\n手写 below\n")
    assert "- Refunds are paid by hand" in edited


def test_the_summary_of_a_project_is_not_said_again_below_it(work: Workspace) -> None:
    write(work.vault, "areas/projects/shop/summary.md", "---\ntype: project\n---\n\n# shop\n\nSells shoes. 卖鞋。\n")
    said = ("Order ids are ULIDs, made in ids.ts", "退款一律由人工处理")
    session(work.vault, "one", decisions=said)
    consolidate(work, WEEK)
    block = session_context(work, "shop").text
    assert [block.count(text) for text in said] == [1, 1]
    session(work.vault, "two", days_ago=0, decisions=("Order ids are UUIDs, made in ids.ts",))
    assert "Order ids are UUIDs" in session_context(work, "shop").text, "it is newer than the summary"


def test_what_was_superseded_is_not_given_from_its_session(work: Workspace) -> None:
    session(work.vault, "one", days_ago=5, rules=("the gateway must always listen on port 8443", "会话存储用 Redis"))
    session(work.vault, "two", rules=("the gateway must always listen on port 9443", "会话存储不再用 Redis，改用内存"))
    consolidate(work, WEEK)
    block = session_context(work, "shop").text
    assert [block.count(text) for text in ("8443", "9443", "存储用 Redis", "改用内存")] == [0, 1, 0, 1]


@pytest.mark.slow
def test_the_report_says_what_became_of_given_lines_and_names_those_that_are_never_used(work: Workspace) -> None:
    session(work.vault, "2026-02-09-login", rules=["Log in auth.ts 一律打印订单号"])
    rule = GivenLine("k3f9", "sessions/2026-02-09-login.md", 0, "", "Log in auth.ts 一律打印订单号")
    giving = Giving("2026-02-09T10:00:00+08:00", PROMPT, "shop", 1, lines=(rule,))
    keep_giving(ledger_folder(work), "s1", giving)
    keep_fates(work.index_folder, "s1", "2026-02-09", [Fate(rule.key, 10, 10, used=False), Fate("x", 2, 2, used=True)])
    ref = consolidate(work, WEEK).week
    report = (work.vault.root / f"reports/{ref}.md").read_text("utf-8")
    assert "## Given to sessions\n\n- given 12, arrived 12, used 1 of 2 that would show it\n" in report
    assert "Log in auth.ts 一律打印订单号 (sessions/2026-02-09-login.md)\n" in report
    (work.index_folder / USES).unlink()  # another machine that has the same vault
    consolidate(work, WEEK)
    assert (work.vault.root / f"reports/{ref}.md").read_text("utf-8") == report


@pytest.mark.slow
def test_two_runs_at_once_do_not_meet(work: Workspace) -> None:
    with work.vault.lock("consolidate"), pytest.raises(Busy, match="another run of"):
        consolidate(work, WEEK)


def test_the_users_own_edits_stay_out_of_the_commit(work: Workspace) -> None:
    session(work.vault, "one", rules=("always write table-driven tests",))
    (work.vault.root / "CLAUDE.md").write_text("my own, uncommitted\n")
    consolidate(work, WEEK)
    assert tell(work.vault.root, "status", "--porcelain").strip() == "M CLAUDE.md"


@pytest.mark.slow
def test_what_the_user_wrote_into_a_file_of_the_run_is_a_commit_of_its_own(work: Workspace) -> None:
    vault = work.vault
    session(vault, "one", rules=("always write table-driven tests",))
    own = '{"facts": [{"id": "我的", "fact": "手写", "evidence": "x", "timestamp": "2026-01-01", "status": "active",'
    ref = "areas/projects/shop/facts.json"
    (vault.root / ref).parent.mkdir(parents=True, exist_ok=True)
    (vault.root / ref).write_text(f'{own} "category": "code"}}]}}\n', encoding="utf-8")
    consolidate(work, WEEK)
    assert {"手写", "always write table-driven tests"} <= set(facts(vault))
    assert commits(vault)[1] == f"keep: {ref}"
    assert commits(vault)[0].startswith("consolidate: ")
    assert "手写" in tell(vault.root, "show", "HEAD~1")


@pytest.mark.slow
def test_edits_of_the_user_in_notes_that_are_archived_are_one_commit(work: Workspace) -> None:
    vault = work.vault
    for number in range(8):
        session(vault, f"s{number}", days_ago=99)
        path = vault.root / session_ref(f"s{number}")
        path.write_text(f"{path.read_text(encoding='utf-8')}\n我的 note\n", encoding="utf-8")
    before = len(commits(vault))
    consolidate(work, WEEK)
    assert [subject.partition(":")[0] for subject in commits(vault)[:-before]] == ["consolidate", "keep"]
    assert tell(vault.root, "status", "--porcelain").count("\n") == 5  # what stays is left as it is


@pytest.mark.slow
def test_a_lock_of_git_that_was_left_is_named_until_it_is_gone(work: Workspace) -> None:
    session(work.vault, "one", rules=("始终使用 table-driven tests",))
    lock = work.vault.root / ".git/index.lock"
    lock.touch()
    for _ in range(2):
        assert "doctor --fix" in consolidate(work, WEEK).kept.notice
    lock.unlink()
    assert consolidate(work, WEEK).kept.notice == ""
    assert tell(work.vault.root, "status", "--porcelain") == ""


def test_facts_of_another_tool_are_complained_of_in_their_lines(work: Workspace) -> None:
    path = work.vault.root / "areas/projects/shop/facts.json"
    path.parent.mkdir(parents=True)
    said = '"evidence": "x", "timestamp": "2026-01-01", "status": "active"'
    path.write_text(f'{{"facts": [\n{{"id": "f-1", "fact": "端口是 9000", {said}}},\n{{"fact": "no id", {said}}}\n]}}')
    found = [(finding.kind, finding.id, finding.line, finding.sentence) for finding in verify(work)]
    assert found == [
        ("broken", "f-1", 2, "'category' is a required property"),
        ("broken", "", 3, "'category' is a required property"),
        ("broken", "", 3, "'id' is a required property"),
    ]


def test_without_git_it_works_and_says_so(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    (root / "sessions").mkdir(parents=True)
    (root / "memtool.toml").write_text("")
    said = note_of("one", *lines(rules=("always use tabs in app.py",)), updated="2026-02-09 10:00")
    (root / "sessions/one.md").write_text(said)
    outcome = consolidate(Desk(Vault(root.resolve())).work, WEEK)
    assert "no git repository" in outcome.kept.notice
    assert (root / "areas/projects/shop/facts.json").exists()


@pytest.mark.slow
def test_killed_at_any_write_or_call_of_git_the_next_run_completes_it(work: Workspace) -> None:
    vault = work.vault
    for number in range(7):
        session(vault, f"s{number}", days_ago=40 + number, commands=("pnpm test",))
    session(vault, "new", rules=("always write table-driven tests",), fixes=(FIX,))
    tell(vault.root, "tag", "start")
    consolidate(work, WEEK)
    wanted = _state(vault)
    for last in range(60):
        tell(vault.root, "reset", "--hard", "--quiet", "start")
        tell(vault.root, "clean", "-dfq")
        with pytest.MonkeyPatch.context() as killing:
            _kill_at(killing, last, vault)
            try:
                consolidate(work, WEEK)
            except KeyboardInterrupt:
                is_over = False
            else:
                is_over = True
        if not is_over:
            consolidate(work, WEEK)
        assert _state(vault) == wanted, last
        assert tell(vault.root, "status", "--porcelain") == "", last
        if is_over:
            break
    assert last > 12


def _kill_at(killing: pytest.MonkeyPatch, number: int, vault: Vault) -> None:
    """Let the run die before its write or call of git with that *number*."""
    left = [number]

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if str(vault.root) in str(args):
                if left[0] == 0:
                    raise KeyboardInterrupt
                left[0] -= 1
            return real(*args, **options)

        return call

    killing.setattr(os, "replace", dying(os.replace))
    killing.setattr(subprocess, "run", dying(subprocess.run))


def _state(vault: Vault) -> dict[str, Any]:
    """Return the files of the vault; the ids of facts, and what lists them, are made anew each time."""
    found: dict[str, Any] = {}
    for path in vault.root.rglob("*"):
        ref = path.relative_to(vault.root).as_posix()
        if not path.is_file() or ref.startswith((".git/", ".memtool/")):
            continue
        text = path.read_text(encoding="utf-8")
        plain = re.sub(r"fact-[0-9a-f-]+", "fact-…", text)
        found[ref] = sorted(fact["fact"] for fact in json.loads(text)["facts"]) if ref.endswith("facts.json") else plain
    return found


def test_facts_alone(work: Workspace) -> None:
    session(work.vault, "one", days_ago=100, rules=("always write table-driven tests",))
    consolidate(work, WEEK, tidy=False)
    assert len(facts(work.vault)) == 1
    assert (work.vault.root / "sessions/one.md").exists()
    assert not (work.vault.root / "reports").exists()


@pytest.mark.slow
def test_a_broken_file_hides_no_other(work: Workspace) -> None:
    session(work.vault, "one", rules=("always write table-driven tests",))
    broken = work.vault.root / "areas/projects/api/facts.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    (work.vault.root / "sessions/odd.md").write_bytes(b"\xff\xfe\x00")
    outcome = consolidate(work, WEEK)
    assert any("api/facts.json" in problem for problem in outcome.problems)
    assert len(facts(work.vault)) == 1
    assert broken.read_text() == "{"


def test_a_merge_under_way_is_left_alone(work: Workspace) -> None:
    vault = work.vault
    session(vault, "one", days_ago=100, rules=("always write table-driven tests",))
    (vault.root / ".git/MERGE_HEAD").write_text(tell(vault.root, "rev-parse", "HEAD"))
    with pytest.raises(HistoryFailed, match="a merge was left unfinished"):
        consolidate(work, WEEK)
    assert not facts(vault)
    assert (vault.root / "sessions/one.md").exists()
    assert consolidate(work, WEEK, dry=True).judged


@pytest.mark.slow
def test_facts_that_cannot_be_read_stop_no_other_project(work: Workspace) -> None:
    vault = work.vault
    session(vault, "one", rules=("always write table-driven tests",))
    session(vault, "two", project="api", rules=("never log the token of a request",))
    write(vault, "areas/projects/api/facts.json", "{")
    outcome = consolidate(work, WEEK)
    assert len(facts(vault)) == 1
    assert [problem for problem in outcome.problems if "api/facts.json" in problem]
    assert (vault.root / "reports" / f"{WEEK}.md").exists()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["reports", "archive", "daily/2020-01-01.md"])
def test_a_link_out_of_the_vault_is_named_and_stops_nothing_else(work: Workspace, tmp_path: Path, place: str) -> None:
    vault, outside = work.vault, tmp_path / "outside"
    outside.mkdir()
    session(vault, "one", days_ago=100, rules=("always write table-driven tests",))
    for number in range(2, 9):
        session(vault, f"n{number}", days_ago=number)
    if (vault.root / place).is_dir():
        (vault.root / place).rename(tmp_path / "away")
    (vault.root / place).symlink_to(outside)
    outcome = consolidate(work, WEEK)
    assert any(place in problem for problem in outcome.problems)
    assert len(facts(vault)) == 1
    assert not list(outside.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_as_a_summary_is_not_waited_for(work: Workspace) -> None:
    session(work.vault, "one", rules=("always write table-driven tests",))
    (work.vault.root / "areas/projects/shop").mkdir(parents=True)
    os.mkfifo(work.vault.root / "areas/projects/shop/summary.md")
    assert root_of(work.vault, "shop") == ""
