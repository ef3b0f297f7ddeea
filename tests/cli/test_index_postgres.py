"""The commands on PostgreSQL: the same answers, and one sentence where the server is not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from postgres_server import new_database
from tiny_model import make_tiny_model

if TYPE_CHECKING:
    from terminal import Memtool, Ran


@pytest.fixture
def note(notes: Path) -> Path:
    """A note of a project."""
    path = notes / "areas/projects/shop/knowledge/2026-02-10-login.md"
    path.parent.mkdir(parents=True)
    path.write_text(
        "---\ntype: knowledge\n---\n\n# Login 登录\n\nTokens live 24 hours. 解密失败 means a wrong key.\n",
        encoding="utf-8",
    )
    return path


def hits(ran: Ran) -> list[dict[str, Any]]:
    assert ran.code == 0, ran.err
    found: list[dict[str, Any]] = json.loads(ran.out)["hits"]
    return found


@pytest.mark.slow
def test_a_command_gives_the_same_on_both_engines(
    memtool: Memtool, note: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [["tokens live"], ["解密失败"], ["login"], ["tokens", "--project", "shop"], []]
    ours = [hits(memtool("search", *each, "--json")) for each in words]
    assert all(ours)
    with new_database(postgres) as address:
        monkeypatch.setenv("MEMTOOL_INDEX_ENGINE", "postgres")
        monkeypatch.setenv("MEMTOOL_POSTGRES", address)
        refused = memtool("search", "tokens")
        assert (refused.code, "the database has no tables of memtool's yet" in refused.err) == (34, True)
        assert memtool("index").code == 0
        assert [hits(memtool("search", *each, "--json")) for each in words] == ours
        for command in (["context"], ["show", "2026-02-10-login"], ["timeline"], ["index", "--status"]):
            ran = memtool(*command)
            assert ran.code == 0, (command, ran)
        told = memtool("doctor").out
        assert "the database 'memtool_test_" in told
        (note.parents[4] / "new.md").write_text("# Zanzibar\n\nsomething new\n")
        assert [hit["path"] for hit in hits(memtool("search", "zanzibar", "--json"))] == ["new.md"]


@pytest.mark.usefixtures("note")
def test_a_server_that_is_gone_is_one_sentence(
    memtool: Memtool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTOOL_INDEX_ENGINE", "postgres")
    assert memtool("search", "tokens").code == 30
    monkeypatch.setenv("MEMTOOL_POSTGRES", f"postgresql://me:s3cret@/x?host={tmp_path}")
    ran = memtool("search", "tokens")
    assert ran.code == 33
    assert "the database cannot be used now" in ran.err
    assert "s3cret" not in ran.out + ran.err


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_another_model_is_filled_beside_the_one_in_use(
    memtool: Memtool,
    notes: Path,
    tmp_path: Path,
    shared_database: str,
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (notes / "login.md").write_text("# Login\n\nThe access token of a session is refreshed after a timeout.\n")
    old, new = (make_tiny_model(tmp_path / name, seed=seed) for seed, name in enumerate(("old", "new")))
    monkeypatch.setenv("MEMTOOL_EMBEDDINGS_PROVIDER", "fastembed")
    monkeypatch.setenv("MEMTOOL_EMBEDDINGS_PATH", str(old))
    monkeypatch.setenv("MEMTOOL_INDEX_ENGINE", engine)
    monkeypatch.setenv("MEMTOOL_POSTGRES", shared_database)
    monkeypatch.setenv("MEMTOOL_INDEX_NAME", str(tmp_path))

    def vectors() -> int:
        return int(memtool("index", "--status", "--json").answer["vectors"]["chunks"])

    assert memtool("index").code == 0
    made = vectors()
    assert made > 0
    told = memtool("index", "--model", str(new), "--json").answer
    assert ["complete" in notice for notice in told["notices"]] == [True]
    assert vectors() == made  # those in use
    monkeypatch.setenv("MEMTOOL_EMBEDDINGS_PATH", str(new))
    assert vectors() == made  # nothing was left to be made
    assert memtool("index").code == 0
    monkeypatch.setenv("MEMTOOL_EMBEDDINGS_PATH", str(old))
    assert hits(memtool("search", "token", "--mode", "hybrid", "--json"))
