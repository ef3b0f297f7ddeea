from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from client_transcripts import answer, prompt, write_transcript
from desk import Desk

from memtool.capture.captured import read_record, set_capture
from memtool.capture.client_event import is_excluded, is_off
from memtool.capture.importing import find_sources
from memtool.settings.sections import CaptureSettings

HOME = Path("/home/林")
TALK = [prompt("登录为什么失败？"), answer("The cookie lacks SameSite.")]


@pytest.mark.parametrize(
    ("pattern", "is_out"),
    [
        ("~/private", True),
        ("/home/林/private", True),
        ("~/private/日记", True),
        ("~/priv*", True),
        ("*/日记", True),
        ("~/privat", False),
        ("/srv", False),
        ("github.com/acme/*", False),
    ],
)
def test_a_folder_is_excluded_with_all_below_it(pattern: str, is_out: bool) -> None:
    assert is_excluded("/home/林/private/日记", ["/none", pattern], HOME) is is_out


@pytest.mark.parametrize(
    ("pattern", "is_out"),
    [("github.com/acme/*", True), ("git@github.com:Acme/shop.git", True), ("github.com/acme", False)],
)
def test_a_remote_is_excluded_wherever_it_is_checked_out(tmp_path: Path, pattern: str, is_out: bool) -> None:
    for command in (["init", "-q"], ["remote", "add", "origin", "https://github.com/acme/shop.git"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    (tmp_path / "src").mkdir()
    assert is_excluded(str(tmp_path / "src"), [pattern], HOME) is is_out


@pytest.mark.parametrize(
    ("environ", "print_sessions", "off"),
    [
        ({}, "no", False),
        ({"MEMTOOL_CAPTURE": "off"}, "yes", True),
        ({"MEMTOOL_CAPTURE": "on"}, "yes", False),
        ({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, "no", True),
        ({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, "yes", False),
        ({"CLAUDE_CODE_ENTRYPOINT": "cli"}, "no", False),
    ],
)
def test_capture_is_switched_off_for_a_session(environ: dict[str, str], print_sessions: str, off: bool) -> None:
    assert is_off(environ, CaptureSettings(print_sessions=print_sessions)) is off


@pytest.mark.slow
def test_a_session_that_was_switched_off_is_passed_over_by_sweep_and_import(desk: Desk) -> None:
    path = write_transcript(desk.home / ".claude" / "projects" / "-src" / "one.jsonl", TALK)
    set_capture(desk.vault, "one", enabled=False)
    assert all(source.is_known for source in find_sources(desk.work.of_client(desk.home / ".claude")))
    desk.put(path)
    assert desk.drain().empty == ("one",)
    assert not (desk.vault.root / "sessions" / "one.md").exists()
    assert read_record(desk.vault, "one").off
    desk.put(path, "capture")  # by hand
    assert desk.drain().captured == ("one",)


@pytest.mark.slow
def test_a_session_in_an_excluded_folder_is_not_written_down(desk: Desk) -> None:
    desk.settings = desk.settings._replace(capture=CaptureSettings(exclude=("/src/shop",)))
    path = write_transcript(desk.home / ".claude" / "projects" / "-src" / "one.jsonl", TALK)
    assert find_sources(desk.work.of_client(desk.home / ".claude")) == []
    desk.put(path)
    assert (desk.drain().captured, desk.told) == ((), [])
    assert not (desk.vault.root / "sessions" / "one.md").exists()
