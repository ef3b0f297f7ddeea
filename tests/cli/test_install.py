from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from terminal import on_a_terminal, with_pipes
from unprivileged import unprivileged

from memtool.clients import CLAUDE_HOOKS, HOOKS
from memtool.install.hooks import find_handlers, find_program

if TYPE_CHECKING:
    from terminal import Memtool

PROGRAM = find_program(None, this_project=False)
COMMAND = [PROGRAM.command, *PROGRAM.args]
SKILLS = ("forget", "recall", "remember")
NO_WRITER = "Notes are written without a model. To let one write them: memtool config set llm.writer claude"
OTHERS = '{\n  "model": "opus"\n}\n'


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file of a user of Claude Code."""
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    (folder / "settings.json").write_text(OTHERS)
    return folder / "settings.json"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a project, and no vault."""
    (tmp_path / "项目").mkdir()
    monkeypatch.chdir(tmp_path / "项目")
    return tmp_path / "项目"


@pytest.fixture
def home_vault(memtool: Memtool) -> Path:
    """The vault that memtool finds when nobody names one."""
    memtool("init", "~/memory")
    return Path.home() / "memory"


def run_by(path: Path) -> list[list[str]]:
    """What the hooks in the settings file *path* run."""
    programs = dict.fromkeys(handler.program for handler in find_handlers(path.read_text()))
    return [[program.command, *program.args] for program in programs]


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere", "home_vault")
def test_it_says_what_it_did_what_follows_and_how_to_undo_it(memtool: Memtool, client: Path) -> None:
    code, out, err = memtool("install", "claude-code")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "Claude Code now works with memtool: hooks, mcp, skills. It starts with running sessions."
    changed = f"{client.parent}/.claude.json, {client}, {client.parent}/skills (3 files)"
    assert lines[1] == f"Changed: {changed}. The original: *.memtool-backup beside it."
    assert lines[2] == ("Sessions are saved to the vault at ~/memory, or to another one that your settings name later.")
    assert re.fullmatch(r"Cost: at most 2,200 tokens .* 1,500 characters .*; \d+ ms for a hook .*", lines[3])
    assert lines[4:] == ["To undo: memtool uninstall claude-code", NO_WRITER]
    again = memtool("install", "claude-code").out
    assert again == "Nothing to do: Claude Code already has memtool's hooks, mcp, skills.\n"
    code, out, err = memtool("uninstall", "claude-code")
    assert (code, err, client.read_text()) == (0, "", OTHERS)
    assert out.startswith(f"memtool is removed from Claude Code. Changed: {changed}.\n")
    assert "\nYour vault is kept:" in out
    assert [entry.name for entry in client.parent.iterdir()] == ["settings.json"]
    assert memtool("uninstall", "claude-code").out == "Nothing to do: memtool is not in Claude Code.\n"


@pytest.mark.slow
def test_without_a_variable_it_is_the_folder_in_the_home(
    memtool: Memtool, home_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert memtool("install", "claude-code").code == 0
    assert run_by(Path.home() / ".claude" / "settings.json") == [COMMAND]
    assert memtool("uninstall", "claude-code").code == 0
    assert not (Path.home() / ".claude").exists()
    assert home_vault.is_dir()


@pytest.mark.slow
def test_a_vault_that_was_named_or_is_where_we_are_is_written_down(
    memtool: Memtool, client: Path, home_vault: Path, notes: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def args(*options: str) -> list[str]:
        assert memtool(*options, "install", "claude-code").code == 0
        (words,) = run_by(client)
        return words[len(COMMAND) :]

    monkeypatch.chdir(elsewhere)
    assert args() == []
    assert args("--vault", "../notes") == ["--vault", str(notes)]
    monkeypatch.setenv("MEMTOOL_VAULT", str(notes))
    assert args() == ["--vault", str(notes)]
    monkeypatch.delenv("MEMTOOL_VAULT")
    monkeypatch.chdir(notes)
    assert args() == ["--vault", str(notes)]
    monkeypatch.chdir(elsewhere)
    (Path.home() / "config.toml").write_text(f"vault = '{notes}'")
    assert args() == []
    assert args("--vault", str(home_vault)) == ["--vault", str(home_vault)]


@pytest.mark.slow
def test_a_vault_is_made_where_there_is_none(memtool: Memtool, client: Path, elsewhere: Path) -> None:
    vault = Path.home() / "memory"
    assert memtool("install", "claude-code", "--dry-run").code == 0
    assert not vault.exists()
    assert "to the vault at ~/memory, made now" in memtool("install", "claude-code").out
    assert (vault / "memtool.toml").is_file()
    assert run_by(client) == [COMMAND]
    answer = memtool("install", "claude-code", "--vault", str(elsewhere / "记忆"), "--json").answer
    assert (answer["vault_made"], answer["vault"]) == (True, str(elsewhere / "记忆"))
    memtool("uninstall", "claude-code")
    assert vault.is_dir()


def test_a_folder_of_other_things_is_no_vault(memtool: Memtool, client: Path, elsewhere: Path) -> None:
    (elsewhere / "holiday.jpg").touch()
    code, out, err = memtool("install", "claude-code", "--vault", str(elsewhere))
    assert (code, out) == (22, "")
    assert "memtool init" in err
    assert client.read_text() == OTHERS


@pytest.mark.slow
@pytest.mark.usefixtures("client", "elsewhere")
def test_a_read_only_vault_is_named(memtool: Memtool, home_vault: Path) -> None:
    home_vault.chmod(0o500)
    with unprivileged():
        ran = memtool("install", "claude-code")
    home_vault.chmod(0o700)
    assert (ran.code, ran.err.splitlines()[0]) == (
        0, f"{home_vault} is read-only, so nothing can be saved there: check its permissions",
    )  # fmt: skip


def test_a_vault_need_not_be_there_to_uninstall(memtool: Memtool, client: Path, notes: Path) -> None:
    memtool("install", "claude-code")
    (notes / "memtool.toml").unlink()
    notes.rmdir()
    assert memtool("uninstall", "claude-code").code == 0
    assert client.read_text() == OTHERS


@pytest.mark.slow
@pytest.mark.usefixtures("home_vault")
def test_uninstalling_names_the_projects_that_still_have_it(
    memtool: Memtool, client: Path, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memtool("install", "claude-code")
    memtool("install", "claude-code", "--project", str(elsewhere))
    monkeypatch.chdir(tmp_path)
    undo = f"memtool uninstall claude-code --project '{elsewhere}'"
    assert memtool("uninstall", "claude-code").err == f"still installed for one project: `{undo}`\n"
    assert memtool("uninstall", "claude-code", "--project", str(elsewhere)).err == ""
    assert [entry.name for entry in client.parent.iterdir()] == ["settings.json"]


@pytest.mark.slow
@pytest.mark.usefixtures("home_vault")
def test_the_instructions_of_a_project_are_touched_on_request_only(
    memtool: Memtool, client: Path, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = elsewhere / "CLAUDE.md"
    page.write_text("# 项目\n没有行尾", encoding="utf-8")
    memtool("install", "claude-code")
    assert page.read_text(encoding="utf-8") == "# 项目\n没有行尾"
    memtool("install", "claude-code", "--claude-md")
    assert "context_search" in page.read_text(encoding="utf-8")
    assert memtool("install", "claude-code").out.startswith("Nothing to do: ")
    assert [entry.name for entry in elsewhere.iterdir()] == ["CLAUDE.md"]
    state = client.parent / ".claude.json"  # the client writes down where it was used
    state.write_text(json.dumps(json.loads(state.read_text()) | {"projects": {str(elsewhere): {}, "/gone": {}}}))
    monkeypatch.chdir(tmp_path)
    memtool("uninstall", "claude-code")
    assert page.read_text(encoding="utf-8") == "# 项目\n没有行尾"


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_parts_are_chosen(memtool: Memtool, client: Path) -> None:
    def parts(*options: str) -> list[str]:
        answer = memtool("install", "claude-code", "--json", *options).answer
        assert isinstance(answer["parts"], list)
        return answer["parts"]

    assert parts("--without", "mcp", "--without", "skills") == ["hooks"]
    assert sorted(entry.name for entry in client.parent.iterdir()) == ["settings.json", "settings.json.memtool-backup"]
    assert parts() == ["hooks"]
    assert memtool("install", "claude-code").err == (
        "still without mcp, skills, as you chose before: `--with` brings a part back\n"
    )
    assert parts("--hints", "--with", "mcp") == parts() == ["hooks", "hints", "mcp"]
    assert parts("--with", "skills") == parts() == ["hooks", "hints", "mcp", "skills"]
    assert parts("--no-hints") == ["hooks", "mcp", "skills"]
    assert parts("--without", "mcp", "--dry-run") == ["hooks", "skills"]
    assert parts() == ["hooks", "mcp", "skills"]  # a dry run is not remembered
    code, _, err = memtool("install", "claude-code", "--with", "mcp", "--without", "mcp")
    assert (code, "both name mcp" in err) == (2, True)
    assert memtool("install", "claude-code", "--with", "nothing").code == 2


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_what_was_done_without_is_forgotten_when_all_is_taken_out(memtool: Memtool, client: Path) -> None:
    memtool("install", "claude-code", "--without", "skills")
    memtool("install", "codex")
    assert (Path.home() / "installed.json").is_file()
    for name in ("claude-code", "codex"):
        memtool("uninstall", name)
    assert memtool("install", "claude-code", "--json", "--dry-run").answer["parts"] == ["hooks", "mcp", "skills"]
    assert [entry.name for entry in client.parent.iterdir()] == ["settings.json"]
    assert sorted(entry.name for entry in Path.home().iterdir()) in ([], ["cache"])


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
def test_a_home_is_empty_again_but_for_the_vault(memtool: Memtool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "MEMTOOL_CONFIG", "MEMTOOL_CACHE"):
        monkeypatch.delenv(name, raising=False)
    names = ("claude-code", "codex", "opencode", "copilot")
    for name in names:
        assert memtool("install", name).code == 0
    for name in names:
        assert memtool("uninstall", name).code == 0
    assert [entry.name for entry in Path.home().iterdir()] == ["memory"]


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_what_the_plugin_brings_is_left_to_it(memtool: Memtool, client: Path) -> None:
    memtool("install", "claude-code")
    enabled = json.loads(client.read_text()) | {"enabledPlugins": {"memtool@memtool": True}}
    client.write_text(json.dumps(enabled))
    installed = client.parent / "plugins" / "installed_plugins.json"
    installed.parent.mkdir()
    installed.write_text(json.dumps({"plugins": {"memtool@memtool": [{"version": "1"}]}}))
    doctor = memtool("doctor").out
    assert "Claude Code's plugin brings mcp, skills, too, so the model has each tool twice" in doctor
    ran = memtool("install", "claude-code")
    assert "left to the plugin: mcp, skills. Otherwise the model would have each tool twice\n" in ran.err
    assert ran.out.startswith("Claude Code now works with memtool: hooks. ")
    assert not (client.parent / ".claude.json").exists()
    assert not (client.parent / "skills").exists()
    assert "each tool twice" not in memtool("doctor").out
    assert memtool("install", "claude-code", "--with", "mcp", "--json").answer["parts"] == ["hooks", "mcp"]
    installed.unlink()
    assert memtool("install", "claude-code", "--json").answer["parts"] == ["hooks", "mcp", "skills"]


@pytest.mark.slow
def test_a_project_has_a_file_of_its_own(memtool: Memtool, client: Path, home_vault: Path, elsewhere: Path) -> None:
    out = memtool("install", "claude-code", "--project").out
    path = elsewhere / ".claude" / "settings.local.json"
    assert run_by(path) == [[*COMMAND, "--this-project"]]
    state = json.loads((client.parent / ".claude.json").read_text())
    assert state["projects"][str(elsewhere)]["mcpServers"]["memtool"]["args"][-1] == "mcp"
    assert f"To undo: memtool uninstall claude-code --project '{elsewhere}'\n" in out
    said = memtool("uninstall", "claude-code")
    assert said.out.startswith("Nothing to do: ")
    assert said.err.startswith(f"{path} still has hooks of memtool\n")
    assert memtool("uninstall", "claude-code", "--project", str(elsewhere)).code == 0
    assert list(elsewhere.iterdir()) == []
    assert memtool("install", "claude-code", "--vault", str(home_vault), "--project", "..").code == 0
    assert run_by(elsewhere.parent / ".claude" / "settings.local.json") == [
        [*COMMAND, "--vault", str(home_vault), "--this-project"]
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_a_dry_run_prints_the_difference_and_writes_nothing(memtool: Memtool, client: Path) -> None:
    code, out, _ = memtool("install", "claude-code", "--dry-run")
    assert code == 0
    assert f"--- {client}\n+++ {client}\n@@ -1,3 +1," in out
    assert '\n-  "model": "opus"\n+  "model": "opus",\n+  "hooks": {\n' in out
    assert [entry.name for entry in client.parent.iterdir()] == ["settings.json"]
    memtool("install", "claude-code")
    assert memtool("install", "claude-code", "--dry-run").out.startswith("Nothing to do: ")
    assert '\n-  "hooks": {\n' in memtool("uninstall", "claude-code", "--dry-run").out
    assert len(find_handlers(client.read_text())) == sum(event.part == HOOKS for event in CLAUDE_HOOKS.events)


def test_several_agents_are_an_argument_and_a_dry_run_holds_for_all(
    memtool: Memtool, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "家"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "家"))
    for spelling in ("codex gemini --dry-run", "codex --dry-run gemini", "--dry-run codex gemini"):
        code, out, _ = memtool("install", *spelling.split())
        summaries, _, diff = out.partition("\n\n")
        lines = summaries.split("\n")
        assert (code, len(lines)) == (0, 11)
        assert [line.split(" would ")[0] for line in (lines[0], lines[5])] == ["Codex", "Gemini CLI"]
        assert [line.split(":")[0] for line in lines[1:5]] == [
            "Would change", f"Sessions are saved to the vault at {notes}.", "Cost", "To install",
        ]  # fmt: skip
        assert diff.startswith("The changes, line by line:\n--- /dev/null\n+++ ")
        assert not (tmp_path / "家").exists()
    assert [one["agent"] for one in memtool("install", "codex", "gemini", "--json").answer["agents"]] == [
        "codex",
        "gemini",
    ]
    assert "Nothing to do: Codex already has" in memtool("install", "codex").out
    gone = memtool("uninstall", "codex", "gemini").out
    assert "removed from Codex" in gone
    assert "removed from Gemini CLI" in gone


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["codxe"], "Did you mean 'codex'?"),
        (["codex", "--with", "nothing"], "--with: there is no part 'nothing'\nThe parts are hooks, mcp, skills"),
        (["codex", "zed", "--claude-md"], "--claude-md is for Claude Code only"),
        (["claude-code", "--with", "mcp", "--without", "mcp"], "--with and --without both name mcp"),
    ],
)
def test_what_no_agent_has_is_refused(memtool: Memtool, client: Path, arguments: list[str], error: str) -> None:
    before = client.read_bytes()
    code, out, err = memtool("install", *arguments)
    assert (code, out, error in err) == (2, "", True)
    assert client.read_bytes() == before


def test_the_help_behind_an_agent_lists_its_parts(memtool: Memtool) -> None:
    out = memtool("install", "zed", "--help").out
    assert "The parts of Zed:" in out
    assert "Agents:" in memtool("uninstall", "--help").out


def test_json_tells_all_of_it(memtool: Memtool, client: Path, notes: Path) -> None:
    planned = memtool("install", "claude-code", "--json", "--dry-run").answer
    answer = memtool("install", "claude-code", "--json").answer
    assert answer == {
        "format": 1,
        "agent": "claude-code",
        "parts": ["hooks", "mcp", "skills"],
        "files": [
            {"path": str(path), "parts": [part], "removed": False, "backup": backup}
            for path, part, backup in (
                (client.parent / ".claude.json", "mcp", ""),
                (client, "hooks", f"{client}.memtool-backup"),
                *((client.parent / f"skills/memtool-{name}/SKILL.md", "skills", "") for name in SKILLS),
            )
        ],
        "changed": True,
        "dry_run": False,
        "diff": answer["diff"],
        "vault": str(notes),
        "vault_made": False,
        "notices": [],
        "notes": NO_WRITER,
    }
    assert planned == answer | {"dry_run": True}
    again = memtool("install", "claude-code", "--json").answer
    assert (again["changed"], again["diff"]) == (False, "")
    gone = memtool("uninstall", "claude-code", "--json").answer
    assert (gone["format"], gone["changed"], gone["notices"]) == (1, True, [])


@pytest.mark.slow
def test_a_vault_with_triggers_brings_rules_and_takes_them_away(
    memtool: Memtool, client: Path, sample: Path, elsewhere: Path
) -> None:
    vault = ("--vault", str(sample))
    rule = client.parent / "rules" / "memtool.md"
    assert memtool("install", "claude-code", "--project", *vault).code == 0
    assert list(elsewhere.rglob("rules")) == []
    assert not rule.exists()
    memtool("uninstall", "claude-code", "--project")
    left = memtool("install", "claude-code", *vault)
    assert f"no rules were written: run `memtool init {sample}` if that vault is yours" in left.err
    assert not rule.exists()
    memtool("init", str(sample))
    memtool("uninstall", "claude-code")
    assert f"+++ {rule}\n" in memtool("install", "claude-code", "--dry-run", *vault).out
    assert not rule.exists()
    assert f", {rule}, " in memtool("install", "claude-code", *vault).out
    assert str(sample / "areas/projects/shop/summary.md") in rule.read_text()
    assert memtool("install", "claude-code", *vault).out.startswith("Nothing to do: ")
    rule.unlink()
    again = memtool("install", "claude-code", *vault).out
    assert f"Changed: {rule}." in again
    rule.write_text("mine")
    assert "is your own file" in memtool("install", "claude-code", *vault).err
    rule.unlink()
    memtool("install", "claude-code", *vault)
    assert f", {rule}, " in memtool("uninstall", "claude-code").out
    assert [entry.name for entry in client.parent.iterdir()] == ["settings.json"]


@pytest.mark.slow
@pytest.mark.usefixtures("home_vault")
def test_what_stands_in_the_way_is_said(memtool: Memtool, client: Path, elsewhere: Path) -> None:
    client.write_text('{"disableAllHooks": true, /* 暂时 */}')
    ran = memtool("install", "claude-code")
    assert "/* 暂时 */" in client.read_text()
    assert f"'{client}' sets disableAllHooks" in ran.err
    assert f"Claude Code ignores all of '{client}' while it holds comments" in ran.err
    memtool("install", "claude-code", "--project", str(elsewhere), "--vault", str(elsewhere))
    assert "differ" in memtool("install", "claude-code", "--project", str(elsewhere)).err
    value = json.loads(client.read_text().replace("/* 暂时 */", "").replace(",}", "}"))
    value["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 60
    client.write_text(json.dumps(value))
    assert "kept as you have changed it: Stop: timeout 60, not 10\n" in memtool("install", "claude-code").err


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_broken_file_is_one_sentence(memtool: Memtool, client: Path, verb: str) -> None:
    client.write_text('{"hooks": ')
    code, out, err = memtool(verb, "claude-code")
    assert (code, out) == (30, "")
    assert err == (
        f"memtool: '{client}' is not JSON: Expecting value (line 1, column 11)\n"
        "Fix it with an editor. memtool has changed nothing.\n"
    )
    assert client.read_text() == '{"hooks": '


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_a_working_folder_that_is_gone_does_not_matter(
    client: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert with_pipes("install", "claude-code", "--vault", str(tmp_path / "notes")).code == 0
    assert with_pipes("uninstall", "claude-code").code == 0
    assert client.read_text() == OTHERS


@pytest.mark.slow
@pytest.mark.usefixtures("client", "notes")
def test_a_path_cannot_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m").mkdir()
    ran = on_a_terminal("install", "claude-code", "--project", str(tmp_path / "a\x1b[31m"))
    assert ran.code == 0
    assert "\x1b[31m" not in ran.out


def test_without_a_target_it_says_what_there_is(memtool: Memtool) -> None:
    for verb in ("install", "uninstall"):
        ran = memtool(verb)
        assert ran.code in (0, 2)  # 2 since click 8.2, which also prints to stderr
        assert "claude-code" in ran.out + ran.err


@pytest.mark.slow
@pytest.mark.usefixtures("notes")
def test_doctor_knows_the_installation(memtool: Memtool, client: Path, notes: Path) -> None:
    assert "  note  claude-code: no session is captured" in memtool("doctor").out
    memtool("install", "claude-code")
    assert f"    ok  claude-code: hooks in {client} write to {notes}\n" in memtool("doctor").out
    client.write_text(client.read_text().replace(PROGRAM.interpreter, "/gone/python"))
    ran = memtool("doctor")
    assert ran.code == 1
    assert "broken  claude-code: the hooks run '/gone/python', which does not exist\n" in ran.out


@pytest.mark.usefixtures("home_vault", "elsewhere")
def test_a_client_without_hooks_is_not_said_to_have_its_sessions_written(memtool: Memtool) -> None:
    assert "\nWhat its model saves goes to the vault at ~/memory" in memtool("install", "zed").out
    assert "\nSessions are saved to the vault at ~/memory" in memtool("install", "windsurf").out
