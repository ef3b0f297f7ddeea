"""Secrets whose place is told by what is beside them: a column's head, a user's name, the words "as the password"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memtool.redaction.names import PASSWORD, Proof, named_secrets, secret_of
from memtool.redaction.values import Form, is_common, is_grammar, is_mixed, is_secret, is_telling
from memtool.redaction.views import Finding
from memtool.text.languages import words

_LONGEST_ROW = 2_000  # characters
_MOST_COLUMNS = 24
_LONGEST_PAIR = 192
_SIGNS = frozenset("!$%^&*")  # which paths and names of branches do not have
_LOGIN = ("login", "log in", "sign in", "account", "credential", "creds", "zugangsdaten", "anmeldedaten",
          "账密", "账号", "帐号", "账户", "用户", "登录")  # fmt: skip


def find_in_columns(text: str) -> Iterator[Finding]:
    """Return the values in those columns of tables (Markdown, CSV) that are called by the name of a password."""
    if not mentions_password(text):
        return
    head: list[str] = []
    separator, place = "", 0
    for line in text.splitlines(keepends=True):
        row = line.strip() if len(line) <= _LONGEST_ROW else ""
        if head and separator in row:
            yield from _in_row(line, place, head, separator)
        else:
            separator = next((mark for mark in ("|", "\t", "  ", ",", ";") if mark in row), "")
            separator = "" if separator and separator in ",;" and " " in row else separator  # else it is a list
            head = _cells(row, separator) if separator and mentions_password(row) else []
            if not any(map(_is_head, head)) or not all(map(_may_be_head, head)):
                head = []
        place += len(line)


def _in_row(line: str, place: int, head: list[str], separator: str) -> Iterator[Finding]:
    cells, at = _cells(line, separator), 0
    if len(cells) != len(head):
        return
    for name, cell in zip(head, cells, strict=True):
        value = cell.strip("\"'`*“”")
        start = line.index(cell, at) + cell.index(value)
        at = start + len(value)
        if _is_head(name) and _is_value(value):
            yield Finding(place + start, place + at, PASSWORD.kind)


def _cells(row: str, separator: str) -> list[str]:
    parts = re.split(" {2,}", row.strip()) if separator == "  " else row.strip().split(separator, _MOST_COLUMNS)
    cells = [cell.strip() for cell in parts]
    return cells[1:-1] if separator == "|" and len(cells) > 2 and not cells[0] and not cells[-1] else cells


def _may_be_head(cell: str) -> bool:
    return len(cell) <= 32 and not re.search(r"[=(){}<>:;\"$]|\d{3}", cell)


def _is_head(cell: str) -> bool:
    name = cell.strip("*_`\"' ").lower()
    secret = named_secrets().get(name) or (secret_of(name) if name.isascii() and len(name.split()) < 3 else None)
    return name in {"pass", "pw"} or (secret is not None and secret.kind == "password" and secret.proof is Proof.NONE)


def _is_value(value: str) -> bool:
    return not is_common(value) and (is_secret(value, PASSWORD, Form.BARE) or (value.isdigit() and len(value) > 3))


def find_paired(text: str) -> Iterator[Finding]:
    """Return passwords behind the name of their user, `bob / …`, `bob:…@host`, and those in front of "as password"."""
    lowered = text.lower()
    has_login = any(word in lowered for word in _LOGIN)
    for found in _user().finditer(text) if "/" in text else ():
        value = found["value"].rstrip(".,;:")
        is_apart = (found["apart"] or not _SIGNS.isdisjoint(value)) and is_telling(value)
        if is_apart or (has_login and _is_beside_login(text, found.start()) and _is_weak(value)):
            yield Finding(found.start("value"), found.start("value") + len(value), PASSWORD.kind)
    yield from _before_hosts(text)
    for found in _as_password().finditer(text) if mentions_password(text) else ():
        if not is_grammar(found["before"]) and (not found["after"] or is_grammar(found["after"])):
            value = found["quoted"] or found["value"]
            if is_secret(value, PASSWORD, Form.BARE) and not is_common(value):
                yield Finding(*found.span("quoted" if found["quoted"] else "value"), PASSWORD.kind)


def _before_hosts(text: str) -> Iterator[Finding]:
    """Give the password of each `bob:…@host`."""
    place = text.find("@")
    while place >= 0:
        before = _credentials().search(text, max(place - _LONGEST_PAIR, 0), place)
        if before and is_mixed(before[1]) and _host().match(text, place):
            yield Finding(before.start(1), place, PASSWORD.kind)
        place = text.find("@", place + 1)


def _is_beside_login(text: str, place: int) -> bool:
    """Return whether the pair at *place* is of a login: `Login: bob/…`, `账号：bob/…`."""
    near = text[max(place - 24, 0) : place].lower()
    return any(word in near for word in _LOGIN) or "登录" in text[place : place + 80].partition("\n")[0]


def _is_weak(value: str) -> bool:
    return is_mixed(value) or (is_secret(value, PASSWORD, Form.BARE) and not is_common(value))


def mentions_password(text: str) -> bool:
    """Return whether *text* has a word for passwords."""
    lowered = text.lower()
    return any(name in lowered for name in _names())


@cache
def _names() -> tuple[str, ...]:
    return ("passw", "passphrase", "passcode", "pwd", "pass", "pw", *words("password_names"))


@cache
def _user() -> re.Pattern[str]:
    value = r"(?P<value>[^\s/\"'`<>|，。；（）()]{6,128}+)(?![/(])"
    return re.compile(rf"(?<![A-Za-z0-9_./@-])[A-Za-z][A-Za-z0-9_.@-]{{1,63}}+(?:(?P<apart> / )|/){value}")


@cache
def _credentials() -> re.Pattern[str]:
    return re.compile(r"(?<![A-Za-z0-9_./:@-])[A-Za-z][\w.-]{0,63}+:([^\s:/\"'`]{6,128}+)\Z")


@cache
def _host() -> re.Pattern[str]:
    return re.compile(r"@(?:[a-z][\w-]{0,62}(?:\.[\w-]{1,63}){1,6}|[0-9]{1,3}(?:\.[0-9]{1,3}){3})")


@cache
def _as_password() -> re.Pattern[str]:
    names = "|".join(map(re.escape, words("password_names")))
    value = r"(?:[\"'`“„「](?P<quoted>[^\"'`“”„「」\n]{4,128}+)[\"'`”“」]|(?P<value>[^\s\"'`“”„「」，。]{4,128}+))"
    name = rf"(?i:password|passwd|passphrase|passcode|pwd|pw|{names})"
    return re.compile(
        rf"(?<!\S)(?P<before>\S{{1,24}}+)[ \t]{value}[ \t]{{1,2}}"
        r"(?:as|als|como|comme|come|作为|当作?|做|设为)[ \t]{0,2}"
        rf"(?:[a-zäöü]{{2,8}}[ \t]){{0,2}}{name}(?![\w-])(?:[ \t]+(?P<after>[A-Za-zäöü]+))?"
    )
