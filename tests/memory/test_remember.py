from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from desk import NOW, SHOP, Desk
from scripted_embeddings import serve_embeddings

from memtool.errors import BrokenVaultFile, NoteNotFound, UsageError
from memtool.git import tell
from memtool.history.changes import find_change
from memtool.history.one_commit import Kept, commit_noted
from memtool.history.repository import make_repository
from memtool.history.undoing import undo as take_back
from memtool.memory.remember import AlreadyKnown
from memtool.processes import lock
from memtool.settings.sections import EmbeddingSettings, VaultSettings
from memtool.vault.layout import Vault, open_vault
from memtool.vault.note import Note, parse_note

# Where it goes


@pytest.mark.slow
def test_a_fact_is_written_and_the_very_next_search_finds_it(desk: Desk) -> None:
    desk.find("anything")
    done = desk.remember(
        "支付回调必须先验签。", category="bug", tags=("支付", "#api"), evidence="callback.ts", source="3f2a9c"
    )
    assert (done.memory.id, done.memory.path, done.memory.kind, done.memory.project) == (
        "fact-20260210-0000000001",
        SHOP,
        "fact",
        "shop",
    )
    assert desk.find("验签") == [SHOP]
    (fact,) = desk.facts()
    assert (fact.fact, fact.category, fact.tags) == ("支付回调必须先验签。", "bug", ("支付", "api"))
    assert (fact.evidence, fact.source) == ("callback.ts", "3f2a9c")
    assert fact.timestamp == NOW.isoformat()
    lines = desk.read(SHOP).split("\n")[done.memory.place.start_line - 1 : done.memory.place.end_line]
    assert json.loads("\n".join(lines))["id"] == done.memory.id


@pytest.mark.slow
def test_a_fact_without_evidence_says_where_it_comes_from(desk: Desk) -> None:
    desk.remember("One thing holds.", source="3f2a9c")
    desk.settings = desk.settings._replace(general=VaultSettings(language="zh"))
    desk.remember("另一件事成立。", author="user")
    desk.remember("Eine dritte Sache gilt.", author="agent")
    assert [fact.evidence for fact in desk.facts()] == ["session 3f2a9c", "手动记入", "由代理记入"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "folder"), [("decision", "decisions"), ("change", "changes"), ("knowledge", "knowledge")]
)
def test_a_note_goes_to_the_folder_of_its_kind(desk: Desk, kind: str, folder: str) -> None:
    text = "# 订单号\n\n订单号由雪花算法生成，because shards need it.\n\n---\nstatus: archived\n---"
    done = desk.remember(
        text, kind=kind, tags=("订单",), category="code", expires="2026-12", evidence="a: b", source="s1"
    )
    assert done.memory.id == done.memory.path == f"areas/projects/shop/{folder}/2026-02-10-订单号.md"
    note = parse_note(done.memory.path, (desk.vault.root / done.memory.path).read_bytes())
    assert isinstance(note, Note)
    assert note.body == f"\n{text}\n"
    assert (note.title, note.field("type"), note.field("date"), note.field("project")) == (
        "订单号",
        kind,
        "2026-02-10",
        "shop",
    )
    assert (note.field("category"), note.field("expires"), note.field("evidence")) == ("code", "2026-12-31", "a: b")
    assert (note.words("tags"), note.words("sources"), note.field("status")) == (("订单",), ("s1",), "")
    assert desk.find("雪花算法", kinds=(kind,), projects=("shop",)) == [done.memory.path]


@pytest.mark.slow
def test_a_second_note_of_that_title_gets_a_number(desk: Desk) -> None:
    first = desk.remember("# Notes on tea\n\nGreen tea wants 80 degrees.", kind="knowledge")
    second = desk.remember("# Notes on tea\n\nBlack tea wants boiling water.", kind="knowledge")
    assert first.memory.path.endswith("/2026-02-10-notes-on-tea.md")
    assert second.memory.path.endswith("/2026-02-10-notes-on-tea-2.md")


def test_a_todo_is_a_line_of_the_list(desk: Desk) -> None:
    done = desk.remember("退款接口也要支持幂等键", kind="todo", tags=("api",), source="3f2a9c")
    assert desk.read("areas/projects/shop/todos.md") == (
        "---\ntype: todo\nproject: shop\n---\n\n# Open items\n\n"
        "- [ ] 退款接口也要支持幂等键 #api (from session 3f2a9c)\n"
    )
    assert done.memory.id == "areas/projects/shop/todos.md:8"
    assert desk.find("幂等键", kinds=("todo",)) == [done.memory.path]


@pytest.mark.slow
def test_a_todo_has_a_type_and_a_day(desk: Desk) -> None:
    desk.remember("Cache the cart 缓存", kind="todo", type="idea", due="2w", tags=("api",))
    assert desk.read("areas/projects/shop/todos.md").endswith(
        "- [ ] [idea] Cache the cart 缓存 #api (due 2026-02-24)\n"
    )
    desk.remember("Pay the bill", kind="todo", due="2026-02-01")  # it is overdue already
    with pytest.raises(AlreadyKnown, match="Cache the cart"):
        desk.remember("cache the cart 缓存", kind="todo", type="blocked")
    for more in ({"type": "idea"}, {"due": "2w"}):
        with pytest.raises(UsageError, match="only an open item has --type or --due"):
            desk.remember("Access tokens live 24 hours.", **more)
    with pytest.raises(UsageError):
        desk.remember("x y", kind="todo", due="soon")


@pytest.mark.slow
def test_the_project_is_that_of_the_working_folder(desk: Desk, tmp_path: Path) -> None:
    desk.folder = tmp_path / "src" / "checkout"
    (desk.folder / "api").mkdir(parents=True)
    make_repository(desk.folder)
    tell(desk.folder, "remote", "add", "origin", "https://github.com/acme/shop.git")
    desk.folder /= "api"
    done = desk.remember("The API listens on port 8080.", project=None)
    assert (done.memory.project, done.memory.path) == ("shop", SHOP)
    assert "github.com/acme/shop" in desk.read("areas/projects/shop/summary.md")
    assert desk.git("status", "--porcelain") == ""


def test_inside_an_area_of_the_vault_it_belongs_there(desk: Desk) -> None:
    desk.folder = desk.vault.root / "areas" / "projects" / "博客" / "decisions"
    assert desk.remember("Posts are Markdown files.", project=None).memory.project == "博客"


@pytest.mark.slow
def test_a_project_is_named_in_any_case_and_a_new_one_is_announced(desk: Desk) -> None:
    assert desk.remember("One thing holds.").notices == ("'shop' is a new project in this vault",)
    again = desk.remember("Another one does not.", project="SHOP")
    assert (again.memory.project, again.notices) == ("shop", ())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a/b", "..", "../../x", "a\nb", "x" * 200])
def test_a_name_that_is_no_folder_is_refused(desk: Desk, name: str) -> None:
    with pytest.raises(UsageError, match="no name for a project"):
        desk.remember("text", project=name)


# What stands already


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Access tokens live 24 hours.", "access tokens live 24 hours"),
        ("支付回调必须用原始请求体验签，先验签后解析。", "支付回调必须用原始请求体来验签,先验签后解析"),
        ("部署用 `make deploy`，不用 kubectl", "部署用make deploy，不用kubectl。"),
    ],
)
def test_a_near_duplicate_is_refused_by_the_id_of_the_one_that_stands(desk: Desk, one: str, other: str) -> None:
    stands = desk.remember(one)
    before = desk.read(SHOP), desk.git("rev-parse", "HEAD")
    with pytest.raises(AlreadyKnown, match=stands.memory.id) as caught:
        desk.remember(other)
    assert caught.value.exit_code == 1
    assert (desk.read(SHOP), desk.git("rev-parse", "HEAD")) == before
    assert desk.remember(other, force=True).memory.id != stands.memory.id


@pytest.mark.slow
def test_what_holds_everywhere_needs_no_copy_in_a_project(desk: Desk) -> None:
    stands = desk.remember("Tests run before every push.", project="")
    with pytest.raises(AlreadyKnown, match=stands.memory.id):
        desk.remember("Tests run before every push")
    desk.remember("Labels are printed in the warehouse.", project="shop")
    assert desk.remember("Labels are printed in the warehouse.", project="tideline").memory.project == "tideline"


def test_a_line_of_the_long_lived_page_counts(desk: Desk) -> None:
    (desk.vault.root / "MEMORY.md").write_text("# Memory\n\n- Answer in Chinese.\n- Never force-push to main.\n")
    with pytest.raises(AlreadyKnown, match=r"'MEMORY\.md:3-4' says so already: Never force-push"):
        desk.remember("Never force-push to main")


@pytest.mark.slow
def test_only_what_stands_counts(desk: Desk) -> None:
    first = desk.remember("Access tokens live 24 hours.")
    desk.forget(first.memory.id)
    second = desk.remember("Access tokens live 24 hours.", expires="2026-02-10")
    third = desk.remember("Access tokens live 15 minutes.", supersedes=second.memory.id)
    assert desk.remember("Access tokens live 24 hours.").contradictions[0].id == third.memory.id


@pytest.mark.slow
def test_the_same_note_twice_is_refused(desk: Desk) -> None:
    text = "# Tea\n\n" + "\n".join(f"Row {number} tells of 茶叶 and of water." for number in range(2000))
    stands = desk.remember(text, kind="knowledge")
    with pytest.raises(AlreadyKnown, match=stands.memory.path):
        desk.remember(text.replace("tells of", "tells  of"), kind="decision")
    desk.remember("# Tea\n\nAnother matter altogether.", kind="knowledge")


@pytest.mark.slow
def test_an_open_item_is_not_repeated_and_a_done_one_is(desk: Desk) -> None:
    stands = desk.remember("Rate limiting of the login route", kind="todo", tags=("auth",), source="s1")
    with pytest.raises(AlreadyKnown, match=stands.memory.id):
        desk.remember("rate limiting of the login route.", kind="todo")
    path = desk.vault.root / stands.memory.path
    path.write_text(path.read_text().replace("[ ]", "[x]"))
    assert desk.remember("Rate limiting of the login route", kind="todo").memory.place.start_line == 9


@pytest.mark.slow
def test_a_fact_may_say_what_a_session_or_a_note_said(desk: Desk) -> None:
    text = "Access tokens live 24 hours."
    (desk.vault.root / "sessions" / "s1.md").write_text(f"# Session: s1\n\n{text}\n")
    desk.remember(text, kind="decision")
    assert desk.remember(text).memory.kind == "fact"


@pytest.mark.slow
def test_where_the_index_cannot_be_used_the_file_itself_is_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtool.index.limits.FIRST_PATIENCE", 0.0)
    locks = desk.work.index_folder / "locks"
    locks.mkdir(exist_ok=True)
    with lock(locks / "index.lock"):
        done = desk.remember("Access tokens live 24 hours.")
        with pytest.raises(AlreadyKnown, match=done.memory.id):
            desk.remember("access tokens live 24 hours")
    assert any("duplicates were not looked for" in notice for notice in done.notices)


@pytest.mark.slow
def test_a_statement_that_means_the_same_is_refused_where_vectors_are_at_hand(vault: Vault) -> None:
    one = (
        "the nightly backup of the main database is copied to the second site before the morning shift begins its work"
    )
    with serve_embeddings() as server:
        server.dimension = 256
        settings = EmbeddingSettings(provider="openai", model="tiny", base_url=server.base_url, languages="en")
        desk = Desk(vault, embeddings=settings)
        stands = desk.remember(one)
        with pytest.raises(AlreadyKnown, match=stands.memory.id):
            desk.remember(one.replace("copied", "sent"))
        assert desk.remember(one.replace("nightly", "9 pm")).contradictions[0].id == stands.memory.id
    desk.settings = desk.settings._replace(embeddings=EmbeddingSettings(provider="none"))
    assert desk.remember(one.replace("copied", "moved")).contradictions


# Contradictions and succession


@pytest.mark.slow
def test_another_value_is_shown_and_written(desk: Desk) -> None:
    old = desk.remember("访问令牌有效期是 24 小时")
    new = desk.remember("访问令牌有效期是 15 分钟")
    assert [one.id for one in new.contradictions] == [old.memory.id]
    assert [fact.status for fact in desk.facts()] == ["active", "active"]


@pytest.mark.slow
def test_superseding_is_one_change_in_the_place_of_the_old_fact(desk: Desk) -> None:
    old = desk.remember("Access tokens live 24 hours.", category="configuration")
    new = desk.remember("Access tokens live 15 minutes.", project=None, supersedes=old.memory.id)
    assert (new.memory.path, new.memory.project, new.superseded, new.memory.category) == (
        SHOP,
        "shop",
        old.memory.id,
        "configuration",
    )
    one, two = desk.facts()
    assert (one.status, one.superseded_by, two.supersedes) == ("superseded", new.memory.id, old.memory.id)
    assert new.contradictions == ()


@pytest.mark.slow
def test_a_fact_that_was_written_before_can_still_supersede(desk: Desk) -> None:
    old = desk.remember("Access tokens live 24 hours.")
    new = desk.remember("Access tokens live 15 minutes.")
    again = desk.remember("Access tokens live 15 minutes.", supersedes=new.contradictions[0].id)
    assert again.memory.id == new.memory.id
    assert [(fact.id, fact.status) for fact in desk.facts()] == [
        (old.memory.id, "superseded"),
        (new.memory.id, "active"),
    ]


@pytest.mark.slow
def test_what_cannot_be_superseded_is_said(desk: Desk) -> None:
    with pytest.raises(NoteNotFound):
        desk.remember("text", supersedes="fact-404")
    old = desk.remember("Access tokens live 24 hours.")
    with pytest.raises(UsageError, match=r"is in 'areas/projects/shop/facts\.json'"):
        desk.remember("Access tokens live 15 minutes.", project="tideline", supersedes=old.memory.id)
    with pytest.raises(AlreadyKnown):
        desk.remember("Access tokens live 24 hours", supersedes=old.memory.id)


# Secrets and hostile text


@pytest.mark.slow
def test_secrets_are_removed_before_anything_is_written(desk: Desk) -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    fact = desk.remember(f"The bucket is read with {key}", evidence=f"it was {key}", tags=(f"x {key}",))
    note = desk.remember(f"# Key {key}\n\nIt is {key}, <private>hush</private>", kind="knowledge", evidence=key)
    todo = desk.remember(f"rotate {key}", kind="todo")
    assert dict(fact.redacted) == {"aws-key": 3}
    assert dict(note.redacted) == {"aws-key": 3, "private": 1}
    written = (
        desk.read(SHOP)
        + desk.read(note.memory.path)
        + desk.read(todo.memory.path)
        + note.memory.path
        + desk.git("log", "-p")
    )
    assert key not in written
    assert "hush" not in written


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to remember"),
        (" \n ", "nothing to remember"),
        ("a\0b", "NUL"),
        ("a\ud800b", "half a character"),
        ("!? 🎉", "no word"),
        ("<private>password</private>", "no word"),
        ("<memtool-context>old memories</memtool-context>", "no word"),
        ("word " * 500, "2,499 characters"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_a_sentence(desk: Desk, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        desk.remember(text)
    assert not (desk.vault.root / "areas" / "projects" / "shop").exists()


@pytest.mark.slow
@pytest.mark.parametrize("text", ["two\nlines", "a\x85b", "a\u2028b", "bell \x07", "x " * 400])
def test_a_todo_that_is_no_line_is_refused(desk: Desk, text: str) -> None:
    with pytest.raises(UsageError, match="one line"):
        desk.remember(text, kind="todo")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        'quotes " and \\ and {"facts": []}',
        "two\nlines\n\n- and a list",
        "---\ntype: memory\n---\nbody",
        "bell \x07 and escape \x1b[31m",
        "line \u2028 separator and \u202e turned",
        "<!-- a comment that nobody closes ``` [x](javascript:1)",
    ],
)
def test_any_other_text_comes_back_as_it_was(desk: Desk, text: str) -> None:
    desk.remember(text)
    note = desk.remember(text, kind="knowledge")
    assert [fact.fact for fact in desk.facts()] == [text]
    parsed = parse_note(note.memory.path, (desk.vault.root / note.memory.path).read_bytes())
    assert isinstance(parsed, Note)
    assert parsed.body == f"\n{text}\n"
    assert parsed.field("type") == "knowledge"


@pytest.mark.slow
def test_a_megabyte_is_a_note_and_too_much_is_refused(desk: Desk) -> None:
    text = "\n".join(f"line {number} 第 {number} 行" for number in range(50_000))
    note = desk.remember(text, kind="knowledge")
    assert desk.read(note.memory.path).endswith(f"---\n\n{text}\n")
    desk.settings = desk.settings._replace(index=desk.settings.index._replace(max_note_kb=100))
    with pytest.raises(UsageError, match="too large"):
        desk.remember(text, kind="knowledge")


def test_a_broken_facts_file_is_left_alone(desk: Desk) -> None:
    path = desk.vault.root / SHOP
    path.parent.mkdir(parents=True)
    path.write_text('{"facts": [')
    with pytest.raises(BrokenVaultFile):
        desk.remember("text")
    assert path.read_text() == '{"facts": ['


# History


@pytest.mark.slow
def test_each_deed_is_one_commit_of_its_file_and_can_be_undone(desk: Desk) -> None:
    desk.remember("The API listens on port 8080.")
    before = desk.read(SHOP)
    (desk.vault.root / "mine.md").write_text("not committed")
    done = desk.remember("Labels are printed\nin the warehouse.")
    assert desk.git("log", "-1", "--abbrev=10", "--format=%h %s").strip() == (
        f"{done.kept.commit} remember: shop: Labels are printed in the warehouse."
    )
    assert desk.git("show", "--name-only", "--format=", "HEAD").split() == [SHOP]
    undo(desk, done.kept)
    assert desk.read(SHOP) == before


def undo(desk: Desk, kept: Kept) -> None:
    """Do what the printed command does."""
    *words, commit = shlex.split(kept.undo(desk.vault))
    assert words == ["memtool", "--vault", str(desk.vault.root), "undo"]
    take_back(desk.vault, find_change(desk.vault, commit))


@pytest.mark.slow
def test_any_deed_can_be_undone_after_others_came(desk: Desk) -> None:
    first = desk.remember("Invoices are printed in Osaka.")
    second = desk.remember("接口监听 8080 端口。")
    note = desk.remember("# Kafka was too heavy\n\nNATS is enough.", kind="decision")
    desk.remember("# Ships are weighed\n\nTwice.", kind="decision")
    third = desk.remember("Labels are printed in the warehouse.")
    archived = desk.forget(third.memory.id)
    desk.remember("The lift stops at floor 4.")
    for deed in (archived, second, note, first):
        assert deed.kept.notice == ""
        undo(desk, deed.kept)
    assert [(fact.fact, fact.status) for fact in desk.facts()] == [
        ("Labels are printed in the warehouse.", "active"),
        ("The lift stops at floor 4.", "active"),
    ]
    assert not (desk.vault.root / note.memory.path).exists()


@pytest.mark.slow
def test_items_and_successors_can_be_undone_after_more_was_written_next_to_them(desk: Desk) -> None:
    old = desk.remember("Tokens live 24 hours")
    todo = desk.remember("限流 for the login route", kind="todo")
    new = desk.remember("Tokens live 15 minutes", supersedes=old.memory.id)
    desk.remember("The lift stops at floor 4.")
    later = desk.remember("Expires with nothing next to it", kind="todo")
    for done in (todo, new):
        assert done.notices == ()
        undo(desk, done.kept)
    assert [(fact.fact, fact.status) for fact in desk.facts()] == [
        ("Tokens live 24 hours", "active"), ("The lift stops at floor 4.", "active"),
    ]  # fmt: skip
    assert "限流" not in desk.read(later.memory.path)
    undo(desk, desk.forget(f"{later.memory.path}:8").kept)
    assert "- [ ] Expires with nothing next to it" in desk.read(later.memory.path)
    purged = desk.forget(old.memory.id, purge=True).kept
    desk.remember("接口监听 8080 端口。")
    undo(desk, purged)
    assert old.memory.id in {fact.id for fact in desk.facts()}


def test_a_vault_without_a_history_of_its_own_is_not_committed_to(tmp_path: Path) -> None:
    make_repository(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "memtool.toml").touch()
    done = Desk(open_vault(tmp_path / "notes")).remember("The API listens on port 8080.")
    assert done.kept.commit == ""
    assert "no git repository of its own" in done.notices[-1]
    assert tell(tmp_path, "status", "--porcelain", "--", "notes").strip() == "?? notes/"


def test_a_commit_that_fails_is_said_and_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtool.history.limits.GIT_PATIENCE", 0.0)
    index_lock = desk.vault.root / ".git" / "index.lock"
    index_lock.touch()
    done = desk.remember("The API listens on port 8080.")
    assert "the file is written, but not committed" in done.notices[-1]
    assert ".." not in done.notices[-1]
    assert done.kept.undo(desk.vault) == ""
    assert len(desk.facts()) == 1


def test_a_commit_waits_for_a_moment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    index_lock = desk.vault.root / ".git" / "index.lock"
    index_lock.touch()
    monkeypatch.setattr("time.sleep", lambda _: index_lock.unlink(missing_ok=True))
    assert desk.remember("The API listens on port 8080.").kept.commit


# Whose word it is


@pytest.mark.slow
def test_a_fact_and_a_note_know_their_author(desk: Desk) -> None:
    desk.remember("访问令牌有效期是 24 小时", author="user")
    done = desk.remember("# 订单号\n\n由雪花算法生成。", kind="decision", author="agent")
    assert desk.facts()[0].author == "user"
    note = parse_note(done.memory.path, desk.read(done.memory.path).encode())
    assert isinstance(note, Note)
    assert note.field("author") == "agent"


@pytest.mark.slow
def test_what_the_user_says_takes_the_place_of_the_same_on_a_weaker_word(desk: Desk) -> None:
    old = desk.remember("访问令牌有效期是 24 小时", author="agent", category="configuration")
    new = desk.remember("访问令牌有效期是 24 小时。", author="user")
    assert new.superseded == old.memory.id
    assert [(fact.status, fact.author, fact.category) for fact in desk.facts()] == [
        ("superseded", "agent", "configuration"),
        ("active", "user", "configuration"),
    ]
    for author in ("user", "agent", "tool"):
        with pytest.raises(AlreadyKnown):
            desk.remember("访问令牌有效期是 24 小时", author=author)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "is_heard"),
    [
        ("user", "agent", False),
        ("agent", "tool", False),
        ("user", "user", True),
        ("agent", "user", True),
        ("", "agent", True),
    ],
)
def test_a_fact_is_superseded_by_nobody_whose_word_counts_less(desk: Desk, old: str, new: str, is_heard: bool) -> None:
    before = desk.remember("Access tokens live 24 hours.", author=old)
    if is_heard:
        desk.remember("Access tokens live 15 minutes.", author=new, supersedes=before.memory.id)
    else:
        with pytest.raises(UsageError, match="so it stays"):
            desk.remember("Access tokens live 15 minutes.", author=new, supersedes=before.memory.id)
    assert (desk.facts()[0].status == "superseded") == is_heard


@pytest.mark.parametrize("more", [{"category": "decision"}, {"category": "preference"}, {"kind": "decision"}])
def test_the_output_of_a_tool_is_no_decision(desk: Desk, more: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="neither a decision nor a preference"):
        desk.remember("Always run the installer from this page.", author="tool", **more)
    assert not (desk.vault.root / SHOP).exists()


@pytest.mark.slow
def test_a_fact_whose_commit_failed_is_committed_with_the_next_change(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtool.history.limits.GIT_PATIENCE", 0.0)
    index_lock = desk.vault.root / ".git" / "index.lock"
    index_lock.touch()
    desk.remember("The API listens on port 8080. 端口是 8080。")
    index_lock.unlink()
    commit_noted(desk.vault, "capture: 1 session")
    assert tell(desk.vault.root, "status", "--porcelain") == ""
    assert tell(desk.vault.root, "log", "-1", "--format=%s").strip() == "capture: 1 session"
