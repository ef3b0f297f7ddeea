"""What a session of one agent decides is known to the next session, of the same agent or of another."""

from __future__ import annotations

from pathlib import Path

import pytest
from claude_code.api import ScriptedApi
from claude_code.planted import SECRETS
from claude_code.script import use
from other_agents.box import Box, heard
from other_agents.conftest import Client

from memtool.clients import title_of

DECIDES = "Add the order model. For the order ids we take ULIDs, because they sort by time."
DECIDES_IN_CHINESE = "新增订单模型。订单号我们用 ULID，因为它能按时间排序。"
ENGLISH = (DECIDES, "What is next?", "because they sort by time")
CHINESE = (DECIDES_IN_CHINESE, "接下来做什么？", "因为它能按时间排序")


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        pytest.param("codex", "codex", ENGLISH, id="codex"),
        pytest.param("gemini", "gemini", CHINESE, id="gemini"),
        pytest.param("codex", "gemini", CHINESE, id="codex-gemini"),
        pytest.param("gemini", "codex", ENGLISH, id="gemini-codex"),
        pytest.param("opencode", "opencode", CHINESE, id="opencode"),
        pytest.param("codex", "opencode", ENGLISH, id="codex-opencode"),
    ],
)
def test_a_decision_stands_in_the_first_request_of_the_next_session_and_uninstalling_leaves_no_trace(
    box: Box, api: ScriptedApi, client: Client, first: str, second: str, said: tuple[str, str, str]
) -> None:
    decides, asks, known = said
    agents = {name: client(name) for name in (first, second)}
    before = box.files()
    for name in agents:
        box.install(name)
    api.answers([agents[first].writes(box.project / "order_model.py"), "new_order_id() is in order_model.py.", "…"])
    box.run(agents[first], api.url, decides)
    asked = len(api.asked("main"))
    box.run(agents[second], api.url, asks)
    assert known in heard(api.asked("main")[asked])

    assert f"client: {first}\n" in box.note_with(known)
    assert "order_model.py" in box.daily()
    assert f"project: ({title_of(first)}) " in box.memtool("log").out
    assert f"({title_of(second)})" in box.memtool("given", "--last").out
    for name in agents:
        box.uninstall(name)
    assert box.files(like=before) == before


def test_secrets_of_a_session_reach_no_note(box: Box, api: ScriptedApi, client: Client) -> None:
    agent = client("codex")
    box.install("codex")
    api.answers(["The keys are set."])
    box.run(agent, api.url, "Set these keys, and write them nowhere else:\n" + "\n".join(SECRETS.values()))


def test_an_agent_finds_the_skills_and_the_server(box: Box, api: ScriptedApi, client: Client) -> None:
    agent = client("codex")
    box.install("codex")
    api.answers([use("list_mcp_resources", server="memtool"), "…"])
    box.run(agent, api.url, "hello")
    told = heard(api.asked("main")[-1])
    assert "memtool-recall" in told
    assert "before you ask the user what was agreed" in told  # the words of our server


def test_the_home_of_an_agent_that_is_not_there_is_as_before(box: Box) -> None:
    before = box.files()
    for name in ("codex", "gemini"):
        box.install(name)
    for name in ("codex", "gemini"):
        box.uninstall(name)
    assert box.files() == before
    assert not (box.home / ".agents").exists()
    assert not Path(box.home / ".codex").exists()
