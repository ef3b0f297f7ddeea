from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from desk import Desk
from fastapi.testclient import TestClient
from hypothesis import given, strategies as st
from trees import write

from memtool.capture.log import LogEntry, log
from memtool.capture.queue import Job
from memtool.consolidate.week import parse_week
from memtool.errors import Busy
from memtool.recall.given import PROMPT, GivenLine, Giving, keep_giving
from memtool.recall.ledger import ledger_folder
from memtool.recall.uses import Fate, Sums, keep_fates
from memtool.web.figures import HEIGHT, HELD, columns_of, given_in, growth_of, held_in, totals


@given(st.lists(st.dictionaries(st.sampled_from(HELD), st.integers(0, 10_000)), max_size=9))
def test_the_pieces_of_a_column_lie_on_each_other_and_stay_in_the_chart(counts: list[Mapping[str, int]]) -> None:
    columns = columns_of([(str(at), each) for at, each in enumerate(counts)], HELD)
    for column in columns:
        foot = float(HEIGHT)
        for name, y, height in column.pieces:
            assert abs(y + height - foot) < 0.2
            assert column.counts[name]
            foot = y
        assert foot > -0.2
    if any(sum(each.values()) for each in counts):
        assert min(y for column in columns for _, y, _ in column.pieces) < 0.2


@pytest.mark.slow
def test_a_week_tells_what_it_held_and_what_was_given(desk: Desk) -> None:
    fact = desk.remember("登录令牌有效期为 24 小时。")
    write(desk, "daily/2026-02-09.md", "# Daily\n\n- 09:10 **shop**: `a.ts`\n- 10:00 **teahouse**: `b.ts`\n")
    line = GivenLine("k3f9", "areas/projects/shop/facts.json", 3, fact.memory.id)
    for at, lines in (
        ("2026-02-09T10:00:00", (line,)),
        ("2026-02-10T10:00:00", (line, line)),
        ("2026-02-10T11:00", ()),
    ):
        keep_giving(ledger_folder(desk.work), "3f2a9c", Giving(at, PROMPT, "shop", 1, "令牌", lines))
    week = parse_week("2026-W07", desk.now.date())
    held = held_in(desk.work, week)
    assert held.totals == {"edit": 2, "fact": 1}
    assert [sum(column.counts.values()) for column in held.columns] == [2, 1, 0, 0, 0, 0, 0]
    assert held.projects == (("shop", 2), ("teahouse", 1))
    given_lines = given_in(desk.work, week)
    assert (given_lines.prompts, given_lines.lines) == (3, 3)
    assert given_lines.columns[1].counts == {"given": 1, "nothing": 1}
    assert [(text, times) for text, _, times in given_lines.most] == [("登录令牌有效期为 24 小时。", 3)]
    assert given_lines.sums is None
    keep_fates(desk.work.index_folder, "3f2a9c", "2026-02-10", [Fate(line.key, 3, 3, used=True)])
    assert given_in(desk.work, week).sums == Sums(3, 3, 1, 1)
    assert totals(desk.work)["fact"] == 1
    assert [column.label for column in growth_of(desk.work, "shop")] == ["2026-02-09"]
    assert growth_of(desk.work, "nothing like it") == ()


@pytest.mark.slow
def test_the_overview_shows_figures_queue_costs_and_health(client: TestClient, desk: Desk) -> None:
    desk.remember("Deploys happen on Tuesdays.")
    desk.queue.put(Job("3f2a9c", "/nowhere.jsonl", cwd="/src/shop", queued_at=desk.now.timestamp()))
    html = client.get("/overview").text
    assert html.count("<svg") == 1  # of prompts nothing is on record
    assert "2026-02-09 – 2026-02-15" in html
    assert "pending" in html
    assert "No model was called" in html
    assert "状况" in client.get("/overview?lang=zh&week=2026-W06").text
    health = client.get("/overview/health?lang=en").text
    assert "1 fact valid" in health
    assert client.get("/overview?week=never").status_code == 200


@pytest.mark.slow
def test_a_panel_that_fails_leaves_the_others(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise Busy("the records cannot be read now")

    monkeypatch.setattr("memtool.web.overview.given_in", fail)
    html = client.get("/overview").text
    assert "the records cannot be read now" in html
    assert "No session is pending" in html


@pytest.mark.slow
def test_a_timeline_is_that_of_one_project_and_ends_where_it_is_told(client: TestClient, desk: Desk) -> None:
    desk.remember("Deploys happen on Tuesdays.")
    desk.remember("Nobody calls the teahouse.", project="teahouse")
    write(desk, "areas/projects/shop/knowledge/2026-02-01-old.md", "# Old\n\n乌龙茶。\n")
    html = client.get("/timeline?project=shop").text
    assert "Deploys happen" in html
    assert "teahouse." not in html
    assert "until=2026-02-09" in html
    earlier = client.get("/timeline?project=shop&until=2026-02-05").text
    assert "Old" in earlier
    assert "Deploys happen" not in earlier


@pytest.mark.slow
def test_the_log_is_told_by_level(client: TestClient, desk: Desk) -> None:
    assert "There are no errors" in client.get("/log").text
    at = desk.now.isoformat()
    log([desk.vault.state_path], LogEntry(at, "error", "worker", "磁盘已满 <b>"))
    log([desk.vault.state_path], LogEntry(at, "note", "worker", "all is well"))
    html = client.get("/log?level=error").text
    assert "磁盘已满 &lt;b&gt;" in html
    assert "all is well" not in html


@pytest.mark.slow
def test_settings_that_travel_are_changed_in_one_commit_and_others_are_not(client: TestClient, desk: Desk) -> None:
    html = client.get("/settings").text
    assert re.search(r'<input type="number" id="search.limit"[^>]* value="6"', html)
    assert 'name="llm.openai_base_url"' not in html
    form = {
        "search.limit": "9",
        "capture.ignore": "*.lock\r\n草稿/*",
        "llm.claude_command": "evil",
        "recall.show": "true",
    }
    html = client.post("/settings", data=form).text
    assert 'role="status"' in html
    assert desk.read("memtool.toml").count("limit = 9") == 1
    assert 'ignore = ["*.lock", "草稿/*"]' in desk.read("memtool.toml")
    assert "evil" not in desk.read("memtool.toml")
    assert desk.git("log", "-1", "--format=%s").startswith("settings: search.limit")
    before = desk.read("memtool.toml")
    refused = client.post("/settings", data={"search.limit": "none"})
    assert (refused.status_code, 'role="alert"' in refused.text, desk.read("memtool.toml")) == (400, True, before)
