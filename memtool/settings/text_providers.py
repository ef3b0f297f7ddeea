"""The providers of text, one row each: where they are, what they are asked for, their limits, and who speaks to them.

The limits are those of the smallest account, as the vendors' own pages gave them in 2026; settings raise them.
"""

from __future__ import annotations

from collections.abc import Mapping

from memtool.named_tuple import NamedTuple


class Limits(NamedTuple):
    """The number of calls that may begin in a minute and in a day, and be under way at once; 0 sets no limit."""

    per_minute: int = 0
    per_day: int = 0
    at_once: int = 0


class Vendor(NamedTuple):
    """A provider of text. The settings `llm.<name>_base_url` and `llm.<name>_model`, if there are any, are stronger.

    The first of the *variables* that is set holds its key; without any, it needs none. *opens* names the module and the
    class that call it.
    """

    base_url: str
    model: str
    variables: tuple[str, ...]
    limits: Limits
    opens: str = "memtool.llm.openai:OpenAIChat"


VENDORS: Mapping[str, Vendor] = {
    "claude": Vendor("", "haiku", (), Limits(at_once=1), "memtool.llm.clients:ClaudeCommand"),
    "anthropic": Vendor(
        "https://api.anthropic.com",
        "claude-haiku-4-5",
        ("ANTHROPIC_API_KEY",),
        Limits(50, 0, 4),
        "memtool.llm.anthropic:AnthropicApi",
    ),
    "openai": Vendor("https://api.openai.com/v1", "gpt-5-mini", ("OPENAI_API_KEY",), Limits(60, 0, 4)),
    "gemini": Vendor(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "gemini-flash-latest",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        Limits(10, 250, 2),
    ),
    "openrouter": Vendor("https://openrouter.ai/api/v1", "openrouter/auto", ("OPENROUTER_API_KEY",), Limits(20, 0, 2)),
    "ollama": Vendor("http://127.0.0.1:11434/v1", "qwen3", (), Limits(at_once=1)),
    "codex": Vendor("", "", (), Limits(at_once=1), "memtool.llm.clients:CodexCommand"),
    "gemini-cli": Vendor("", "flash", (), Limits(at_once=1), "memtool.llm.clients:GeminiCommand"),
    "opencode": Vendor("", "", (), Limits(at_once=1), "memtool.llm.clients:OpenCodeCommand"),
}
