from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import given, strategies as st
from install.json_texts import NAMES, VALUES, layouts

from memtool.clients import CLAUDE_HOOKS, HINTS, HOOKS
from memtool.errors import BadSetting
from memtool.install.hook_shares import HookShare, changes_kept
from memtool.install.hooks import (
    Program,
    find_handlers,
    find_program,
)
from memtool.install.plans import carry_out, plan
from memtool.processes import start_command
from memtool.text.json_places import parse

HERE = Program("/opt/memtool/bin/memtool-hook", ("--vault", "/home/陈/记忆"))
THERE = Program("/old/bin/memtool-hook")
EVENTS = [event.name for event in CLAUDE_HOOKS.events if event.part == HOOKS]

OTHERS = st.sampled_from(
    [
        {"type": "command", "command": "echo memtool-hook"},
        {"type": "command", "command": "/usr/bin/格式化", "args": ["memtool-hook"], "timeout": 5},
        {"type": "http", "url": "http://127.0.0.1:1/memtool-hook"},
        {"type": "prompt", "prompt": "Run memtool-hook"},
    ]
)
GROUPS = st.builds(
    lambda matcher, handlers, more: {**matcher, "hooks": handlers, **more},
    st.sampled_from([{}, {"matcher": ""}, {"matcher": "Write|Edit"}, {"matcher": "Bash"}]),
    st.lists(OTHERS, max_size=3),
    st.sampled_from([{}, {"description": "为什么"}]),
)
EVENT_LISTS = st.dictionaries(
    st.sampled_from([*EVENTS, "UserPromptSubmit", "FromTheFuture"]), st.lists(GROUPS, max_size=3)
)


@st.composite
def settings(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of a stranger: unknown keys, hooks of other tools, empty lists."""
    before = draw(st.dictionaries(NAMES.filter(lambda name: name != "hooks"), VALUES, max_size=3))
    after = draw(st.dictionaries(st.sampled_from(["permissions", "enabledPlugins"]), VALUES, max_size=2))
    return before | draw(st.just({}) | EVENT_LISTS.map(lambda events: {"hooks": events})) | after


TEXTS = settings().flatmap(layouts) | st.sampled_from(["", "\n", "\ufeff", "{}", "{ }", "{\n}\n"])


def share(program: Program = HERE, path: Path = Path("settings.json"), part: str = HOOKS) -> HookShare:
    return HookShare(part, path, CLAUDE_HOOKS, program)


def with_hooks(text: str, program: Program) -> str:
    return share(program).put(text)


def without_hooks(text: str, original: str | None) -> str:
    left = share().take(text, original)
    assert left is not None
    return left


def handlers_of(value: dict[str, Any]) -> list[dict[str, Any]]:
    groups = [group for event in value.get("hooks", {}).values() for group in event]
    return [handler for group in groups for handler in group["hooks"]]


FEWER = hypothesis.settings(max_examples=20)  # each parses a file two dozen times


@pytest.mark.slow
@FEWER
@given(TEXTS)
def test_uninstalling_gives_back_every_byte(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings.json"
        path.write_bytes(text.encode())
        for program, is_wanted in ((THERE, True), (HERE, True), (HERE, False)):
            carry_out(plan([share(program, path)], {"hooks": is_wanted}), {})
        assert path.read_bytes() == text.encode()
        assert [entry.name for entry in Path(folder).iterdir()] == ["settings.json"]


@pytest.mark.slow
@FEWER
@given(TEXTS)
def test_every_event_gets_one_handler_and_nothing_else_changes(text: str) -> None:
    new = with_hooks(text, HERE)
    assert sorted(handler.event for handler in find_handlers(new)) == sorted(EVENTS)
    assert {handler.program for handler in find_handlers(new)} == {HERE}
    left, before = parse(without_hooks(new, None)).value, parse(text if text.strip("\ufeff\n") else "{}").value
    assert handlers_of(left) == handlers_of(before)
    assert {key: value for key, value in left.items() if key != "hooks"} == {
        key: value for key, value in before.items() if key != "hooks"
    }


@pytest.mark.slow
@FEWER
@given(TEXTS, st.dictionaries(st.sampled_from(["theme", "主题"]), VALUES, min_size=1))
def test_what_others_changed_since_stays_when_memtool_goes(text: str, more: dict[str, Any]) -> None:
    """The client writes the file itself: with its own layout, and new keys."""
    rewritten = json.dumps(parse(with_hooks(text, HERE)).value | more, indent=2, ensure_ascii=False)
    before = parse(text if text.strip("\ufeff\n") else "{}").value
    assert parse(without_hooks(rewritten, text)).value == before | more


@pytest.mark.slow
@FEWER
@given(TEXTS)
def test_a_new_place_of_memtool_changes_only_what_names_it(text: str) -> None:
    old = with_hooks(text, THERE)
    new = with_hooks(old, THERE._replace(command="/new/bin/memtool-hook"))
    assert new == old.replace("/old/bin/memtool-hook", "/new/bin/memtool-hook")


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "/other/bin/memtool-hook", "args": []},
        {"command": r"C:\Users\陈 伟\Scripts\memtool-hook.EXE", "args": ["--vault", "x"]},
        {"command": "memtool-hook --vault ~/notes"},
        {"command": '"/with space/memtool-hook"'},
        {"command": r'"C:\with space\memtool-hook.exe" --vault D:\notes'},
        {"command": "/usr/bin/python3", "args": ["-P", "-m", "memtool.hook", "--vault", "x"]},
        {"command": "python -m memtool.hook"},
        {"command": "memtool-hook 'unclosed"},
    ],
)
def test_ours_is_known_wherever_it_lies(handler: dict[str, Any]) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [handler | {"timeout": 60}]}]}}, indent=2)
    new = with_hooks(text, HERE)
    (stop,) = [found for found in find_handlers(new) if found.event == "Stop"]
    assert stop.node.value == {"command": HERE.command, "args": list(HERE.args), "timeout": 60}
    assert without_hooks(new, None) == "{}"


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "echo memtool-hook"},
        {"command": "/bin/wrapper", "args": ["memtool-hook"]},
        {"command": "my-memtool-hook"},
        {"command": "memtool-hook.py"},
        {"command": "python", "args": ["-m", "memtool"]},
        {"command": ""},
        {"command": 5},
        {"prompt": "memtool-hook"},
        "memtool-hook",
        None,
    ],
)
def test_what_only_looks_like_ours_is_left_alone(handler: object) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}})
    assert find_handlers(text) == []
    assert without_hooks(with_hooks(text, HERE), text) == text


def test_what_the_user_changed_is_kept_and_told() -> None:
    text = with_hooks("{}", THERE)
    value = json.loads(text)
    value["hooks"]["PostToolUse"][0]["matcher"] = "Write"
    value["hooks"]["PostToolUse"][0]["hooks"][0] |= {"timeout": 60, "async": True}
    value["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "say done"})
    edited = json.dumps(value, indent=4)
    new = with_hooks(edited, HERE)
    group = json.loads(new)["hooks"]["PostToolUse"][0]
    assert (group["matcher"], group["hooks"][0]["timeout"], group["hooks"][0]["async"]) == ("Write", 60, True)
    assert changes_kept(new, CLAUDE_HOOKS) == [
        'PostToolUse: matcher "Write", not "Write|Edit|MultiEdit|NotebookEdit"',
        "PostToolUse: timeout 60, not 10",
        "PostToolUse: async true",
    ]
    assert changes_kept(text, CLAUDE_HOOKS) == []
    assert json.loads(without_hooks(new, None)) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
    }


def test_a_group_with_words_of_the_user_stays() -> None:
    text = '{"hooks": {"Stop": [{"description": "记住", "hooks": [{"command": "memtool-hook"}]}]}}'
    assert without_hooks(text, None) == '{"hooks": {"Stop": [{"description": "记住", "hooks": []}]}}'


def test_what_was_empty_before_stays_and_what_we_made_goes() -> None:
    original = '{"hooks": {"Stop": []}}'
    installed = with_hooks(original, HERE)
    changed = installed.replace("{", '{"model": "x", ', 1)
    assert without_hooks(changed, original) == '{"model": "x", "hooks": {"Stop": []}}'
    assert without_hooks(changed, None) == '{"model": "x"}'
    assert without_hooks(changed, "no json") == '{"model": "x"}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"hooks": []}', "'hooks' in it should be an object"),
        ('{"hooks": null}', "'hooks' in it should be an object"),
        ('{"hooks": {"Stop": {}}}', "'hooks.Stop' in it should be a list"),
        ('{"hooks": {"SessionEnd": "x"}}', "'hooks.SessionEnd' in it should be a list"),
    ],
)
def test_hooks_of_another_shape_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        with_hooks(text, HERE)


def test_odd_things_of_others_do_no_harm() -> None:
    text = '{"hooks": {"Stop": [5, {"hooks": 5}, {"hooks": [5]}, []], "Other": 5, "More": {"a": {"hooks": [1]}}}}'
    assert without_hooks(with_hooks(text, HERE), text) == text


def test_the_table_fits_the_client() -> None:
    by_event = {event.name: event for event in CLAUDE_HOOKS.events if event.part == HOOKS}
    assert by_event["PostToolUse"].matcher == "Write|Edit|MultiEdit|NotebookEdit"
    assert all(not hook.matcher for name, hook in by_event.items() if name != "PostToolUse")
    assert 1.5 < by_event["SessionEnd"].timeout <= 60
    text = with_hooks("", Program("/bin/memtool-hook"))
    assert json.loads(text)["hooks"]["SessionEnd"] == [
        {"hooks": [{"type": "command", "command": "/bin/memtool-hook", "args": [], "timeout": 10}]}
    ]


def test_hints_are_put_in_taken_out_and_left_as_they_are(tmp_path: Path) -> None:
    def events(**wanted: bool) -> list[str]:
        planned = plan(shares, wanted)
        carry_out(planned, {})
        assert planned.parts == tuple(dict.fromkeys(part for part in ("hooks", "hints") if part in planned.parts))
        return [handler.event for handler in find_handlers(path.read_text())]

    path = tmp_path / "settings.json"
    own, more = EVENTS, [event.name for event in CLAUDE_HOOKS.events if event.part == HINTS]
    shares = [share(path=path, part=part) for part in (HOOKS, HINTS)]
    assert events(hooks=True) == own
    assert events(hooks=True, hints=True) == events(hooks=True) == [*own, *more]
    assert events(hooks=True, hints=False) == own
    assert events(hints=True, hooks=False) == more
    carry_out(plan(shares, {"hooks": False, "hints": False}), {})
    assert list(tmp_path.iterdir()) == []


def test_the_page_for_users_names_every_hook_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    for hook in CLAUDE_HOOKS.events:
        assert re.search(rf"^\| `{hook.name}` \| .* \| {hook.timeout} s \|$", page, re.MULTILINE)
        assert all(f"`{tool}`" in page for tool in hook.matcher.split("|") if tool)


RUN = ("-E", "-P", "-m", "memtool.hook")


def test_the_interpreter_is_run_on_the_vault_that_was_named() -> None:
    some, named = find_program(None, this_project=False), find_program(Path("/记 忆"), this_project=True)
    assert some.args[-5:] == (sys.executable, *RUN)
    assert named.args[-8:] == (sys.executable, *RUN, "--vault", "/记 忆", "--this-project")
    assert (some.vault, named.vault) == ("", "/记 忆")
    assert {some.interpreter, named.interpreter, Program(sys.executable, RUN).interpreter} == {sys.executable}
    assert Program("/bin/memtool-hook").interpreter == "/bin/memtool-hook"


@pytest.mark.skipif(sys.platform == "win32", reason="the guard of Windows is its own")
@pytest.mark.parametrize("gone", ["python", "package"])
def test_hooks_whose_program_was_removed_say_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    folder = tmp_path / "a $(touch x) '\" 环境"
    (folder / "memtool" / "hook").mkdir(parents=True)
    (folder / "memtool" / "hook" / "__main__.py").touch()
    (folder / "python").write_text('#!/bin/sh\necho "ran $*"; exit 3\n')
    (folder / "python").chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setattr("memtool.__file__", str(folder / "memtool" / "__init__.py"))
    program = find_program(Path("/记 $(id) 忆"), this_project=False)

    def run() -> tuple[int, str, str]:
        command = [program.command, *program.args]
        ran = subprocess.run(command, cwd=tmp_path, input="{}", capture_output=True, encoding="utf-8", check=False)
        return ran.returncode, ran.stdout, ran.stderr

    assert run() == (3, "ran -E -P -m memtool.hook --vault /记 $(id) 忆\n", "")
    (folder / ("python" if gone == "python" else "memtool/hook/__main__.py")).unlink()
    assert run() == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name]


def test_on_windows_cmd_is_the_guard_where_the_paths_mean_nothing_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cmd.exe").touch()
    monkeypatch.setattr("memtool.install.hooks._SHELL", tmp_path / "no sh")
    monkeypatch.setattr("memtool.install.hooks._CMD", tmp_path / "cmd.exe")
    monkeypatch.setattr("memtool.__file__", "/Program Files/memtool/__init__.py")
    monkeypatch.setattr(sys, "executable", "C:/记 忆/python.exe")
    needed = str(Path("/Program Files/memtool/hook/__main__.py"))
    program = find_program(None, this_project=False)
    assert program.command == str(tmp_path / "cmd.exe")
    python = "C:/记 忆/python.exe"
    assert program.args == ("/d", "/c", "if", "exist", needed, "if", "exist", python, python, *RUN)
    assert program.interpreter == python
    for hostile in ("C:/R&D", "C:/%PATH%", "C:/a^b", "C:/a!b", "C:/(a)"):
        assert find_program(Path(hostile), this_project=False).command == python


def test_a_path_that_no_settings_file_can_hold_is_refused() -> None:
    with pytest.raises(BadSetting, match="is not Unicode"):
        find_program(Path("/v\udcff"), this_project=False)


def hijack(folder: Path) -> dict[str, str]:
    """Put modules into *folder* that say so when they are imported; return an environment that leads to them."""
    (folder / "memtool").mkdir()
    for name in ("json.py", "sitecustomize.py", "usercustomize.py", "memtool/__init__.py"):
        (folder / name).write_text(f"open({str(folder / 'hijacked')!r}, 'w').close()\nraise SystemExit('hijacked')\n")
    return {**os.environ, "PYTHONPATH": ".", "PYTHONSTARTUP": "json.py", "PYTHONWARNINGS": "error"}


def test_nothing_in_the_project_passes_for_a_module_of_ours(tmp_path: Path) -> None:
    environ = hijack(tmp_path)
    program = find_program(None, this_project=False)
    command = [program.command, *program.args]
    ran = subprocess.run(command, cwd=tmp_path, input=b"", capture_output=True, check=False, env=environ)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert not (tmp_path / "hijacked").exists()


def test_nothing_in_the_vault_passes_for_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Kept(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    environ = hijack(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", Kept)
    start_command(tmp_path, environ, "--version")
    assert started[0].wait(timeout=60) == 0
    assert not (tmp_path / "hijacked").exists()
