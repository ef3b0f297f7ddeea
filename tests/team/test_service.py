from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from team.remotes import make_remote
from team.team_server import SECRET, Answer, TeamServer
from team.test_webhook import deliveries
from two_machines import git

from memtool.capture.source import Source, write_source
from memtool.capture.turns import Turn
from memtool.errors import DatabaseUnavailable, OnlyReading
from memtool.settings import Settings
from memtool.team import limits
from memtool.team.postgres.connection import connect
from memtool.team.service import TeamService
from memtool.team.tokens import read_audit
from memtool.vault.layout import Vault

pytestmark = pytest.mark.slow
PAGES = {
    "areas/projects/wader/rules.md": "# Rules\n\n- Waders 涉禽 are counted at dawn.\n",
    "areas/projects/wader/todos.md": "# Open items\n\n- [ ] Count the waders of the weir.\n",
    "areas/projects/wader/decisions/2026-11-01-net.md": "---\nproject: hidden\n---\n# The hidden net\n\nSecret.\n",
    "areas/projects/tern/rules.md": "# Rules\n\n- Terns are left alone.\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, module_database: str) -> Iterator[TeamServer]:
    folder = tmp_path_factory.mktemp("team")
    remote, work = make_remote(folder, "shop"), folder / "shop-work"
    git(folder, "clone", "-q", str(remote), str(work))
    for ref, text in PAGES.items():
        (work / ref).parent.mkdir(parents=True, exist_ok=True)
        (work / ref).write_text(text, encoding="utf-8")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "waders")
    git(work, "push", "-q")
    server = TeamServer(folder, module_database, ("shop", "api"))
    yield server
    server.end()


def call(server: TeamServer, path: str, tool: str, token: str, **arguments: Any) -> Answer:
    """Call a tool as an agent does."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return server.ask("POST", path, asked, token=token, Accept="application/json, text/event-stream")


def test_what_one_writes_another_finds_and_git_names_the_author(server: TeamServer) -> None:
    anna, ben = server.token(), server.token(holder="Ben", address="ben@example.org", scopes=("read",))
    saved = server.ask("POST", "/save", {"content": "令牌有效期为 24 小时", "project": "login"}, token=anna)
    assert saved.fields["stored"], saved
    found = server.ask("POST", "/search", {"query": "令牌"}, token=ben).fields
    assert "memories" in found, found
    assert ["令牌有效期为 24 小时" in each["summary"] for each in found["memories"]] == [True]
    recalled = server.ask("POST", "/recall", {"query": "令牌有效期"}, token=ben).fields
    assert [(each["vault"], each["text"]) for each in recalled["memories"]] == [("shop", "令牌有效期为 24 小时")]
    written = "安娜 <anna@example.org> remember: login: 令牌有效期为 24 小时"
    server.until(lambda: written in git(server.folder / "shop.git", "log", "--format=%an <%ae> %s", "main"))


def test_what_is_pushed_by_hand_is_found_once_a_signed_message_says_so(server: TeamServer, tmp_path: Path) -> None:
    work = tmp_path / "work"
    git(tmp_path, "clone", "-q", str(server.folder / "api.git"), str(work))
    (work / "notes.md").write_text("# Rollback\n\nThe rollback of zanzibar takes nine minutes.\n")
    git(work, "add", "notes.md")
    git(work, "commit", "-q", "-m", "notes")
    git(work, "push", "-q")
    body = b'{"ref": "refs/heads/main"}'
    signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert server.ask("POST", "/webhook/api", body, token="", X_Hub_Signature_256="sha256=00").status == 401
    assert server.ask("POST", "/webhook/api", b"{}", token="", X_Hub_Signature_256=signature).status == 401
    assert server.ask("POST", "/webhook/none", body, token="", X_Hub_Signature_256=signature).status == 401
    for _ in range(3):  # sent again, it does no harm
        assert server.ask("POST", "/webhook/api", body, token="", X_Hub_Signature_256=signature).status == 202
    for sent in deliveries(SECRET):
        headers = {name.replace("-", "_"): value for name, value in sent.headers.items()}
        assert server.ask("POST", "/webhook/api", sent.body, token="", **headers).status == 202, sent
        headers.pop(sent.signature.replace("-", "_"))
        assert server.ask("POST", "/webhook/api", sent.body, token="", **headers).status == 401, sent
    asked = {"query": "zanzibar rollback"}
    server.until(lambda: server.ask("POST", "/vaults/api/search", asked).fields["memories"])


def test_a_reader_changes_nothing_by_whatever_way(server: TeamServer) -> None:
    reader = server.token(scopes=("read",))
    before = git(server.folder / "clones" / "shop", "rev-parse", "HEAD")
    for method, path, body in (
        ("POST", "/save", {"content": "An intruder was here."}),
        ("PUT", "/memory/MEMORY.md", {"content": "An intruder was here."}),
        ("DELETE", "/memory/MEMORY.md", None),
        ("POST", "/changes/1/undo", None),
    ):
        assert server.ask(method, path, body, token=reader).status == 403, path
    entries = [{"type": "decision", "content": "An intruder was here."}]
    for path, tool, arguments in (
        ("/mcp/memory", "memory_store", {"text": "An intruder was here.", "category": "fact"}),
        ("/mcp", "context_save", {"project_path": "/home/x/login", "entries": entries}),
        ("/mcp", "context_manage", {"project_path": "/home/x/new", "action": "init_project"}),
    ):
        assert call(server, path, tool, reader, **arguments).status == 403, tool
    assert git(server.folder / "clones" / "shop", "rev-parse", "HEAD") == before
    assert not git(server.folder / "clones" / "shop", "status", "--porcelain")


def test_agents_save_and_search_the_project_by_its_name(server: TeamServer) -> None:
    anna = server.token()
    entries = [{"type": "decision", "content": "# Queue\n\nRabbits carry the letters, 不用 Kafka."}]
    saved = call(server, "/vaults/shop/mcp", "context_save", anna, project_path="/home/anna/src/post", entries=entries)
    assert not saved.fields["result"]["isError"], saved
    found = call(server, "/mcp", "context_search", anna, project_path="/somewhere/else/post", query="Kafka")
    assert "Rabbits" in found.fields["result"]["content"][0]["text"]
    tree = ("ls-tree", "-r", "--name-only", "main", "areas/projects/post/")
    server.until(lambda: "decisions" in git(server.folder / "shop.git", *tree))


def test_a_fact_says_that_it_came_by_the_service_and_who_wrote_it(server: TeamServer) -> None:
    anna, by = server.token(), "entered by 安娜 through the team's service"
    told = {"content": "The magpie 喜鹊 is clever.", "project": "crow"}
    first = server.ask("POST", "/save", told, token=anna).fields["id"]
    talk = {"content": "The jackdaw is small.", "project": "crow", "evidence": "a talk with Ben"}
    second = server.ask("POST", "/save", talk, token=anna).fields["id"]
    ben = server.token(holder="Ben Li", address="ben@example.org")
    third = server.ask("PUT", f"/memory/{second}", {"content": "The jackdaw is smaller."}, token=ben).fields["id"]
    call(server, "/mcp/memory", "memory_store", ben, text="The rook is a bird of the fields.", category="fact")
    (fourth,) = server.ask("POST", "/search", {"query": "rook of the fields", "limit": 1}, token=anna).fields[
        "memories"
    ]
    evidence = [
        server.ask("GET", f"/memory/{each}", token=anna).fields["evidence"]
        for each in (first, second, third, fourth["id"])
    ]
    by_ben = by.replace("安娜", "Ben Li")
    assert evidence == [by, f"a talk with Ben; {by}", by_ben, by_ben]
    assert fourth["summary"] == "The rook is a bird of the fields."  # whoever entered it is no word of a search


def test_a_token_of_several_vaults_names_one_or_asks_all(server: TeamServer) -> None:
    both = server.token(vaults=("shop", "api"))
    for name in ("shop", "api"):
        asked = {"content": f"The flamingo of {name} is pink.", "project": "zoo"}
        assert server.ask("POST", f"/vaults/{name}/save", asked, token=both).fields["stored"]
    assert server.ask("POST", "/save", {"content": "x"}, token=both).status == 400
    for path in ("/recall", "/search"):
        found = server.ask("POST", path, {"query": "flamingo of the api"}, token=both).fields["memories"]
        assert [each["vault"] for each in found] == ["api", "shop"], path  # in one ranking
        assert [each["id"].partition("-")[0] for each in found] == ["fact", "fact"]


def test_a_token_of_projects_is_given_theirs_only(server: TeamServer) -> None:
    saved = {}
    for project in ("red", "blue"):
        text = f"The heron of {project} sleeps at {project} pond 池塘."
        saved[project] = server.ask("POST", "/vaults/shop/save", {"content": text, "project": project}).fields
    server.until(lambda: len(server.ask("POST", "/vaults/shop/search", {"query": "heron"}).fields["memories"]) == 2)
    red = server.token(projects=("Red",))
    asks: list[tuple[str, str, Any]] = [
        ("POST", "/recall", {"query": "heron blue"}),
        ("POST", "/search", {"query": "heron blue 池塘", "status": "all"}),
        ("GET", "/memories", None),
        ("GET", "/memories?project=blue", None),
        ("GET", "/memories?sort=relevance&query=blue+heron", None),
    ]
    found = [server.ask(*each, token=red).fields["memories"] for each in asks]
    assert [[each["project"] for each in memories] for memories in found] == [["red"]] * 3 + [[], ["red"]]
    assert server.ask("GET", f"/memory/{saved['red']['id']}", token=red).fields["project"] == "red"
    others = [saved["blue"]["id"], saved["blue"]["path"], saved["red"]["path"], "MEMORY.md", "blue/summary", "../x"]
    for memory_id in others:  # a file of facts is read fact by fact
        for method, body in (("GET", None), ("PUT", {"category": "decision"}), ("DELETE", None)):
            answer = server.ask(method, f"/memory/{memory_id}", body, token=red)
            assert (answer.status, "pond" in answer.fields["detail"]) == (404, False), (method, memory_id)


def test_a_token_of_projects_writes_theirs_only(server: TeamServer) -> None:
    green = server.token(projects=("green",))
    theirs = server.ask("POST", "/vaults/shop/save", {"content": "The ibis is shy.", "project": "pink"}).fields
    wanted = {"content": "The ibis is bold.", "project": "green"}
    for body in ({**wanted, "project": "pink"}, {"content": "x y z"}, {**wanted, "project": None}, b"{", b"[]"):
        assert server.ask("POST", "/save", body, token=green).status == 403, body
    assert server.ask("POST", "/save", {**wanted, "supersedes": theirs["id"]}, token=green).status == 404
    saved = server.ask("POST", "/save", {**wanted, "content": "The ibis is shy."}, token=green).fields
    assert (saved["stored"], saved["project"], saved["contradictions"]) == (True, "green", [])
    changed = server.ask("PUT", f"/memory/{saved['id']}", {"content": "The ibis is brave."}, token=green).fields
    assert (changed["content"], changed["project"]) == ("The ibis is brave.", "green")
    for method, path in (
        ("POST", "/mcp"), ("POST", "/mcp/memory"), ("GET", "/changes"),
        ("POST", "/changes/1/undo"), ("GET", "/openapi.json"),
    ):  # fmt: skip
        assert server.ask(method, path, token=green).status == 403, path
    found = server.ask("POST", "/search", {"query": "ibis"}, token=green).fields["memories"]
    assert [each["summary"].startswith("The ibis is brave.") for each in found] == [True]


def test_a_token_of_projects_forgets_theirs_only(server: TeamServer) -> None:
    everything = server.token(vaults=("shop",))
    saved = {}
    for project in ("teal", "gadwall"):
        told = {"content": f"The {project} 鸭 dabbles.", "project": project}
        saved[project] = server.ask("POST", "/save", told, token=everything).fields
    teal = server.token(vaults=("shop",), projects=("teal",))
    own, other = saved["teal"]["id"], saved["gadwall"]["id"]
    given = server.ask("GET", "/memory/areas/projects/wader/rules.md", token=everything).fields
    facts = [f"{saved[project]['path']}{lines}" for project in saved for lines in ("", ":3")]
    for memory_id in (other, *facts, "MEMORY.md", given["path"], "k3bb", f"[{own}]", "../x"):
        for purge in ("", "?purge=true"):
            path = f"/memory/{memory_id}{purge}"
            answer = server.ask("DELETE", path, token=teal, X_Confirm_Purge=memory_id)
            assert (answer.status, "dabbles" in answer.body.decode()) == (404, False), path
    assert server.ask("GET", f"/memory/{other}", token=everything).fields["status"] == "active"
    reader = server.token(vaults=("shop",), projects=("teal",), scopes=("read",))
    assert server.ask("DELETE", f"/memory/{own}", token=reader).status == 403
    assert server.ask("DELETE", f"/memory/{own}", token=teal).fields["changed"]
    assert server.ask("GET", f"/memory/{own}", token=everything).fields["status"] == "archived"
    purged = server.ask("DELETE", f"/memory/{own}?purge=true", token=teal, X_Confirm_Purge=own)
    assert purged.fields["purged"], purged
    assert server.ask("GET", f"/memory/{own}", token=everything).status == 404
    wader = server.token(vaults=("shop",), projects=("wader",))
    todos = "areas/projects/wader/todos.md"
    page = {"content": f"{PAGES[todos].strip()}\n- [ ] Ring the waders.\n"}
    assert server.ask("PUT", f"/memory/{todos}", page, token=wader).status == 200
    assert "Ring the waders." in server.ask("GET", "/context?project=wader", token=wader).body.decode()


def test_the_start_of_a_session_is_given_what_stands_of_its_project(server: TeamServer) -> None:
    fact = {"content": "Waders sleep on one leg.", "project": "wader", "category": "decision"}
    assert server.ask("POST", "/vaults/shop/save", fact).fields["stored"]
    assert "Terns" in server.ask("GET", "/vaults/shop/context?project=tern").body.decode()
    (block,) = server.ask("GET", "/context?project=wader").fields["blocks"]  # of all vaults, one has it
    lines = {part["kind"]: [each["text"] for each in part["lines"]] for part in block["parts"]}
    assert block["vault"] == "shop"
    assert "> - Waders 涉禽 are counted at dawn." in lines["rules"]
    assert any("Count the waders of the weir." in text for text in lines["open"])
    assert any("Waders sleep on one leg." in text for text in lines["facts"])
    assert server.ask("GET", "/context").fields == server.ask("GET", "/context?project=nobody").fields == {"blocks": []}
    guest = server.token(projects=("Wader",), scopes=("read",))
    answer = server.ask("GET", "/context?project=wader", token=guest).body.decode()
    assert "Waders sleep on one leg." in answer
    assert "hidden" not in answer  # the database does not show it to this token
    assert "hidden" in json.dumps(lines)
    for other in ("tern", "", "wader/../tern", "../projects/tern", "TERN", "wader%00"):
        assert "Terns" not in server.ask("GET", f"/context?project={other}", token=guest).body.decode(), other


def test_the_audit_and_the_log_tell_who_asked_and_hold_no_text(server: TeamServer) -> None:
    carl = server.token(holder="Carl")
    server.ask("POST", "/save", {"content": "The password of the pelican is fish."}, token=carl)
    server.ask("POST", "/search", {"query": "pelican"}, token=carl)
    server.ask("GET", "/memory/areas/projects/pelican/summary.md", token=carl)
    with connect(server.dsn) as db:
        deeds = read_audit(db, since=datetime.now(UTC) - timedelta(hours=1), holder="Carl", limit=9)
        text = str(db.execute("SELECT row_to_json(audit)::text FROM memtool.audit AS audit").fetchall())
    assert [(each.deed, each.vault, each.status, each.wrote) for each in deeds] == [
        ("GET /memory", "shop", 404, False),
        ("POST /search", "shop", 200, False),
        ("POST /save", "shop", 200, True),
    ]
    log = (server.folder / "log").read_text()
    assert "pelican" not in text + log
    assert any(json.loads(line)["holder"] == "Carl" for line in log.splitlines())


def test_metrics_are_for_those_who_may_read_them(server: TeamServer) -> None:
    assert server.ask("GET", "/metrics", token=server.token()).status == 403
    answer = server.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    rows = [row for row in answer.body.decode().splitlines() if not row.startswith("#")]
    assert all(len(row.rsplit(" ", 1)) == 2 and float(row.rsplit(" ", 1)[1]) >= 0 for row in rows)
    assert any(row.startswith('memtool_outbox_commits{vault="shop"} ') for row in rows)
    (synced,) = (row for row in rows if row.startswith('memtool_synced_timestamp_seconds{vault="shop"} '))
    assert abs(float(synced.rsplit(" ", 1)[1]) - server.vaults()[0]["synced_at"]) < 2


def test_without_a_token_nobody_is_answered(server: TeamServer) -> None:
    for path in ("/vaults", "/metrics", "/memories", "/openapi.json", "/", "/nothing", "/vaults/shop/memories"):
        answer = server.ask("GET", path, token="")
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer"), path
    assert server.ask("GET", "/health", token="").fields["state"] == "ready"


def test_a_vault_that_may_only_be_read_is_not_written_by_whoever_tries(desk: Desk) -> None:
    desk.vault = desk.vault._replace(may_write=False)
    before = desk.everything()
    for kind in ("fact", "todo", "decision"):
        with pytest.raises(OnlyReading):
            desk.remember("An intruder was here.", kind=kind)
    assert desk.everything() == before


def test_two_who_save_the_same_at_once_save_it_once_and_lose_nothing(server: TeamServer) -> None:
    people = [server.token(holder=name, address=f"{name}@example.org") for name in ("ada", "bob")]
    for number, texts in enumerate([("The gecko 壁虎 is green.",) * 2, ("The ibis is white.", "The loon is dark.")]):
        answers: list[Answer] = []

        def write(token: str, text: str, answers: list[Answer] = answers) -> None:
            answers.append(server.ask("POST", "/save", {"content": text, "project": "zoo"}, token=token))

        threads = [threading.Thread(target=write, args=pair) for pair in zip(people, texts, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [each.status for each in answers] == [200, 200]
        assert sum(each.fields["stored"] for each in answers) == number + 1
    server.until(lambda: all(word in shown(server) for word in ("gecko", "ibis", "loon")))
    assert shown(server).count("gecko") == 1


def shown(server: TeamServer) -> str:
    """Return the facts of the zoo as the remote has them."""
    ref = "areas/projects/zoo/facts.json"
    if ref not in git(server.folder / "shop.git", "ls-tree", "-r", "--name-only", "main"):
        return ""
    return git(server.folder / "shop.git", "show", f"main:{ref}")


def test_where_all_connections_are_in_use_nobody_waits_for_long(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_AT_ONCE", 1)
    monkeypatch.setattr(limits, "POOL_SECONDS", 0.05)
    service = TeamService(Settings(), {}, tmp_path, database, lambda: datetime.now(UTC))
    with service.pool:
        service.pool.wait(60)
        with service.database() as db:
            assert db.execute("SELECT current_user").fetchone() == ("memtool_gate",)
            with pytest.raises(DatabaseUnavailable, match="in use"), service.database():
                pass
        with service.database() as db:
            assert db.execute("SELECT 1").fetchone() == (1,)
    service.keeper.end()


def test_a_token_of_projects_reads_the_turns_of_theirs_only(server: TeamServer, tmp_path: Path) -> None:
    work = tmp_path / "work"
    git(tmp_path, "clone", "-q", str(server.folder / "shop.git"), str(work))
    for name, project in (("t-teal", "teal"), ("t-rust", "rust")):
        note = f"---\ntype: session\nsession: {name}\ndate: 2026-11-02\nproject: {project}\n---\n# Birds of {project}\n"
        (work / "sessions").mkdir(exist_ok=True)
        (work / f"sessions/2026-11-02-{project}.md").write_text(note, encoding="utf-8")
        turns = (Turn(typed=f"Count the avocets of {project} 反嘴鹬"),)
        source = Source(name, started_at=datetime(2026, 11, 2, tzinfo=UTC), turns=turns)
        write_source(Vault(work), source, datetime(2026, 11, 2, tzinfo=UTC))
    (work / "transcripts/.gitignore").write_text("", encoding="utf-8")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "birds")
    git(work, "push", "-q")
    everything, teal = server.token(), server.token(vaults=("shop",), projects=("teal",), scopes=("read",))
    address = "/vaults/shop/api/session/turns?turn=1&session_id="
    server.ask("POST", "/vaults/shop/save", {"content": "Rust has a pond 池塘.", "project": "rust"}, token=everything)
    server.until(lambda: server.ask("GET", f"{address}t-rust", token=everything).status == 200)
    assert "avocets of teal 反嘴鹬" in server.ask("GET", f"{address}t-teal", token=teal).fields["text"]
    for other in ("t-rust", "sessions/2026-11-02-rust.md"):
        refused = server.ask("GET", f"{address}{other}", token=teal)
        assert (refused.status, "avocets" in str(refused.fields)) == (404, False)
