"""Every agent of the table: installed into a home that holds others' things, and taken out of it without a trace."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from memtool.clients import CLAUDE_CODE, CLIENTS, FLAT, GROUPED, SCRIPT, Client, Mcp
from memtool.install.agents import AGENTS, Target, get_setup
from memtool.install.plans import Plan, carry_out, plan
from memtool.install.record import record_path
from memtool.text.json_places import parse
from memtool.vault.layout import Vault

JSON, TOML, YAML = ".json", ".toml", ".yaml"
ROWS: dict[str, Client] = {name: CLIENTS[name] for name in AGENTS if name != CLAUDE_CODE}

OTHERS = {
    JSON: '{\n  // mine\n  "theme": "深色",\n  %s\n}\n',
    TOML: """# 我的
model = "gpt-5.5"

[mcp_servers."别人"]
command = "npx"  # mine

[projects."/家/项目"]
trust_level = "trusted"
""",
    YAML: """# 我的
GOOSE_MODEL: x
extensions:
    # mine
    别人:
        cmd: npx
mcp_servers:
  别人:
    command: npx
""",
}


@pytest.fixture
def target(tmp_path: Path) -> Target:
    home = tmp_path / "主 目录"
    home.mkdir()
    vault = Vault(tmp_path / "vault")
    vault.root.mkdir()
    vault.settings_path.write_text('language = "zh"\n')
    return Target({}, home, home, vault=vault, named=vault.root)


def install(name: str, target: Target, *with_parts: str) -> Plan:
    client = get_setup(name)
    planned = plan(client.shares(target), client.wanted(with_parts))
    carry_out(planned, target.environ)
    return planned


def uninstall(name: str, target: Target) -> Plan:
    client = get_setup(name)
    planned = client.removal(target._replace(vault=None))
    carry_out(planned, target.environ)
    return planned


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def mcp_of(name: str) -> Mcp:
    mcp = ROWS[name].mcp
    assert mcp is not None
    return mcp


def form_of(name: str) -> str:
    return Path(mcp_of(name).path).suffix


def mcp_path(name: str, target: Target) -> Path:
    return get_setup(name).folder(target) / mcp_of(name).path


def others_in(name: str) -> str:
    mcp = mcp_of(name)
    if form_of(name) != JSON:
        return OTHERS[form_of(name)]
    inner: Any = {"别人": {"command": "npx"}}
    for key in reversed(mcp.keys[1:]):
        inner = {key: inner}
    return OTHERS[JSON] % f'"{mcp.keys[0]}": {json.dumps(inner, ensure_ascii=False)},  // mine'


def server(name: str, target: Target) -> dict[str, Any]:
    mcp, text = mcp_of(name), mcp_path(name, target).read_text("utf-8")
    values: Any = parse(text).value if form_of(name) == JSON else None
    if form_of(name) != JSON:
        values = tomllib.loads(text) if form_of(name) == TOML else yaml.safe_load(text)
    for key in (*mcp.keys, "memtool"):
        values = values[key]
    return dict(values)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_an_empty_home_is_empty_again(target: Target, name: str) -> None:
    before = tree(target.home)
    first = install(name, target, *(part.name for part in get_setup(name).parts()))
    parts = {part.name for part in get_setup(name).parts()}
    is_told = ROWS[name].instructions and not ROWS[name].adds_to_instructions
    assert set(first.parts) == (parts if is_told else parts - {"instructions"})
    assert not install(name, target).changes
    uninstall(name, target)
    assert tree(target.home) == before == {}
    assert not record_path(target.environ).exists()


def test_hermes_is_told_of_its_memory_beside_the_words_of_its_own_file(target: Target) -> None:
    soul = target.home / ".hermes" / "SOUL.md"
    assert "instructions" not in install("hermes", target).parts  # a new file would take the place of its own text
    assert not soul.exists()
    soul.write_text("You are Hermes. 你好。\n", encoding="utf-8")
    assert "instructions" in install("hermes", target).parts
    assert soul.read_text(encoding="utf-8").startswith("You are Hermes. 你好。\n")
    assert "context_load" in soul.read_text(encoding="utf-8")
    uninstall("hermes", target)
    assert soul.read_text(encoding="utf-8") == "You are Hermes. 你好。\n"


@pytest.mark.parametrize("name", ROWS)
def test_a_folder_that_was_there_before_stays_though_it_is_empty(target: Target, name: str) -> None:
    for path in (mcp_path(name, target), target.home / ".agents" / "技能" / "x", target.home / ".config" / "x"):
        path.parent.mkdir(parents=True, exist_ok=True)
    before = tree(target.home)
    install(name, target, "instructions")
    uninstall(name, target)
    assert tree(target.home) == before


@pytest.mark.parametrize("name", ROWS)
def test_what_others_have_there_stays_byte_for_byte(target: Target, name: str) -> None:
    agent = ROWS[name]
    files = {mcp_path(name, target): others_in(name)}
    if agent.hooks and agent.hooks.form == GROUPED:
        path = get_setup(name).folder(target) / agent.hooks.path
        hooks = '"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "别人 --x"}]}]}'
        files[path] = files.get(path, OTHERS[JSON] % "").replace("{\n", f"{{\n  {hooks},\n", 1)
    if agent.hooks and agent.hooks.form == FLAT:
        files[get_setup(name).folder(target) / agent.hooks.path] = (
            '{"version": 1, "hooks": {"stop": [{"command": "别人"}]}}'
        )
    if agent.instructions:
        files[get_setup(name).folder(target) / agent.instructions] = "# Mine\r\n\r\n先测试。"
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    before = tree(target.home)
    install(name, target, "instructions")
    assert server(name, target)
    for path, text in files.items():
        assert "别人" in path.read_text("utf-8") or "先测试。" in text
    uninstall(name, target)
    assert tree(target.home) == before


@pytest.mark.parametrize("name", ROWS)
def test_what_the_user_changes_in_between_stays(target: Target, name: str) -> None:
    install(name, target)
    path = mcp_path(name, target)
    mine = {JSON: None, TOML: '\n[projects."/x"]\ntrust_level = "trusted"\n', YAML: "mine: 1\n"}[form_of(name)]
    text = path.read_text("utf-8")
    path.write_text(text + mine if mine else text.replace("{", '{\n  "mine": 1,', 1), "utf-8")
    uninstall(name, target)
    left = path.read_text("utf-8")
    assert "memtool" not in left
    assert "mine" in left or "trusted" in left


@pytest.mark.parametrize("name", ROWS)
def test_a_project_has_its_own(target: Target, tmp_path: Path, name: str) -> None:
    project = tmp_path / "项目"
    project.mkdir()
    inside = target._replace(project=project)
    planned = install(name, inside, "instructions")
    assert all(change.path.is_relative_to(project) for change in planned.changes)
    assert tree(target.home) == {}
    uninstall(name, inside)
    assert tree(project) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, agent in ROWS.items() if agent.reads_skills])
def test_the_shared_skills_stay_while_another_agent_has_memtool(target: Target, name: str) -> None:
    def has_skills(name: str) -> bool:
        return "skills" in get_setup(name).parts_in(target._replace(vault=None))

    other = "gemini" if name == "codex" else "codex"
    install(other, target)
    install(name, target)
    assert [*map(has_skills, (name, other))] == [True, True]
    uninstall(name, target)
    assert [*map(has_skills, (name, other))] == [False, True]
    skills = target.home / ".agents" / "skills" / "memtool-recall" / "SKILL.md"
    assert skills.is_file()
    uninstall(other, target)
    assert not skills.exists()
    assert not (target.home / ".agents").exists()


def test_instructions_that_two_agents_read_stay_for_the_one_that_needs_them(target: Target) -> None:
    read_by_both = target.home / ".gemini" / "GEMINI.md"
    install("gemini", target, "instructions")
    install("antigravity", target)
    uninstall("gemini", target)
    assert "memtool" in read_by_both.read_text()
    install("gemini", target)
    uninstall("antigravity", target)
    assert not read_by_both.exists()


@pytest.mark.parametrize("name", ROWS)
def test_a_server_of_the_same_name_that_is_not_ours_stays(target: Target, name: str) -> None:
    mcp = mcp_of(name)
    theirs: Any = {"memtool": {"command": "npx", "cmd": "npx", "args": ["memtool"]}}
    path = mcp_path(name, target)
    path.parent.mkdir(parents=True)
    if form_of(name) == TOML:
        text = f'[{mcp.keys[0]}.memtool]\ncommand = "npx"\nargs = ["memtool"]\n'
    else:
        for key in reversed(mcp.keys):
            theirs = {key: theirs}
        text = json.dumps(theirs)  # which is YAML, too
    path.write_text(text, "utf-8")
    planned = install(name, target)
    assert any("of your own" in notice for notice in planned.notices)
    assert server(name, target)["command"] == "npx"


@pytest.mark.parametrize("name", [name for name, agent in ROWS.items() if agent.hooks and agent.hooks.form != SCRIPT])
def test_hooks_name_their_client_and_the_vault(target: Target, name: str) -> None:
    install(name, target)
    hooks = ROWS[name].hooks
    assert hooks is not None
    text = (get_setup(name).folder(target) / hooks.path).read_text("utf-8")
    assert f"--client {name}" in text
    assert str(target.named) in text


def test_a_home_that_is_named_by_a_variable_is_taken(target: Target, tmp_path: Path) -> None:
    elsewhere = target._replace(environ={"CODEX_HOME": str(tmp_path / "elsewhere")})
    install("codex", elsewhere)
    assert (tmp_path / "elsewhere" / "hooks.json").is_file()
    assert not (target.home / ".codex").exists()


def test_the_hooks_of_an_older_memtool_are_brought_up_to_date(target: Target) -> None:
    install("gemini", target)
    path = target.home / ".gemini" / "settings.json"
    settings = path.read_text("utf-8")
    path.write_text(settings.replace(str(target.named), "/old/vault").replace("10000", "5000"), "utf-8")
    install("gemini", target)
    text = path.read_text("utf-8")
    assert str(target.named) in text
    assert "/old/vault" not in text
    assert text.count("memtool.hook") == 5
    assert "5000" in text  # the user's own patience


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('mcp_servers = {x = {command = "npx"}}\n', "written in a way memtool cannot edit"),
        ("a = [\n", "is broken"),
    ],
)
def test_a_toml_file_that_cannot_be_edited_is_left_alone(target: Target, text: str, reason: str) -> None:
    path = mcp_path("codex", target)
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    try:
        said = " ".join(install("codex", target).notices)
    except Exception as error:  # noqa: BLE001
        said = str(error)
    assert reason in said
    assert path.read_text("utf-8") == text


def test_a_toml_table_that_the_client_wrote_anew_is_found(target: Target) -> None:
    install("codex", target)
    path = mcp_path("codex", target)
    text = path.read_text("utf-8")
    moved = text.replace("# memtool: written by `memtool install`, removed by `memtool uninstall`\n", "")
    path.write_text(
        f'{moved}startup_timeout_sec = 30\n\n[mcp_servers.memtool.env]\nA = "1"\n\n# mine\n[x]\ny = 1\n', "utf-8"
    )
    uninstall("codex", target)
    assert tomllib.loads(path.read_text("utf-8")) == {"x": {"y": 1}}
    assert "# mine" in path.read_text("utf-8")
