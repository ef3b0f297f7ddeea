"""What the other tests in this folder build on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from claude_code.api import ScriptedApi
from claude_code.box import Box, wait_until
from claude_code.planted import SECRETS, leaks_in
from claude_code.processes import processes_of
from claude_code.script import use


def test_the_requests_of_a_subagent_and_of_a_compaction_have_lanes_of_their_own(box: Box, api: ScriptedApi) -> None:
    look = use("Agent", description="look", prompt="Look.", subagent_type="general-purpose", run_in_background=False)
    api.answers([look, "after the helper"], subagent=["seen"], compact=["<summary>all of it</summary>"])
    session = box.run(api.url, "start", "--allowedTools", "Agent")
    box.run(api.url, "/compact", "--resume", session.id)
    assert [len(api.asked(lane)) for lane in ("main", "subagent", "compact")] == [2, 1, 1]


def test_the_client_writes_nothing_outside_its_home_and_its_temporary_folder(box: Box, api: ScriptedApi) -> None:
    before = files_of(box)
    box.run(api.url, "hello")
    assert files_of(box) == before
    assert (box.home / ".claude.json").exists()


def files_of(box: Box) -> set[Path]:
    own = (box.home, box.root / "tmp")
    return {path for path in box.root.rglob("*") if not any(path.is_relative_to(folder) for folder in own)}


def test_a_process_is_found_by_its_environment_its_folder_or_its_arguments(tmp_path: Path) -> None:
    waits = [sys.executable, "-c", "input()"]
    by_home = subprocess.Popen(waits, stdin=subprocess.PIPE, env={"HOME": str(tmp_path)})
    by_folder = subprocess.Popen(waits, stdin=subprocess.PIPE, cwd=tmp_path)
    by_argument = subprocess.Popen([*waits, str(tmp_path / "a")], stdin=subprocess.PIPE)
    with by_home, by_folder, by_argument:
        wait_until(lambda: len(processes_of(tmp_path)) == 3, lambda: str(processes_of(tmp_path)))
        for process in (by_home, by_folder, by_argument):
            process.communicate(b"\n")
    assert not processes_of(tmp_path)


def test_every_secret_is_found_in_a_file_and_in_the_history_of_a_repository(tmp_path: Path) -> None:
    for kind, secret in SECRETS.items():
        (tmp_path / f"{kind}.md").write_text(f"密钥是{secret}。")
    assert sorted(leaks_in(tmp_path)) == sorted(f"{kind} in {tmp_path / kind}.md" for kind in SECRETS)
    for command in ("init -q", "add .", "-c user.name=a -c user.email=b commit -qm a", "rm -q *.md"):
        subprocess.run(["git", "-C", tmp_path, *command.split()], check=True)
    assert leaks_in(tmp_path) == [f"{kind} in {tmp_path / '.git'}" for kind in SECRETS]
