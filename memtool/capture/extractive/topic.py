"""What a session was about, in one line, from what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from memtool.capture.conversation import Conversation, Step
from memtool.capture.extractive.compaction import sections_of
from memtool.capture.extractive.cue_words import TRADITIONAL
from memtool.capture.extractive.cues import cues_of, is_small_talk
from memtool.capture.extractive.failures import telling_line
from memtool.capture.extractive.passages import LONGEST_PROMPT, bounded, passages
from memtool.capture.extractive.sentences import shortened, width
from memtool.index.text import query_terms
from memtool.vault.prose import one_line

WIDEST = 100  # columns
CLEAR = 0.9  # worth of a request that names a task without those before it
ENOUGH_TERMS = 2  # of a request that are not said of any task, so that it names one
SLIGHTEST = 0.1  # worth of a request below which it asks for nothing
FIRST_PROMPTS, LAST_PROMPTS = 50, 100  # prompts that are read
LONGEST_TITLE = 300

_POLITE = re.compile(
    r"""(?:
      (?:something\ else|another\ thing|one\ more\ thing|new\ task|next\ task|换个任务|还有一件事|另外)[,，:：\ -]+
    | (?:hi|hello|hey|ok|okay|great|thanks|cool|now|so|also|and|then|next|first|well|actually|alright|please|pls|just)
      [,.!:;-]*\s+
    | (?:can|could|would|will)\ (?:you|we)\ (?:please\ |also\ |now\ )?(?:help\ (?:me\ )?(?:to\ |with\ )?)?
    | help\ me\ (?:to\ |with\ )?
    | i(?:'d|\ would)\ like\ (?:you\ )?to\s | (?:i|we)\ (?:want|need)\ (?:you\ )?to\s
    | let's\s | your\ task\ is\ to\s
    | (?:你好|您好|嗨|请问|请|麻烦|帮我|帮忙|你|我们|我想要?|我要|我需要|能不能|能否|可以(?!了)|现在|然后|接下来|好的?)
      [，,、。！\s]*(?=..)
    )+""",
    re.IGNORECASE | re.VERBOSE,
)
_PASTE = re.compile(r"<(pasted_content|ide_[a-z_]{1,40}|system-reminder)\b[^<>]{0,200}>.*?(?:</\1>|\Z)", re.DOTALL)
_MENTION = re.compile(r"(?<!\S)@(?=[\w./-])")
_COMMAND = re.compile(r"(/[A-Za-z][\w:.-]{1,60})(?:\s+(.*))?\Z", re.DOTALL)
_OWN_COMMANDS = frozenset(
    """
    /agents /clear /compact /config /context /copy /cost /doctor /effort /exit /export /fast /help /hooks /ide /login
    /logout /mcp /memory /model /permissions /plugin /quit /resume /rewind /stats /status /tasks /terminal-setup /theme
    /usage /vim
    """.split()
)
_GENERIC = """
    find look see check figure investigate debug understand explain fix repair solve resolve cause reason bug issue
    problem error failure wrong broken work make sure change update add write implement improve clean review test tests
    code file thing again try run start continue go on do it this that
"""
_CHOICE = re.compile(r"\b(?:option|plan|approach) [A-Z\d]\b|方案\s*[A-Z\d一二三]", re.IGNORECASE)
_CLAUSE_END = re.compile("[,，;；]")
_SLUG = re.compile(r"[\w-]*")


class Request(NamedTuple):
    """One thing that was asked: its best sentence, how well that names a task, and the terms of the whole prompt."""

    text: str
    worth: float
    terms: frozenset[str]
    at: int


def topic_of(conversation: Conversation, *, joint: str = "; ") -> str:
    """Return what was asked, in at most WIDEST columns: two things if the session turned to another; else empty."""
    prompts = [at for at, step in enumerate(conversation.steps) if step.kind == "prompt"]
    read = (*prompts[:FIRST_PROMPTS], *prompts[FIRST_PROMPTS:][-LAST_PROMPTS:])
    requests = [request for at in read if (request := request_of(conversation.steps[at], at))]
    title = one_line(conversation.title[:LONGEST_TITLE])
    if _fits(title, requests):
        return shortened(title, WIDEST)
    before = _compacted_request(conversation.steps)
    if before and all(request.worth < CLEAR for request in requests):
        return shortened(before, WIDEST)
    subjects = _subjects(requests, len(conversation.steps))
    if not subjects:
        return shortened(_own(title) or _command(conversation.steps), WIDEST)
    if len(subjects) == 2 and sum(map(width, subjects)) + width(joint) > WIDEST:
        half = (WIDEST - width(joint)) // 2
        room = [max(half, WIDEST - width(joint) - width(other)) for other in reversed(subjects)]
        subjects = [shortened(text, columns) for text, columns in zip(subjects, room, strict=True)]
    return joint.join(shortened(text, WIDEST) for text in subjects if text)


def request_of(step: Step, at: int) -> Request | None:
    """Return what a prompt asks for, if it asks for anything."""
    text = _PASTE.sub("\n", _MENTION.sub("", bounded(step.text, LONGEST_PROMPT)))
    if (match := _COMMAND.match(text.strip())) and not (text := match[2] or ""):
        return None
    asked = [(worth, sentence) for sentence, worth in _asked(text)]
    line = telling_line(text)
    if line and (not asked or max(asked)[0] < 0.6) and width(line) > 12:
        asked = [(0.9, line)]
    worth, sentence = max(asked, key=lambda pair: pair[0], default=(0.0, ""))
    if worth < SLIGHTEST:
        return None
    return Request(as_request(sentence), worth, frozenset(query_terms(text[:2000])), at)


def as_request(sentence: str) -> str:
    """Return *sentence* without what is only polite in it."""
    text = sentence[match.end() :] if (match := _POLITE.match(sentence.translate(TRADITIONAL))) else sentence
    text = (text if width(text) >= 8 else sentence).strip().rstrip(".。!！,，;；:：~?？").strip()
    return text[:1].upper() + text[1:]


def _subjects(requests: Sequence[Request], steps: int) -> list[str]:
    """Return the one or two things that most of the session went into, in order."""
    threads = _threads(requests)
    if not threads:
        return []
    ends = [thread[0].at for thread in threads[1:]] + [steps]
    shares = [(end - thread[0].at) / max(steps, 1) for thread, end in zip(threads, ends, strict=True)]
    leads = [max(thread, key=lambda request: request.worth) for thread in threads]
    worths = [
        lead.worth + 1.5 * share + (0.6 if at == 0 else 0.0)
        for at, (lead, share) in enumerate(zip(leads, shares, strict=True))
    ]
    best = max(range(len(threads)), key=worths.__getitem__)
    others = [at for at in range(len(threads)) if at != best and shares[at] >= 0.25 and leads[at].worth >= CLEAR]
    second = max(others, key=worths.__getitem__, default=best)
    return [leads[at].text for at in sorted({best, second})]


def _threads(requests: Sequence[Request]) -> list[list[Request]]:
    """Return *requests* in groups: one that shares terms with those before it, or is slight, follows them."""
    threads: list[list[Request]] = []
    known: set[str] = set()
    for request in requests:
        overlap = len(request.terms & known) / max(1, min(len(request.terms), 12))
        if threads and (overlap >= 0.25 or request.worth < CLEAR):
            threads[-1].append(request)
        else:
            threads.append([request])
            known = set()
        known |= request.terms
    return threads


def _asked(text: str) -> Iterator[tuple[str, float]]:
    """Give the sentences of a prompt, with how well each names a task."""
    for place, passage in enumerate(passages(text)):
        sentence = passage.text
        if not is_small_talk(sentence) and width(sentence) >= 6:
            yield sentence, _naming(sentence) - min(0.5, 0.1 * place) - 0.3 * passage.item


def _naming(sentence: str) -> float:
    """Return how well *sentence* names a task: it asks for something, is specific, neither too short nor too long."""
    cues, columns = cues_of(as_request(sentence)) | cues_of(sentence), width(sentence)
    terms = frozenset(query_terms(sentence[:400]))
    worth = 0.6 if "problem" in cues else 0.0
    if "request" in cues:
        worth = 0.8 if len(terms - _generic_terms()) >= ENOUGH_TERMS or not sentence.isascii() else 0.3
    worth += min(0.8, 0.15 * len(terms))
    worth -= 0.6 if columns < 14 or _CHOICE.search(sentence) else 0.3 if columns > 200 else 0.0
    rule = "rule" in cues_of(_CLAUSE_END.split(sentence, maxsplit=1)[0])  # a rule that follows a task is no harm
    return worth - 0.8 * ("housekeeping" in cues) - 0.8 * rule - 0.3 * ("dangling" in cues and "request" not in cues)


@cache
def _generic_terms() -> frozenset[str]:
    """Return the terms of words that are said of any task: "find the cause and fix it" does not tell of which."""
    return frozenset(query_terms(_GENERIC))


def _fits(title: str, requests: Sequence[Request]) -> bool:
    """Return whether the session's own *title* names what was asked, in other words than a made-up name."""
    terms = set(query_terms(title))
    asked = {term for request in requests for term in request.terms}
    return bool(requests) and not _SLUG.fullmatch(title) and len(terms & asked) >= max(2, 0.5 * len(terms))


def _own(title: str) -> str:
    return "" if _SLUG.fullmatch(title) else title


def _compacted_request(steps: Sequence[Step]) -> str:
    """Return what the client's last summary says that was asked."""
    texts = [step.text for step in steps if step.kind == "compaction" and step.text]
    sections = [section for section in sections_of(texts[-1]) if section.kind == "request"] if texts else []
    asked = [(worth, sentence) for section in sections for sentence, worth in _asked(section.text)]
    return as_request(max(asked, key=lambda pair: pair[0])[1]) if asked else ""


def _command(steps: Sequence[Step]) -> str:
    """Return the first command that was given with a slash and is not the client's own."""
    commands = (
        one_line(match[0][:300])
        for step in steps
        if step.kind == "prompt" and (match := _COMMAND.match(step.text.strip()))
    )
    return next((command for command in commands if command.split()[0] not in _OWN_COMMANDS), "")
