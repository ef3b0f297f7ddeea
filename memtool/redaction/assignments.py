"""Values behind the name of a secret: in code, settings, commands, tables and sentences, in any language.

The text is searched for the few letters that such names hold, which is fast, and only what stands around them is read.
No place is read more than a few times, and never far ahead, so that the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memtool.redaction.names import PASS, PASSWORD, STEMS, Proof, Secret, named_secrets, secret_of
from memtool.redaction.values import Form, is_grammar, is_passphrase, is_phrase, is_secret
from memtool.redaction.views import Finding, compiled
from memtool.text.languages import words
from memtool.text.scripts import CJK_TEXT as CJK, HAN

_IN_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-$"
_CLOSING = {
    '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "„": "“”", "‚": "‘’",
    "「": "」", "『": "』", "«": "»", "＂": "＂", "＇": "＇",
}  # fmt: skip
_SAID = ("said", "said_in_cjk", "changed")
_TRAILING = ")]},.;:*>"  # what may follow a value
_JUDGED = 128  # characters of a value
_NEAR = 100  # characters in front of a name; the longest name
_CLOSING_SIGNS = r"[\"'`”’\])}*_]{0,4}"
_OPENING = r"[*_]{0,2}"
_QUOTED = r"(?=[rbfuRBFU]{0,2}[\"'`])"
_SIGN = r"(?:[?|!+:-]{0,2}={1,3}>?|:{1,2}(?!\?)|→|：|＝)"
_BELOW = r"(?:[|>][+-]?)?[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t]{0,40}(?:[->*][ \t])?(?=\S)"
_REST = r"[A-Za-z0-9_-]{0,64}+"
_USER = (
    r"(?i:user(?:name)?|log ?in|account|benutzer(?:name)?|konto|用户名?|用戶|账号|帐号|账户)[^\n]{1,64}?"
    r"(?:[,;/，；、|]|\n| and | und )[\s\"']{0,16}(?:[a-zA-Z]{1,12}[ \t])?\Z"
)
_MORE = rf"[ \t]{{1,3}}([A-Za-zÀ-ÿ]+|(?![了吧啊哦])[{CJK}])"
_QUOTE = rf"[rbfuRBFU]{{0,2}}([{''.join(_CLOSING)}])(?:(?<=«)[ \u00a0\u202f])?"
_GOES_ON = rf"[ \t]{{1,3}}(?![A-Za-z_]\w{{0,40}}=)[A-Za-z0-9{CJK}}}]"
_PHRASE = (
    rf"[a-zäöüß]{{2,12}}(?:[ -][a-zäöüß]{{2,12}}){{2,6}}[ -][A-ZÄÖÜ]?[a-zäöüß]{{2,12}}"
    rf"(?=[`*_ \t|]{{0,8}}(?:[\r\n.,;!()\"{CJK}]|\Z))"
)
_LINE = (
    rf"[^\W\d_{CJK}]{{2,20}}(?:[ -][^\W\d_{CJK}]{{2,20}}){{2,23}}+"
    rf"(?=[`*_ \t|]{{0,8}}(?:[\r\n.,;!()\"{CJK}]|\Z))"
)
_DIGITS = (
    rf"[{HAN}]{{2,12}}[0-9]{{2,8}}(?:[a-z]{{0,8}}|[{HAN}]{{2,8}}(?<![位个字符天年月日时分秒次]))(?=[\s，。；、,;]|\Z)"
)
_SETTER = r"(?i)(?<![a-z])set(?:env|x)?[ \t]{1,8}(?:-[a-z-]{1,12}[ \t]{1,8}){0,3}\Z"
_SETTING = r"(?:set|put|add|define|String)\w{0,24}\([ \t]{0,4}[\"'][\w.-]{1,64}\Z"
_SECTION = r"(?:^|\n)\[[\w.-]{1,40}\]\n(?:[\w.-]{1,40} ?= ?\S{1,60}\n){0,4}\Z"
_LINE_START = r"(?:^|\n)[ \t]{0,40}(?:- |export |ENV |[\w.-]{1,40}: )?[\w.-]{0,40}\Z"
_LINE_END = r"[`*_ \t]{0,8}(?:[\r\n]|\Z)"
# names that forms and query strings have: `password`, `access_token`
_FORM_FIELD = r"[a-z]*(?:pass|pwd|pw|password)|[a-z_-]*(?:token|secret|key|code|signature|auth|session)"


def find_assigned(text: str) -> Iterator[Finding]:
    """Return the values behind the name of a secret that look like one."""
    lowered = text.replace("İ", "I").lower()  # the one letter whose small form is longer
    named = named_secrets()
    for stem in (*STEMS, *named):
        place = lowered.find(stem)
        while place >= 0:
            name, end = (stem, place + len(stem)) if stem in named else _name_around(text, place)
            secret = named.get(stem) or secret_of(name)
            finding = None
            # no part of the name of a resource: arn:aws:secretsmanager:…:secret:…
            if secret and not compiled(r"arn:[\w:-]{0,80}\Z").search(text, max(place - _NEAR, 0), place):
                finding = _value_behind(text, end, name, secret)
            if finding:
                yield finding
            place = lowered.find(stem, finding.end if finding else end)


def _name_around(text: str, place: int) -> tuple[str, int]:
    """Return the name that holds *place*, with the word before it if it is "key" alone, and where it ends."""
    rest = compiled(_REST).match(text, place)
    end = rest.end() if rest else place
    before = text[max(place - _NEAR, 0) : place]
    start = len(before.rstrip(_IN_NAMES))
    name = before[start:] + text[place:end]
    if name.lower() in {"key", "keys"} and before[:start].endswith(" "):
        words = before[:start].split()
        name = f"{words[-1]} {name}" if words else name
    return name, end


def _value_behind(text: str, place: int, name: str, secret: Secret) -> Finding | None:
    if secret is PASS and _follows_user(text, place - len(name)):
        secret = PASSWORD
    gap = _gap().match(text, place)
    found = _value_in(text, gap, name, secret) if gap else None
    if found or not secret.is_said or (gap and gap.lastgroup not in {"spaced", *_SAID}):
        return found
    # the password for the staging box: …
    of = _of().match(text, place)
    gap = (
        _gap().match(text, of.end())
        if of and is_grammar(of[1]) and of[1].lower() not in {"from", "von", *words("is_value")}
        else None
    )
    found = _value_in(text, gap, "", secret) if gap and gap.lastgroup in {"assigned", *_SAID} else None
    # "the secret of good design is restraint" tells none
    is_word = found is not None and secret.kind == "secret" and text[found.start : found.end].isalpha()
    return None if is_word else found


def _value_in(text: str, gap: re.Match[str], name: str, secret: Secret) -> Finding | None:
    """Return the value of *secret* that begins behind *gap*, if one does."""
    if gap.lastgroup in _SAID and not secret.is_said:
        return None
    quote = compiled(_QUOTE).match(text, gap.end())
    tag = "<" if gap.lastgroup == "tagged" and gap[0].endswith(">") else ""
    start, closing = (quote.end(), _CLOSING[quote[1]]) if quote else (gap.end(), tag)
    is_line = not closing and _is_line(text, gap, name)
    value = _value(text, start, start + _JUDGED, closing, is_line=is_line)
    value = value.rstrip(" \u00a0\u202f") if closing == "»" else value
    end = start + len(value)
    if closing:
        is_template = quote is not None and "f" in quote[0].lower() and "{" in value
        is_one = not is_template and is_secret(value, secret, _form(text, gap, name, is_quoted=True))
    else:
        form = _form(text, gap, name, is_quoted=False)
        goes_on = _goes_on(text, end, value, form) and (secret.proof is not Proof.NUMBER or value[-1:] not in {*",.;)"})
        value = value.rstrip(_TRAILING)
        is_one = is_secret(value, secret, form, goes_on=goes_on)
        is_below = text.find("\n", gap.start(), gap.end()) >= 0 and gap.lastgroup in {"assigned", *_SAID}
        is_one = is_one and not (is_below and (text[end - 1] == ":" or not compiled(_LINE_END).match(text, end)))
    if not is_one and not closing and (phrase := _phrase(text, start, secret, gap)):
        return Finding(start, start + len(phrase), secret.kind)
    if is_one and end - start == _JUDGED:
        value = _value(text, start, len(text), closing, is_line=is_line)
    return Finding(start, start + len(value), secret.kind) if is_one else None


def _goes_on(text: str, end: int, value: str, form: Form) -> bool:
    """Return whether more words belong to *value*, which ends at *end*; in a sentence the next clause does not."""
    if form is Form.SAID and (more := compiled(_MORE).match(text, end)):
        return not (is_grammar(more[1]) or _clause().match(text, end))
    if form in {Form.PROSE, Form.SAID}:
        return compiled(_GOES_ON).match(text, end) is not None and not _clause().match(text, end)
    return value[-1:] in _TRAILING or compiled(_GOES_ON).match(text, end) is not None


def _phrase(text: str, start: int, secret: Secret, gap: re.Match[str]) -> str:
    """Return the passphrase of four words and more, or of Chinese ones and digits, from *start* on to the end."""
    is_assigned = gap.lastgroup in {"assigned", "listed", "in_table", *_SAID}
    if is_assigned and secret is PASSWORD and (found := compiled(_DIGITS).match(text, start)):
        return found[0]
    if secret.is_phrase and is_assigned and (found := compiled(_LINE).match(text, start)) and is_phrase(found[0]):
        return found[0]
    found = compiled(_PHRASE).match(text, start) if is_assigned else None
    return found[0] if found and is_passphrase(found[0], secret) else ""


def _is_line(text: str, gap: re.Match[str], name: str) -> bool:
    """Return whether the line has one name and one value, as in an environment or in YAML, and is no query string."""
    sign = gap[0].strip()
    is_one = (sign == "=" and not compiled(_FORM_FIELD).fullmatch(name)) or (sign == ":" and gap[0][-1].isspace())
    before = text[max(gap.start() - len(name) - _NEAR, 0) : max(gap.start() - len(name), 0)]
    return is_one and compiled(_LINE_START).search(before) is not None


def _value(text: str, start: int, end: int, closing: str, *, is_line: bool = False) -> str:
    """Return the value from *start* on, up to its closing quote or as far as a value goes, and not beyond *end*."""
    found = _value_pattern(closing, is_line=is_line).match(text, start, end)
    return found[0] if found else ""


def _form(text: str, gap: re.Match[str], name: str, *, is_quoted: bool) -> Form:
    kind = gap.lastgroup
    start = gap.start() - len(name)
    is_in_list = text[max(start - 1, 0) : start] == ";"  # of a connection: Server=…;Password=…
    if kind == "assigned" and gap[0].rstrip("\"'") == "=" and (name.isupper() or is_in_list):
        return Form.ENVIRONMENT
    if name.startswith("--") and (gap[0][0] == "=" or (is_quoted and kind == "spaced")):
        return Form.ENVIRONMENT
    if is_quoted:
        is_set = (
            kind != "next" or "(" in gap[0] or compiled(_SETTING).search(text, max(gap.start() - _NEAR, 0), gap.start())
        )
        return Form.LITERAL if is_set else Form.PROSE
    if kind == "assigned" and not gap["below"]:
        return Form.CODE if " = " in gap[0] and not _is_setting(text, gap.start() - len(name)) else Form.BARE
    if kind in {"assigned", *_SAID} or (kind == "spaced" and _follows_user(text, gap.start() - len(name))):
        return Form.SAID
    is_shell = name.isupper() and compiled(_SETTER).search(text, max(gap.start() - _NEAR, 0), gap.start() - len(name))
    is_option = kind == "spaced" and (name.startswith("-") or is_shell)
    return Form.BARE if is_option or kind in {"listed", "tagged"} else Form.PROSE


def _is_setting(text: str, place: int) -> bool:
    """Return whether the name at *place* is in a line of an INI file or in a sentence, and not in code."""
    before = text[max(place - 24, 0) : max(place, 0)].split()
    return (
        text[place] == " "
        or (bool(before) and is_grammar(before[-1]))
        or compiled(_SECTION).search(text, max(place - _NEAR, 0), max(place, 0)) is not None
    )


def _follows_user(text: str, place: int) -> bool:
    """Return whether the name at *place* is the second of a pair: `user: anna`, and then the password."""
    return compiled(_USER).search(text, max(place - _NEAR, 0), max(place, 0)) is not None


@cache
def _gap() -> re.Pattern[str]:
    """Return the pattern of what may be between a name and its value."""
    is_value, is_now = _one_of("is_value"), _one_of("is_now")
    gaps = {
        # password: str = "…", password string = "…", char password[] = "…"
        "annotated": r"[ \t]{0,8}:?[ \t]{0,4}[A-Za-z*&\[\]][\w.*&\[\]|<> ]{0,40}?[ \t]{0,4}"
        rf"=[ \t]{{0,8}}{_QUOTED}",
        # name: PASSWORD … value: …
        "listed": r"[\"']?[ \t]{0,4}[,;]?\s{0,24}[\"']?(?:value|ParameterValue)[\"']?[ \t]{0,4}[:=][ \t]{0,8}",
        # in XML, in a property list, in a part of a form
        "tagged": r"\"?(?:</key>\s{0,24}<string)?>(?=[^<>\n]{1,256}</)|\"\r?\n\r?\n(?=[^\s<>])",
        "assigned": rf"(?:[（(][^（()）\n]{{1,20}}[)）]|给你|如下)?"
        rf"{_CLOSING_SIGNS}[ \t]{{0,16}}{_SIGN}{_OPENING}[ \t]{{0,32}}"
        rf"(?:(?i:[\w.]{{0,24}}(?:fromhex|unhexlify|b64decode|buffer\.from)|crypt|encode|hashpw|password|md5)?[\[(]\s{{0,24}}(?=[bB]?[\"']))?(?P<below>{_BELOW})?{_OPENING}",
        # the next argument: get("PASSWORD", "…"); or the first: set_password("…")
        # in the text that names an element of a page: fill("#password", …), get("input[name=password]").type(…)
        "next": rf"[\"'\])]{{1,3}},[ \t]{{0,4}}{_QUOTED}|\([ \t]{{0,4}}{_QUOTED}"
        rf"|[\"'\])]{{2,4}}\.(?:fill|type|send_keys|sendKeys|setValue|set_value)\({_QUOTED}",
        # 密码（…）
        "bracketed": r"(?<=[^\x00-\x7f])[（(](?=[^\s（()）]{4,64}[)）])",
        "in_table": rf"{_CLOSING_SIGNS}[ \t]{{0,12}}\|[ \t]{{1,12}}",
        "said": rf",?[ \t]{{1,4}}(?:{is_value})"
        rf"(?:[ \t](?:{is_now}|[a-z]{{3,12}}ly"
        r"|(?:set|changed|reset|updated)(?: from [^\s.;!?]{1,64})? to))?"
        rf"(?::?[ \t]{{1,4}}|[ \t]?:{_BELOW})|[ \t](?:{is_now})[ \t]",
        # the password changed to …
        "changed": r"[ \t](?:(?:was|got|has been)[ \t])?"
        rf"(?:set|reset|[^\W\d_]{{2,16}}(?:ed|t|en))[ \t](?:{is_value})[ \t]{{1,4}}",
        "said_in_cjk": rf"[ \t]{{0,2}}(?:(?:[{HAN}]{{0,6}}?[是为為成]|[{HAN}]{{0,3}}?[叫用到作])(?:了|：|:)?"
        r"|[はを는은가이를을])[ \t]{0,2}",
        "spaced": r"[ \t]{1,4}|(?<=[^\x00-\x7f])",
    }
    return re.compile("|".join(f"(?P<{name}>{gap})" for name, gap in gaps.items()))


@cache
def _of() -> re.Pattern[str]:
    """Return the pattern of what a password is for, between its name and a sign: "for the staging box"."""
    return re.compile(
        rf"[ \t]([^\W\d_]{{2,12}})(?:[ \t][^\n.,:;=?!(^\"'`]{{1,40}}?)?"
        rf"(?=[ \t]{{0,4}}{_SIGN}|,?[ \t](?:{_one_of('is_value')})[: \t])"
    )


@cache
def _clause() -> re.Pattern[str]:
    """Return the pattern of the beginning of the next clause."""
    return re.compile(rf"(?<=[.,;])|[ \t]{{0,3}}(?:[了吧啊哦にを]|です|입니다|(?<=[ \t])(?:{_one_of('clause')})\b)")


def _one_of(kind: str) -> str:
    return "|".join(map(re.escape, words(kind)))


@cache
def _value_pattern(closing: str, *, is_line: bool) -> re.Pattern[str]:
    if closing:
        in_shell = r"|'\\''" if closing == "'" else ""
        return re.compile(rf"(?:[^{closing}\\\r\n]++|\\.{in_shell})*+")
    # A separator is part of the value unless another name and value follow it.
    name_follows = r"\s{0,4}[\"']?[A-Za-z_][\w .-]{0,40}[\"']?[=:]"
    separator = r"[;,]" if is_line else r"[;,&]"
    other = "" if not is_line else "|&(?=[^\\s&])"
    return re.compile(
        rf"(?:[^\s\"'`;,&<\\{CJK}]++|{separator}(?!{name_follows}){other}|<(?![/A-Za-z!])|\\(?!\\{{0,7}}[nrt\"']))*+"
    )
