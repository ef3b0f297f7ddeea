from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from install.json_texts import VALUES, layouts

from memtool.errors import BadSetting, NoteChanged
from memtool.install.entries import McpEntry, runs_memtool
from memtool.install.own_texts import Block, OwnFile, marked
from memtool.install.plans import LeftAlone, Share, carry_out, plan
from memtool.text.json_places import parse

SERVER = {"type": "stdio", "command": "/opt/python", "args": ["-E", "-P", "-m", "memtool", "mcp"], "env": {}}
KEYS = ("projects", "/家/项目", "mcpServers", "memtool")


def entry(path: Path = Path("x.json"), keys: tuple[str, ...] = KEYS) -> McpEntry:
    return McpEntry("mcp", path, keys, SERVER)


def bring(shares: list[Share], **wanted: bool) -> tuple[str, ...]:
    planned = plan(shares, wanted)
    carry_out(planned, {})
    return planned.notices


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


STATES = st.fixed_dictionaries(
    {},
    optional={
        "projects": st.dictionaries(
            st.sampled_from(["/家/项目", "/other"]),
            st.fixed_dictionaries({}, optional={"mcpServers": st.dictionaries(st.just("别人"), st.just({}))}),
        ),
        "numStartups": VALUES,
    },
)


@given(STATES.flatmap(layouts))
def test_an_entry_comes_once_and_goes_without_a_trace(text: str) -> None:
    once = entry().put(text)
    assert entry().put(once) == once
    assert parse(once).value["projects"]["/家/项目"]["mcpServers"]["memtool"] == SERVER
    left = entry().take(once, text)
    assert left is not None
    assert parse(left).value == parse(text).value
    assert entry().take(left, text) == left


def test_what_the_user_added_to_the_entry_stays_and_what_moved_is_mended() -> None:
    value = {"mcpServers": {"memtool": {**SERVER, "command": "/old/python", "timeout": 9}}}
    new = entry(keys=("mcpServers", "memtool")).put(json.dumps(value))
    assert json.loads(new)["mcpServers"]["memtool"] == {**SERVER, "timeout": 9}


@pytest.mark.parametrize(
    "theirs", ['{"command": "npx", "args": ["memtool"]}', '"memtool mcp"', "null", '{"url": "https://x"}']
)
def test_an_entry_of_the_same_name_that_is_not_ours_stays(theirs: str) -> None:
    text = f'{{"mcpServers": {{"memtool": {theirs}}}}}'
    share = entry(keys=("mcpServers", "memtool"))
    with pytest.raises((LeftAlone, ValueError)):
        share.put(text)
    assert share.take(text, None) == text


@pytest.mark.parametrize(
    ("value", "is_ours"),
    [
        (SERVER, True),
        ({"command": ["/x/bin/memtool", "--vault", "/v", "mcp"]}, True),
        ({"command": "C:\\x\\memtool.exe", "args": ["mcp"]}, True),
        ({"command": "memtool"}, False),
        ({"command": "my-memtool", "args": ["mcp"]}, False),
        ({"command": 5, "args": "mcp"}, False),
        ([], False),
    ],
)
def test_ours_is_known_by_what_it_runs(value: Any, is_ours: bool) -> None:
    assert runs_memtool(value) is is_ours


def test_a_block_is_brought_up_to_date_where_it_stands() -> None:
    old, new = (Block("instructions", Path("CLAUDE.md"), body) for body in ("old", "new"))
    text = old.put("# Mine\n") + "\nmore of mine\n"
    assert new.put(text) == text.replace("old", "new")
    assert new.take(new.put(text), None) == "# Mine\n\nmore of mine\n"


def test_two_parts_share_a_file_and_each_goes_alone(tmp_path: Path) -> None:
    path = tmp_path / ".client" / "settings.json"
    shares: list[Share] = [
        McpEntry("mcp", path, ("mcpServers", "memtool"), SERVER),
        McpEntry("more", path, ("servers", "memtool"), SERVER),
    ]
    assert bring(shares, mcp=True, more=True) == ()
    assert set(json.loads(path.read_text())) == {"mcpServers", "servers"}
    bring(shares, mcp=False)
    assert set(json.loads(path.read_text())) == {"servers"}
    bring(shares, more=False)
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_nobody_names_stays_as_it_is(tmp_path: Path) -> None:
    shares: list[Share] = [McpEntry("mcp", tmp_path / "x.json", ("mcpServers", "memtool"), SERVER)]
    bring(shares)
    assert list(tmp_path.iterdir()) == []
    bring(shares, mcp=True)
    newer: list[Share] = [
        McpEntry("mcp", tmp_path / "x.json", ("mcpServers", "memtool"), {**SERVER, "command": "/new"})
    ]
    bring(newer)
    assert "/new" in (tmp_path / "x.json").read_text()


@pytest.mark.parametrize("is_user_first", [True, False])
def test_two_installations_in_one_file_keep_one_copy_and_the_last_gives_back_every_byte(
    tmp_path: Path, is_user_first: bool
) -> None:
    path, text = tmp_path / "x.json", '{"n": 1, "projects": {"/家/项目": {"mcpServers": {}}}}'
    path.write_text(text, encoding="utf-8")
    user, project = entry(path, ("mcpServers", "memtool")), entry(path)
    bring([user], mcp=True)
    bring([project], mcp=True)
    assert sorted(tree(tmp_path)) == ["x.json", "x.json.memtool-backup"]
    for share in (user, project) if is_user_first else (project, user):
        bring([share], mcp=False)
    assert tree(tmp_path) == {"x.json": text.encode()}


def test_a_file_that_others_changed_loses_our_share_only_and_no_copy_is_left(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"b": { }}')
    shares: list[Share] = [McpEntry("mcp", path, ("b", "memtool"), SERVER)]
    bring(shares, mcp=True)
    assert stat.S_IMODE((tmp_path / "x.json.memtool-backup").stat().st_mode) == 0o600
    path.write_text(json.dumps(json.loads(path.read_text()) | {"新": 1}, ensure_ascii=False))
    bring(shares, mcp=False)
    assert tree(tmp_path) == {"x.json": '{"b": {}, "新": 1}'.encode()}


def test_a_file_of_ours_that_was_edited_stays(tmp_path: Path) -> None:
    text = marked("# 技能\n", "skill", "x", at=len("# 技能\n"))
    share = OwnFile("skills", tmp_path / ".c" / "skills" / "a.md", text)
    bring([share], skills=True)
    share.path.write_text(text + "mine")
    assert bring([share], skills=True) == bring([share], skills=False) == (f"'{share.path}' keeps your edits",)
    share.path.write_text(text)
    assert bring([share], skills=False) == ()
    assert list(tmp_path.iterdir()) == []


def test_a_plan_is_not_carried_out_over_what_has_changed_since(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    planned = plan([McpEntry("mcp", path, ("mcpServers", "memtool"), SERVER)], {"mcp": True})
    path.write_text('{"new": 1}')
    with pytest.raises(NoteChanged):
        carry_out(planned, {})
    assert path.read_text() == '{"new": 1}'


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', '{"mcpServers": 5}'])
def test_a_file_of_another_form_is_refused_and_stays(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(BadSetting, match=r"x\.json"):
        plan([McpEntry("mcp", path, ("mcpServers", "memtool"), SERVER)], {"mcp": True})
    assert tree(tmp_path) == {"x.json": text.encode()}
