from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scripted_embeddings import refusal, serve_embeddings
from terminal import on_a_terminal, with_pipes

from memtool.cli import index as index_command
from memtool.embeddings.fastembed import ENGLISH_MODEL, MULTILINGUAL_MODEL
from memtool.errors import ProviderFailed, ProviderMissing
from memtool.settings.sections import EmbeddingSettings

if TYPE_CHECKING:
    from terminal import Memtool


def test_json_has_the_status_as_well(memtool: Memtool, sample: Path) -> None:
    (sample / "gbk.md").write_bytes("解密".encode("gbk"))
    answer = memtool("index", "--json").answer
    problem = {"path": "gbk.md", "reason": "not UTF-8 (byte 0), read as GB18030"}
    assert answer["problems"] == [problem]
    assert answer["notices"] == ["gbk.md: not UTF-8 (byte 0), read as GB18030"]
    assert (answer["format"], answer["added"], answer["changed"], answer["removed"], answer["notes"]) == (
        1,
        41,
        0,
        0,
        41,
    )
    assert answer["vault"] == str(sample)
    assert Path(answer["path"]).stat().st_size <= answer["bytes"]
    status = memtool("index", "--status", "--json").answer
    assert status == answer | {"added": 0, "notices": [], "bytes": status["bytes"]}


def test_problems_are_talk(memtool: Memtool, notes: Path) -> None:
    (notes / "gbk.md").write_bytes("解密".encode("gbk"))
    (notes / "out.md").symlink_to("/etc/passwd")
    (notes / "n.md").write_text("---\ntitle: {{title}}\n---\n模板")
    code, out, err = memtool("index", "--status")
    assert code == 0
    assert out.startswith("2 notes in 2 chunks, 0 facts.\n")
    for path in ("gbk.md: not UTF-8", "out.md: a symlink that leaves the vault"):
        assert f"\n{path}" in f"\n{err}"
    assert "n.md:" not in err


def test_a_rebuild_makes_another_file_and_says_so(memtool: Memtool, sample: Path) -> None:
    before = memtool("index", "--json").answer
    after = memtool("index", "--rebuild", "--json").answer
    assert before["path"] != after["path"]
    assert (after["added"], after["notices"]) == (40, ["the index was built anew: you asked for it"])
    assert [path.name for path in sample.glob(".memtool/*/index/*.sqlite")] == [Path(after["path"]).name]


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"\0" * 100_000, b"hello" * 1_000])
def test_a_damaged_index_is_built_anew(memtool: Memtool, sample: Path, damage: bytes) -> None:
    path = Path(memtool("index", "--json").answer["path"])
    path.write_bytes(damage)
    ran = memtool("search", "token", "--json")
    assert (ran.code, len(ran.answer["hits"])) == (0, 6)
    assert ran.answer["notices"][0].startswith("the index was built anew: it ")
    assert memtool("index", "--json").answer["notices"] == []
    assert sample.is_dir()


@pytest.mark.slow
def test_an_index_from_the_future_is_built_anew(memtool: Memtool, sample: Path) -> None:
    path = memtool("index", "--json").answer["path"]
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    assert memtool("search", "token", "--json").answer["notices"] == [
        "the index was built anew: a newer memtool made it"
    ]
    assert sample.is_dir()


@pytest.mark.slow
def test_progress_is_for_terminals_only(sample: Path) -> None:
    environ = {"MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
    shown = on_a_terminal("index", environ=environ).out
    assert "Reading notes" in shown
    assert "40/40" in shown
    ran = with_pipes("index", "--rebuild", environ=environ)
    assert "Reading notes" not in ran.out + ran.err
    assert "\x1b" not in ran.out + ran.err
    assert sample.is_dir()


@pytest.mark.slow
def test_vectors_are_made_by_the_users_own_endpoint(
    memtool: Memtool, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_embeddings() as server:
        for name, value in {"PROVIDER": "openai", "BASE_URL": server.base_url, "MODEL": "tiny"}.items():
            monkeypatch.setenv(f"MEMTOOL_EMBEDDINGS_{name}", value)
        ran = memtool("index", "--json")
        assert (ran.code, ran.err) == (0, "")
        vectors, chunks = ran.answer["vectors"], ran.answer["chunks"]
        assert (vectors["chunks"], vectors["why"]) == (chunks, "")
        asked = len(server.requests)
        assert f"{chunks} of {chunks} chunks" in memtool("index").out
        assert len(server.requests) == asked
        answer = memtool("search", "access token", "--json").answer
        assert (answer["mode"], answer["notices"]) == ("hybrid", [])
        assert answer["hits"][0]["why"].keys() >= {"bm25", "vector", "lexical_weight"}
        assert memtool("search", "access token", "--mode", "vector", "--json").answer["mode"] == "vector"
    assert sample.is_dir()


def test_an_embedder_that_was_chosen_and_fails_is_an_error(
    memtool: Memtool, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_embeddings() as server:
        server.answers += [refusal(401, message="bad key")] * 9
        for name, value in {"PROVIDER": "openai", "BASE_URL": server.base_url, "MODEL": "tiny"}.items():
            monkeypatch.setenv(f"MEMTOOL_EMBEDDINGS_{name}", value)
        code, out, err = memtool("index")
    assert (code, out) == (32, "")
    assert err.startswith("memtool: ")
    assert sample.is_dir()


@pytest.mark.parametrize(
    ("text", "model"), [("# 茶\n\n部署密钥", MULTILINGUAL_MODEL), ("# Tea\n\nthe café in Köln", ENGLISH_MODEL)]
)
def test_the_default_model_knows_the_scripts_of_the_notes(
    memtool: Memtool, notes: Path, monkeypatch: pytest.MonkeyPatch, text: str, model: str
) -> None:
    (notes / "tea.md").write_text(text, encoding="utf-8")
    asked: list[str] = []

    def opens(settings: EmbeddingSettings, *_: object, **__: object) -> None:
        asked.append(settings.model)
        raise ProviderMissing("no model")

    monkeypatch.setattr(index_command, "open_embedder", opens)
    monkeypatch.delenv("MEMTOOL_EMBEDDINGS_PROVIDER")
    memtool("index")
    monkeypatch.setenv("MEMTOOL_EMBEDDINGS_MODEL", "a/model")
    memtool("index")

    assert asked == [model, "a/model"]


def test_a_download_that_fails_is_tried_once_a_day(
    memtool: Memtool, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes / "茶.md").write_text("# 茶\n", encoding="utf-8")
    asked: list[bool] = []

    def fails(*_: object, may_download: bool, **__: object) -> None:
        asked.append(may_download)
        raise (ProviderFailed if may_download else ProviderMissing)("没有网络" if may_download else "no model")

    monkeypatch.setattr(index_command, "open_embedder", fails)
    monkeypatch.delenv("MEMTOOL_EMBEDDINGS_PROVIDER")
    first, second = (memtool("index") for _ in range(2))
    assert asked == [True, False]
    assert "没有网络" in first.err
    assert "tried again tomorrow, or at once with `--model NAME`" in second.err
    assert "没有网络" in second.err
    os.utime(Path(os.environ["MEMTOOL_CACHE"]) / "models" / "failed.txt", (0, 0))
    memtool("index")
    assert memtool("index", "--model", "some/model").code != 0
    assert asked == [True, False, True, True]
