"""Passwords in sentences: beside a word for them, by their kind of token; and where the form of a sentence names one.

The plainer a token is, the closer it must be to such a word. A token of three classes of characters is a password near
any word of passwords, logins and escaping; a word with digits or signs in it, near a word for a secret; a word with one
digit, behind a verb or a preposition there; a plain word, only where the sentence says that it is one, and the end of
its clause or a word of grammar follows: "with limited rights" names none. Words of the language, names in code, paths,
versions and quantities are none. Each token is read once, and a line around it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from memtool.redaction.names import PASSPHRASE, PASSWORD, secret_of
from memtool.redaction.values import (
    Form,
    coded_text,
    is_common,
    is_grammar,
    is_mixed,
    is_odd,
    is_part,
    is_passphrase,
    is_phrase,
    is_secret,
    is_telling,
)
from memtool.redaction.views import Finding, compiled
from memtool.text.languages import words
from memtool.text.scripts import CJK_TEXT as CJK

# Words for secrets, in small letters.
_STRONG = (
    r"passw|pass ?phrase|passcode|(?<![a-z_-])pass(?=[:?]| (?:for|is|of|was) )"
    r"|(?<![a-z_])pwd?s?(?![a-z_(\[)]| ?[/.]\W?)|(?<![a-z_])(?:sudo|creds?)(?![a-z_])|(?:api|access)[ -](?:key|token)"
    r"|(?:recovery|backup|wiederherstellungs)[ -]?code|(?:crypted|protected|locked) (?:with|by)|schützt|schlüsselt"
    r"|(?:wi-?fi|wlan|ssid)[^\n]{0,60}?[ -](?:key|code|schlüssel|clave)(?:['’]s| is| ist| es|:)"
    r"|账密|(?:^|\n)(?:root|admin|administrator)[:：]"
)
_NUMBER = r"(?P<value>[0-9]{4,8})(?![0-9]|[.:/-][0-9]| ?[位个次秒分天年])"
_PIN = (
    r"(?:(?-i:(?<![A-Z])P(?:IN|UK)(?![A-Z]))|(?:(?<=\ba )|(?<=\bthe )|(?<=your )|(?<=my ))pin(?![a-z])"
    r"|passcode|geheimzahl)"
)
_ASKED = 200  # characters of a question, or of an answer
_PIN_USED = (
    rf"(?i){_PIN}[^\n0-9]{{0,48}}?(?:typed?|enter(?:ed)?|use|press|answer|gib|gebe|tippe|nimm|输入?|用"
    r"|(?:is|ist|es|era)(?= (?:the |die )?[0-9]))[ :：]{0,2}"
    rf"(?:in |the |die )?{_NUMBER}"
)
_PIN_NAMED = (
    rf"(?i)(?<![0-9.:/-]){_NUMBER} ?(?:is|ist|was|as|als|for|作为|是) ?(?:(?:the|your|my|die|deine|meine) )?{_PIN}"
)
_CODE_NAMED = (
    rf"(?i)(?<![0-9.:/#-]){_NUMBER} (?:is|ist) (?:your|dein|ihr)[^\n.]{{0,32}}?[ -]?code"
    r"|(?:enter|use|with|gib|nutze) (?:the|this|den)? ?code:? "
    r"(?P<other>[0-9]{6}|(?=[A-Z]{0,12}[0-9])[A-Z0-9]{4,12}(?:-[A-Z0-9]{4,8})?)(?![\w-])"
    r"(?=[^\n]{0,24}(?:verif|sign|log|auth|anmeld|bestätig))"
    r"|one-time code:? (?:is )?(?P<once>[A-Z0-9]{4}-?[A-Z0-9]{4}|[0-9]{6})(?![\w-])"
    r"|(?:2fa|otp|mfa|sms|factor|verif|authenticat)[^\n.]{0,64}?(?: code| is|['’]s showing| ist| es| est|:) "
    r"(?P<apart>[0-9]{3} [0-9]{3})(?![0-9])"
    r"|(?:コード|验证码|인증번호)[^\n0-9]{0,4}(?P<cjk>[0-9]{3} ?[0-9]{3})(?![0-9])|(?-i:G-(?P<lettered>[0-9]{6}) is)"
)

_HEX_KEY = (
    r"(?i)(?:(?:api|access)[ _-]?(?:key|token)[^\n]{0,80}?(?:[:：=填是为]|(?<= )is)|key ?用(?:这个)?)[ \t]{0,4}"
    r"([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})(?![0-9a-z])"
)
_LISTED_CODE = r"[ \t]*+(?:[0-9]{1,2}[.)]|[-*])?[ \t]{0,4}([0-9A-Za-z]{4,8}(?:[ -][0-9A-Za-z]{4,8}){1,3})[ \t]*+"
_CODE_LIST = (
    rf"(?i)(?:backup|recovery|wiederherstellungs)[ -]?codes?[^\n]{{0,60}}\n\n?"
    rf"(?P<codes>(?:{_LISTED_CODE}(?![^\n])\n?)+)"
)


def find_in_sentences(text: str) -> Iterator[Finding]:
    """Return the PINs that *text* names, and the passwords that answer a question."""
    if any(mark in text.lower() for mark in ("pin", "puk", "passcode", "geheimzahl")):
        for pattern in (_PIN_USED, _PIN_NAMED):
            yield from (Finding(*found.span("value"), PASSWORD.kind) for found in compiled(pattern).finditer(text))
    if any(mark in text.lower() for mark in ("code", "2fa", "código", "コード", "验证码", "인증번호")):
        for found in compiled(_CODE_NAMED).finditer(text):
            yield Finding(*found.span(found.lastgroup or 0), PASSWORD.kind)
    for block in compiled(_CODE_LIST).finditer(text) if "code" in text.lower() else ():
        for code in compiled(_LISTED_CODE).finditer(text, *block.span("codes")):
            yield Finding(*code.span(1), PASSWORD.kind)
    yield from (Finding(*found.span(1), "key") for found in compiled(_HEX_KEY).finditer(text))
    yield from _answers(text)


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


def is_answer(question: str, text: str) -> bool:
    """Return whether all of *text* is one token, or a passphrase, that *question* ends by asking for.

    A plain word is one only if the question asks what the password is, not for something about it.
    """
    value, question = text.strip(), question[-_ASKED:].rstrip("*_ \n")
    if len(value.split()) > 3:
        return _is_phrase_asked_for(question, value)
    asks = rf"(?i)(?:{strong_words()}|{_PIN})[^\n?？]{{0,80}}[?？:：]\Z"
    if len(value.split()) != 1 or len(value) > 64 or not compiled(asks).search(question):
        return False
    if is_mixed(value) and is_secret(value, PASSWORD, Form.SAID):
        return True
    asked = _asks_which().search(question)
    if asked is None or is_part(asked["next"] or "") or secret_of(value):
        return False
    plain, are_common = value.lower() if value.istitle() else value, all(map(is_common, value.split("-")))
    return value.isdigit() or (is_secret(plain, PASSWORD, Form.SAID) and not are_common)


def _is_phrase_asked_for(question: str, value: str) -> bool:
    """Return whether *question* asks for a passphrase and *value* is words that make no sentence."""
    asked = _asks_which().search(question)
    is_asked = asked is not None and compiled("(?i)passphrase|密码短语|口令短语").search(asked[0]) is not None
    plain = value.lower()
    return is_asked and len(value) <= _ASKED and is_passphrase(plain, PASSPHRASE) and is_phrase(plain)


def password_words() -> str:
    """Return the words for a password in each language, as alternatives of a pattern."""
    return "|".join(
        ["password", "passwd", "passphrase", "passcode", "pwd", "pw", *map(re.escape, words("password_names"))]
    )


def strong_words() -> str:
    """Return what names a secret in small letters, as alternatives of a pattern."""
    return "|".join([_STRONG, *map(re.escape, words("password_names"))])


@cache
def _asks_which() -> re.Pattern[str]:
    name = f"(?:{password_words()}|{_PIN})"
    which = r"(?<![a-z])(?:what|which|wie (?:lautet|heißt|ist|war)|was (?:ist|war)|welche[nrs]?)(?![a-z])"
    return re.compile(
        rf"(?i)(?:{which}[^\n?]{{0,60}}?{name}(?![a-zäöüß-])(?P<next>[ \t]+[^\W\d_]+)?[^\n?]{{0,80}}\?"
        rf"|{name}[^\n?？]{{0,6}}?(?:什么|多少|哪个|啥)[^\n?？]{{0,12}}[?？]"
        rf"|(?:\A|\n|[.!:>] ?)(?:[\w.'’-]{{1,20}} ){{0,3}}(?:{name}|pass)(?: (?:for|of|on)(?: [\w.-]{{1,20}}){{1,3}})?"
        rf"\?)\Z"
    )


_BESIDE = 160  # characters between the word and the token, which is in the same line or the next one
_OPENING, _CLOSING = "'([{<*_+:", "')]}>*_.,;:\\"
_SIGNS = frozenset("!$%^&*")  # which paths and names of branches do not have
_LOGINS = (
    r"account|credential|log(?:ged|ging)? ?in(?![a-z])|sign ?in(?![a-z])|zugang|anmeld|einlog"
    r"|账密|账号|帐号|账户|用户|登录|登陆"
)
# What people do with a password that a program refuses.
_WEAK = (
    r"escap|encod|decod|maskier|codier|kodier|connection string|转译|转义|轉義|转码|编码|編碼|解码|连接串"
    r"|エスケープ|エンコード|이스케이프|인코딩"
)
_TELLING = r"(?<![!#-_a-~])[!#-_a-~]{8,256}+"  # without quotes and backticks
_ODD = r"(?<![!#-&*-_a-~äöüßÄÖÜ])[!#-&*-_a-~äöüßÄÖÜ]{6,64}+"  # nor brackets
_VERBS = "type typed enter entered try tried answer answered use used using think say glaube denke".split()
_FOR = r"(?: ([^\W\d_]{1,24})(?: [^\W\d_]{1,24}){0,3})?"
_PAIR = (
    r"(?<![A-Za-z0-9_./@-])[A-Za-z][A-Za-z0-9_.@-]{1,63}+(?:(?P<apart>`? / `?)|(?P<colon>:(?=[^\s:/]*+(?:\s|\Z)))|/)"
    r"(?P<value>[^\s/\"'`<>|，。；（）()]{6,128}+)(?![/(])"
)
_HEADED = rf"(?i)(?:(?:{_LOGINS})\w{{0,8}}|creds?){_FOR}[ ]?[:：][ \t]{{0,4}}[\"'`]?\Z"


class _Cue(NamedTuple):
    start: int
    end: int


def find_beside(text: str) -> Iterator[Finding]:
    """Return the tokens that are passwords by their kind, beside a word that makes them one."""
    lowered = text.replace("İ", "I").lower()
    strong, logins, weak = (
        [_Cue(*found.span()) for found in cues.finditer(lowered)]
        for cues in (compiled(strong_words()), compiled(_LOGINS), compiled(_WEAK))
    )
    every = sorted([*strong, *logins, *weak])
    for pattern, cues, is_one in (
        (_TELLING, every, _is_telling),
        (_ODD, strong, _is_odd),
        (_ODD, logins, _is_given),
    ):
        for start, end in _tokens(text, pattern, cues):
            if is_one(text, start, end) and _is_beside(text, start, end, cues):
                yield Finding(start, end, PASSWORD.kind)
    if strong:
        yield from _said(text)
    yield from _pairs(text, lowered)


def _tokens(text: str, pattern: str, cues: list[_Cue]) -> Iterator[tuple[int, int]]:
    """Give the tokens that begin near one of *cues*, each once and without what is around it."""
    place, token = 0, compiled(pattern)
    for start, end in cues:
        last = end + 3 * _BESIDE
        for found in token.finditer(text, max(place, start - 2 * _BESIDE), last):
            place = found.start() if found.end() == last else found.end()
            core = _core(text, *found.span())
            if place != found.start() and not _is_name(text, *core):
                yield core
        place = max(place, last - 256)  # what is before was read: no token is longer


def _is_telling(text: str, start: int, end: int) -> bool:
    return any(map(is_telling, (text[start:end], coded_text(text[start : end + 2].rstrip("`\"' .,")))))


def _is_odd(text: str, start: int, end: int) -> bool:
    return is_odd(text[start:end]) or _is_linked(text, start, end)


def _is_linked(text: str, start: int, end: int) -> bool:
    """Return whether a word or a sign that gives something is in front of the token: "with", "is", "try", `:`."""
    value = text[start:end]
    if not is_odd(value, least=1) or len(value) < 7:  # a word with one digit is short
        return False
    before = text[max(start - 24, 0) : start].rstrip("\"'`“„「 \t")
    if before.endswith(",") and text[end : end + 2] in {'")', "')"}:  # the last argument of a call
        return True
    if not before.strip() or not (before[-1].isalnum() or before[-1] in ",;") or not before[-1].isascii():
        return True
    word = re.split(r"[\s\"'`(]", before)[-1].lower()
    return is_grammar(word) or word in {*_VERBS, *words("is_value"), *words("is_now")}


def _is_given(text: str, start: int, end: int) -> bool:
    """Return whether the token is linked and does not begin a sentence as a user may do: "bob42 logged in"."""
    return _is_linked(text, start, end) and (
        text[max(start - 8, 0) : start].rstrip(" \t")[-1:] not in {"", "\n"} or text[end : end + 1] in {"", "\n"}
    )


def _is_beside(text: str, start: int, end: int, cues: list[_Cue]) -> bool:
    """Return whether one of *cues* is in the token's line or in the next to it that is not blank."""
    at = bisect_left(cues, (start, 0))
    before = [text[cue.end : start] for cue in cues[max(at - 1, 0) : at] if start - _BESIDE <= cue.end <= start]
    after = [text[end : cue.start] for cue in cues[at : at + 1] if end <= cue.start <= end + _BESIDE]
    return any(len(re.findall(r"\n\s*", between)) < 2 for between in (*before, *after))


def _is_name(text: str, start: int, end: int) -> bool:
    """Return whether what is beside the token makes it a name in code."""
    if compiled(r"(?i)(?:user|nutzer|用户|host)[ :]*\Z").search(text, max(start - 12, 0), start):
        return True
    return (
        text[max(start - 1, 0) : start] in {*".$@\\-_%~"} or compiled(r"[(\[=_]| import").match(text, end) is not None
    )


def _core(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the token begins and ends without quotes, brackets and the name of a user in front of it."""
    while start < end and text[start] in _OPENING:
        start += 1
    if user := compiled(r"(?![A-Z][a-z]*[0-9]+[a-z])[A-Za-z][\w.-]*[/:](?=[^/])").match(text, start, end):
        start = user.end()
    while start < end and text[end - 1] in _CLOSING:
        end -= 1
        end -= text[start:end].endswith(("\\r", "\\n")) * 2
    return start, end


def _pairs(text: str, lowered: str) -> Iterator[Finding]:
    """Give the passwords behind the name of their user: `bob / …`, and `bob/…` beside a login."""
    has_login = compiled(_LOGINS).search(lowered) is not None
    for found in compiled(_PAIR).finditer(text) if "/" in text or has_login else ():
        value = found["value"].rstrip(".,;:")
        start, end = found.start("value"), found.start("value") + len(value)
        is_apart = (found["apart"] or not (found["colon"] or _SIGNS.isdisjoint(value))) and is_telling(value)
        is_listed = found["apart"] and (is_odd(value) or ("@" in found[0] and is_odd(value, least=1)))
        if found["colon"]:
            is_of_login = _is_headed(text, found.start()) and (is_odd(value) or value != value.lower())
        else:
            user = found[0].partition("/")[0]  # names are none: `Asia/Shanghai`, `Google/Facebook`
            are_names = user.istitle() and value.istitle() and _SIGNS.union("0123456789").isdisjoint(value)
            is_beside = not are_names and _is_beside_login(text, found.start(), end)
            is_of_login = has_login and (is_beside or _is_headed(text, found.start()))
        if is_apart or is_listed or (is_of_login and _is_weak(value)):
            yield Finding(start, end, PASSWORD.kind)


def _is_headed(text: str, start: int) -> bool:
    """Return whether what begins at *start* is behind the word for a login: "credentials:", "login for staging:"."""
    head = compiled(_HEADED).search(text, max(start - _BESIDE, 0), start)
    return head is not None and (not head[1] or is_grammar(head[1]))


def _is_beside_login(text: str, start: int, end: int) -> bool:
    """Return whether the pair from *start* to *end* is of a login: `Login: bob/…`, `账号：bob/…`, `… is the login`."""
    before, after = text[max(start - 24, 0) : start].lower(), text[end : end + 40].lower().partition("\n")[0]
    return compiled(_LOGINS).search(before) is not None or re.search("登录|^.{0,3}is the login", after) is not None


def _is_weak(value: str) -> bool:
    plain = value.lower() if value.istitle() else value
    is_one = is_mixed(value) or (is_secret(plain, PASSWORD, Form.BARE) and not is_common(value))
    return is_one and not compiled(r"\.[a-z]{1,4}$").search(value)


def _said(text: str) -> Iterator[Finding]:
    """Give what is in front of "as the password", and the phrases that somebody types."""
    for found in _as_password().finditer(text):
        is_given = bool(found["quoted"]) or not is_grammar(found["before"]) or found["before"] in _VERBS
        if is_given and (found["quoted"] or not found["after"] or is_grammar(found["after"])):
            group = "quoted" if found["quoted"] else "value"
            if is_secret(found[group], PASSWORD, Form.BARE) and not is_common(found[group]):
                yield Finding(*found.span(group), PASSWORD.kind)
    for found in _typed().finditer(text):
        if is_passphrase(found[1], PASSWORD):
            yield Finding(*found.span(1), PASSWORD.kind)


@cache
def _as_password() -> re.Pattern[str]:
    value = r"(?:[\"'`“„「«][ ]?(?P<quoted>[^\"'`“”„「」«»\n]{4,128}?)[ ]?[\"'`”“」»]"
    value += r"|(?P<value>[^\s\"'`“”„「」，。]{4,128}+))"
    return re.compile(
        rf"(?<!\S)(?P<before>\S{{1,24}}+)[ \t]{value}[ \t]{{1,2}}"
        r"(?:as|als|como|comme|come|作为|当作?|做|设为)[ \t]{0,2}"
        rf"(?:(?:[a-zäöü]{{2,8}}[ \t]){{1,2}}|新的?|临时|初始)?(?i:{password_words()})(?![\w-])"
        r"(?:[ \t]+(?P<after>[A-Za-zäöü]+))?"
    )


@cache
def _typed() -> re.Pattern[str]:
    word = "[a-zäöüß]{2,12}"
    return re.compile(
        rf"(?:(?i:{password_words()})[^\n]{{0,60}}?\b(?:{'|'.join(_VERBS)})|passphrase(?: (?:is|now)\b)*+):? [\"'`]?"
        rf"({word}(?:[ -]{word}){{3,7}}+|{word}(?:-{word}){{2,7}}+)(?=[\"'`*_ \t|]{{0,8}}(?:[\r\n.,;!){CJK}]|\Z))"
    )
