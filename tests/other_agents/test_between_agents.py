"""What a session of one agent decides is known to the next session, of the same agent or of another."""

from __future__ import annotations

import re
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
        pytest.param("codex", "gemini", CHINESE, id="codex-gemini"),
        pytest.param("gemini", "codex", ENGLISH, id="gemini-codex"),
        pytest.param("opencode", "opencode", CHINESE, id="opencode"),
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
    shown = box.memtool("given", "--last").out
    assert f"({title_of(second)})" in shown
    assert re.search(r": given (\d+), arrived \1, used", shown)
    for name in agents:
        box.uninstall(name)
    assert box.files(like=before) == before


THREE = ("claude-code", "codex", "gemini")
CHAIN = [  # who works, what the user says there, and what of it the others are to know
    ("claude-code", "For the order ids we take ULIDs, because they sort by time.", "because they sort by time"),
    ("codex", "金额一律存成整数的分，因为浮点数会丢精度。", "因为浮点数会丢精度"),
    ("gemini", "For the queue we take Redis streams, because they keep what was not acknowledged.", "not acknowledged"),
    ("claude-code", "What is next?", ""),
]


def test_what_three_agents_decide_is_in_the_first_request_of_whoever_comes_next(
    box: Box, api: ScriptedApi, client: Client
) -> None:
    agents = {name: client(name) for name in THREE}
    before = box.files()
    box.install(*THREE)
    known: list[str] = []
    for number, (name, says, said) in enumerate(CHAIN):
        asked = len(api.asked("main"))
        api.answers([agents[name].writes(box.project / f"part_{number}.py"), f"It is in part_{number}.py.", "…"])
        box.run(agents[name], api.url, says)
        first = heard(api.asked("main")[asked])
        assert [each for each in known if each not in first] == []
        known.append(said)
    assert f"{title_of('gemini')}" in box.memtool("log").out

    assert "Nothing to do" in box.install(*THREE)
    box.uninstall(*THREE)
    assert box.files(like=before) == before
    assert "memtool" not in (box.home / ".claude.json").read_text(encoding="utf-8")


def test_an_agent_finds_the_skills_and_the_server_and_secrets_of_its_session_reach_no_note(
    box: Box, api: ScriptedApi, client: Client
) -> None:
    """`box` looks for the secrets in the vault at its end."""
    agent = client("codex")
    box.install("codex")
    api.answers([use("list_mcp_resources", server="memtool"), "The keys are set."])
    box.run(agent, api.url, "Set these keys, and write them nowhere else:\n" + "\n".join(SECRETS.values()))
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
