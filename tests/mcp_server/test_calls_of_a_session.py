"""How many calls a session takes, for an agent that knows nothing of memtool but the descriptions of its tools.

No model is asked: the agent calls a tool when the user says one of the phrases that its description quotes, and goes
by what the answers say. So this shows what the descriptions and the answers lead to, not what a certain model does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from mcp_server.agent import Agent, Answer

ULID = "For the order ids we take ULIDs, because they sort by time."
CENTS = "金额一律存成整数的分，因为浮点数会丢精度。"


class Said(NamedTuple):
    """What the user says, and what of the answers the agent needs then."""

    text: str
    needs: str = ""


ENGLISH = [
    Said("Where were we with the shop?", "because they sort by time"),
    Said("Write the export, with the order ids as we agreed.", "because they sort by time"),
    Said("The column is missing."),
    Said("Note that the export runs at night."),
]
CHINESE = [
    Said("上次做到哪了？", "浮点数会丢精度"),
    Said("导出里的金额，按我们说好的来。", "浮点数会丢精度"),
    Said("少了一列。"),
    Said("记一下：导出在夜里跑。"),
]
CORRECTING = [
    Said("Add the retry to the client.", ""),
    Said("Why did we choose ULIDs for the order ids?", "because they sort by time"),
    Said("Forget that, we take UUIDv7 now.", "because they sort by time"),
]


class Mechanical:
    """An agent that calls what the descriptions tell it to."""

    def __init__(self, agent: Agent, shop: str) -> None:
        self._agent, self._shop = agent, shop
        self.calls: list[str] = []
        tools = agent.do(lambda client: client.list_tools()).tools
        self._phrases = {
            tool.name: _quoted(tool.description or "") for tool in tools if tool.name.startswith("context_")
        }

    def work(self, session: Sequence[Said]) -> None:
        """Go through *session*; what it needs must be in the answers by then."""
        told = [self._call("context_load")]  # "when you begin to work on a project"
        for said in session:
            wanted = [name for name, phrases in self._phrases.items() if any(_in(each, said.text) for each in phrases)]
            for name in wanted:
                told += self._answers(name, said.text)
            assert said.needs in "\n".join(answer.text + str(answer.fields) for answer in told)
            assert not any(answer.is_error for answer in told)

    def _answers(self, name: str, text: str) -> list[Answer]:
        if name == "context_load":
            return []  # "once"
        if name == "context_search":
            return [self._call(name, query=text)]
        if name == "context_save":
            return [self._call(name, entries=[{"type": "knowledge", "content": text}])]
        listed = self._call(name, action="list")
        target = next(re.findall(r"\S+@[0-9a-f]+", line)[0] for line in listed.text.splitlines() if "ULID" in line)
        return [listed, self._call(name, action="update", target=target, content="Order ids are UUIDv7.")]

    def _call(self, name: str, **arguments: object) -> Answer:
        self.calls.append(name)
        return self._agent.call(name, project_path=self._shop, **arguments)


def _quoted(description: str) -> list[str]:
    """Return the phrases that a description tells to wait for."""
    when = description.partition("Call it")[2].partition("\n\n")[0]
    return re.findall(r'"([^"]+)"', when) + re.findall("[\u4e00-\u9fff]{2,}", when)


def _in(phrase: str, text: str) -> bool:
    return " ".join(phrase.split()).casefold() in text.casefold()


@pytest.mark.slow
@pytest.mark.parametrize("session", [ENGLISH, CHINESE, CORRECTING], ids=["english", "chinese", "correcting"])
def test_two_to_five_calls_are_enough_for_whoever_goes_by_the_descriptions(
    agent: Agent, shop: str, session: Sequence[Said]
) -> None:
    for content in (ULID, CENTS):
        entries = [{"type": "decision", "content": content}]
        assert not agent.call("context_save", project_path=shop, entries=entries).is_error
    mechanical = Mechanical(agent, shop)
    mechanical.work(session)
    assert 2 <= len(mechanical.calls) <= 5, mechanical.calls
    assert len({*mechanical.calls}) >= 3
