from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from installing import install

from memtool import settings
from memtool.clients import CLAUDE_HOOKS
from memtool.install import client_files
from memtool.install.claude_health import (
    HookFinding,
    Plugin,
    examine,
    installed_in,
    obstacles,
    project_notices,
    why_unread,
)
from memtool.install.hooks import Program, find_program

ELSEWHERE = Program("/nowhere/memtool-hook")


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of somebody whose client keeps its files in a folder of the test's."""
    monkeypatch.setattr(client_files, "managed_settings_path", lambda: tmp_path / "managed" / "settings.json")
    return {**settings.environment(), "CLAUDE_CONFIG_DIR": str(tmp_path / "config")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "项目").mkdir()
    return tmp_path / "项目"


def write(path: Path, **values: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(values))


def test_a_program_that_is_gone_is_broken_and_one_of_a_project_is_never_run(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(client_files.user_settings_path(environ), ELSEWHERE)
    (gone,) = examine(environ, project).findings
    assert (gone.is_broken, gone.sentence) == (True, "the hooks run '/nowhere/memtool-hook', which does not exist")
    assert "memtool install claude-code" in gone.fix
    install(client_files.project_settings_path(project), Program(sys.executable, ("-m", "memtool.hook")))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it was run"))
    assert all("does not answer" not in finding.sentence for finding in examine(environ, project).findings)


def test_a_vault_that_is_gone_is_broken(environ: dict[str, str], tmp_path: Path) -> None:
    install(client_files.user_settings_path(environ), find_program(tmp_path / "gone", this_project=False))
    (finding,) = examine(environ, None).findings
    assert (finding.is_broken, finding.sentence) == (
        True,
        f"the hooks write to '{tmp_path / 'gone'}', which does not exist",
    )


def test_a_hook_that_is_missing_is_noted(environ: dict[str, str]) -> None:
    path = client_files.user_settings_path(environ)
    install(path, find_program(None, this_project=False))
    value = json.loads(path.read_text())
    del value["hooks"]["Stop"], value["hooks"]["SessionEnd"]
    write(path, **value)
    assert [(finding.is_broken, finding.sentence) for finding in examine(environ, None).findings] == [
        (False, f"'{path}' lacks the hooks Stop, SessionEnd")
    ]


def test_a_file_that_the_client_ignores_is_broken(environ: dict[str, str]) -> None:
    path = client_files.user_settings_path(environ)
    path.parent.mkdir()
    path.write_text('{"model": "x",}')
    install(path, find_program(None, this_project=False))
    sentence = f"Claude Code ignores all of '{path}' while it holds comments or trailing commas"
    assert examine(environ, None).findings == (HookFinding(True, sentence, "Remove them from the file."),)
    assert (why_unread(path, '{"a": "//"}'), why_unread(path, "")) == ("", "")


def test_a_broken_file_is_broken_and_the_others_are_looked_at(environ: dict[str, str], project: Path) -> None:
    install(client_files.user_settings_path(environ), ELSEWHERE)
    client_files.shared_settings_path(project).parent.mkdir()
    client_files.shared_settings_path(project).write_text("{")
    broken, gone = examine(environ, project).findings
    assert (broken.is_broken, "is not JSON" in broken.sentence) == (True, True)
    assert gone.sentence.endswith("which does not exist")
    assert installed_in(environ, project) == [client_files.user_settings_path(environ)]


def test_switches_that_turn_hooks_off_are_told(environ: dict[str, str], project: Path) -> None:
    paths = (
        client_files.user_settings_path(environ),
        client_files.shared_settings_path(project),
        client_files.project_settings_path(project),
        client_files.managed_settings_path(),
    )
    for path in paths:
        write(path, disableAllHooks=True)
    assert obstacles(environ, project) == [f"'{path}' sets disableAllHooks, so no hook runs at all" for path in paths]
    for path in paths:
        write(path, disableAllHooks=False, allowManagedHooksOnly=True)
    (managed,) = obstacles(environ, project)
    assert str(client_files.managed_settings_path()) in managed


def test_hooks_that_would_run_twice_are_told(environ: dict[str, str], project: Path) -> None:
    user, local = client_files.user_settings_path(environ), client_files.project_settings_path(project)
    install(user, ELSEWHERE)
    install(local, ELSEWHERE)
    assert obstacles(environ, project) == []  # the client runs what is identical once
    install(local, ELSEWHERE._replace(args=("--vault", "/v")))
    (sentence,) = obstacles(environ, project)
    assert sentence.startswith(f"the hooks in '{user}' and '{local}' differ")


@pytest.mark.parametrize(("enabled", "told"), [(True, 1), (False, 0)])
def test_the_plugin_is_told_as_well(environ: dict[str, str], project: Path, enabled: bool, told: int) -> None:
    write(client_files.user_settings_path(environ), enabledPlugins={"memtool@anywhere": enabled, "memtools@x": True})
    assert len(obstacles(environ, project)) == told
    write(client_files.user_settings_path(environ), enabledPlugins=["memtool"], disableAllHooks="yes")
    assert obstacles(environ, project) == []


@pytest.fixture
def program(environ: dict[str, str], tmp_path: Path) -> Path:
    """A `memtool-hook` on the PATH."""
    path = tmp_path / "程序" / "memtool-hook"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m memtool.hook "$@"\n')
    path.chmod(0o755)
    environ["PATH"] = f"{path.parent}:/usr/bin:/bin"
    return path


def record_plugin(environ: dict[str, str], copies: object) -> None:
    folder = client_files.user_settings_path(environ).parent / "plugins"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "installed_plugins.json").write_text(json.dumps({"version": 2, "plugins": {"memtool@memtool": copies}}))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["user", "shared", "local"])
def test_a_plugin_alone_is_an_installation(environ: dict[str, str], project: Path, program: Path, place: str) -> None:
    paths = {
        "user": client_files.user_settings_path(environ),
        "shared": client_files.shared_settings_path(project),
        "local": client_files.project_settings_path(project),
    }
    write(paths[place], enabledPlugins={"memtool@memtool": True, "other@memtool": True})
    record_plugin(environ, [{"scope": place, "version": "0.1.0"}])
    found = examine(environ, project)
    assert found == ((), (Program(str(program)),), (), Plugin("memtool@memtool", paths[place], "0.1.0"))


@pytest.mark.slow
@pytest.mark.usefixtures("program")
def test_a_plugin_that_the_project_switches_off_is_none(environ: dict[str, str], project: Path) -> None:
    write(client_files.user_settings_path(environ), enabledPlugins={"memtool@memtool": True})
    write(client_files.project_settings_path(project), enabledPlugins={"memtool@memtool": False})
    assert examine(environ, project).plugin is None
    assert examine(environ, None).plugin is not None


@pytest.mark.slow
@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("copies", [[], "x", [{"version": 1}], [None], None])
def test_a_plugin_that_is_enabled_and_not_installed_is_noted(environ: dict[str, str], copies: object) -> None:
    write(client_files.user_settings_path(environ), enabledPlugins={"memtool@memtool": True})
    record_plugin(environ, copies)
    (finding,) = examine(environ, None).findings
    assert (finding.is_broken, "has not installed" in finding.sentence) == (False, True)
    assert "memtool install claude-code" in finding.fix


@pytest.mark.slow
def test_a_plugin_without_its_program_is_broken(environ: dict[str, str], program: Path) -> None:
    write(client_files.user_settings_path(environ), enabledPlugins={"memtool@memtool": True})
    record_plugin(environ, [{"version": "0.1.0"}])
    program.write_text("#!/bin/sh\nexit 0\n")
    (finding,) = examine(environ, None).findings
    assert (finding.is_broken, "does not write the edit down" in finding.sentence) == (True, True)
    program.unlink()
    (finding,) = examine(environ, None).findings
    assert (finding.is_broken, "finds no memtool-hook" in finding.sentence) == (True, True)
    local = Path.home() / ".local" / "bin" / "memtool-hook"
    local.parent.mkdir(parents=True)
    local.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m memtool.hook "$@"\n')
    local.chmod(0o755)
    assert examine(environ, None).programs == (Program(str(local)),)


@pytest.mark.slow
@pytest.mark.usefixtures("program")
def test_with_hooks_in_the_settings_the_plugin_is_only_noted(environ: dict[str, str]) -> None:
    install(client_files.user_settings_path(environ), find_program(None, this_project=False))
    value = json.loads(client_files.user_settings_path(environ).read_text())
    write(client_files.user_settings_path(environ), **value, enabledPlugins={"memtool@memtool": True})
    found = examine(environ, None)
    assert found.plugin is None
    assert ["leaves every event to these" in finding.sentence for finding in found.findings] == [True]


def test_the_home_folder_may_be_a_project(project: Path) -> None:
    environ = {"CLAUDE_CONFIG_DIR": str(project / ".claude")}
    write(project / ".claude" / "settings.json", disableAllHooks=True)
    assert len(obstacles(environ, project)) == 1


def git(folder: Path, *args: str) -> None:
    subprocess.run(["git", "-C", str(folder), *args], check=True, capture_output=True)


def test_a_file_that_git_would_share_is_told(project: Path) -> None:
    assert project_notices(project) == []
    git(project, "init", "--quiet")
    (sentence,) = project_notices(project)
    assert sentence.startswith(f"git does not ignore '{client_files.project_settings_path(project)}'")
    (project / ".git" / "info" / "exclude").write_text("**/.claude/settings.local.json\n")
    assert project_notices(project) == []
    (project / "packages").mkdir()
    (sentence,) = project_notices(project / "packages")
    assert sentence.startswith(f"only sessions that start in '{project / 'packages'}' run these hooks")


def test_the_hooks_that_are_installed_are_those_that_the_hook_knows() -> None:
    from memtool.hook.main import ACTIONS

    assert {event.name for event in CLAUDE_HOOKS.events} == set(ACTIONS)
