from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from terminal import Memtool

SUMMARY = """\
---
triggers: [checkout, 支付]
paths: ["src/pay/**"]
identities: [github.com/acme/shop]
---
"""


@pytest.fixture
def shop(notes: Path) -> Path:
    """A vault with a project that has triggers and a schema page; the commands are run in it."""
    folder = notes / "areas" / "projects" / "shop"
    (folder / "schema").mkdir(parents=True)
    (folder / "summary.md").write_text(SUMMARY, encoding="utf-8")
    (folder / "schema" / "order.md").write_text("# order\n")
    (notes / "rules").mkdir()
    return notes


def paths(answer: object) -> list[str]:
    assert isinstance(answer, dict)
    return [file["path"] for file in answer["files"]]


@pytest.mark.usefixtures("shop")
def test_a_text_leads_to_files_and_says_why(memtool: Memtool) -> None:
    ran = memtool("route", "为什么", "支付失败", "at checkout?")
    assert ran == (0, "areas/projects/shop/summary.md  '支付', 'checkout' in areas/projects/shop/summary.md:2\n", "")
    (file,) = memtool("route", "支付", "--json").answer["files"]
    assert file == {
        "path": "areas/projects/shop/summary.md",
        "reasons": [{"kind": "word", "trigger": "支付", "source": "areas/projects/shop/summary.md", "line": 2}],
    }


@pytest.mark.usefixtures("shop")
def test_nothing_found_is_no_error(memtool: Memtool) -> None:
    code, out, err = memtool("route", "hello")
    assert (code, out) == (0, "")
    assert err.startswith("No trigger matches.")
    answer = memtool("route", "--json", "--table", "hello").answer
    assert (answer["format"], answer["files"], answer["notices"]) == (1, [], [])


def test_a_table_leads_to_the_page_of_its_prefix(memtool: Memtool, shop: Path) -> None:
    assert (
        memtool("route", "--table", "order_items").out == "areas/projects/shop/schema/order.md  'order' in its name\n"
    )
    (shop / "rules/prefix-map.json").write_text('{"order_": "areas/projects/shop/summary.md"}')
    ran = memtool("route", "--table", "ORDER_items")
    assert ran.out == "areas/projects/shop/summary.md  'order_' in rules/prefix-map.json:1\n"


@pytest.mark.slow
def test_a_file_is_taken_relative_to_its_repository(
    memtool: Memtool, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, remote in (("clone", "git@github.com:Acme/shop.git"), ("other", "https://github.com/acme/blog")):
        (tmp_path / name / "src" / "pay").mkdir(parents=True)
        subprocess.run(["git", "init", "-q", tmp_path / name], check=True)
        subprocess.run(["git", "-C", tmp_path / name, "remote", "add", "origin", remote], check=True)
    (tmp_path / "plain").mkdir()
    vault = ("--vault", str(shop), "--json")
    monkeypatch.chdir(tmp_path / "clone" / "src")
    assert paths(memtool("route", "--file", "pay/a.py", *vault).answer) == ["areas/projects/shop/summary.md"]
    assert paths(memtool("route", "--file", str(tmp_path / "clone/src/pay/gone/a.py"), *vault).answer) != []
    assert paths(memtool("route", "--file", "../a.py", *vault).answer) == []
    monkeypatch.chdir(tmp_path / "plain")
    assert paths(memtool("route", "--file", "src/pay/a.py", *vault).answer) != []
    assert paths(memtool("route", "--file", "支付.md", *vault).answer) != []


def test_check_fails_on_what_leads_nowhere_and_not_on_warnings(memtool: Memtool, shop: Path) -> None:
    code, out, err = memtool("route", "--check")
    assert (code, err) == (0, "Every trigger leads to a file.\n")
    assert out == "rules/memory-loader.md:1: warning: the table is not up to date: run `memtool route --update`\n"
    (shop / "rules/prefix-map.json").write_text('{\n  "t_": "gone.md"}')
    code, out, err = memtool("route", "--check")
    assert (code, err) == (1, "")
    assert out.startswith("rules/prefix-map.json:2: 't_' leads nowhere: 'gone.md' is not there\n")
    ran = memtool("route", "--check", "--json")
    assert (ran.code, ran.answer["good"], len(ran.answer["findings"])) == (1, False, 2)
    assert "see `memtool route --check`" in memtool("route", "t_x").err


@pytest.mark.slow
def test_update_writes_the_table_in_one_commit(
    memtool: Memtool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    memtool("init", "vault")
    vault = ("--vault", "vault")
    assert memtool("route", "--update", *vault).out == "Nothing to do: rules/memory-loader.md is up to date.\n"
    summary = tmp_path / "vault/areas/projects/shop/summary.md"
    summary.parent.mkdir()
    summary.write_text(SUMMARY, encoding="utf-8")
    answer = memtool("route", "--update", "--json", *vault).answer
    assert (answer["changed"], answer["rules"], answer["notices"]) == (True, [], [])
    shown = subprocess.run(
        ["git", "show", "--stat", answer["commit"]], cwd=tmp_path / "vault", capture_output=True, check=True
    )
    assert b"rules/memory-loader.md" in shown.stdout
    assert b"1 file changed" in shown.stdout
    assert not memtool("route", "--update", "--json", *vault).answer["changed"]


@pytest.mark.slow
def test_update_brings_the_rules_of_an_installed_client_up_to_date(
    memtool: Memtool, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    memtool("init", str(shop))  # only the triggers of one's own vault become rules
    memtool("install", "claude-code")
    rule = tmp_path / "config" / "rules" / "memtool.md"
    summary = shop / "areas/projects/shop/summary.md"
    summary.write_text(SUMMARY.replace("checkout", "till"), encoding="utf-8")
    assert f"Changed: {rule}\n" in memtool("route", "--update").out
    assert "`till`" in rule.read_text()
    memtool("uninstall", "claude-code")
    memtool("route", "--update")
    assert not rule.exists()


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("arguments", [("x", "--check"), ("--file", "a", "--table", "b"), ("--update", "--check")])
def test_one_question_at_a_time(memtool: Memtool, arguments: tuple[str, ...]) -> None:
    assert memtool("route", *arguments).code == 2


def test_a_trigger_cannot_steer_the_terminal(memtool: Memtool, shop: Path) -> None:
    (shop / "rules/memory-loader.md").write_text(
        "| \x1b[31m | gone\x1b[2J.md |\n| x | areas/projects/shop/summary.md |\n"
    )
    for arguments in (("route", "--check"), ("route", "x"), ("route",)):
        ran = memtool(*arguments)
        assert "\x1b[2J" not in ran.out + ran.err


def test_in_a_project_the_triggers_of_another_do_not_count(
    memtool: Memtool, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "areas/projects/论文").mkdir()
    (shop / "rules/memory-loader.md").write_text("| invoice | [it](../areas/projects/shop/summary.md) |\n")
    monkeypatch.chdir(shop / "areas/projects/论文")
    assert paths(memtool("route", "支付 at checkout", "--json").answer) == []
    assert paths(memtool("route", "--table", "order_items", "--json").answer) == []
    for asked in (["支付 in shop"], ["支付", "--all-projects"], ["invoice"]):
        assert paths(memtool("route", *asked, "--json").answer) == ["areas/projects/shop/summary.md"]
    assert len(paths(memtool("route", "--json").answer)) == 2
