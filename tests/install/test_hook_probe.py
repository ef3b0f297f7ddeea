from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memtool.clients import CLIENTS
from memtool.hook.translation import translated
from memtool.install import hook_probe
from memtool.install.hook_probe import edit_event, probe
from memtool.install.hooks import Program, find_program


@pytest.mark.slow
@pytest.mark.parametrize("args", [(), ("--vault", "/nowhere", "--this-project")])
def test_a_program_that_writes_down_an_edit_has_no_fault(args: tuple[str, ...]) -> None:
    assert probe(Program(sys.executable, ("-P", "-m", "memtool.hook", *args)))[0] == ""


@pytest.mark.slow
def test_what_the_user_ignores_does_not_look_like_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTOOL_CAPTURE_IGNORE", "*")
    monkeypatch.setenv("MEMTOOL_INTERNAL", "1")
    assert probe(find_program(None, this_project=False)).fault == ""


@pytest.mark.slow
@pytest.mark.parametrize("client", [name for name, client in CLIENTS.items() if client.events])
def test_each_client_tells_of_an_edit_in_its_own_words(client: str, tmp_path: Path) -> None:
    program = find_program(tmp_path, this_project=False, client=client)
    assert probe(program, client).fault == ""
    assert translated(edit_event(client, tmp_path / "文件.md"), client)["hook_event_name"] == "PostToolUse"
    if client not in ("claude-code", "opencode"):  # whose plugin speaks as Claude Code does
        assert probe(
            program._replace(args=tuple(x for x in program.args if x not in ("--client", client))), client
        ).fault


def script(path: Path, body: str) -> Program:
    path.write_text(body)
    return Program(sys.executable, ("-I", str(path)))


def test_faults_are_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = script(tmp_path / "broken.py", "import memtool_is_gone")
    assert probe(program).fault == (
        "it does not write the edit down: ModuleNotFoundError: No module named 'memtool_is_gone'"
    )
    assert probe(script(tmp_path / "idle.py", "")).fault == "it does not write the edit down: exit code 0"
    (tmp_path / "no program").write_text("")
    assert probe(Program(str(tmp_path / "no program"))).fault.startswith("it cannot be run: ")
    monkeypatch.setattr(hook_probe, "PATIENCE", 0)
    assert probe(find_program(None, this_project=False)).fault == "it does not answer"


def test_a_hook_that_writes_only_to_its_log_has_that_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTOOL_SEARCH_LIMIT", "many")
    assert "'search.limit' (MEMTOOL_SEARCH_LIMIT) should be a whole number" in (
        probe(find_program(None, this_project=False)).fault
    )


def test_a_hook_that_fails_once_on_a_busy_machine_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(hook_probe.__file__).parents[2]))
    busy = tmp_path / "忙"
    busy.touch()
    body = f"""
import pathlib, sys
busy = pathlib.Path({str(busy)!r})
if busy.exists():
    busy.unlink()
    sys.exit("not now")
from memtool.hook.main import main
sys.exit(main())
"""
    (tmp_path / "once.py").write_text(body, encoding="utf-8")
    assert probe(Program(sys.executable, (str(tmp_path / "once.py"),))).fault == ""
    assert not busy.exists()
