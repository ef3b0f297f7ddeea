"""Whole sessions of the real client, with memtool installed by its own command.

Prompts, answers and tools hold secrets of all kinds; `owner` looks for them in the vault at the end.
"""

from __future__ import annotations

import json
import subprocess
import threading
from dataclasses import replace

from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.planted import ALL_OF_THEM, SECRETS, leaks
from claude_code.processes import processes_of
from claude_code.script import NEVER, Turn, use
from claude_code.tui import Tui

from memtool.vault.sessions import SessionNote

TOOLS = ("--allowedTools", "Write Edit Bash Agent")


def head_of(note: SessionNote) -> str:
    """Return what the head of *note* says: its title, and what was asked."""
    return f"{note.draft.title} {note.draft.asked}"


def writes(box: Box, name: str, content: str = "text\n") -> Turn:
    return use("Write", file_path=str(box.project / name), content=content)


def edits(box: Box, name: str, old: str, new: str) -> Turn:
    return use("Edit", file_path=str(box.project / name), old_string=old, new_string=new)


def git(owner: Owner, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(owner.vault), *arguments], capture_output=True, text=True, check=True
    ).stdout


def after_worker(box: Box, turn: Turn) -> Turn:
    """Return *turn*, to come when no worker is left, so that the one of the session's start sees nothing of it."""
    return replace(turn, ready=lambda: "--drain" not in str(processes_of(box.root)))


def test_edits_become_daily_lines_but_those_of_the_vault_and_the_session_a_note(
    box: Box, api: ScriptedApi, owner: Owner
) -> None:
    tea = owner.vault / "areas" / "global" / "knowledge" / "tea.md"
    api.answers([
        writes(box, "auth.ts", f"const lifetime = 1; // {ALL_OF_THEM}\n"),
        edits(box, "auth.ts", "lifetime = 1", "lifetime = 24"),
        use("Bash", command=f"echo '{ALL_OF_THEM}'", description="print the environment"),
        use("Bash", command=f"echo 'cannot reach {SECRETS['address']}' >&2; exit 3", description="run the tests"),
        writes(box, "middleware/jwt.ts"),
        writes(box, f"{SECRETS['GitHub']}.txt"),
        use("Write", file_path=str(tea), content="# Tea\n"),
        f"We decided to let access tokens live 24 hours, because the refresh token is rotated. {ALL_OF_THEM}",
    ])  # fmt: skip
    prompt = f"Make login tokens live longer\n\n{ALL_OF_THEM}"
    session = box.run(api.url, prompt, *TOOLS, "--add-dir", str(owner.vault))
    box.wait_until_idle()
    assert tea.exists()
    assert git(owner, "status", "--porcelain") == "?? areas/global/knowledge/\n"  # all that is memtool's is committed
    files = {"auth.ts", "middleware/jwt.ts", "[redacted: github-token].txt"}
    assert set(owner.edited()) == {f"project/{file}" for file in files}
    assert session.id in owner.daily()
    assert list(owner.notes()) == [session.id]
    note = owner.notes()[session.id]
    assert "login tokens" in head_of(note)
    assert "\nproject: project\n" in owner.text_of(session.id)
    assert set(note.draft.files) - files == {"…/areas/global/knowledge/tea.md"}
    assert "24 hours" in owner.text_of(session.id)
    assert len(owner.text_of(session.id).encode()) < 3_000
    told = [(hook["hook_event"], hook["exit_code"], hook["output"]) for hook in session.hooks]
    assert told == [(event, 0, "") for event in ("SessionStart", "UserPromptSubmit", *["PostToolUse"] * 5, "Stop")]


def test_a_resumed_session_has_one_note_that_grows_and_keeps_what_its_owner_wrote(
    box: Box, api: ScriptedApi, owner: Owner
) -> None:
    told = "We decided to keep both `one.py` and `two.py`, 两个文件都保留."
    api.answers([writes(box, "one.py"), "wrote one", writes(box, "two.py"), told])
    first = box.run(api.url, f"Write the parser module {ALL_OF_THEM}", *TOOLS)
    box.wait_until_idle()
    before = owner.notes()[first.id]
    path = owner.vault / "sessions" / f"{first.id}.md"
    path.write_text(path.read_text() + "\nMy own remark: 重要。\n")
    again = box.run(api.url, "Now write the lexer module", *TOOLS, "--resume", first.id)
    box.wait_until_idle()
    assert again.id == first.id
    assert list(owner.notes()) == [first.id]
    assert before.draft.files == ("one.py",)
    assert owner.notes()[first.id].draft.files == ("one.py", "two.py")
    assert "keep both one.py and two.py, 两个文件都保留" in owner.text_of(first.id)
    assert "My own remark: 重要。" in owner.text_of(first.id)
    assert owner.daily().count(first.id) == 1


def test_a_compaction_keeps_the_session_in_one_note(box: Box, api: ScriptedApi, owner: Owner) -> None:
    summary = f"""<analysis>Let me think.</analysis>
<summary>
1. Primary Request and Intent: Fix the cache key. {ALL_OF_THEM}
4. Errors and fixes:
   - Two tenants shared one entry: the cache key now includes the tenant.
7. Pending Tasks:
   - Invalidate the old entries in production
</summary>"""
    told = "The cache key in `cache.py` now includes the tenant, 两个租户 do not share an entry any more."
    api.answers([writes(box, "cache.py"), told, "answered"], compact=[summary])
    session = box.run(api.url, f"Fix the cache key {ALL_OF_THEM}", *TOOLS)
    box.run(api.url, "/compact keep the cache", "--resume", session.id)
    box.run(api.url, "What is open?", "--resume", session.id)
    box.wait_until_idle()
    assert list(owner.notes()) == [session.id]
    assert owner.notes()[session.id].draft.files == ("cache.py",)
    assert "now includes the tenant, 两个租户" in owner.text_of(session.id)
    assert "Let me think" not in owner.text_of(session.id)


def test_a_subagent_is_part_of_its_session(box: Box, api: ScriptedApi, owner: Owner) -> None:
    look = use(
        "Agent", description="write the tests", prompt=f"Write the tests. {ALL_OF_THEM}",
        subagent_type="general-purpose", run_in_background=False,
    )  # fmt: skip
    api.answers(
        [look, "The helper wrote the tests."],
        subagent=[writes(box, "tests/test_login.py"), f"I wrote seven tests of the login. {ALL_OF_THEM}"],
    )
    session = box.run(api.url, "Let a helper write the tests", *TOOLS)
    box.wait_until_idle()
    assert set(owner.edited()) == {"project/tests/test_login.py"}
    assert list(owner.notes()) == [session.id]
    assert "helper write the tests" in head_of(owner.notes()[session.id])


def test_a_session_that_was_killed_is_recovered_at_the_next_start(box: Box, api: ScriptedApi, owner: Owner) -> None:
    api.answers([after_worker(box, writes(box, "half.py")), NEVER])
    client = box.start(api.url, f"Rewrite the importer {ALL_OF_THEM}", *TOOLS)
    api.wait_for("main", 2)
    client.kill()
    client.communicate()
    box.wait_until_idle()
    (killed,) = (path.stem for path in box.transcripts())
    assert "half.py" not in str(owner.notes())
    api.answers(["hello"])
    after = box.run(api.url, "hello again")
    box.wait_until_idle()
    assert set(owner.notes()) == {killed}
    assert f"hello again (session {after.id})" in owner.daily()
    assert "importer" in head_of(owner.notes()[killed])
    assert owner.notes()[killed].draft.files == ("half.py",)
    assert owner.edited() == ["project/half.py"]


def test_clear_ends_one_session_and_begins_another(box: Box, api: ScriptedApi, owner: Owner) -> None:
    box.probe("SessionStart", "Stop")
    api.answers(["the parser is fine", "the lexer is fine"])
    with Tui(box, api.url) as tui:
        tui.say("Look at the parser and mend what is broken")
        first = box.wait_for("Stop", last_assistant_message="the parser is fine")["session_id"]
        tui.say("/clear")
        second = box.wait_for("SessionStart", source="clear")["session_id"]
        tui.say("Look at the lexer and mend what is broken")
        box.wait_for("Stop", last_assistant_message="the lexer is fine")
        tui.say("/exit")
        assert tui.wait() == 0
    box.wait_until_idle()
    assert set(owner.notes()) == {first, second}
    assert "parser" in head_of(owner.notes()[first])
    assert "lexer" in head_of(owner.notes()[second])


def test_after_uninstalling_nothing_is_written_and_other_hooks_still_run(box: Box, api: ScriptedApi) -> None:
    settings = box.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    before = (
        '{\n  "model": "claude-fake",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}\n'
    )
    settings.write_text(before)
    owner = Owner(box)
    box.probe("Stop")
    owner.run("uninstall", "claude-code")
    api.answers([writes(box, "a.py"), "done"])
    box.run(api.url, "Write a", *TOOLS)
    box.wait_until_idle()
    assert settings.read_text() == before
    assert (len(box.seen("Stop")), owner.notes(), owner.edited()) == (1, {}, [])


def test_a_model_writes_the_note_through_the_client_itself(box: Box, api: ScriptedApi, owner: Owner) -> None:
    owner.configure(f'[llm]\nproviders = ["claude", "extractive"]\nclaude_command = "{box.client}"\n')
    box.probe("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", everywhere=True)
    line = {"turn": 1, "text": "Access tokens live 24 hours"}
    answer = json.dumps({"title": "Login tokens live longer: 24 hours", "findings": [line]})
    has_ended = threading.Event()
    api.answers(
        [
            writes(box, "auth.ts", ALL_OF_THEM),
            use("Bash", command=f"echo '{ALL_OF_THEM}' >&2; exit 3", description=f"print {ALL_OF_THEM}"),
            f"Access tokens live 24 hours now. {ALL_OF_THEM}",
        ],
        plain=[Turn(answer, ready=has_ended.is_set)] * 2,
    )
    session = box.run(api.url, f"Make login tokens live longer {ALL_OF_THEM}", *TOOLS)
    api.wait_for("plain")
    assert "login tokens" in head_of(owner.notes()[session.id])  # while the model thinks
    has_ended.set()
    box.wait_until_idle()
    note = owner.notes()[session.id]
    assert (note.draft.title, note.draft.files) == ("Login tokens live longer: 24 hours", ("auth.ts",))
    assert [(line.text, line.role, line.author) for line in note.draft.lines] == [
        ("Access tokens live 24 hours", "finding", "agent")
    ]
    asked = json.dumps(api.asked("plain"))
    assert "login tokens" in asked
    assert leaks(asked) == []
    # The model's call was no session: it ran no hook and left no transcript.
    assert [len(box.seen(event)) for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")] == [1] * 4
    assert [path.stem for path in box.transcripts()] == list(owner.notes()) == [session.id]
    assert "claude" in owner.run("capture", "--usage")
