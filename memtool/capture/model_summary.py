"""The summary of a session by a model, where one is set up, and the check of its answer.

The answer is read with patience, refused with a reason, and else let in line by line. A model may have been talked into
anything by the transcript, and may make things up by itself. Its answer must have the form that was asked for and the
vault's language. Each line must stand in the turn that it names; it decides or demands something only in the user's
words, and nobody else says always or never.
"""

from __future__ import annotations

import json
import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from memtool.capture.model_turns import Ground, grounds_of, is_typed, summary_request, system, unfounded, unknown_name
from memtool.capture.old_turns import Turn
from memtool.capture.summary import KEY_POINT_KINDS, KeyPoint, Summary
from memtool.errors import ProviderFailed
from memtool.llm import Answer, is_set_up
from memtool.llm.call_log import CallLog
from memtool.llm.chain import Chain, Clock
from memtool.redaction import make_redactor
from memtool.settings import Settings
from memtool.text.languages import begins_with, pattern_of
from memtool.text.lines import one_line, shortened
from memtool.text.scripts import HAN
from memtool.vault.authors import AGENT, USER
from memtool.vault.layout import Vault

PURPOSE = "summary"
WIDEST_TOPIC, WIDEST_TEXT = 120, 200  # characters
MOST_POINTS, MOST_OTHERS, MOST_TAGS = 8, 4, 3
LONGEST_ANSWER = 50_000  # characters, with all that stands around the object

_MOST_LINES = 40  # that are looked at
_WIDEST_ITEM = 220  # columns, so that a note has room for the author
_OF_THE_USER = ("decision", "rule")
_OTHERS = ("decision", "rule", "done", "command", "open")  # have sections of their own; all else is a key point
_FORM = {
    "properties": {
        "topic": {"type": "string"},
        "lines": {
            "type": "array",
            "items": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
        },
    },
    "required": ["topic", "lines"],
}
_TRIES = 20  # places at which the object may begin
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_LABEL = re.compile(rf"(?:[-*•]\s+|\d{{1,2}}[.)]\s+|\[({'|'.join(KEY_POINT_KINDS)})\]\s*)+")
_AUTHOR = re.compile(rf"\s*\((?:{AGENT}|{USER})\)\Z")
_CODE = re.compile(r"`([^`]{1,200})`")
_TAG = re.compile(r"[^\W_][\w+-]{0,29}")
_TURN = re.compile(r"(?:turn )?#?(\d{1,6})", re.IGNORECASE)
_AND = re.compile(r"\s*(?:&&|\|\|?|;)\s*")  # between the commands of one line
_LINK = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://|(?<![a-z])(?:www\.[a-z]|(?:javascript|data|mailto|vbscript):\S)|\]\(|\[\[",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"(?<![\w.])<[a-z!][^<>]{0,200}>|</[a-z]|<!--|```|~~~", re.IGNORECASE)  # not `Vec<u8>`
_HAN = re.compile(f"[{HAN}]")
_FOREIGN = re.compile("[^\\W\\d_\x00-\u024f\u1e00-\u1eff]")  # a letter of another script than Latin
_LATIN_WORD = re.compile("[a-z\u00df-\u024f]{2,}", re.IGNORECASE)
_PLAIN = re.compile(r"\W+")


class ModelSummary(NamedTuple):
    """A summary with the answer that it was read from; or None, and why: *may_pass* if a later try may succeed."""

    summary: Summary | None
    answer: Answer | None
    reasons: tuple[str, ...]
    may_pass: bool

    @property
    def provider(self) -> str:
        """The provider that wrote the summary; empty if none did."""
        return self.answer.provider if self.answer else ""

    @property
    def reason(self) -> str:
        """Why there is no summary; empty also where no model is set up."""
        return "" if self.summary else "; ".join(self.reasons)


def summarise_with_model(turns: Sequence[Turn], settings: Settings, vault: Vault, now: datetime) -> ModelSummary:
    """Return what the first model of `settings.llm.providers` that answers well makes of *turns*.

    *turns* are redacted already; the answer is, once more.
    """
    if not is_set_up(settings.llm):
        return ModelSummary(None, None, (), may_pass=False)
    code = secrets.token_hex(8)
    redact = make_redactor(settings.redact)
    language = settings.general.language

    def accept(text: str) -> Summary:
        return parse_summary(text, turns, language=language, code=code, redact=redact)

    chain = Chain(settings.llm, settings.keys, CallLog(vault, settings.llm.daily_tokens), Clock(lambda: now))
    outcome = chain.complete(summary_request(turns, language=language, code=code), accept, purpose=PURPOSE)
    return ModelSummary(outcome.value, outcome.answer, outcome.reasons, outcome.may_pass)


class AnswerLine(NamedTuple):
    """One line of an answer, as the model gave it. *turn* counts from 1, 0 for none; *codes* were in backticks."""

    turn: int
    role: str
    author: str
    text: str
    tags: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


def parse_summary(
    text: str, turns: Sequence[Turn], *, language: str, code: str = "", redact: Callable[[str], str] = str
) -> Summary:
    """Return the summary in *text*, the answer to `summary_request(turns, …)`: its topic and the lines that stand.

    Raises:
        ProviderFailed: it is none, or none that can be let in, or none of its lines stands in the turn that it names.
    """
    answer = _object(text)
    _check_form(answer)
    topic, codes = _topic(answer)
    lines = _lines(answer)
    for part in (topic, *(line.text for line in lines)):
        _check_text(part, code)
    _check_language([topic, *(line.text for line in lines if line.author != USER)], language)
    grounds = grounds_of(turns)
    whole = "\n".join(ground.said for ground in grounds)
    if unknown := unfounded(topic, codes, whole):
        raise ProviderFailed(f"the topic names '{unknown[:60]}', which the session does not")
    _check_is_new([topic, *(line.text for line in lines)], turns)
    return _summary(topic, _standing(lines, turns, grounds, whole), redact)


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in *text*, whatever stands around it."""
    text = text.rpartition("</think>")[2]
    if len(text) > LONGEST_ANSWER:
        raise ProviderFailed("the answer is far too long")
    for candidate in (text, _TRAILING_COMMA.sub(r"\1", text)):
        starts = (match.start() for match in re.finditer(r"\{", candidate))
        for _, start in zip(range(_TRIES), starts, strict=False):
            try:
                value, _ = json.JSONDecoder().raw_decode(candidate, start)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict) and "topic" in value:
                return value
    raise ProviderFailed("the answer is not the JSON object that was asked for")


def _check_form(answer: dict[str, Any]) -> None:
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(_FORM).iter_errors(answer):
        place = ".".join(map(str, error.absolute_path)) or "the object"  # without the value, which may be anything
        raise ProviderFailed(f"the answer has another form than was asked for: {place}: {error.validator}")


def _topic(answer: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    topic, codes = _text(answer["topic"])
    if not topic:
        raise ProviderFailed("the answer has no topic")
    if len(topic) > WIDEST_TOPIC:
        raise ProviderFailed(f"the topic has {len(topic)} characters, and {WIDEST_TOPIC} at most were asked for")
    return topic, codes


def _lines(answer: dict[str, Any]) -> list[AnswerLine]:
    """Return the lines of *answer*, no text twice."""
    lines: dict[str, AnswerLine] = {}
    for line in map(_line, answer["lines"][:_MOST_LINES]):
        if line.text:
            lines.setdefault(_squeezed(line.text), line)
    return list(lines.values())


def _line(item: dict[str, Any]) -> AnswerLine:
    text, codes = _text(item["text"])
    label = _LABEL.match(item["text"].lstrip())
    role = item.get("role") or (label and label[1])
    tags = item.get("tags")
    words = [tag.strip().lstrip("#") for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    turn = _TURN.fullmatch(str(item.get("turn")))
    return AnswerLine(
        int(turn[1]) if turn else 0,
        role if isinstance(role, str) else "",
        USER if item.get("author") == USER else AGENT,
        text,
        tuple(dict.fromkeys(filter(_TAG.fullmatch, words)))[:MOST_TAGS],
        codes,
    )


def _text(item: str) -> tuple[str, tuple[str, ...]]:
    """Return a text of the answer on one line, without the marks that models put around things, and its code spans."""
    for character in item:
        if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs") and character not in "\n\r\t\u200c\u200d":
            raise ProviderFailed(f"the answer holds an invisible character (U+{ord(character):04X})")
    line = one_line(item if "```" in item else item.replace("`", "").replace("**", ""))
    line = _AUTHOR.sub("", line[label.end() :] if (label := _LABEL.match(line)) else line)
    if len(line) > WIDEST_TEXT:
        raise ProviderFailed(f"a text has {len(line)} characters, and {WIDEST_TEXT} at most were asked for")
    return line, tuple(_CODE.findall(item))


def _check_text(text: str, code: str) -> None:
    if _LINK.search(text):
        raise ProviderFailed("the answer holds a link")
    if _MARKUP.search(text):
        raise ProviderFailed("the answer holds markup")
    if _instruction().search(text) or (code and code in text):
        raise ProviderFailed("the answer repeats an instruction instead of telling what happened")
    if len(text) > 20 and _squeezed(text) in _squeezed(system()):
        raise ProviderFailed("the answer repeats what it was asked")


@cache
def _instruction() -> re.Pattern[str]:
    return re.compile(pattern_of("instruction"), re.IGNORECASE)


def _check_language(texts: Iterable[str], language: str) -> None:
    """Refuse another language. A Chinese character counts as a word; names and quotes may be foreign."""
    whole = " ".join(texts)
    words, han = len(_LATIN_WORD.findall(whole)), len(_HAN.findall(whole))
    if language == "zh" and 2 * han <= words:
        raise ProviderFailed("the answer is not in Chinese")
    if language == "en" and len(_FOREIGN.findall(whole)) > words:
        raise ProviderFailed("the answer is not in English")


def _check_is_new(texts: Iterable[str], turns: Sequence[Turn]) -> None:
    prompts = {_squeezed(turn.asked) for turn in turns}
    if all(_squeezed(text) in prompts for text in texts):
        raise ProviderFailed("the answer only repeats the prompt")


def _standing(
    lines: Sequence[AnswerLine], turns: Sequence[Turn], grounds: Sequence[Ground], whole: str
) -> list[AnswerLine]:
    """Return the lines that stand in the turns that they name, each with the role and the author that are sure."""
    standing, faults = [], []
    for line in lines:
        if fault := _fault(line, turns, grounds, whole):
            faults.append(fault)
        else:
            standing.append(_sure(line, grounds[line.turn - 1]))
    if not standing:
        raise ProviderFailed(f"no line of the answer stands: {faults[0] if faults else 'it has none'}")
    return standing


def _fault(line: AnswerLine, turns: Sequence[Turn], grounds: Sequence[Ground], whole: str) -> str:
    if not 0 < line.turn <= len(turns):
        return "it names no turn that there is"
    if line.role == "command":
        passed = {part for run in turns[line.turn - 1].runs if not run.error for part in _commands(run.command)}
        return "" if line.text in passed else f"turn {line.turn} ran no '{line.text[:60]}' that passed"
    ground = grounds[line.turn - 1]
    if begins_with("standing", line.text) and not is_typed(line.text, ground):
        return f"turn {line.turn} has no such order by the user"
    unknown = unfounded(line.text, line.codes, ground.said) or unknown_name(line.text, whole)
    return f"turn {line.turn} does not name '{unknown[:60]}'" if unknown else ""


def _commands(command: str) -> list[str]:
    plain = one_line(command.replace("`", "").replace("**", ""))
    return [plain, *_AND.split(plain)]


def _sure(line: AnswerLine, ground: Ground) -> AnswerLine:
    """Return *line* as the user's where its words are theirs; what they did not say decides and demands nothing."""
    if line.role in _OF_THE_USER:
        return (
            line._replace(author=USER) if is_typed(line.text, ground) else line._replace(role="finding", author=AGENT)
        )
    return line._replace(author=USER if line.author == USER and is_typed(line.text, ground) else AGENT)


def _summary(topic: str, lines: Sequence[AnswerLine], redact: Callable[[str], str]) -> Summary:
    clean = [line._replace(text=redact(line.text)) for line in lines]
    sections = {role: [line for line in clean if line.role == role][:MOST_OTHERS] for role in _OTHERS}
    points = (
        KeyPoint(
            _told(line),
            line.role if line.role in KEY_POINT_KINDS else "",
            tuple(tag for tag in line.tags if redact(tag) == tag),
        )
        for line in clean
        if line.role not in _OTHERS
    )
    return Summary(
        redact(topic),
        tuple(points)[:MOST_POINTS],
        decisions=tuple(map(_told, sections["decision"])),
        rules=tuple(map(_told, sections["rule"])),
        done=tuple(line.text for line in sections["done"]),
        commands=tuple(line.text for line in sections["command"]),
        open=tuple(map(_told, sections["open"])),
    )


def _told(line: AnswerLine) -> str:
    return f"{shortened(line.text, _WIDEST_ITEM)} ({line.author})"


def _squeezed(text: str) -> str:
    return _PLAIN.sub("", text).casefold()
