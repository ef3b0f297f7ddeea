"""Imports are architecture: what a command may import when it runs (docs/decisions/0002)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "asyncio", "email", "fastapi", "fastembed", "filelock", "frontmatter", "http", "httpx", "huggingface_hub",
    "importlib.metadata", "jsonschema", "mcp", "multiprocessing", "numpy", "onnxruntime", "platformdirs", "requests",
    "rich", "tokenizers", "urllib.request", "yaml",
}  # fmt: skip


def imported_by(*arguments: str, cwd: Path) -> set[str]:
    """Return the modules that `memtool` imports when it runs with *arguments*."""
    command = [sys.executable, "-X", "importtime", "-c", "from memtool.cli.main import main; main()", *arguments]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MEMTOOL_")}
    ran = subprocess.run(
        command, cwd=cwd, env={**environ, "HOME": str(cwd)}, capture_output=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}


@pytest.fixture
def vault_path(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("---\ntitle: Tea\n---\n\n# Tea\n\n解密失败 E0308\n", encoding="utf-8")
    return tmp_path / "vault"


def test_the_list_names_modules_as_they_are_imported(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import rich.console, yaml"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True).stderr
    assert {"rich", "yaml"} <= {line.rpartition("|")[2].strip() for line in said.splitlines()}


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    assert sorted(imported_by("--help", cwd=tmp_path) & (HEAVY | {"sqlite3"})) == []


@pytest.mark.slow
def test_a_search_over_a_fresh_index_imports_nothing_heavy(vault_path: Path, tmp_path: Path) -> None:
    arguments = ("search", "解密失败", "--json", "--vault", str(vault_path))
    imported_by(*arguments, cwd=tmp_path)  # makes the index
    of_writing = {
        "dataclasses",
        "memtool.index.rows",
        "memtool.vault.facts",
        "memtool.vault.note",
    }
    assert sorted(imported_by(*arguments, cwd=tmp_path) & (HEAVY | of_writing)) == []


@pytest.mark.slow
def test_what_goes_to_a_pipe_does_not_pay_for_what_draws_on_a_terminal(vault_path: Path, tmp_path: Path) -> None:
    for arguments in (["search"], ["show", "a"], ["route", "tea"], ["capture", "--status"], ["capture", "--usage"]):
        imported = imported_by(*arguments, "--vault", str(vault_path), cwd=tmp_path)
        assert not imported & {"rich", "markdown_it", "memtool.cli.screen"}, arguments


def test_to_look_for_hooks_in_settings_costs_the_plugin_little(tmp_path: Path) -> None:
    """It does so at each event."""
    command = [sys.executable, "-X", "importtime", "-c", "import memtool.install.hooks"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True).stderr
    imported = {line.rpartition("|")[2].strip() for line in said.splitlines()}
    assert sorted(imported & (HEAVY | {"dataclasses", "difflib", "inspect", "subprocess"})) == []


@pytest.mark.slow
def test_a_start_imports_nothing_of_prompts_and_no_yaml_for_notes_of_other_projects(vault_path: Path) -> None:
    (vault_path / "memtool.toml").touch()
    (vault_path / "sessions").mkdir()
    note = "---\ntype: session\nproject: tea\ntitle: [茶\n  and more]\ndate: 2026-02-10\n---\n# Tea\n"
    (vault_path / "sessions" / "2026-02-10-茶.md").write_text(note, encoding="utf-8")
    (vault_path / "areas" / "global").mkdir(parents=True)
    fact = {"id": "a", "fact": "Green tea is brewed at 70 degrees. 绿茶用70度的水。", "status": "active"}
    (vault_path / "areas" / "global" / "facts.json").write_text(json.dumps({"facts": [fact]}), encoding="utf-8")
    event = {"hook_event_name": "SessionStart", "session_id": "one", "cwd": str(vault_path.parent), "source": "startup"}
    home = vault_path.parent
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "memtool.hook"],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "MEMTOOL_VAULT": str(vault_path)},
        input=json.dumps(event),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}
    assert {"memtool.recall.start.session_start", "memtool.vault.facts"} <= imported
    of_others = {*HEAVY, "dataclasses", "inspect"}
    assert sorted(name for name in imported if name in of_others or name.startswith("memtool.recall.prompts.")) == []


@pytest.mark.slow
def test_a_worker_imports_no_client_of_http_before_it_asks_a_model() -> None:
    code = (
        "import sys, memtool.worker, memtool.capture.drain, memtool.llm.writers;"
        "print({'http.client', 'urllib.request', 'concurrent.futures'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
