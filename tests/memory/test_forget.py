from __future__ import annotations

import json

import pytest
from desk import SHOP, Desk
from notes import line_of, note_of, said_as, text_of
from trees import write

from memtool.errors import BrokenVaultFile, NoteNotFound, UsageError
from memtool.history.changes import find_change
from memtool.history.undoing import undo
from memtool.recall.given import PROMPT, GivenLine, Giving, keep_giving
from memtool.recall.ledger import ledger_folder
from memtool.vault.forgotten import forgotten_in
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.sessions import Draft, Line, SessionNote, lines_of, render_session

TODOS = "areas/projects/shop/todos.md"


@pytest.mark.slow
def test_a_fact_is_archived_and_comes_up_no_more(desk: Desk) -> None:
    done = desk.remember("访问令牌有效期是 24 小时")
    forgotten = desk.forget(done.memory.id)
    assert forgotten.changed
    assert desk.facts()[0].status == "archived"
    assert desk.find("访问令牌") == []
    assert desk.find("访问令牌", everything=True) == [SHOP]
    assert desk.git("log", "-1", "--format=%s").strip() == "forget: 访问令牌有效期是 24 小时"
    assert desk.git("show", "--name-only", "--format=", "HEAD").split() == [SHOP]


@pytest.mark.slow
def test_a_fact_may_be_named_by_its_lines(desk: Desk) -> None:
    desk.remember("The API listens on port 8080.")
    done = desk.remember("Labels are printed in the warehouse.")
    assert desk.forget(f"{SHOP}:{done.memory.place.start_line + 1}").memory.id == done.memory.id
    assert [fact.status for fact in desk.facts()] == ["active", "archived"]
    with pytest.raises(NoteNotFound):
        desk.forget(f"{SHOP}:1")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["{path}", "{vault}/{path}", "{stem}", "decisions/{stem}.md"])
def test_a_note_is_marked_as_archived_and_keeps_every_other_byte(desk: Desk, name: str) -> None:
    done = desk.remember("# 订单号\n\n订单号由雪花算法生成。", kind="decision")
    before = desk.read(done.memory.path)
    stem = done.memory.path.rsplit("/", 1)[-1].removesuffix(".md")
    desk.forget(name.format(path=done.memory.path, stem=stem, vault=desk.vault.root))
    assert desk.read(done.memory.path) == before.replace("project: shop\n", "project: shop\nstatus: archived\n")
    assert desk.find("雪花算法") == []
    assert desk.find("雪花算法", archived=True) == [done.memory.path]


@pytest.mark.slow
def test_an_open_item_is_struck_out(desk: Desk) -> None:
    desk.remember("one", kind="todo")
    done = desk.remember("二", kind="todo")
    desk.forget(done.memory.id)
    assert desk.read(TODOS).endswith("- [ ] one\n- [x] ~~二~~\n")
    assert not desk.forget(done.memory.id).changed
    assert not desk.forget(TODOS + ":9-9").changed


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fact", "knowledge"])
def test_forgetting_twice_changes_nothing(desk: Desk, kind: str) -> None:
    done = desk.remember("The API listens on port 8080.", kind=kind)
    desk.forget(done.memory.id)
    head = desk.git("rev-parse", "HEAD")
    assert not desk.forget(done.memory.id).changed
    assert desk.git("rev-parse", "HEAD") == head


@pytest.mark.slow
@pytest.mark.parametrize(
    "ref", ["MEMORY.md", "areas/projects/shop/summary.md", TODOS, "rules/memory-loader.md", "CLAUDE.md"]
)
@pytest.mark.parametrize("purge", [False, True])
def test_pages_of_the_vault_are_no_memories(desk: Desk, ref: str, purge: bool) -> None:
    desk.remember("one", kind="todo")
    (desk.vault.root / "areas/projects/shop/summary.md").write_text("# shop\n")
    with pytest.raises(UsageError, match="a page of the vault"):
        desk.forget(ref, purge=purge)


@pytest.mark.slow
def test_what_cannot_be_named_is_said(desk: Desk) -> None:
    done = desk.remember("one", kind="todo")
    desk.remember("The API listens on port 8080.")
    for ref in ("fact-404", "nothing", "../secret.md", "", "\ud800", ".git/config", ".memtool/x"):
        with pytest.raises(NoteNotFound):
            desk.forget(ref)
    with pytest.raises(UsageError, match="holds 1 facts"):
        desk.forget(SHOP)
    for lines in ("1", "8-9", "99"):
        with pytest.raises(UsageError, match="neither a fact nor an item"):
            desk.forget(f"{done.memory.path}:{lines}")


def test_facts_without_an_id_of_their_own_are_said(desk: Desk) -> None:
    path = desk.vault.root / "areas" / "global" / "facts.json"
    fact = {"fact": "x", "evidence": "y", "timestamp": "2026-02-10", "status": "active", "category": "general"}
    path.write_text(json.dumps({"facts": [fact]}))
    with pytest.raises(UsageError, match="has no id"):
        desk.forget("areas/global/facts.json:1")
    path.write_text(json.dumps({"facts": [fact | {"id": "a"}, fact | {"id": "a"}]}))
    with pytest.raises(UsageError, match="2 facts"):
        desk.forget("a")


def test_a_broken_note_is_not_changed(desk: Desk) -> None:
    path = desk.vault.root / "bad.md"
    path.write_text("---\na: [\n---\nwords\n")
    with pytest.raises(BrokenVaultFile):
        desk.forget("bad.md")
    assert path.read_text() == "---\na: [\n---\nwords\n"
    assert desk.forget("bad.md", purge=True).changed
    assert not path.exists()


# For good


@pytest.mark.slow
def test_a_purged_fact_is_gone_and_the_others_stay(desk: Desk) -> None:
    desk.remember("The API listens on port 8080.")
    before = desk.read(SHOP)
    done = desk.remember("The vault code is 4711 and secret.")
    forgotten = desk.forget(done.memory.id, purge=True)
    assert desk.read(SHOP) == before
    assert desk.git("log", "-1", "--format=%s").strip() == f"forget: {done.memory.id}, for good"
    assert forgotten.kept.commit
    assert desk.find("4711", everything=True) == []


def test_a_purged_session_is_not_listed_by_its_days_any_more(desk: Desk) -> None:
    lines = "- 09:00 **shop**: [the zeppelin 飞艇](../sessions/s1.md)\n- 10:00 **shop**: `a.py`\n"
    for name, text in (("sessions/s1.md", "# Session: s1\n"), ("daily/2026-02-10.md", lines)):
        (desk.vault.root / name).parent.mkdir(exist_ok=True)
        (desk.vault.root / name).write_text(text)
    desk.forget("sessions/s1.md", purge=True)
    assert desk.read("daily/2026-02-10.md") == "- 10:00 **shop**: `a.py`\n"
    assert desk.find("zeppelin", everything=True) == []


@pytest.mark.slow
def test_a_purged_note_and_a_purged_item_are_gone(desk: Desk) -> None:
    note = desk.remember("# Tea\n\nGreen tea.", kind="knowledge")
    todo = desk.remember("drink it", kind="todo")
    desk.forget(note.memory.id, purge=True)
    desk.forget(todo.memory.id, purge=True)
    assert not (desk.vault.root / note.memory.path).exists()
    assert "drink" not in desk.read(TODOS)
    assert desk.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_an_item_that_has_moved_meanwhile_is_the_one_that_goes(desk: Desk) -> None:
    from memtool.memory.forget import find_target, forget

    todo = desk.remember("drink it", kind="todo")
    target = find_target(desk.work, todo.memory.id)
    path = desk.vault.root / TODOS
    path.write_text(path.read_text().replace("- [ ] drink", "- [ ] mine\n- [ ] drink"))
    forget(desk.work, target, for_good=True)
    assert path.read_text().endswith("# Open items\n\n- [ ] mine\n")


# What a session was given, by its short id


def give(desk: Desk, *lines: GivenLine, session_id: str = "s1") -> None:
    folder = ledger_folder(desk.work)
    keep_giving(folder, session_id, Giving("2026-02-10T14:30", PROMPT, "shop", 1, "", lines))


SESSION = note_of(
    "s9",
    project="shop",
    updated="2026-02-10 14:30",
    title="登录改用 JWT",
    decisions=("refresh tokens are kept in an HttpOnly cookie (user)", "令牌有效期是 15 分钟 (user)"),
    findings=("refresh tokens are kept in an HttpOnly cookie (agent)",),
)


@pytest.mark.slow
@pytest.mark.parametrize("ref", ["k3f9", "[k3f9]"])
def test_a_given_fact_is_archived_by_its_short_id(desk: Desk, ref: str) -> None:
    done = desk.remember("访问令牌有效期是 24 小时")
    give(desk, GivenLine("k3f9", SHOP, 3, done.memory.id))
    assert desk.forget(ref).memory.id == done.memory.id
    assert desk.facts()[0].status == "archived"
    assert not desk.forget(ref).changed


@pytest.mark.slow
def test_a_given_line_is_taken_out_of_its_note_and_git_brings_it_back(desk: Desk) -> None:
    before = "# Rules\n\n- Migrations go forward only.\n- 部署前先备份数据库，\n  再通知值班的人。\n"
    write(desk, "areas/projects/shop/rules.md", before)
    give(desk, GivenLine("k3f9", "areas/projects/shop/rules.md", 4, "", "> - 部署前先备份数据库，"))
    give(desk, GivenLine("k3f9", "areas/projects/shop/rules.md", 4, "", "部署前先备份数据库， 再通知值班的人。"))
    forgotten = desk.forget("k3f9")
    assert desk.read("areas/projects/shop/rules.md") == "# Rules\n\n- Migrations go forward only.\n"
    assert forgotten.kept.undo(desk.vault).endswith(f" undo {forgotten.kept.commit}")
    assert not desk.forget("k3f9").changed
    undo(desk.vault, find_change(desk.vault, forgotten.kept.commit))
    assert desk.read("areas/projects/shop/rules.md") == before


@pytest.mark.slow
def test_a_given_decision_is_its_note_and_a_given_item_its_task(desk: Desk) -> None:
    decision = desk.remember("# 订单号\n\n订单号由雪花算法生成。", kind="decision")
    todo = desk.remember("退款接口也要支持幂等键", kind="todo")
    give(
        desk,
        GivenLine("d2cc", decision.memory.path, 8, "", "订单号由雪花算法生成。"),
        GivenLine("t2tt", TODOS, 7, "", todo.memory.id),
    )
    give(desk, GivenLine("t3tt", TODOS, 7, "", "- 退款接口也要支持幂等键"))
    assert (desk.forget("d2cc").memory.kind, desk.forget("t3tt").memory.kind) == ("decision", "todo")
    assert "status: archived" in desk.read(decision.memory.path)
    assert desk.read(TODOS).endswith("- [x] ~~退款接口也要支持幂等键~~\n")


@pytest.mark.parametrize("text", ["refresh tokens are kept in an HttpOnly cookie (agent)", "令牌有效期是 15 分钟"])
def test_a_forgotten_line_of_a_session_stays_away_however_often_the_note_is_made_again(desk: Desk, text: str) -> None:
    made = render_session(SESSION)
    write(desk, "sessions/s9.md", made)
    give(desk, GivenLine("k3f9", "sessions/s9.md", 14, "", text))
    desk.forget("k3f9")
    statement = text.partition(" (")[0]
    kept = desk.read("sessions/s9.md")
    assert statement not in kept
    assert len(said_as(kept, "decision")) == 1
    without, again = text_of("s9", title="登录改用 JWT"), SESSION.draft.lines[::-1]
    more = (*again, Line("tests"), line_of(f"{statement} (agent)", "finding"))
    new = render_session(SESSION._replace(draft=SESSION.draft._replace(lines=more)))
    note = keep_hand_edits(made, kept, without)
    note = keep_hand_edits(without, note, new)  # it was out of the note meanwhile, so it looks new
    assert "tests" in note
    assert statement not in note
    assert statement not in keep_hand_edits(None, note, new)  # .memtool is gone


LINES = (
    Line("SameSite=None needs Secure in middleware/jwt.ts", asked="登录失败"),
    Line("the retry queue holds 200 jobs per worker", asked="登录失败"),
    Line("退款写在 refund.ts 里，由 worker 每 5 分钟执行一次"),
)


@pytest.mark.slow
def test_a_statement_of_a_prompt_goes_and_stays_away_in_other_words_too(desk: Desk) -> None:
    made = render_session(SessionNote("s7", "shop", updated="2026-02-10 14:30", draft=Draft("登录", lines=LINES)))
    write(desk, "sessions/s7.md", made)
    give(desk, GivenLine("k3f9", "sessions/s7.md", 14, "", "the retry queue holds 200 jobs per worker"))
    give(desk, GivenLine("m2g2", "sessions/s7.md", 15, "", "退款写在 refund.ts 里，由 worker 每 5 分钟执行一次"))
    desk.forget("k3f9")
    left = desk.read("sessions/s7.md")
    assert "- *登录失败*\n  - SameSite=None needs Secure in middleware/jwt.ts\n" in left
    assert "retry queue" not in left
    desk.forget("m2g2")
    assert "retry" not in "".join(forgotten_in(desk.read("sessions/s7.md")))
    words_anew = ("Each worker of the retry queue holds 200 jobs", "worker 每 5 分钟执行一次，退款写在 refund.ts 里")
    corrected = "the retry queue holds 500 jobs per worker"
    again = text_of("s7", project="shop", title="登录", done=(*words_anew, corrected, "退款已上线"))
    note = keep_hand_edits(made, desk.read("sessions/s7.md"), again)
    assert said_as(note, "") == (corrected, "退款已上线")


def test_a_forgotten_prompt_leaves_what_came_of_it(desk: Desk) -> None:
    note = SessionNote("s7", "shop", updated="2026-02-10 14:30", draft=Draft("登录", lines=LINES))
    write(desk, "sessions/s7.md", render_session(note))
    give(desk, GivenLine("k3f9", "sessions/s7.md", 0, "", "登录失败"))
    desk.forget("k3f9")
    left = desk.read("sessions/s7.md")
    assert "登录失败" not in left
    assert [line.text for line in lines_of(left)[1:]] == [line.text for line in LINES]


def test_what_is_forgotten_goes_from_the_title_and_the_summary_too(desk: Desk) -> None:
    said = "the retry queue holds 200 jobs per worker"
    draft = Draft("The retry queue holds 200 jobs per worker. 登录已修好", summary=f"Login works; {said}.", lines=LINES)
    write(desk, "sessions/s7.md", render_session(SessionNote("s7", "shop", updated="2026-02-10 14:30", draft=draft)))
    give(desk, GivenLine("k3f9", "sessions/s7.md", 0, "", said))
    desk.forget("k3f9")
    left = desk.read("sessions/s7.md")
    assert "retry queue" not in left.casefold()
    assert "\n# 登录已修好\n" in left
    again = keep_hand_edits(None, left, render_session(SessionNote("s7", "shop", draft=draft)))
    assert "retry queue" not in again.casefold()


def test_a_line_of_a_note_of_an_earlier_version_goes_and_the_note_is_one_of_today(desk: Desk) -> None:
    note = (
        "---\ntype: session\nproject: shop\nmine: 1\n---\n\n# 登录 → fixed\n\n- **Time**: 2026-02-10 14:30\n\n---\n\n"
        '1. **要点**:\n   - "登录失败" → SameSite=None needs Secure · the retry queue holds 200 jobs\n'
        "2. **规则**: 只用 pnpm\n\nMy own words.\n"
    )
    write(desk, "sessions/s8.md", note)
    give(desk, GivenLine("k3f9", "sessions/s8.md", 14, "", "the retry queue holds 200 jobs"))
    desk.forget("k3f9")
    left = desk.read("sessions/s8.md")
    assert "retry queue" not in left
    assert "- *登录失败*\n  - SameSite=None needs Secure\n" in left
    assert "## 规则\n- “只用 pnpm”\n" in left
    assert "\nmine: 1\n" in left
    assert left.endswith("\nMy own words.\n")


@pytest.mark.parametrize(
    "text", ["the cookie needs Secure, 需要 Secure", "登录在 Safari 里失败 → the cookie needs Secure, 需要 Secure"]
)
def test_what_a_session_was_about_or_came_to_stands_for_its_note(desk: Desk, text: str) -> None:
    note = "# 登录在 Safari 里失败 → the cookie needs Secure, 需要 Secure\n\n1. **Decisions**: 令牌放在 cookie 里\n"
    write(desk, "sessions/s8.md", note)
    give(desk, GivenLine("k3f9", "sessions/s8.md", 1, "", text))
    assert desk.forget("k3f9").memory.id == "sessions/s8.md"
    assert "status: archived" in desk.read("sessions/s8.md")
    assert desk.read("sessions/s8.md").endswith(note)


def test_what_is_gone_is_said_and_nothing_is_changed(desk: Desk) -> None:
    write(desk, "loose.md", "# Loose\n\n- one thing\n")
    give(desk, GivenLine("k3f9", "loose.md", 3, "", "another thing"), GivenLine("m2g2", "gone.md", 3, "", "x"))
    assert not desk.forget("k3f9").changed
    assert not desk.forget("m2g2").changed
    assert desk.read("loose.md") == "# Loose\n\n- one thing\n"
    with pytest.raises(NoteNotFound):
        desk.forget("z9zz")


def test_an_id_that_may_mean_two_things_is_refused(desk: Desk) -> None:
    write(desk, "k3f9.md", "# A note of that name\n")
    write(desk, "one.md", "- the first thing\n")
    write(desk, "two.md", "- 第二件事\n")
    one, two = GivenLine("k3f9", "one.md", 1, "", "the first thing"), GivenLine("m2g2", "two.md", 1, "", "第二件事")
    give(desk, one, two)
    give(desk, one._replace(id="m2g2"), session_id="s2")
    for ref, reason in (("k3f9", "and of a line"), ("m2g2", "may mean 2 lines")):
        with pytest.raises(UsageError, match=reason):
            desk.forget(ref)


def test_a_given_fact_without_an_id_is_left_alone(desk: Desk) -> None:
    other = desk.remember("访问令牌有效期是 24 小时")
    give(desk, GivenLine("k3f9", SHOP, other.memory.place.start_line, "", "- a fact of another tool"))
    with pytest.raises(UsageError, match="has no id"):
        desk.forget("k3f9")
    assert desk.facts()[0].status == "active"


def test_the_clients_own_memory_is_never_changed(desk: Desk) -> None:
    give(desk, GivenLine("k3f9", "/home/a/.claude/projects/-shop/memory/x.md", 1, "", "something"))
    with pytest.raises(UsageError, match="is outside the vault"):
        desk.forget("k3f9")
