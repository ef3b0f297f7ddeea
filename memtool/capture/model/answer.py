"""The check of a model's answer: read with patience, then accepted whole or refused with a reason.

A model may have been talked into anything by the transcript, and may make things up by itself. What it says is let
in only if it has the form that was asked for, the vault's language, and names no file that the session does not name.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from memtool.capture.conversation import Conversation
from memtool.capture.model.named_files import unknown_files
from memtool.capture.model.prompt import SYSTEM
from memtool.capture.summary import Summary
from memtool.errors import ProviderFailed
from memtool.vault.prose import one_line
from memtool.vault.sessions import KEY_POINT_KINDS, KeyPoint

WIDEST_TOPIC, WIDEST_TEXT = 120, 200  # characters
MOST_POINTS, MOST_OTHERS, MOST_TAGS = 8, 4, 3
LONGEST_ANSWER = 50_000  # characters, with all that stands around the object

_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_TRIES = 20  # places at which the object may begin
_LABEL = re.compile(rf"(?:[-*•]\s+|\d{{1,2}}[.)]\s+|\[({'|'.join(KEY_POINT_KINDS)})\]\s*)+")
_TAG = re.compile(r"[^\W_][\w+-]{0,29}")
_LINK = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://|(?<![a-z])(?:www\.[a-z]|(?:javascript|data|mailto|vbscript):\S)|\]\(|\[\[",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"(?<![\w.])<[a-z!][^<>]{0,200}>|</[a-z]|<!--|```|~~~", re.IGNORECASE)  # not `Vec<u8>`
_ORDER = re.compile(  # no \b: it does not see a word that begins right behind a Chinese one
    r"(?<![a-z])(?:ignore|disregard|forget|override)(?![a-z]).{0,30}(?<![a-z])(?:previous|prior|above|earlier|your|system|all)"
    r"(?![a-z]).{0,20}(?<![a-z])(?:instructions?|prompts?|directives?)(?![a-z])"
    r"|(?<![a-z])(?:(?:your|my|the) system prompt (?:is|says|reads)|you are now|as an ai)(?![a-z])"
    r"|(?<![a-z])i(?:'m| am) an? (?:ai|language model)(?![a-z])"
    r"|(?<![a-z])i (?:cannot|can't|can not|won't|am unable to) (?:help|assist|comply|summari[sz]e|do that)(?![a-z])"
    r"|(?:忽略|无视|不要理会|忘记).{0,12}(?:之前|以上|上述|前面|先前|所有|系统).{0,12}(?:指令|指示|提示|命令)"
    r"|(?:我的|你的)系统提示|你现在是|作为(?:一个|一名)?(?:AI|人工智能|语言模型)|我(?:不能|无法)(?:协助|帮助|提供)",
    re.IGNORECASE,
)
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_FOREIGN = re.compile("[^\\W\\d_\x00-\u024f\u1e00-\u1eff]")  # a letter of another script than Latin
_LATIN_WORD = re.compile("[a-z\u00df-\u024f]{2,}", re.IGNORECASE)
_PLAIN = re.compile(r"\W+")


def parse_summary(
    text: str, conversation: Conversation, *, language: str, code: str = "", redact: Callable[[str], str] = str
) -> Summary:
    """Return the summary in *text*, the answer to `summary_request(conversation, …)`.

    Raises:
        ProviderFailed: it is none, or none that can be let in.
    """
    summary = _summary(_object(text))
    texts = list(_texts(summary))
    if not summary.topic:
        raise ProviderFailed("the answer has no topic")
    for part in texts:
        _check_text(part, code)
    _check_language(texts, language)
    _check_source(summary, texts, conversation)
    return _redacted(summary, redact)


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


def _summary(answer: dict[str, Any]) -> Summary:
    points = [_point(item) for item in _list(answer, "key_points")[:MOST_POINTS]]
    others = [[_line(item) for item in _list(answer, name)[:MOST_OTHERS]] for name in ("decisions", "done", "open")]
    topic = _line(answer["topic"])
    if len(topic) > WIDEST_TOPIC:
        raise ProviderFailed(f"the topic has {len(topic)} characters, and {WIDEST_TOPIC} at most were asked for")
    return Summary(
        topic,
        tuple({point.text: point for point in points if point.text}.values()),
        *(tuple(dict.fromkeys(filter(None, lines))) for lines in others),
    )


def _list(answer: dict[str, Any], name: str) -> list[Any]:
    value = answer.get(name)
    value = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(value, list):
        raise ProviderFailed(f"'{name}' in the answer is no list")
    return value


def _point(item: object) -> KeyPoint:
    if not isinstance(item, dict):
        return KeyPoint(_line(item))
    line, kind, tags = _line(item.get("text")), item.get("kind"), item.get("tags")
    label = _LABEL.match(item["text"].lstrip())
    kind = kind if kind in KEY_POINT_KINDS else label[1] if label and label[1] else ""
    words = [tag.strip().lstrip("#") for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return KeyPoint(line, kind, tuple(dict.fromkeys(filter(_TAG.fullmatch, words)))[:MOST_TAGS])


def _line(item: object) -> str:
    """Return a text of the answer on one line, without the marks that models like to put around things."""
    if not isinstance(item, str):
        raise ProviderFailed("the answer holds something else where a text should stand")
    for character in item:
        if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs") and character not in "\n\r\t\u200c\u200d":
            raise ProviderFailed(f"the answer holds an invisible character (U+{ord(character):04X})")
    line = one_line(item if "```" in item else item.replace("`", "").replace("**", ""))
    line = line[label.end() :] if (label := _LABEL.match(line)) else line
    if len(line) > WIDEST_TEXT:
        raise ProviderFailed(f"a text has {len(line)} characters, and {WIDEST_TEXT} at most were asked for")
    return line


def _texts(summary: Summary) -> Iterator[str]:
    yield summary.topic
    yield from (point.text for point in summary.key_points)
    yield from (*summary.decisions, *summary.done, *summary.open)


def _check_text(text: str, code: str) -> None:
    if _LINK.search(text):
        raise ProviderFailed("the answer holds a link")
    if _MARKUP.search(text):
        raise ProviderFailed("the answer holds markup")
    if _ORDER.search(text) or (code and code in text):
        raise ProviderFailed("the answer repeats an instruction instead of telling what happened")
    if len(text) > 20 and _squeezed(text) in _squeezed(SYSTEM):
        raise ProviderFailed("the answer repeats what it was asked")


def _check_language(texts: Iterable[str], language: str) -> None:
    """Refuse another language. A Chinese character counts as a word; names and quotes may be foreign."""
    whole = " ".join(texts)
    words, han = len(_LATIN_WORD.findall(whole)), len(_HAN.findall(whole))
    if language == "zh" and 2 * han <= words:
        raise ProviderFailed("the answer is not in Chinese")
    if language == "en" and len(_FOREIGN.findall(whole)) > words:
        raise ProviderFailed("the answer is not in English")


def _check_source(summary: Summary, texts: Iterable[str], conversation: Conversation) -> None:
    if unknown := unknown_files(texts, conversation):
        raise ProviderFailed(f"the answer names '{unknown[0][:60]}', which the session does not")
    prompts = {_squeezed(step.text) for step in conversation.steps if step.kind == "prompt"}
    if not any(summary[1:]) and _squeezed(summary.topic) in prompts and len(conversation.steps) > 2:
        raise ProviderFailed("the answer only repeats the prompt")


def _squeezed(text: str) -> str:
    return _PLAIN.sub("", text).casefold()


def _redacted(summary: Summary, redact: Callable[[str], str]) -> Summary:
    return Summary(
        redact(summary.topic),
        tuple(
            KeyPoint(redact(point.text), point.kind, tuple(tag for tag in point.tags if redact(tag) == tag))
            for point in summary.key_points
        ),
        *(tuple(map(redact, texts)) for texts in (summary.decisions, summary.done, summary.open)),
    )
