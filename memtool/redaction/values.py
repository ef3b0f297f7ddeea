"""Secrets told from other values behind the name of one: code, types, placeholders, words about it."""

from __future__ import annotations

import base64
import re
import unicodedata
from contextlib import suppress
from enum import Enum
from functools import cache

from memtool.redaction.names import PASSPHRASE, PASSWORD, Proof, Secret, named_secrets, secret_of
from memtool.redaction.randomness import COMMON_SHARE, common_share, looks_random
from memtool.redaction.views import any_of, compiled
from memtool.text.languages import pattern_of, text_of, word_set, words


class Form(Enum):
    """The form in which a value is written, which tells how sure it is one."""

    LITERAL = "in quotes"
    ENVIRONMENT = "NAME=value"
    BARE = "behind a colon or equals sign"
    CODE = "the same, where a variable may stand"
    PROSE = "in a sentence"
    SAID = "in a sentence, behind `is`"


_LITERAL = {Form.LITERAL, Form.ENVIRONMENT}
_SENTENCES = {Form.PROSE, Form.SAID}
# Alone or together these words are no secret, whatever name they stand behind; nor are those of other languages.
_WORDS = frozenset(
    """
    a an the my your our their some any this that here there new old real actual own me and or of for to in with
    from secret secrets password passwords passwd passphrase pass pwd pw token tokens key keys api apikey access
    auth client private public credential credentials value string str text example sample dummy fake placeholder
    test todo tbd fixme change changeme replace insert enter goes set put use using

    null none nil undefined true false yes no on off empty blank optional required default unset missing invalid valid
    wrong incorrect correct expired secure insecure hidden masked redacted removed deleted stored saved encrypted hashed
    plain plaintext unknown disabled enabled needed ok error n na

    int integer bool boolean float double number object array list dict map bytes byte char varchar buffer field input
    output file path env environ config settings option options user username email name login admin id type label
    include omit same origin basic bearer digest oauth jwt bcrypt scrypt hex hmac prompt vault keychain keyring ldap sso
    saml x
    """.split()
)
_IN_SENTENCES = frozenset(
    """
    a an the your my our must be is are was to please enter type have has contain at least of and or not no with
    for in on this that it can cannot should will password passwords
    """.split()
)
# Mixed case with one of these is a type, a function or a product: `NotNull`, `PasswordField`, `PostgreSQL`.
_OF_NAMES = frozenset(
    """
    list set sets model error exception schema hash hasher service controller encoder encoding validator validation
    manager provider component handler helper factory builder generator policy strength length min max size count form
    data request response query param params props state store context hook view page dialog box widget util utils
    protocol interface class enum struct not is has must should can get put post with from by of only
    very long short strong weak open ssl script sql git hub lab java react vue node db redis mongo crypt
    cipher hmac digest
    """.split()
)
# A passphrase has none of these nor common words, a sentence about a password mostly has.
_OF_SENTENCES = frozenset(
    """
    almost already also although among anyone anything everyone everything everywhere however maybe nobody nothing
    someone something sometimes soon
    line page form link flow field sign work manager policy strength length minimum maximum characters character
    letters digits code change rule rules check team server service database
    """.split()
)
_SHORTEST_IN_PROSE, _SHORTEST_TELLING, _LONG_WORD = 6, 8, 10
_SYMBOLS = frozenset("!@#$%^&*+=?~|")
_DOT = r"(?:\?\.|\.|::|->)"
_BLANK = any_of(
    r"[xX*•●·.…_#?＊-]*",
    r".{0,24}?(?:[xX]{8,}|[xX]{3,}(?:[-_.][xX]{3,})+|[*•●…]{4,}).{0,8}",
    r"(?i:(?:[a-z_-]{0,24}[_-])?(?:your|my)[_-](?:[a-z]{2,12}[_-])?(?:key|token|secret|password)(?:[_-]here)?)",
    r"\$(?:[A-Z_][A-Z0-9_]*|[a-z_][A-Za-z_]*)",  # $NAME
    r".{0,40}(?:\$[{(]|\{\{|#\{|%\()[\s\S]*",  # ${NAME}, $(command), {{ name }}, %(name)s
    r"\{[^{}]*\}|<[^<>]*>|\[[^\[\]]*\]|%\w+%|%[a-z]|@\w+@|__\w+__",
    r"!(?i:vault|secret|ref|sub|env|getatt|reference|include).*",  # YAML's tags
)
_PLAIN_WORDS = r"[A-Za-zÀ-ɏ]+(?:[-_ ./=][A-Za-zÀ-ɏ]+)*"
_PART = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_INFLECTED = r"(?:[^s]s|ed|ing|ly|able|ible)$"
# what is said of a password, in English and German
_PREDICATE = (
    r"(?:[^s]s|ed|ing|ably|able|ible|ive|ous|ful|less|ary|ory|ent|ant|ized|ised|ig|lich|bar|isch|los|sam)$"
    r"|^(?:(?:ab|an|auf|aus|ein|zurück|hinter|vor|un)?ge|ver|be|er|ent|zer)\w+(?:t|en)$"
)
_SEVERAL = r"[a-z][A-Z]|[_-]"
_HASH = r"[0-9a-fA-F]{32,}"
_REFERENCE = any_of(
    r"[a-z][a-z0-9+.-]{0,20}://|SHA256:|arn:|projects/|(?:ssm|vault|file|env|pass|secretsmanager):",
    # a regular expression
    r"\^?(?:\(\?[=!:<]|[^\s\[]{0,24}\[[^\s\]]{0,24}\w-\w[^\s\]]{0,24}\][{*+?)]|[^\s\\]{0,24}\\[dws][{*+])",
    r"(?:required|nullable|sometimes|string|min|max)[|:]",  # a rule for what a form takes
    r"[A-Za-z]:\\|(?:~|\.{1,2})/|(?:/[A-Za-z_.-]+){2}|(?:[\w.@-]{1,60}/){1,12}[\w.-]{1,80}\.[a-z]{1,5}$",
)
_CODE = any_of(
    rf"[\w$]+(?:{_DOT}[\w$]+)*[(\[]",
    rf"(?:[A-Za-z_$]+{_DOT})+[A-Za-z_$]+(?:(?!\.[0-9])[^\w!@#%^]|$)",
    rf"(?:[a-z_$]+{_DOT})+[a-z_$][A-Za-z_$]*[0-9]{{1,2}}(?:(?!\.[0-9])[^\w!@#%^]|$)",
    r"(?:self|this|os|process|config|settings|env|req|request|args|cls|ctx|app|props|state)\.",
    r"[(\[{\\`]|:[a-z:]|[&*][A-Za-z_]*(?:[,;)]|$)|[A-Za-z_]+=>|#[a-z][\w-]*$",
)
_TYPE_NAME = any_of(
    r"[iuf](?:8|16|32|64|128)|u?int[0-9]{1,3}(?:_t)?|float[0-9]{2}|x509|win32|k8s|s3|v[0-9]+(?:\.[0-9]+)+",
    r"(?:[a-z]{2,8}-)?(?i:base|utf|md|sha|aes|rsa|des|oauth|argon|rs|es|hs|ps|ed|ipv|http|tls|ssl)-?[0-9]{1,5}"
    r"(?:id|[-_][A-Za-z-]{1,20})?",
)
# addresses, assignments, versions, brackets that belong together, operators, variables
_PLAIN = any_of(
    r"://|^[\w.+-]+@[\w-]+[.:]|^[A-Za-z_.\[\]-]+[=:]{1,2}(?!$)|[?&]\w+=|^[a-z]{0,3}[0-9]+(?:\.[0-9]+)+|sha[0-9]{1,3}[:-]"
    r"|%[0-9A-Fa-f]{2}|</|^[\w./@-]+@v?[0-9.]+$|%[Ymd][-/%]|[Aa]-[Zz]|\[\?|/[\w.-]+\.[a-z]{1,5}$|[a-z_]{2}[(\[]|[0-9]\[[0-9]|\w{2}\|\w{2}",
    r"^#?[0-9a-f]+$|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|<[^<>]*>|&&|\|\||[=!]=(?!$)|[=-]>|(?:^|[^A-Za-z])#[0-9]+$|^(?:[a-z./_-]+|PKCS)#[0-9]+$|^[A-Z]\w*#[A-Za-z_]+$|::|^[$@]\w+[/:.]|^\$[A-Z_]{2,}$|^--?[a-z]|/.*/|^(?i:ctrl|alt|shift|cmd|strg)[+-]",
)
# herbst2024, Trondheim_88
_NUMBERED = (
    r"(?=[^0-9]*[aeiouyäöüAEIOUÄÖÜ])([A-ZÄÖÜ]?[a-zäöüß]{3,20}(?:[A-Z][a-zäöüß]{2,20})?)"
    r"((?:(?<=\w{4})(?:_|[.-](?!0)))?[0-9]{1,6})"
)
_ODD = any_of(
    r"(?=(?:[^A-Za-z]*[A-Za-z]){3})(?!.*(?:![rsa]|%[a-z])$)\w[\w.-]*(?:[!#$%&?^~@](?=\w)|[!#$%&?^](?=.*\w)[\w.-]*)"
    r"[\w.!#$%&?^~@-]*",
    r"(?!v[0-9])[A-Z]?[a-z]{1,8}(?:[013457][a-z]{1,8})+[0-9]{0,4}(?:[-_][A-Za-z0-9]{2,12})*",  # p4nther
    r"(?=[a-z]*[0-9])[a-z0-9]{4,8}(?:-(?=[a-z]*[0-9])[a-z0-9]{4,8}){1,4}",  # x7k2-m9p4
    r"(?!ERROR|HTTP)[A-Z]{5,20}[0-9]{2,4}",
    r"[A-Za-z]{3,12}(?:-[A-Z]?[a-z]{2,12}){1,3}-[0-9]{2,4}",  # velvet-hammer-11
    r"[A-Z][a-z]{2,12}(?:-[A-Z]?[a-z]{2,12}){1,3}[0-9]{1,4}",  # Tern-Gully7
    r"(?!System\.)[A-Z][a-z]{2,12}(?:[._][A-Z][a-z]{2,12}){1,3}[-._]?[0-9]{1,4}",  # Tern.Gully7
)
_PIN = r"[0-9]{4,8}|[0-9]{2,4}(?:-[0-9]{2,4}){1,3}"


def is_blank(value: str) -> bool:
    """Return whether *value* only holds a secret's place: a mask, a variable, a template."""
    return compiled(_BLANK).fullmatch(value[:300]) is not None


def _is_placeholder(value: str) -> bool:
    """Return whether *value* is blank or made of words such as "your key"."""
    named = named_secrets()  # a translation: `password: "密码"`
    if not value or is_blank(value) or value.lower() in _no_secret() or value.lower() in named or value[-2:] in named:
        return True
    if len(value) > 40 or not compiled(_PLAIN_WORDS).fullmatch(value):
        return False
    return all(word.lower() in _no_secret() for word in compiled(_PART).findall(value))


def is_telling(value: str) -> bool:
    """Return whether *value* looks like a password by itself: of three classes of characters, in no form of code."""
    if not _SHORTEST_TELLING <= len(value) <= 128 or not value.isascii() or compiled(_PLAIN).search(value):
        return False
    if is_blank(value) or compiled(_REFERENCE).match(value) or compiled(_CODE).match(value):
        return False
    if compiled(_TYPE_NAME).fullmatch(value):
        return False
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    has_sign = not _SYMBOLS.isdisjoint(value.rstrip("=?")) and not coded_text(value)
    classes = (value.lower() != value) + (value.upper() != value) + (digits > 0) + has_sign
    is_drawn = letters + digits >= _SHORTEST_TELLING and common_share(value) < COMMON_SHARE and not coded_text(value)
    return letters > 2 and classes > 2 and (is_drawn or (has_sign and digits > 0))


def is_odd(value: str, *, least: int = 2) -> bool:
    """Return whether *value* is a word with signs, or *least* digits, as people add them to make a password of it."""
    if not is_secret(value, PASSWORD, Form.SAID) or compiled(_PLAIN).search(value) or not is_mixed(value):
        return False
    if secret_of(value) or coded_text(value):
        return False
    if found := compiled(_NUMBERED).fullmatch(value):
        word, digits = found.groups()
        is_enough = len(digits.lstrip("-.")) >= 2 or (
            # too long for the name of a program, so one digit is enough
            digits.isdigit() and (least < 2 or (len(word) >= _LONG_WORD and word[1:].islower()))
        )
        return is_enough and len(word) + len(digits) > 5 and not is_common(word)
    return compiled(_ODD).fullmatch(value) is not None


def coded_text(value: str) -> str:
    """Return the text that *value* is in base64, or nothing."""
    with suppress(ValueError):
        content = base64.b64decode(value, validate=True).decode()
        return content if len(content) > 2 and content.isprintable() else ""
    return ""


def is_grammar(word: str) -> bool:
    """Return whether *word* is an article, a preposition or the like in one of the languages."""
    plain = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in plain if not unicodedata.combining(letter)) in _of_grammar()


def is_part(word: str) -> bool:
    """Return whether *word* behind "password" is a noun that makes it something else: its policy, its length."""
    word = word.strip().lower()
    return (word in _OF_SENTENCES or word in _OF_NAMES) and not is_grammar(word)


def is_common(value: str) -> bool:
    """Return whether *value* is a word that texts are full of, in a language that has a list of such words."""
    word = value.lower()
    return word in word_set("common") or word in word_set("everyday") or word in _no_secret() or word in _of_sentences()


def is_secret(value: str, secret: Secret, form: Form, *, goes_on: bool = False) -> bool:
    """Return whether *value* is what the name in front of it promises. *goes_on*: its line does not end there."""
    if len(value) < secret.least or _is_placeholder(value) or compiled(_REFERENCE).match(value):
        return False
    if secret.proof is Proof.NUMBER:
        return compiled(_PIN).fullmatch(value) is not None and not goes_on
    if secret.proof >= Proof.DRAWN:
        is_hash = compiled(_HASH).fullmatch(value) is not None
        is_random = any(looks_random(word, secret.least) for word in value.split())
        return is_random or (is_hash and secret.proof == Proof.DRAWN)
    if value.isdigit():
        return secret.kind == "password" and (form not in _SENTENCES or not goes_on or len(value) >= _SHORTEST_IN_PROSE)
    if _is_of_the_language(value, form) or (form in _SENTENCES and not secret.is_said):
        return False
    return _has_proof(value, secret, form, goes_on=goes_on)


def _has_proof(value: str, secret: Secret, form: Form, *, goes_on: bool) -> bool:
    if " " in value:
        return form is Form.ENVIRONMENT or _is_passphrase(value, secret)
    if compiled(_PLAIN_WORDS).fullmatch(value):
        # the name of a secret: `confirmPassword`, or `db-credentials` where no password is
        is_a_name = compiled(_SEVERAL).search(value) is not None and secret_of(value) is not None
        is_a_name = is_a_name and (secret.kind != "password" or "-" not in value)
        return not is_a_name and _may_be_a_word(value, secret, form, goes_on=goes_on)
    if form is Form.SAID and secret_of(value) not in {None, PASSWORD, PASSPHRASE}:
        return False
    is_sentence = goes_on and value.isalpha()  # with letters beyond ASCII
    return is_mixed(value, form) or (secret.proof is Proof.NONE and form in {*_LITERAL, Form.BARE} and not is_sentence)


def _is_of_the_language(value: str, form: Form) -> bool:
    """Return whether *value* is code, or in a sentence what sentences speak of."""
    if form in _LITERAL:
        return False
    return compiled(_CODE).match(value) is not None or compiled(_TYPE_NAME).fullmatch(value) is not None


def _may_be_a_word(value: str, secret: Secret, form: Form, *, goes_on: bool) -> bool:
    if form is Form.ENVIRONMENT or (form is Form.LITERAL and secret.proof is Proof.NONE):
        return True
    if form is Form.LITERAL:
        return len(value) >= 12 and (value.isalpha() or common_share(value) < COMMON_SHARE)
    if form in {Form.BARE, *_SENTENCES} and secret.proof is Proof.NONE and not goes_on and _is_mixed_case(value):
        return True
    # `hunterxyz` may be one; `SecretStr`, and `hashed with bcrypt`, are not.
    is_plain = secret.proof is Proof.NONE and value.islower() and len(value) >= _SHORTEST_IN_PROSE
    if form is Form.SAID and value.istitle() and value.isalpha():
        is_plain = secret.proof is Proof.NONE and len(value) >= _SHORTEST_TELLING
        is_plain = is_plain and not is_common(value) and not compiled(_INFLECTED).search(value)
    if form is Form.SAID:
        is_word = value.count("-") < 2  # else it is a passphrase, and no `case-sensitive`
        return is_plain and not goes_on and not (is_common(value) or (is_word and compiled(_PREDICATE).search(value)))
    return form is Form.BARE and is_plain and not goes_on


def is_mixed(value: str, form: Form = Form.PROSE) -> bool:
    """Return whether *value* has letters, and digits or signs besides."""
    if form in _SENTENCES and (len(value) < _SHORTEST_IN_PROSE or max(value) > "\u024f"):  # the last Latin letter
        return False
    has_letter = any(character.isalpha() for character in value)
    has_digit = any(character.isdigit() for character in value)
    return has_letter and (has_digit or not _SYMBOLS.isdisjoint(value.strip("?!=*&|~")))


def _is_mixed_case(value: str) -> bool:
    """Return whether *value* is letters of both cases, such as `BlueHorse`, and not a name from a program."""
    parts = [part.lower() for part in compiled(_PART).findall(value)]
    is_mixed = re.sub("[-_]", "", value).isalpha() and len(value) >= _SHORTEST_IN_PROSE and len(parts) > 1
    is_mixed = is_mixed and value.lower() != value != value.upper()
    is_mixed = is_mixed and not all(map(is_common, parts))
    return is_mixed and not any(part in _no_secret() or part in _OF_NAMES for part in parts)


def is_passphrase(value: str, secret: Secret) -> bool:
    """Return whether *value*, four lower-case words or more without quotes, are a passphrase and no sentence."""
    if secret.proof is not Proof.NONE or secret.kind != "password":
        return False
    parts = value.replace("-", " ").split()
    if sum(part in _no_secret() for part in parts) > 1:
        return False
    odd = [part for part in parts if part in _of_sentences() or compiled(_INFLECTED).search(part)]
    return not odd or (len(odd) == 1 and not any(map(is_common, set(parts) - {*odd})))


def is_phrase(value: str) -> bool:
    """Return whether *value* behind the word for a passphrase is one, and not what is said of it."""
    parts = [part.lower().strip(",") for part in value.split()]
    if not 3 <= len(parts) <= 24 or is_grammar(parts[0]) or not all(part.isalpha() for part in parts):
        return False
    if parts[0] in _no_secret() or (compiled(_PREDICATE).search(parts[0]) and not parts[0].endswith("s")):
        return False
    of_sentences = sum(map(is_grammar, parts))
    about = sum(part in _no_secret() and not is_grammar(part) for part in parts)
    is_denial = re.search(pattern_of("negation"), value.lower()) is not None
    return "wörter" not in parts and 3 * of_sentences <= len(parts) and 5 * about <= len(parts) and not is_denial


def _is_passphrase(value: str, secret: Secret) -> bool:
    parts = value.split()
    if secret.is_phrase and is_phrase(value):
        return True
    if any(is_mixed(part, Form.PROSE) and not _is_of_the_language(part, Form.PROSE) for part in parts):
        return True
    few = (4 if any(map(is_common, parts)) else 3) <= len(parts) <= 24 and secret.proof is Proof.NONE
    are_words = all(part.isdigit() or (part.isalpha() and part.islower()) for part in parts) and value[0].isalpha()
    return few and are_words and _IN_SENTENCES.isdisjoint(parts)


@cache
def _no_secret() -> frozenset[str]:
    return _WORDS.union(words("no_secret"))


@cache
def _of_grammar() -> frozenset[str]:
    return _IN_SENTENCES | word_set("stop_words") | frozenset(text_of("grammar").split())


@cache
def _of_sentences() -> frozenset[str]:
    """Return the words that a sentence has and a passphrase has not; other languages' are without accents."""
    return _OF_SENTENCES | _of_grammar()
