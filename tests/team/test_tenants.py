"""Two teams with the same texts in one database: whatever either asks, it is given nothing of the other's."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from team.remotes import make_remote
from team.team_server import TeamServer
from two_machines import git

from memtool.errors import OnlyReading
from memtool.team.postgres.connection import READER, WRITER, Database, Reach, connect, enter, reach
from memtool.team.tokens import list_tokens, revoke_token, text_of

pytestmark = pytest.mark.slow
RED, BLUE = "red", "blue"
QUERIES = int(os.environ.get("HAMMER_QUERIES", "150"))  # thousands were asked by hand
GREEN = "green"  # a vault of whoever has the red one
WORDS = (
    "token session deploy rollback server cookie cache queue index 令牌 会话 部署 缓存 解密失败 数据库"
    " getUserById E0308 v2.1.210 Übergabe naïve тест コンテキスト 메모리"
).split()
ATTACKS = (
    "' OR '1'='1",
    "'; SELECT set_config('memtool.vaults','{1,2}',false); --",
    '" OR 1=1 --',
    "%' UNION SELECT text FROM chunk --",
    "\\'; RESET ROLE; --",
    "$$; SET ROLE postgres; $$",
    "vault:blue",
    "project:*",
    "NEAR(blue)",
    "../blue/MEMORY.md",
    "{1,2}",
    "\x00blue",
    "blue\u202e",
    "/vaults/blue/search",
    "<vault>blue</vault>",
    "%s %(vault)s",
)
PATHS = (
    "/memory/../blue/MEMORY.md",
    "/memory/..%2F..%2Fblue%2FMEMORY.md",
    "/memory/%2e%2e/blue/MEMORY.md",
    "/vaults/blue/memories",
    "/vaults/red/../blue/memories",
    "/vaults/red/%2e%2e/blue/memories",
    "/vaults/blue%2F/memories",
    "/vaults//blue/memories",
    "/vaults/red/vaults/blue/memories",
    "//vaults/blue/memories",
    "/vaults/BLUE/memories",
    "/vaults/*/memories",
    "/vaults/",
    "/vaults/blue",
    "/memories?vault=blue",
    "/memories?project=blue-only",
    "/context?project=both",
    "/context?project=blue-only",
    "/vaults/blue/context?project=both",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, module_database: str) -> Iterator[TeamServer]:
    """A service of two teams, whose memories differ in the name of the team only."""
    folder = tmp_path_factory.mktemp("tenants")
    for name in (RED, BLUE):
        text = "The {word} of the project is kept by team-{name}-{at}: 由 {name}队 保管 {word}."
        told = [text.format(word=word, name=name, at=at) for at, word in enumerate(WORDS)]
        make_team(folder, name, {"both": told[::2], f"{name}-only": told[1::2]})
    make_team(folder, GREEN, {"both": [f"The {WORDS[at]} of team-green-{at} 令牌 is kept." for at in range(4)]})
    server = TeamServer(folder, module_database, (RED, GREEN, BLUE))
    try:
        yield server
    finally:
        server.end()


def make_team(folder: Path, name: str, told: dict[str, list[str]]) -> None:
    """Make the remote of a team, in whose projects this is *told*."""
    remote, work = make_remote(folder, name), folder / f"{name}-work"
    git(folder, "clone", "-q", str(remote), str(work))
    for project, texts in told.items():
        facts = [
            {
                "id": f"fact-20261123-{name}{at:04}", "fact": text, "evidence": "a talk", "status": "active",
                "timestamp": "2026-11-20T09:30:00+00:00", "category": "decision", "tags": [f"{name}-tag"],
            }
            for at, text in enumerate(texts, 100 * project.endswith("only"))
        ]  # fmt: skip
        path = work / "areas" / "projects" / project / "facts.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"facts": facts}, ensure_ascii=False), encoding="utf-8")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "facts")
    git(work, "push", "-q")


def is_of_blue(body: bytes, *asked: object) -> bool:
    """Return whether an answer says anything of the other team; what was *asked* may be repeated."""
    return is_of(body, "blue", *asked)


def is_of(body: bytes, whose: str, *asked: object) -> bool:
    """Return whether an answer says anything of *whose* it is; what was *asked* may be repeated."""
    text = body.decode()
    for said in filter(None, map(str, asked)):
        for repeated in (said, json.dumps(said)[1:-1], json.dumps(said, ensure_ascii=False)[1:-1]):
            text = text.replace(repeated, "")
    marks = ("team-blue", "blue队", "blue-only", "blue-tag") if whose == "blue" else (whose,)
    return any(mark in text for mark in marks)


def test_many_queries_find_nothing_of_the_other_team(server: TeamServer) -> None:
    """One asks a vault, another all of its vaults at once, a third is for a project of all vaults only."""
    one, several = server.token(vaults=(RED,)), server.token(vaults=(RED, GREEN))
    guest = server.token(vaults=(RED, GREEN, BLUE), projects=("both", "none"))
    chance, found = random.Random(14), 0
    for number in range(QUERIES):
        token = (one, several, guest)[number % 3]
        words = [chance.choice(WORDS) for _ in range(chance.randint(1, 4))]
        others = ["team-blue-3", "blue队", "blue-only", "red-only", "保管", "kept"]
        query = " ".join([*words, *chance.sample(others, chance.randint(0, 2))])
        project = chance.choice([None, "both", "blue-none", "global", "red-only"])
        if number % 4 == 0:
            answer = server.ask("POST", "/recall", {"query": query, "limit": 50}, token=token)
        elif number % 4 < 3:
            asked = {"query": query, "limit": 50, "project": project, "status": "all"}
            answer = server.ask("POST", "/search", asked, token=token)
        else:
            path = f"/vaults/red/memories?limit=50&offset={number % 30}&query={quote(query)}"
            answer = server.ask("GET", path, token=token)
        assert answer.status == 200, answer
        memories = answer.fields["memories"]
        if token == guest:
            assert {each["project"] for each in memories} <= {"both"}, query
            assert not is_of(answer.body, "-only", query, project), query
        else:
            assert not is_of(answer.body, "blue", query), query
        found += len(memories)
    assert found > QUERIES  # and of its own it is given much


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_looks_like_a_statement_is_a_text(server: TeamServer, attack: str) -> None:
    token = server.token(vaults=(RED,))
    asks: list[tuple[str, str, Any]] = [
        ("POST", "/search", {"query": f"令牌 {attack}", "limit": 50}),
        ("POST", "/search", {"query": "token", "project": attack, "category": attack, "kind": attack}),
        ("POST", "/recall", {"query": f"token {attack}", "project": attack, "limit": 50}),
        ("GET", f"/memories?project={quote(attack)}&category={quote(attack)}&query={quote(attack)}", None),
        ("GET", f"/memory/{quote(attack, safe='')}", None),
        ("DELETE", f"/memory/{quote(attack, safe='')}", None),
        ("GET", f"/vaults/{quote(attack, safe='')}/memories", None),
        ("POST", "/changes/" + quote(attack, safe="") + "/undo", None),
    ]
    for method, path, body in asks:
        answer = server.ask(method, path, body, token=token)
        assert answer.status < 500, (path, answer)
        assert not is_of_blue(answer.body, attack), path
    for tool, arguments in (
        ("context_search", {"project_path": f"/home/x/{attack}", "query": f"token {attack}", "all_projects": True}),
        ("context_load", {"project_path": "/home/x/both"}),
        ("memory_search", {"query": f"token {attack}"}),
        ("memory_timeline", {"around": attack}),
    ):
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        path = "/mcp" if tool.startswith("context") else "/mcp/memory"
        answer = server.ask("POST", path, asked, token=token, Accept="application/json, text/event-stream")
        assert not is_of_blue(answer.body, attack), tool


@pytest.mark.parametrize("path", PATHS)
def test_no_address_leads_to_the_other_team(server: TeamServer, path: str) -> None:
    token = server.token(vaults=(RED,))
    for method in ("GET", "POST", "PUT", "DELETE"):
        answer = server.ask(
            method, path, {"query": "token", "content": "x"} if method in ("POST", "PUT") else None, token=token
        )
        assert not is_of_blue(answer.body, path.partition("=")[2]), (method, answer)
    assert not any(each["waiting"] and each["name"] == BLUE for each in server.vaults())


def test_forged_expired_and_revoked_tokens_are_given_nothing(server: TeamServer) -> None:
    good = server.token(vaults=(BLUE,))
    expired = server.token(vaults=(BLUE,), expires_at=datetime.now(UTC) + timedelta(days=1))
    with connect(server.dsn) as db:
        db.execute("UPDATE memtool.token SET expires_at = created_at WHERE id = %s", (list_tokens(db)[-1].id,))
        revoked = server.token(vaults=(BLUE,))
        assert server.ask("GET", "/memories", token=revoked).status == 200
        revoke_token(db, list_tokens(db)[-1].id, datetime.now(UTC))
    chance = random.Random(14)
    flipped = [good[:at] + ("A" if good[at] != "A" else "B") + good[at + 1 :] for at in range(8, len(good))]
    made = [text_of(chance.randbytes(32)) for _ in range(200)]
    odd = ["memtool_", "x", good + "x", good[:-1], good.lower(), "' OR true --", "é", "*"]
    for token in (expired, revoked, *flipped, *made, *odd):
        answer = server.ask("POST", "/vaults/blue/search", {"query": "token"}, token=token)
        assert answer.status == 401, token
        assert not is_of_blue(answer.body)
    for header in (f"Basic {good}", good, f"Bearer{good}", "Bearer"):
        answer = server.ask("POST", "/vaults/blue/search", {"query": "token"}, token="", Authorization=header)
        assert answer.status == 401
    assert server.ask("GET", "/memories", token=good).status == 200


def test_the_database_shows_no_row_of_another_vault_whatever_a_statement_asks(server: TeamServer) -> None:
    with connect(server.dsn) as db:
        numbers = dict(db.execute("SELECT name, id FROM memtool.vault").fetchall())
        tables = db.execute(
            "SELECT DISTINCT table_name FROM information_schema.columns AS c JOIN pg_class ON relname = table_name"
            " WHERE table_schema = 'memtool' AND column_name = 'vault' AND relkind = 'p'"
        ).fetchall()
        assert len(tables) > 5
        for role in (READER, WRITER):
            with db.transaction():
                enter(db, role, [numbers[RED]])
                for (table,) in tables:
                    other = f"SELECT count(*) FROM memtool.{table} WHERE vault <> {numbers[RED]} OR true IS NULL"
                    assert db.execute(other).fetchone() == (0,), table
                rows = db.execute("SELECT text FROM memtool.chunk WHERE text LIKE '%blue%' OR true").fetchall()
                assert rows
                assert not any("team-blue" in text for (text,) in rows)
                with pytest.raises(psycopg.errors.InsufficientPrivilege), db.transaction():
                    db.execute("SELECT * FROM memtool.token")


def test_a_database_is_not_opened_for_a_vault_out_of_reach(server: TeamServer) -> None:
    kept = reach.set(Reach(frozenset({RED})))
    try:
        with pytest.raises(OnlyReading), Database(server.dsn, BLUE).connection():
            pass
        with Database(server.dsn, RED).connection() as db:
            assert db.execute("SELECT 1").fetchone() == (1,)
    finally:
        reach.reset(kept)
