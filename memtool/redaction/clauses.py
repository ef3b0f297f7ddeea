"""Passwords that a clause or a line beside the word for them gives away: an answer, a login, a change, a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from memtool.redaction.names import PASSWORD
from memtool.redaction.values import Form, is_mixed, is_secret
from memtool.redaction.views import Finding
from memtool.text.languages import words

_VALUE = r"[\"'`“„「]?([^\s\"'`“”„「」，。；<>(){}=]{6,64})"
_NAME = r"(?:password|passwd|passphrase|passwort|kennwort|\bpw\b|密码|口令)"
_NEAR = 200  # characters
_TRAILING = ".,;:!?*"


class _Clause(NamedTuple):
    pattern: str
    needs_word: bool = True  # a word for passwords elsewhere in the text


# Each value of a match must look like a password, else none of them is one.
_CLAUSES = (
    _Clause(rf"(?<!\S){_VALUE} is what (?:you|to|i) (?:type|enter)"),
    _Clause(rf"\b(?:enter|type|use|answer) {_VALUE} (?:when|if|once) [^\n.]{{0,40}}?(?:ask|prompt|want)"),
    _Clause(rf"\b(?:ask|prompt)(?:s|ed)?\b[^\n.,]{{0,40}}, (?:just |please )?(?:enter|type|answer|use) {_VALUE}"),
    _Clause(rf"\bnew one(?: is|:) {_VALUE}"),
    _Clause(rf"\b(?:open|unlock|decrypt|unzip)\b[^\n.]{{0,20}}? with {_VALUE}"),
    _Clause(rf"{_NAME}[^\n]{{0,60}}?\b(?:from|von) {_VALUE}[\"'`”]? (?:to|auf|nach|into) {_VALUE}"),
    _Clause(rf"{_NAME}[^\n]{{0,40}}?[ ]{_VALUE}[\"'`”]?[ ]?(?:->|→|=>)[ ]?{_VALUE}"),
    _Clause(r"(?:crypted|protected|locked|verschlüsselt|geschützt) (?:with|by|mit) "
            r"[\"'`]?([a-z]{4,32}(?:_[0-9]{1,6}|[0-9]{2,6}))\b(?!-)", needs_word=False),
    _Clause(r"(?:^|\n)(?:root|sudo|admin|administrator)[:：][ ]?([^\s\"'`<>(){}=/]{6,64})(?=[ \t]*(?:\n|\Z))",
            needs_word=False),
)  # fmt: skip
_LOGIN = r"\b(?:log ?in|sign ?in|einloggen|anmelden)\b"
_BY = rf"(?<= )(?:with|using|and|mit|und) {_VALUE}"
_CODES = r"\b(?:recovery|backup|wiederherstellungs)[ -]?codes?\b"
_CODE = r"(?<![\w-])(?=[a-z-]{0,12}[0-9])[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,3}(?![\w-])"
_DOOR = (
    r"(?:\b(?:door|alarm|gate|safe|entry) code|门禁码|门禁密码)[^\n.,;0-9]{0,40}?(?:is|:|是|：|为) ?"
    r"([0-9]{4,8}#?)(?![\w.-])"
)
_LINES = r"(?:(?<=\n)|\A)(?:[A-Za-z][\w.@-]{1,40}(?P<sign> / |: )[^\s/]{6,64}(?:\n|\Z)){2,64}"

_HEAD = r"(?:accounts?|logins?|cred\w{0,12}|账号|账户)[:：]\n\Z"


def find_in_clauses(text: str) -> Iterator[Finding]:
    """Return the passwords in the clauses and lines beside what they are for."""
    has_word = _names().search(text) is not None
    for clause in _CLAUSES:
        for found in _compiled(clause.pattern).finditer(text) if has_word or not clause.needs_word else ():
            if clause.needs_word and not _names().search(text, max(found.start() - _NEAR, 0), found.end() + _NEAR):
                continue
            yield from _all_of([found.span(group) for group in range(1, found.re.groups + 1)], text)
    if has_word:
        yield from (each for found in _answer().finditer(text) for each in _all_of([found.span(1)], text))
    for login in _compiled(_LOGIN).finditer(text):
        for found in _compiled(_BY).finditer(text, login.end(), login.end() + 100):
            yield from _all_of([found.span(1)], text)
    yield from _codes(text)
    yield from _in_lines(text)


def _codes(text: str) -> Iterator[Finding]:
    for codes in _compiled(_CODES).finditer(text):
        for found in _compiled(_CODE).finditer(text, codes.end(), codes.end() + 240):
            yield Finding(*found.span(), PASSWORD.kind)
    yield from (Finding(*found.span(1), PASSWORD.kind) for found in _compiled(_DOOR).finditer(text))


def _in_lines(text: str) -> Iterator[Finding]:
    for found in _compiled(_LINES).finditer(text):
        if found["sign"] == " / " or _compiled(_HEAD).search(text[max(found.start() - 40, 0) : found.start()]):
            places = [line.span(1) for line in re.compile(r"(?: / |: )(\S+)").finditer(text, *found.span())]
            yield from _all_of(places, text)


def is_question(text: str) -> bool:
    """Return whether *text* ends with a question for a password."""
    return _asks().search(text[-200:].rstrip("*_ \n")) is not None


def is_answer(text: str) -> bool:
    """Return whether all of *text* is one token that may be a password."""
    return len(text.split()) == 1 and len(text) <= 64 and bool(list(_all_of([(0, len(text))], text)))


def _all_of(places: list[tuple[int, int]], text: str) -> Iterator[Finding]:
    found = []
    for start, last in places:
        value = text[start:last].strip().rstrip(_TRAILING)
        end = start + len(value)
        if not is_mixed(value) or not is_secret(value, PASSWORD, Form.SAID) or re.fullmatch("[0-9a-f]{6,64}", value):
            return
        found.append(Finding(start, end, PASSWORD.kind))
    yield from found


@cache
def _asks() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:{_names().pattern})[^\n?？]{{0,80}}[?？:：]\Z")


@cache
def _answer() -> re.Pattern[str]:
    return re.compile(
        rf"(?i)(?:{_names().pattern})[^\n?？]{{0,80}}[?？:：][ \t]*\n\n?(?:> ?)?"
        r"(?:it is |it's |es ist )?(\S{6,64})[ \t]*(?=\n|\Z)"
    )


@cache
def _names() -> re.Pattern[str]:
    names = ("password", "passwd", "passphrase", "passcode", "sudo", *words("password_names"))
    return re.compile("|".join(map(re.escape, names)), re.IGNORECASE)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?i){pattern}" if pattern != _CLAUSES[7].pattern else pattern)
