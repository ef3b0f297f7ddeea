"""What doctor finds beyond the index: contents, models, clients, and what it mends when asked."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from desk import Desk
from scripted_models import refusal, serve_models

from memtool import settings
from memtool.capture.source import Source, write_source
from memtool.capture.turns import Turn
from memtool.doctor import (
    BROKEN,
    NOTE,
    OK,
    Check,
    index as index_room,
    installation,
    vault as vault_room,
    work as work_room,
)
from memtool.git import tell
from memtool.history.template import make_vault
from memtool.install.agents import Target, get_setup
from memtool.install.plans import carry_out, plan
from memtool.recall.uses import Fate, keep_fates
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings, TranscriptSettings
from memtool.vault.layout import Vault
from memtool.vault.scan import scan
from memtool.vault.sources import trim_sources


def found(checks: Iterable[Check], subject: str) -> list[Check]:
    return [check for check in checks if check.subject == subject]


def contents(desk: Desk, subject: str, *, deep: bool = False) -> Check:
    (check,) = found(vault_room.content_checks(desk.work, scan(desk.vault.root), deep=deep), subject)
    return check


def test_facts_that_break_the_format_are_named(desk: Desk) -> None:
    assert contents(desk, "facts").state == OK
    (desk.vault.root / "areas/global/facts.json").write_text('{"facts": [{"id": "x", "fact": ""}]}')
    checks = found(vault_room.content_checks(desk.work, scan(desk.vault.root), deep=False), "facts")
    assert {check.state for check in checks} == {BROKEN}
    assert checks[0].sentence.startswith("areas/global/facts.json:1: ")


def test_an_area_without_a_summary_is_an_orphan(desk: Desk) -> None:
    folder = desk.vault.root / "areas/projects/商店/decisions"
    folder.mkdir(parents=True)
    assert found(vault_room.content_checks(desk.work, scan(desk.vault.root), deep=False), "areas") == []
    (folder / "2026-02-10-ids.md").write_text("# ULID\n")
    check = contents(desk, "areas")
    assert (check.state, "areas/projects/商店" in check.sentence) == (NOTE, True)


def test_a_large_index_is_looked_at_in_its_place_and_stays_as_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.vault.root / "a.md").write_text("# 解密\n")
    desk.find("解密")
    (desk.vault.root / "b.md").write_text("new\n")
    (desk.vault.root / "a.md").unlink()
    monkeypatch.setattr(index_room, "LARGE_INDEX", 0)
    monkeypatch.setattr(shutil, "copyfile", None)
    (check,) = found(index_room.index_checks(desk.work, scan(desk.vault.root)), "index")
    assert "2 files are not in it until the next search" in check.sentence
    assert index_room.index_checks(desk.work, scan(desk.vault.root))[0] == check


def test_files_with_marks_are_named_from_the_index(desk: Desk) -> None:
    (desk.vault.root / "notes.md").write_text("<<<<<<< one text\n一\n=======\n二\n>>>>>>> the other text\n")
    (check,) = found(index_room.index_checks(desk.work, scan(desk.vault.root)), "sync")
    assert "conflict marks in notes.md" in check.sentence


@pytest.mark.slow
def test_what_waits_for_the_other_machines_is_counted(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault").vault
    assert found(vault_room.folder_checks(vault, "x"), "sync") == []
    tell(tmp_path, "init", "-q", "--bare", "remote.git")
    tell(vault.root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    (check,) = found(vault_room.folder_checks(vault, "x"), "sync")
    assert check.state == OK
    assert check.sentence.startswith("with 'origin': 1 change to send, 0 to receive")


def test_a_secret_that_a_hand_wrote_is_named_and_not_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert contents(desk, "secrets").sentence == "none in all 4 notes"
    secret = "ghp_" + "a1B2" * 9
    (desk.vault.root / "钥匙.md").write_text(f"# 钥匙\n\ntoken = {secret}\n")
    check = contents(desk, "secrets")
    assert (check.state, check.sentence) == (NOTE, "possible secrets in 钥匙.md")
    assert secret not in repr(check)
    monkeypatch.setattr(vault_room, "NOTES_WITH_SECRETS", 1)
    (desk.vault.root / "new.md").write_text("# New\n")
    os.utime(desk.vault.root / "钥匙.md", (2**31, 2**31))
    assert contents(desk, "secrets").state == NOTE
    os.utime(desk.vault.root / "钥匙.md", (0, 0))
    assert contents(desk, "secrets").state == OK
    assert contents(desk, "secrets", deep=True).state == NOTE


def test_variables_that_mean_nothing_are_named(vault: Vault) -> None:
    environ = {
        "MEMTOOL_SERCH_LIMIT": "3", "MEMTOOL_LLM_API_KEY": "k", "MEMTOOL_VAULT": "x", "MEMTOOL_SEARCH_LIMIT": "3",
        "MEMTOOL_EMBEDDINGS_API_KEY_ENV": "MEMTOOL_MINE", "MEMTOOL_MINE": "k", "MEMTOOL_TOKEN": "k",
    }  # fmt: skip
    (note,) = [check for check in installation.settings_checks(vault, environ) if check.state == NOTE]
    assert note.sentence == "the variable MEMTOOL_SERCH_LIMIT (did you mean MEMTOOL_SEARCH_LIMIT?) is unknown"


def test_models_are_asked_for_one_token_on_request_only_and_it_is_counted(vault: Vault) -> None:
    with serve_models() as server:
        llm = ModelSettings(providers=("openai", "extractive"), openai_base_url=f"{server.url}/v1", openai_model="m")
        desk = Desk(vault, llm=llm, keys=Keys(openai="k"))
        says = [check.sentence for check in work_room.model_checks(desk.work, deep=False)]
        assert says == ["openai is set up; `memtool doctor --deep` calls it", "0 tokens today"]
        assert server.requests == []
        answered, costs = work_room.model_checks(desk.work, deep=True)
        assert answered.sentence.startswith("openai (m) answered within ")
        assert costs.sentence == "120 tokens today, limit 300,000"
        assert len(server.requests) == 1
        server.replies.append(refusal(401))
        broken, _ = work_room.model_checks(desk.work, deep=True)
        assert (broken.state, broken.sentence.startswith("openai: ")) == (BROKEN, True)


def test_a_model_that_cannot_be_asked_is_noted(vault: Vault) -> None:
    desk = Desk(vault, llm=ModelSettings(providers=("openai",)))
    note, _ = work_room.model_checks(desk.work, deep=True)
    assert (note.state, note.fix) == (NOTE, "Put it into the variable OPENAI_API_KEY.")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Check]]:
    """Install memtool into Claude Code; the function returns what doctor says of parts and servers."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    environ = settings.environment()
    client = get_setup("claude-code")
    carry_out(plan(client.shares(Target(environ, tmp_path, tmp_path)), client.wanted()), environ)
    return lambda: [
        check for check in installation.client_checks(environ, tmp_path, tmp_path) if check.subject in ("parts", "mcp")
    ]


@pytest.mark.slow
def test_parts_are_named_and_the_server_is_asked_for_its_tools(installed: Callable[[], list[Check]]) -> None:
    parts, server = installed()
    assert parts == Check("parts", OK, "Claude Code has memtool's hooks, mcp, skills")
    assert (server.state, server.sentence) == (OK, "Claude Code's server answers with 5 tools")


@pytest.mark.slow
def test_the_server_of_a_project_is_asked_unless_the_project_itself_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def servers(program: str) -> dict[str, object]:
        return {"mcpServers": {"memtool": {"type": "stdio", "command": program, "args": ["mcp"], "env": {}}}}

    project = tmp_path / "项目"
    (project / ".cursor").mkdir(parents=True)
    (project / ".cursor" / "mcp.json").write_text(json.dumps(servers("/strange/memtool")))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / ".claude.json").write_text(json.dumps({"projects": {str(project): servers("/gone/memtool")}}))
    said = [check.sentence for check in installation.client_checks(settings.environment(), tmp_path, project)]
    assert "Claude Code's server does not start: /gone/memtool" in said
    assert "strange" not in "".join(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "says"),
    [("/gone/memtool", "does not start"), ("idle", "did not answer within"), ("broken", "no such profile")],
)
def test_a_server_that_does_not_answer_is_broken(
    installed: Callable[[], list[Check]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, says: str
) -> None:
    if program != "/gone/memtool":
        body = "import time; time.sleep(60)" if program == "idle" else "raise SystemExit('no such profile')"
        path = tmp_path / program / "memtool"
        path.parent.mkdir()
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{body}"\n')
        path.chmod(0o700)
        program = str(path)
    state = tmp_path / ".claude" / ".claude.json"
    entry = {"type": "stdio", "command": program, "args": ["mcp"], "env": {}}
    state.write_text(json.dumps({"mcpServers": {"memtool": entry}}))
    monkeypatch.setattr(installation, "SERVER_START", 3.0 if "idle" in program else 20.0)
    _, server = installed()
    assert server.state == BROKEN
    assert says in server.sentence
    assert server.fix


@pytest.mark.slow
def test_a_server_that_fails_once_on_a_busy_machine_is_tried_again(tmp_path: Path) -> None:
    busy, path = tmp_path / "忙", tmp_path / "memtool"
    busy.touch()
    path.write_text(
        f'#!/bin/sh\nif [ -e "{busy}" ]; then rm "{busy}"; exit 1; fi\nexec "{sys.executable}" -m memtool "$@"\n'
    )
    path.chmod(0o700)
    found = installation._handshake((str(path), "mcp"), "Zed")
    assert (found.state, found.sentence) == (OK, "Zed's server answers with 5 tools")
    assert not busy.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/hooks.json"),
        ("opencode", ".config/opencode/plugins/memtool.js"),
    ],
)
def test_hooks_of_any_client_are_given_an_edit_and_broken_if_their_program_is_gone(
    tmp_path: Path, name: str, path: str
) -> None:
    client, target = get_setup(name), Target({}, tmp_path / "主页", None)
    carry_out(plan(client.shares(target._replace(vault=Vault(tmp_path))), {"hooks": True}), {})
    hooks = target.home / path

    def findings() -> list[Check]:
        return found(installation.client_checks({}, target.home, None), "hooks")

    (fine,) = findings()
    assert (fine.state, "'s hooks wrote down an edit within " in fine.sentence) == (OK, True)
    hooks.write_text(hooks.read_text().replace(sys.executable, "/gone/python"))
    (check,) = findings()
    assert (check.state, "'/gone/python'" in check.sentence) == (BROKEN, True)
    assert check.fix == f"Run `memtool install {name}` again."


@pytest.mark.parametrize("name", ["codex", "goose", "zed"])
def test_servers_in_every_format_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    client, target = get_setup(name), Target({}, tmp_path, None)
    carry_out(plan(client.shares(target._replace(vault=Vault(tmp_path))), {"mcp": True}), {})
    monkeypatch.setattr(installation, "_handshake", lambda command, title: Check("mcp", OK, f"{title}: {command[0]}"))
    assert [check.sentence for check in found(installation.client_checks({}, tmp_path, None), "mcp")] == [
        f"{client.title}: {sys.executable}"
    ]


@pytest.mark.parametrize(("name", "path"), [("gemini", ".gemini/settings.json"), ("codex", ".codex/config.toml")])
def test_a_broken_file_with_a_part_of_ours_is_named_and_one_without_is_not(
    tmp_path: Path, name: str, path: str
) -> None:
    file, client, target = tmp_path / path, get_setup(name), Target({}, tmp_path, None)
    file.parent.mkdir()
    file.write_text("{{ 设置")

    def findings() -> list[Check]:
        return [check for check in installation.client_checks({}, tmp_path, None) if check.state == BROKEN]

    assert findings() == []
    file.write_text("\n")
    carry_out(plan(client.shares(target._replace(vault=Vault(tmp_path))), {"mcp": True}), {})
    for text in (f"{file.read_text()}{{{{ 设置", "{{"):  # the second one tells by the copy beside it whose it was
        file.write_text(text)
        (check,) = findings()
        assert str(file) in check.sentence


def test_kept_sources_are_counted_and_what_was_removed_is_said(desk: Desk) -> None:
    (check,) = work_room.source_checks(desk.work)
    assert (check.state, check.sentence.startswith("no session is kept")) == (OK, True)
    for number in range(3):
        ended_at = desk.now - timedelta(days=10 * number)
        write_source(desk.vault, Source(f"会话{number}", ended_at=ended_at, turns=(Turn("改名"),)), desk.now)
    trim_sources(desk.vault, TranscriptSettings(keep_days=15), desk.now)
    kept, removed = work_room.source_checks(desk.work)
    assert (kept.state, kept.sentence) == (OK, "2 sessions kept with all turns, 0.0 MB")
    assert removed.sentence.startswith("1 old session removed at 2026-02-10T14:30")


def test_doctor_says_what_became_of_given_lines_and_that_a_client_drops_them(desk: Desk) -> None:
    assert list(work_room.given_checks(desk.work)) == []
    folder = desk.work.index_folder
    keep_fates(folder, "s0", "2026-02-09", [Fate("m", 9)])  # a client that keeps no transcript
    assert list(work_room.given_checks(desk.work)) == []
    keep_fates(folder, "s1", "2026-02-10", [Fate("a", 4, 0), Fate("b", 1, 0)])
    (check,) = work_room.given_checks(desk.work)
    assert check.state == BROKEN
    assert "arrived 0" in check.sentence
    keep_fates(folder, "s2", "2026-02-10", [Fate("a", 4, 4, used=True)])
    (check,) = work_room.given_checks(desk.work)
    assert (check.state, "given 9, arrived 4, used 1 of 1" in check.sentence) == (OK, True)
