from __future__ import annotations

import json
import os
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from installing import install, uninstall
from unprivileged import unprivileged

from memtool.clients import CLAUDE_HOOKS, HOOKS
from memtool.errors import BadSetting, NoteChanged, NotWritable
from memtool.install.hooks import Program, find_handlers
from memtool.install.plans import original_path
from memtool.vault import files

PROGRAM = Program("/opt/memtool/bin/memtool-hook")
OTHERS = '{\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "说完了"}]}]}\n}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Settings of a user that others have written."""
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(OTHERS)
    return path


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_all_comes_back_and_nothing_is_left_behind(path: Path) -> None:
    installed = install(path, PROGRAM)
    assert (installed.is_change, installed.before, installed.after) == (True, OTHERS, path.read_text())
    assert installed.original == original_path(path) == path.parent / "settings.json.memtool-backup"
    assert installed.original.read_text() == OTHERS
    assert len(find_handlers(path.read_text())) == sum(event.part == HOOKS for event in CLAUDE_HOOKS.events)
    uninstalled = uninstall(path)
    assert (path.read_text(), uninstalled.is_change, uninstalled.original) == (OTHERS, True, None)
    assert names(path.parent) == ["settings.json"]


def test_the_second_time_there_is_nothing_to_do(path: Path) -> None:
    install(path, PROGRAM)
    stamp = path.stat().st_mtime_ns
    again = install(path, PROGRAM)
    assert (again.is_change, again.diff(), path.stat().st_mtime_ns) == (False, "", stamp)
    uninstall(path)
    assert (uninstall(path).is_change, path.read_text()) == (False, OTHERS)


def test_a_file_and_a_folder_that_were_not_there_go_again(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    made = install(path, PROGRAM)
    assert (made.before, made.original) == (None, None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    gone = uninstall(path)
    assert (gone.after, names(tmp_path)) == (None, [])
    assert not uninstall(path).is_change


def test_only_a_folder_that_is_empty_goes_and_only_the_clients(tmp_path: Path) -> None:
    for folder in (tmp_path / ".claude", tmp_path / "my config"):
        folder.mkdir()
        install(folder / "settings.json", PROGRAM)
    (tmp_path / ".claude" / "history.jsonl").touch()
    for folder in (tmp_path / ".claude", tmp_path / "my config"):
        uninstall(folder / "settings.json")
    assert names(tmp_path) == [".claude", "my config"]
    assert names(tmp_path / ".claude") == ["history.jsonl"]


@pytest.mark.parametrize("text", ["", "\n", "{}", "{ }\n", "\ufeff{}", '{\r\n  "hooks": { }\r\n}\r\n'])
def test_a_file_that_says_nothing_comes_back_as_it_was(path: Path, text: str) -> None:
    path.write_bytes(text.encode())
    install(path, PROGRAM)
    uninstall(path)
    assert path.read_bytes() == text.encode()


def test_a_dry_run_shows_the_difference_and_writes_nothing(path: Path) -> None:
    planned = install(path, PROGRAM, dry_run=True)
    assert (path.read_text(), names(path.parent)) == (OTHERS, ["settings.json"])
    assert planned.original == original_path(path)
    diff = planned.diff()
    assert diff.startswith(f"--- {path}\n+++ {path}\n@@ ")
    assert '\n-\t"hooks": {"Stop"' in diff
    assert diff.endswith("\n }\n\\ No newline at end of file\n")
    made = install(path, PROGRAM)
    assert made.diff() == diff
    assert uninstall(path, dry_run=True).after == OTHERS
    assert path.read_text() == made.after


def test_another_memtool_takes_over_and_the_original_stays_the_first(path: Path) -> None:
    install(path, PROGRAM)
    moved = install(path, Program("/new/bin/memtool-hook"))
    assert moved.is_change
    assert {handler.program.command for handler in find_handlers(path.read_text())} == {"/new/bin/memtool-hook"}
    assert original_path(path).read_text() == OTHERS
    uninstall(path)
    assert (path.read_text(), names(path.parent)) == (OTHERS, ["settings.json"])


def test_what_changed_in_the_meantime_stays_and_the_original_goes(path: Path) -> None:
    install(path, PROGRAM)
    value: dict[str, Any] = json.loads(path.read_text())
    path.write_text(json.dumps(value | {"主题": "暗"}, ensure_ascii=False))
    left = uninstall(path)
    assert json.loads(path.read_text()) == json.loads(OTHERS) | {"主题": "暗"}
    assert (left.original, names(path.parent)) == (None, ["settings.json"])


def test_an_original_from_earlier_is_numbered_and_never_overwritten(path: Path) -> None:
    kept = original_path(path)
    kept.write_text("first")
    (path.parent / "settings.json.memtool-backup.1").write_text("another")
    install(path, PROGRAM)
    assert kept.read_text() == OTHERS
    assert (path.parent / "settings.json.memtool-backup.2").read_text() == "first"
    uninstall(path)
    assert names(path.parent) == ["settings.json", *(f"settings.json.memtool-backup.{number}" for number in (1, 2))]


def test_it_goes_as_well_when_the_original_is_lost(path: Path) -> None:
    install(path, PROGRAM)
    original_path(path).unlink()
    uninstall(path)
    assert path.read_text() == OTHERS


def test_a_link_stays_a_link_and_the_mode_stays(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    path.rename(real)
    real.chmod(0o640)
    path.symlink_to(real)
    install(path, PROGRAM)
    assert (path.is_symlink(), stat.S_IMODE(real.stat().st_mode)) == (True, 0o640)
    assert len(find_handlers(real.read_text())) == sum(event.part == HOOKS for event in CLAUDE_HOOKS.events)
    assert stat.S_IMODE(original_path(path).stat().st_mode) == 0o600
    uninstall(path)
    assert (path.is_symlink(), real.read_text()) == (True, OTHERS)


BROKEN = {
    "half": (b'{"hooks": {', "is not JSON: expected a name in double quotes (line 1, column 12)"),
    "a list": (b"[]", "is broken: it should hold an object"),
    "hooks of the wrong type": (b'{"hooks": []}', "is broken: 'hooks' in it should be an object"),
    "a name twice": (b'{"hooks": {},\n "hooks": {}}', "'hooks' is there twice (line 2, column 2)"),
    "not UTF-8": ('{"model": "解密"}'.encode("gbk"), "cannot be read as text"),
    "huge": (b"{}" + b" " * 40_000_000, "is too large for a settings file (40,000,002 bytes)"),
    "deep": (b"[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_broken_file_is_reported_and_never_written(path: Path, kind: str, dry_run: bool) -> None:
    content, why = BROKEN[kind]
    path.write_bytes(content)
    for deed in (partial(install, path, PROGRAM), partial(uninstall, path)):
        with pytest.raises(BadSetting) as error:
            deed(dry_run=dry_run)
        assert str(path) in str(error.value)
        assert why in str(error.value)
        assert len(str(error.value)) < 400
    assert (path.read_bytes(), names(path.parent)) == (content, ["settings.json"])


def test_what_is_no_file_is_reported(path: Path) -> None:
    for settings in (path.parent, path / "settings.json"):
        with pytest.raises(BadSetting, match=r"is not a file|Not a directory"):
            install(settings, PROGRAM)
    assert path.read_text() == OTHERS


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes among files")
def test_a_pipe_is_not_waited_for(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(BadSetting, match="is not a file"):
        install(path, PROGRAM)


def test_files_that_cannot_be_read_are_reported(path: Path) -> None:
    path.chmod(0o000)
    with unprivileged(), pytest.raises(BadSetting, match="Permission denied"):
        install(path, PROGRAM)
    path.chmod(0o600)
    assert path.read_text() == OTHERS


def test_a_folder_that_cannot_be_written_is_reported_and_all_stays(path: Path) -> None:
    path.parent.chmod(0o500)
    with unprivileged(), pytest.raises(NotWritable, match="Permission denied"):
        install(path, PROGRAM)
    path.parent.chmod(0o700)
    assert (path.read_text(), names(path.parent)) == (OTHERS, ["settings.json"])
    install(path, PROGRAM)
    original_path(path).unlink()
    path.parent.chmod(0o500)
    with unprivileged(), pytest.raises(NotWritable, match="Permission denied"):
        uninstall(path)
    path.parent.chmod(0o700)
    assert len(find_handlers(path.read_text())) == sum(event.part == HOOKS for event in CLAUDE_HOOKS.events)


def test_an_original_that_cannot_be_kept_stops_the_installation(path: Path) -> None:
    (original_path(path) / "folder").mkdir(parents=True)
    with pytest.raises(NotWritable, match="memtool-backup"):
        install(path, PROGRAM)
    assert path.read_text() == OTHERS


def test_who_writes_at_the_same_time_wins(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client writes this file, too."""
    replace = files.replace

    def late(target: Path, text: str, *, expected: str | None) -> str:
        if target == path:
            path.write_text('{"model": "new"}')
        return replace(target, text, expected=expected)

    monkeypatch.setattr(files, "replace", late)
    with pytest.raises(NoteChanged):
        install(path, PROGRAM)
    assert path.read_text() == '{"model": "new"}'


def test_a_file_of_ours_that_changed_at_the_last_moment_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    install(path, PROGRAM)
    monkeypatch.setattr(files, "hash_of", lambda _: "another")
    with pytest.raises(NoteChanged):
        uninstall(path)
    assert path.exists()
