"""Passwords that a sentence names without a sign in front of them: logins, answers, changes, PINs.

Here the form of the sentence is the proof, so any word may be the password that no list of common words has. What
follows it must be the end of the clause or a word of grammar: "with limited rights" names none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from memtool.redaction.names import PASSPHRASE, PASSWORD, named_secrets, secret_of
from memtool.redaction.shapes import compiled
from memtool.redaction.values import (
    Form,
    is_common,
    is_familiar,
    is_grammar,
    is_mixed,
    is_part,
    is_passphrase,
    is_phrase,
    is_secret,
)
from memtool.redaction.views import Finding
from memtool.text.languages import words
from memtool.text.scripts import CJK_TEXT as CJK

# Words for secrets, in small letters.
_STRONG = (
    r"passw|pass ?phrase|passcode|(?<![a-z_-])pass(?=:| (?:for|is|of|was) )|(?<![a-z_])pwd?s?(?![a-z_(\[)]| ?[/.]\W?)"
    r"|(?<![a-z_])(?:sudo|creds?)(?![a-z_])|(?:api|access)[ -](?:key|token)"
    r"|(?:recovery|backup|wiederherstellungs)[ -]?code|(?:crypted|protected|locked) (?:with|by)|schützt|schlüsselt"
    r"|账密|(?:^|\n)(?:root|admin|administrator)[:：]"
)
_USER = r"[\"'`]?(?!(?:und|and|mit|with)\b)[a-z][\w.@\\-]{0,63}[\"'`]?"
# Ranges take `re` long to compile without regard to case.
_VALUE = rf"[\"'`“„「‚«]?(?P<value>(?-i:[^\s\"'`“”„「」‚‘’«»<>(){{}}=/{CJK}]{{4,64}}))"
_FEW = r"(?: [^\W\d_]{1,16}){0,4}?"
_NUMBER = r"(?P<value>[0-9]{4,8})(?![0-9]|[.:/-][0-9]| ?[位个次秒分天年])"
_PIN = (
    r"(?:(?-i:(?<![A-Z])P(?:IN|UK)(?![A-Z]))|(?:(?<=\ba )|(?<=\bthe )|(?<=your )|(?<=my ))pin(?![a-z])"
    r"|passcode|geheimzahl)"
)
_PIN_MARKS = "pin|puk|passcode|geheimzahl"
_LOG_IN = rf"(?<![a-z])(?:log|sign)(?:ged|ging|ing)?[ -]?(?:in|into|on){_FEW}"
_CHANGED = (
    r"(?:rotated|changed|reset|updated|replaced|geändert|gewechselt|erneuert|getauscht|zurückgesetzt"
    r"|改|换|重置|更新)"
)
_NOW = r"(?:(?:it(?:'s|’s| is)|heißt|lautet|ist)(?: (?:now|jetzt|nun)){1,2}|(?:现在|如今)[是叫为]?|[改换][成为]了?)"
_LONG, _LONGEST, _NEAR, _ASKED = 8, 64, 80, 200


class _Sentence(NamedTuple):
    """A sentence with a password.

    Args:
        marks: the pattern is compiled and tried only where one of each of these groups occurs: "a|b & c|d".
        is_one: whether a value is a password there.
        pattern: a regular expression with the group `value`.
        is_beside: whether a word for a password or a login must be near, too.
    """

    marks: str
    is_one: Callable[[str], bool]
    pattern: str
    is_beside: bool = False


def find_in_sentences(text: str) -> Iterator[Finding]:
    """Return the passwords that *text* names in a login, behind a change, as an answer or as a PIN."""
    lowered = text.lower()
    for marks, is_one, pattern, is_beside in _sentences():
        for found in compiled(pattern).finditer(text) if _has(lowered, marks) else ():
            value = found["value"].rstrip(".,;:?")
            end = found.start("value") + len(value)
            if is_one(value) and _ends_clause(text, end) and (not is_beside or _is_of_a_login(text, found)):
                yield Finding(found.start("value"), end, PASSWORD.kind)
    yield from _answers(text)


def _has(lowered: str, marks: str) -> bool:
    return all(any(mark in lowered for mark in group.split("|")) for group in marks.split("&"))


def _answers(text: str) -> Iterator[Finding]:
    """Give the tokens that are a line of their own below a question for a password."""
    who = r"(?:> ?)?(?:\[[0-9: -]{4,20}\] )?(?:[\w.-]{1,20}[:：] ?)?(?:(?i:it is|it's|es ist) )?"
    phrase = r"[^\W\d_]{2,20}(?: [^\W\d_]{2,20}){3,7}+"
    pattern = rf"[?？:：][ \t]*+\n\n?{who}(?P<value>\S{{4,64}}|{phrase})[ \t]*+(?=\n|\Z)"
    for found in compiled(pattern).finditer(text) if "\n" in text else ():
        first = max(found.start() - _ASKED, 0)
        start = max(text.rfind("\n", first, found.start()) + 1, first)
        if is_answer(text[start : found.start() + 1], found["value"]):
            yield Finding(*found.span("value"), PASSWORD.kind)


def _is_of_a_login(text: str, found: re.Match[str]) -> bool:
    """Return whether the line of what was *found* has a word for a password or a login near it."""
    before = text[max(found.start() - _NEAR, 0) : found.start()].rpartition("\n")[2]
    after = text[found.end() : found.end() + _NEAR].partition("\n")[0]
    cue = rf"(?i)(?<![a-z])(?:{password_words()}|(?:log|sign)(?:ged|ging|ing)? ?in(?![a-z])|anmeld)|登[录陆]"
    return any(compiled(cue).search(part) for part in (before, found[0][: found.start("value") - found.start()], after))


def is_answer(question: str, text: str) -> bool:
    """Return whether all of *text* is one token, or a passphrase, that *question* ends by asking for.

    A plain word is one only if the question asks what the password is, not for something about it.
    """
    value, question = text.strip(), question[-_ASKED:].rstrip("*_ \n")
    if len(value.split()) > 3:
        return _is_phrase_asked_for(question, value)
    if len(value.split()) != 1 or len(value) > _LONGEST or not _asks().search(question):
        return False
    if is_mixed(value) and is_secret(value, PASSWORD, Form.SAID):
        return True
    asked = _asks_which().search(question)
    return asked is not None and not is_part(asked["next"] or "") and (value.isdigit() or _is_one(value))


def _is_phrase_asked_for(question: str, value: str) -> bool:
    """Return whether *question* asks for a passphrase and *value* is words that make no sentence."""
    asked = _asks_which().search(question)
    is_asked = asked is not None and compiled("(?i)passphrase|密码短语|口令短语").search(asked[0]) is not None
    plain = value.lower()
    return is_asked and len(value) <= _ASKED and is_passphrase(plain, PASSPHRASE) and is_phrase(plain)


def _is_one(value: str) -> bool:
    """Return whether *value* is mixed, or one word that is neither common nor a name."""
    plain = value.lower() if value.istitle() else value
    if secret_of(value) or plain in named_secrets() or is_familiar(value):
        return False
    return _is_mixed(value) or (is_secret(plain, PASSWORD, Form.SAID) and not all(map(is_common, value.split("-"))))


def _is_mixed(value: str) -> bool:
    return is_mixed(value) and is_secret(value, PASSWORD, Form.SAID)


def _is_long(value: str) -> bool:
    return len(value) >= _LONG and value.isalpha() and _is_one(value)


def _is_named(value: str) -> bool:
    """Return whether *value* is a word that no verb behind "the password" is, as most of them end in German."""
    return value.islower() and not value.endswith(("t", "en")) and not is_part(value) and _is_one(value)


def _ends_clause(text: str, end: int) -> bool:
    follows = compiled(r"[\"'`”“」’»]?[ \t]{1,3}([A-Za-zÀ-ɏ0-9]+)").match(text, end)
    return follows is None or is_grammar(follows[1]) or follows[1].lower() in words("clause")


def password_words() -> str:
    """Return the words for a password in each language, as alternatives of a pattern."""
    return "|".join(
        ["password", "passwd", "passphrase", "passcode", "pwd", "pw", *map(re.escape, words("password_names"))]
    )


def strong_words() -> str:
    """Return what names a secret in small letters, as alternatives of a pattern."""
    return "|".join([_STRONG, *map(re.escape, words("password_names"))])


@cache
def _sentences() -> tuple[_Sentence, ...]:
    name, names = password_words(), "|".join(["pass", "pw", *words("password_names")])
    named = rf"(?:(?:{name}) )?{_VALUE}"
    return (
        _Sentence(
            "log|sign& with | using ",
            _is_mixed,
            rf"(?i){_LOG_IN} (?:as|with|using) (?:user )?{_USER} (?:with|using|and) (?:the )?{named}",
        ),
        _Sentence("log|sign& as & with ", _is_long, rf"(?i){_LOG_IN} as (?:user )?{_USER} with (?:the )?{named}"),
        _Sentence(
            "melde|logg&dich|euch|sich|mich|uns",
            _is_one,
            rf"(?i)(?:melde|logg)[ent]{{0,2}} (?:dich|euch|sich|mich|uns){_FEW} (?:mit|als) "
            rf"(?:benutzer )?{_USER} (?:und|mit) (?:dem )?{named}",
        ),
        _Sentence(
            "anmeld|einlog|angemeld|eingelog",
            _is_one,
            rf"(?i)(?<![a-z])(?:mit|als) {_USER} (?:und|mit) {_VALUE} (?:an|ein)"
            rf"(?:melden|loggen|gemeldet|geloggt)",
        ),
        _Sentence(
            "登&用&和|跟|加",
            _is_one,
            rf"(?i)用(?:户|账号|帐号|账户)? ?{_USER} ?[和跟加](?:{name})? ?{_VALUE} ?来?登[录陆入]",
        ),
        _Sentence(
            "user&pass|pw&cred|login|zugang|账号",
            _is_one,
            rf"(?i)(?:creds?|credentials?|logins?|zugang\w{{0,6}}|账号)(?![a-z])"
            rf"[^\n]{{0,48}}?(?<![a-z])user(?:name)?[ :=]{{1,3}}{_USER},? (?:and )?"
            rf"(?:pass|pw|pwd)[ :=]{{1,3}}{_VALUE}",
        ),
        _Sentence(
            f"now|jetzt|nun|现在|如今|改|换&log|sign|anmeld|登|{names}",
            _is_mixed,
            rf"(?i){_CHANGED}[^\n]{{0,80}}?{_NOW}[ :：]{{0,2}}{_VALUE}",
            is_beside=True,
        ),
        _Sentence(
            "heißt|lautet&jetzt|nun",
            _is_one,
            rf"(?i)(?<![a-z])(?:{name})(?![a-z])[^\n]{{0,40}}?{_CHANGED}[^\n]{{0,40}}?(?:heißt|lautet)"
            rf" (?:jetzt|nun)[ :]{{1,2}}{_VALUE}",
        ),
        _Sentence(
            f"with |using |mit |用&{names}",
            _is_named,
            rf"(?i)(?<![a-z])(?:(?:with|using) (?:the|my|this) |mit (?:dem |meinem )?|用)(?:{name})"
            rf" {_VALUE}",
        ),
        _Sentence(
            _PIN_MARKS,
            str.isdigit,
            rf"(?i){_PIN}[^\n0-9]{{0,48}}?(?:typed?|enter"
            rf"(?:ed)?|use|press|answer|gib|gebe|tippe|nimm|输入?|用)[ :：]{{0,2}}(?:in )?{_NUMBER}",
        ),
        _Sentence(
            _PIN_MARKS,
            str.isdigit,
            rf"(?i)(?<![0-9.:/-]){_NUMBER} ?(?:is|ist|was|as|als|for|作为|是) ?(?:"
            rf"(?:the|your|my|die|deine|meine) )?{_PIN}",
        ),
    )


@cache
def _asks() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:{strong_words()}|{_PIN})[^\n?？]{{0,80}}[?？:：]\Z")


@cache
def _asks_which() -> re.Pattern[str]:
    name = f"(?:{password_words()}|{_PIN})"
    which = r"(?<![a-z])(?:what|which|wie (?:lautet|heißt|ist|war)|was (?:ist|war)|welche[nrs]?)(?![a-z])"
    return re.compile(
        rf"(?i)(?:{which}[^\n?]{{0,60}}?{name}(?![a-zäöüß-])(?P<next>[ \t]+[^\W\d_]+)?[^\n?]{{0,80}}\?"
        rf"|{name}[^\n?？]{{0,6}}?(?:什么|多少|哪个|啥)[^\n?？]{{0,12}}[?？])\Z"
    )
