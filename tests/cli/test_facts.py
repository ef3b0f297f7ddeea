from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memtool.git import tell

if TYPE_CHECKING:
    from terminal import Memtool

    from memtool.vault.layout import Vault

FACTS = "areas/global/facts.json"


def fact(fact_id: str, text: str, **more: object) -> dict[str, Any]:
    return {
        "id": fact_id, "fact": text, "evidence": "seen", "timestamp": "2026-02-10", "status": "active",
        "category": "general", **more,
    }  # fmt: skip


@pytest.fixture
def facts(notes: Path) -> Path:
    path = notes / FACTS
    path.parent.mkdir(parents=True)
    listed = [
        fact("port", "The API listens on port 8443.", category="configuration", author="user"),
        fact("rival", "The API listens on port 8444.", timestamp="2026-03-01"),
        fact("token", "访问令牌的有效期是 24 小时。", status="archived"),
    ]
    path.write_text(json.dumps({"facts": listed}, ensure_ascii=False, indent=2), encoding="utf-8")
    shop = notes / "areas/projects/shop"
    shop.mkdir(parents=True)
    (shop / "facts.json").write_text(json.dumps({"facts": [fact("jwt", "Services use JWT.", category="decision")]}))
    return path


@pytest.mark.usefixtures("facts")
def test_a_list_marks_what_contradicts(memtool: Memtool) -> None:
    lines = memtool("facts", "list").out.splitlines()
    assert lines[0].startswith("rival  2026-03-01  active  global  general")
    assert lines[0].endswith("[contradicts port]")
    assert any(line.endswith("8443.  [contradicts rival]") for line in lines)
    assert not any("令牌" in line for line in lines)


@pytest.mark.usefixtures("facts")
def test_a_list_has_pages(memtool: Memtool) -> None:
    first = memtool("facts", "list", "--limit", "2")
    assert [line.split()[0] for line in first.out.splitlines()] == ["rival", "port"]
    assert "[contradicts port]" in first.out
    assert "page 1 of 2; `--page 2` shows the next" in first.err
    assert memtool("facts", "list", "--limit", "2", "--page", "2").out.split()[0] == "jwt"
    answer = memtool("facts", "list", "--limit", "1", "--page", "2", "--json").answer
    assert ([fact["id"] for fact in answer["facts"]], answer["total"]) == (["port"], 3)
    assert "There are no such facts." in memtool("facts", "list", "--page", "9").err


@pytest.mark.usefixtures("facts")
@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--project", "shop"], ["jwt"]),
        (["--project", "global", "--author", "user"], ["port"]),
        (["--author", "imported"], ["rival", "jwt"]),
        (["--category", "decision"], ["jwt"]),
        (["--status", "archived"], ["token"]),
        (["--status", "all"], ["rival", "port", "token", "jwt"]),
    ],
)
def test_a_list_is_narrowed(memtool: Memtool, options: list[str], ids: list[str]) -> None:
    answer = memtool("facts", "list", "--json", *options).answer
    assert [one["id"] for one in answer["facts"]] == ids
    assert answer["format"] == 1


@pytest.mark.usefixtures("facts")
def test_an_unknown_project_and_an_unknown_id_are_named(memtool: Memtool) -> None:
    assert "There are facts of global, shop." in memtool("facts", "list", "--project", "shap").err
    ran = memtool("facts", "show", "prot")
    assert (ran.code, "Did you mean 'port'?" in ran.err) == (20, True)


@pytest.mark.usefixtures("facts")
def test_superseding_links_both_and_history_walks_the_chain(memtool: Memtool) -> None:
    assert memtool("facts", "supersede", "port", "The API listens on port 9000.", "--evidence", "the move").code == 0
    new = memtool("facts", "show", "port", "--history", "--json").answer["facts"]
    assert [one["status"] for one in new] == ["superseded", "active"]
    assert (new[0]["supersededBy"], new[1]["supersedes"]) == (new[1]["id"], "port")
    assert new[1]["evidence"] == "the move"
    shown = memtool("facts", "show", new[1]["id"], "--history").out
    assert shown.index("8443") < shown.index("superseded by") < shown.index("9000")


@pytest.mark.usefixtures("facts")
def test_archiving_and_restoring(memtool: Memtool) -> None:
    assert memtool("facts", "archive", "jwt", "port").code == 0
    assert memtool("facts", "list", "--project", "shop", "--json").answer["facts"] == []
    assert memtool("facts", "restore", "jwt", "token").code == 0
    assert "访问令牌" in memtool("facts", "list").out


def test_an_update_changes_fields_and_no_other_byte(memtool: Memtool, facts: Path) -> None:
    before = facts.read_text(encoding="utf-8")
    secret = "the key AKIAIOSFODNN7EXAMPLE"
    ran = memtool("facts", "update", "port", "--tag", "net", "--domain", "接口", "--evidence", secret)
    assert ran.code == 0
    after = json.loads(facts.read_text(encoding="utf-8"))["facts"]
    assert (after[0]["tags"], after[0]["domain"]) == (["net"], "接口")
    assert "AKIA" not in facts.read_text(encoding="utf-8")
    assert after[1:] == json.loads(before)["facts"][1:]
    assert memtool("facts", "update", "port").code == 2


@pytest.mark.usefixtures("facts")
def test_verifying_finds_rivals_and_is_content(memtool: Memtool) -> None:
    ran = memtool("facts", "verify", "--json")
    assert (ran.code, ran.answer["ok"], ran.answer["facts"]) == (0, True, 4)
    assert {(one["kind"], one["id"]) for one in ran.answer["findings"]} == {
        ("contradiction", "port"), ("contradiction", "rival"),
    }  # fmt: skip


def test_very_many_alike_facts_are_not_all_compared_and_it_is_said(
    memtool: Memtool, facts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtool.memory.fact_book.islice", lambda pairs, _most: islice(pairs, 10))
    listed = [fact(f"f{at}", f"The service number {at} listens on port {at}.") for at in range(30)]
    facts.write_text(json.dumps({"facts": listed}))
    found = memtool("facts", "verify", "--json").answer["findings"]
    assert "not all of them were compared" in found[0]["sentence"]
    assert len(found) < 30


def test_verifying_fails_on_broken_rules_and_chains(memtool: Memtool, facts: Path) -> None:
    shop = facts.parents[1] / "projects/shop/facts.json"
    listed = [
        fact("port", "Twice."),
        fact("lost", "Old.", status="superseded", supersededBy="nobody"),
        fact("a", "A", status="superseded", supersededBy="b", supersedes="b"),
        fact("b", "B", status="superseded", supersededBy="a", supersedes="a"),
        fact("odd", "X", category="colour"),
        fact("new", "Y", supersedes="odd2"),
        fact("over", "Z", expires="2020-01-01", review="a.py has changed since"),
    ]
    shop.write_text(json.dumps({"facts": listed}))
    (facts.parents[1] / "tools").mkdir()
    (facts.parents[1] / "tools/facts.json").write_text("{")
    ran = memtool("facts", "verify", "--json")
    found = {(one["kind"], one["id"]) for one in ran.answer["findings"]}
    assert ran.code == 1
    wanted = {
        ("double id", "port"), ("chain", "lost"), ("chain", "a"), ("chain", "b"), ("chain", "new"), ("broken", ""),
        ("expired", "over"), ("review", "over"),
    }  # fmt: skip
    assert wanted <= found
    assert any("colour" in one["sentence"] for one in ran.answer["findings"])
    assert "1 problem" not in memtool("facts", "verify").out


def test_an_anchor_that_moved_is_looked_at_again_and_reviewed(memtool: Memtool, notes: Path, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    tell(code, "init", "--quiet")
    (code / "auth.ts").write_text("let ttl = 24\n")
    blob = tell(code, "hash-object", "auth.ts").strip()
    area = notes / "areas/projects/shop"
    area.mkdir(parents=True)
    (area / "summary.md").write_text(f"---\ntype: project\nidentities: ['path:{code.as_posix()}']\n---\n")
    anchors = [{"path": "auth.ts", "blob": blob}, {"path": "../../etc/passwd", "blob": "0" * 40}]
    (area / "facts.json").write_text(json.dumps({"facts": [fact("ttl", "Tokens live 24 hours.", anchors=anchors)]}))
    assert memtool("facts", "verify", "--json").answer["findings"] == []
    (code / "auth.ts").write_text("let ttl = 12\n")
    (found,) = memtool("facts", "verify", "--json").answer["findings"]
    assert (found["kind"], found["sentence"]) == ("anchor", "auth.ts has changed since")
    assert memtool("facts", "update", "ttl", "--reviewed").code == 0
    assert memtool("facts", "verify", "--json").answer["findings"] == []
    (code / "auth.ts").unlink()
    (found,) = memtool("facts", "verify", "--json").answer["findings"]
    assert found["sentence"] == "auth.ts is gone"


@pytest.mark.slow
def test_each_change_is_one_commit(memtool: Memtool, vault: Vault) -> None:
    there = ("--vault", str(vault.root))
    new = memtool("facts", "add", "Tokens live 24 hours", "--global", "--json", *there).answer
    assert memtool("facts", "archive", new["id"], *there).code == 0
    subjects = tell(vault.root, "log", "--format=%s", "-2").splitlines()
    assert subjects == [f"archive: {new['id']}: Tokens live 24 hours", "remember: Tokens live 24 hours"]
    assert tell(vault.root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_fact_is_anchored_in_a_file_of_its_project(
    memtool: Memtool, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "茶 shop"
    (shop / "src").mkdir(parents=True)
    tell(shop, "init", "-q")
    (shop / "src/登录.ts").write_text("const ttl = 24\n", encoding="utf-8")
    blob = tell(shop, "hash-object", "src/登录.ts").strip()
    monkeypatch.setenv("MEMTOOL_VAULT", str(notes))
    monkeypatch.chdir(shop / "src")
    added = memtool("facts", "add", "Tokens live 24 hours.", "--anchor", "登录.ts", "--json")
    path = notes / added.answer["path"]
    assert json.loads(path.read_text())["facts"][0]["anchors"] == [{"path": "src/登录.ts", "blob": blob}]
    assert memtool("facts", "verify").code == 0
    (shop / "src/登录.ts").write_text("const ttl = 1\n", encoding="utf-8")
    assert "登录.ts" in memtool("facts", "verify").out
    for name in ("nothing.ts", str(notes / "memtool.toml")):
        refused = memtool("facts", "add", "Something else holds.", "--anchor", name)
        assert (refused.code, "no file of the project" in refused.err) == (2, True)
    assert memtool("remember", "# A note\n\nText.", "--kind", "knowledge", "--anchor", "登录.ts").code == 2
