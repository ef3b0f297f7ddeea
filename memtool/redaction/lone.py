"""Passwords without a name: a token of several classes of characters beside words of passwords, logins and escaping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memtool.redaction.names import PASSWORD
from memtool.redaction.values import is_telling
from memtool.redaction.views import Finding
from memtool.text.languages import words

_NEAR = 160  # characters between the word and the token, which is in the same line or the next one
# What people do with a password that a program refuses, and where they need one; in small letters.
_BESIDE = (
    "passw passphrase passcode pwd credential login zugangsdaten anmelde escap encod decod maskier codier kodier "
    "转译 转义 轉義 转码 编码 編碼 解码 账号 帐号 账户 登录 登陆 エスケープ エンコード 이스케이프 인코딩"
).split()
_OPENING, _CLOSING = "'([{<*_+", "')]}>*_.,;:\\"


def find_lone(text: str) -> Iterator[Finding]:
    """Return the tokens that look like a password by themselves, beside a word that makes them one."""
    for first, last in _spans(text):
        for token in _token().finditer(text, first, last):
            start, end = _core(text, *token.span())
            if is_telling(text[start:end]) and _is_beside(text, start, end):
                yield Finding(start, end, PASSWORD.kind)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Give the places of *text* where a word of passwords is near, those that overlap as one."""
    lowered = text.lower()
    places = sorted(place for word in _words() if word in lowered for place in _places(lowered, word))
    first = last = 0
    for place in places:
        if place - _NEAR > last:
            yield first, last
            first = text.find(" ", place - _NEAR, place) + 1 or place - _NEAR
        last = place + 2 * _NEAR
    yield first, last


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + len(word))


def _is_beside(text: str, start: int, end: int) -> bool:
    """Return whether a word of passwords is in the token's line or in the next to it that is not blank."""
    before, after = text[max(start - _NEAR, 0) : start].rstrip(), text[end : end + _NEAR].lstrip()
    near = ("\n".join(before.split("\n")[-2:]) + "\0" + "\n".join(after.split("\n", 2)[:2])).lower()
    return any(word in near for word in _words())


def _core(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the token begins and ends without quotes, brackets and the name of a user in front of it."""
    while start < end and text[start] in _OPENING:
        start += 1
    if user := re.compile(r"(?![A-Z][a-z]*[0-9]+[a-z])[A-Za-z][\w.-]*[/:](?=[^/])").match(text, start, end):
        start = user.end()
    while start < end and text[end - 1] in _CLOSING:
        end -= 1
        end -= text[start:end].endswith(("\\r", "\\n")) * 2
    return start, end


@cache
def _words() -> tuple[str, ...]:
    return (*_BESIDE, "log in", *words("password_names"))


@cache
def _token() -> re.Pattern[str]:
    return re.compile(r"[!#-_a-~]{8,256}+")  # without quotes and backticks
