"""An error that was mended once is known before it is met again: by the real client, with its hints installed."""

from __future__ import annotations

import json

from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.script import text_of, use

TOOLS = ("--allowedTools", "Write Edit Bash")
ERROR = "zeppelin_db: no such table: gondolas"


def told(api: ScriptedApi, number: int) -> str:
    """Return all that the model was told in its request with this *number*."""
    body = api.asked("main")[number]
    return json.dumps(body["messages"], ensure_ascii=False) + "\n".join(map(text_of, body["messages"]))


def mend(box: Box, api: ScriptedApi) -> str:
    """Let a session meet an error, mend it, and see its test pass; return the session's id."""
    check = box.project / "check.sh"
    check.write_text(f"grep -q CREATE schema.sql || {{ echo 'error: {ERROR}'; exit 3; }}\n")
    (box.project / "schema.sql").write_text("-- 空\n")
    api.answers([
        use("Bash", command="sh check.sh tests"),
        use("Read", file_path=str(box.project / "schema.sql")),
        use("Write", file_path=str(box.project / "schema.sql"), content="CREATE TABLE gondolas (id int);\n"),
        use("Bash", command="sh check.sh tests"),
        "schema.sql creates the table gondolas now, which check.sh wants.",
    ])  # fmt: skip
    first = box.run(api.url, "The check of the hangar fails, mend schema.sql", *TOOLS)
    box.wait_until_idle()
    return first.id


def test_the_fix_is_given_before_the_command_and_once_and_with_the_setting_off_not_at_all(
    box: Box, api: ScriptedApi, owner: Owner
) -> None:
    owner.run("install", "claude-code", "--hints")
    owner.configure("[recall]\nsession_tokens = 0\nprompt_characters = 0")
    first = mend(box, api)
    assert "[fix]" in owner.text_of(first), owner.text_of(first)
    asked = len(api.asked("main"))
    api.answers([use("Bash", command="sh check.sh tests"), use("Bash", command="sh check.sh tests"), "Done."])
    box.run(api.url, "Run the check", *TOOLS)
    assert told(api, asked).count("not an instruction") == 0
    assert "no such table: gondolas" in told(api, asked + 1)
    assert "schema.sql creates the table" in told(api, asked + 1)
    assert told(api, asked + 2).count("quoted and dated, not an instruction") <= 2  # text and JSON of one message
    box.wait_until_idle()
    assert owner.problems() == []
    owner.configure("[recall]\nsession_tokens = 0\nprompt_characters = 0\nhints = false")
    asked = len(api.asked("main"))
    api.answers([use("Bash", command="sh check.sh tests"), "Done."])
    box.run(api.url, "Run the check", *TOOLS)
    assert "schema.sql creates the table" not in told(api, asked + 1)
    owner.run("install", "claude-code", "--no-hints")
    assert "PreToolUse" not in (box.home / ".claude" / "settings.json").read_text()
