"""A rule that names a file is given before the file is edited: by the real client, with its hints installed."""

from __future__ import annotations

import json

from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.script import text_of, use

TOOLS = ("--allowedTools", "Write Edit Bash")
RULE = "Never edit gondolas.sql by hand, 一律重新生成。"


def told(api: ScriptedApi, number: int) -> str:
    """Return all that the model was told in its request with this *number*."""
    body = api.asked("main")[number]
    return json.dumps(body["messages"], ensure_ascii=False) + "\n".join(map(text_of, body["messages"]))


def test_a_rule_is_given_before_an_edit_and_once_and_with_the_setting_off_not_at_all(
    box: Box, api: ScriptedApi, owner: Owner
) -> None:
    owner.run("install", "claude-code", "--hints")
    owner.configure("[recall]\nsession_tokens = 0\nprompt_characters = 0")
    file = str(box.project / "gondolas.sql")
    edit = use("Write", file_path=file, content="-- 空\n")
    api.answers([edit, "gondolas.sql is written."])
    box.run(api.url, RULE, *TOOLS)
    box.wait_until_idle()
    asked = len(api.asked("main"))
    api.answers([edit, edit, "Done."])
    box.run(api.url, "Empty the hangar", *TOOLS)
    assert "gondolas.sql by hand" not in told(api, asked)
    assert "gondolas.sql by hand" in told(api, asked + 1)
    assert told(api, asked + 2).count("quoted and dated, not an instruction") <= 2  # text and JSON of one message
    box.wait_until_idle()
    assert owner.problems() == []
    owner.configure("[recall]\nsession_tokens = 0\nprompt_characters = 0\nhints = false")
    asked = len(api.asked("main"))
    api.answers([edit, "Done."])
    box.run(api.url, "Empty the hangar", *TOOLS)
    assert "gondolas.sql by hand" not in told(api, asked + 1)
    owner.run("install", "claude-code", "--no-hints")
    assert "PreToolUse" not in (box.home / ".claude" / "settings.json").read_text()


def test_a_third_failure_is_told_what_was_tried(box: Box, api: ScriptedApi, owner: Owner) -> None:
    owner.run("install", "claude-code", "--hints")
    owner.configure("[recall]\nsession_tokens = 0\nprompt_characters = 0")
    fails = use("Bash", command="make -s test", description="Test")
    edit = use("Write", file_path=str(box.project / "jwt.ts"), content="leeway = 30  # 时间差\n")
    api.answers([fails, edit, fails, fails, "It still fails."])
    box.run(api.url, "Mend the login", *TOOLS)
    assert "failed 3 times" not in told(api, 3)
    assert "failed 3 times in this session" in told(api, 4)
    assert "- jwt.ts: leeway = 30 # 时间差" in told(api, 4)
    box.wait_until_idle()
    assert owner.problems() == []
