"""The authors and roles of statements, how far each author is trusted, and when a statement expires. Pure."""

from __future__ import annotations

import datetime as dt
import re

USER, AGENT, TOOL, IMPORTED = "user", "agent", "tool", "imported"
DECISION, RULE, DONE, COMMAND, OPEN, ASKED = "decision", "rule", "done", "command", "open", "asked"
FIX, FINDING, REFUTED, TITLE, SUMMARY = "fix", "finding", "refuted", "title", "summary"
AUTHORS = (USER, AGENT, TOOL, IMPORTED)
STANDING = frozenset({"identity", "preference", "decision"})  # categories that the output of a tool never takes

_TRUST = {USER: 2, TOOL: 0}
_SIGNATURE = rf"[ \t]*[(（]({'|'.join(AUTHORS)})[)）](?=(?:[ \t]+#[^\s#]+)*$)"  # tags may follow


def trust(author: str) -> int:
    """Return how much the word of *author* counts: that of the user most, that of a tool's output least.

    Of two who count the same, the newer word holds.
    """
    return _TRUST.get(author, 1)


def named(author: str) -> str:
    """Return the name of *author* for an agent; empty for `imported` and for unknown ones."""
    return {USER: USER, AGENT: AGENT, TOOL: "tool output"}.get(author, "")


def standing_category(category: str, author: str) -> str:
    """Return *category*; of a tool's output, `general` in place of decision, preference and identity."""
    return "general" if author == TOOL and category in STANDING else category


def signed_by(text: str) -> tuple[str, str]:
    """Return a line of a note without the author at its end, such as `(user)`, and that author; empty if none is."""
    if not any(author in text for author in AUTHORS):  # compiling the pattern would take longer
        return text, ""
    match = re.search(_SIGNATURE, text)
    return (text[: match.start()] + text[match.end() :], match[1]) if match else (text, "")


def is_past(expires: str, now: dt.datetime) -> bool:
    """Return whether *expires*, a last day or a moment in ISO 8601, is over; an empty text never is.

    A moment without an offset is of the zone of *now*.
    """
    if len(expires) > len("2026-02-10"):
        try:
            moment = dt.datetime.fromisoformat(expires)
        except ValueError:
            return expires[:10] < now.date().isoformat()
        return (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)) <= now
    return bool(expires) and expires < now.date().isoformat()
