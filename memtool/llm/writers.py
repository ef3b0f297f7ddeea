"""The models that can write notes on this machine: which are there, where their text goes, and what a note costs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import NamedTuple

from memtool.errors import MemtoolError
from memtool.llm import open_provider, writer_of
from memtool.llm.call_log import ModelCall
from memtool.settings import Settings
from memtool.settings.text_providers import VENDORS

# Tokens in and out that a session's note takes: the mean of ten long and short sessions. What `memtool capture --usage`
# has measured on a machine says more.
USUAL_TOKENS = (3_938, 487)
NOTES = "summary"  # the purpose of a call for a session's note
COMMANDS = {"claude": "claude", "codex": "codex", "gemini-cli": "gemini", "opencode": "opencode"}
OWN = {"claude-code": "claude", "codex": "codex", "gemini": "gemini-cli", "opencode": "opencode"}  # of each client

_NAMES = {
    "anthropic": "Anthropic's API",
    "openai": "OpenAI's API",
    "gemini": "Google's API",
    "openrouter": "OpenRouter",
}


def writers_at_hand(settings: Settings) -> list[str]:
    """Return the providers that could be asked now: those whose command, or whose key, is there."""
    return [name for name in (*COMMANDS, *VENDORS.keys() - COMMANDS.keys()) if _is_at_hand(name, settings)]


def what_is_missing(settings: Settings) -> MemtoolError | None:
    """Return why the writer of *settings* cannot be asked; None if it can, or if no model is to write."""
    try:
        if writer := writer_of(settings.llm):
            open_provider(writer, settings.llm, settings.keys)
    except MemtoolError as error:
        return error
    return None


def where_text_goes(name: str, settings: Settings) -> str:
    """Return who reads what the provider *name* is sent, as the end of a sentence."""
    if name == "opencode":
        return "the `opencode` command, so the vendor of the model that you use there"
    if name in COMMANDS:
        return f"the `{COMMANDS[name]}` command with your login, so the vendor of your sessions there"
    if name == "ollama":
        return f"the model at {settings.llm.ollama_base_url}"
    address = {"anthropic": settings.llm.anthropic_base_url, "openai": settings.llm.openai_base_url}.get(name)
    return f"the endpoint {address}" if address else f"{_NAMES[name]}, with your key"


class NoteCost(NamedTuple):
    """What models took for notes: how many they wrote, and the mean of the tokens, failed calls included."""

    notes: int
    input_tokens: int
    output_tokens: int


def note_cost(calls: Iterable[ModelCall]) -> NoteCost | None:
    """Return what the notes in *calls* took; None if no model wrote one."""
    asked = [call for call in calls if call.purpose == NOTES]
    written = sum(not call.failure for call in asked)
    if not written:
        return None
    sums = (sum(call.input_tokens for call in asked), sum(call.output_tokens for call in asked))
    return NoteCost(written, *(round(tokens / written) for tokens in sums))


def _is_at_hand(name: str, settings: Settings) -> bool:
    if name == "ollama" and not shutil.which("ollama"):  # it needs no key, so that nothing else tells
        return settings.origins.get("llm.ollama_base_url", "default") != "default"
    return what_is_missing(settings._replace(llm=settings.llm._replace(writer=name))) is None
