"""The names of secrets: what a variable, a setting, a header or a word of a sentence promises."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache, lru_cache
from typing import NamedTuple

from memtool.text.languages import words


class Proof(IntEnum):
    """The proof that a value must show before it is taken for a secret."""

    NONE = 0  # any value will do
    MIXED = 1  # letters and digits, or more than a word
    DRAWN = 2  # random, or at least a long hexadecimal number
    RANDOM = 3
    NUMBER = 4  # digits only


class Secret(NamedTuple):
    """The secret that a name promises: of this *kind*, *least* characters long.

    *is_said*: also in sentences; *is_phrase*: of several words.
    """

    kind: str
    least: int
    proof: Proof
    is_said: bool = True
    is_phrase: bool = False


PASSWORD = Secret("password", 4, Proof.NONE)
PASS = Secret("password", 5, Proof.MIXED, is_said=False)  # tests and people pass
_PIN = Secret("password", 4, Proof.NUMBER)
_SECRET = Secret("secret", 6, Proof.NONE)
_KEY = Secret("key", 8, Proof.MIXED)
PASSPHRASE = Secret("password", 4, Proof.NONE, is_phrase=True)
TOKEN = Secret("token", 8, Proof.MIXED)
_SOME_KEY = Secret("key", 16, Proof.DRAWN)
_DRAWN = Secret("secret", 16, Proof.DRAWN)
_HINT = Secret("secret", 16, Proof.RANDOM)

# Every name that is looked into holds one of these; the name is then read word by word.
STEMS = tuple("pass pw pin otp secret token key cred auth sess cookie signature bearer jwt psk".split())
_BY_LAST_WORD = {
    **dict.fromkeys("password passwd passcode passwort pwd pswd".split(), PASSWORD),
    "pw": PASSWORD,
    **dict.fromkeys("passphrase psk".split(), PASSPHRASE),
    "pass": PASS,
    **dict.fromkeys("pin otp".split(), _PIN),
    **dict.fromkeys("secret".split(), _SECRET),
    **dict.fromkeys("credential cred auth oauth authorization".split(), _KEY),
    **dict.fromkeys("token bearer jwt".split(), TOKEN),
    **dict.fromkeys("session cookie sessionid sessid jsessionid phpsessid signature".split(), _DRAWN),
    "key": _HINT,
}
_BY_KIND = {"password": PASSWORD, "key": _KEY, "secret": _SECRET, "token": TOKEN}
_KEYS_OF = frozenset(
    """
    api access secret private enc encryption decryption crypt crypto cipher signing sign auth account master service
    deploy subscription storage webhook jwt session hmac aes rsa des app application license licence client
    server admin root consumer tls ssl wallet security sdk bot recovery backup unlock unseal
    """.split()
)
_OPEN_KEYS = frozenset(
    """
    cache primary foreign partition sort unique index object s row idempotency dedup dedupe hash lookup
    map dict column natural composite host bucket shard group query translation config registry the a this
    that each by of last next first content file blob etag ssh commit
    """.split()
)
_KEYS: dict[str, Secret | None] = {  # by the word before "key"
    **dict.fromkeys(_OPEN_KEYS, _HINT),
    **dict.fromkeys(_KEYS_OF, _KEY),
    **dict.fromkeys(("public", "pub", "publishable"), None),
    "shared": PASSPHRASE,  # of a network
}
_PASS_OF = frozenset(
    "admin app become db database ftp http imap ldap mail mysql postgres redis root sa smtp ssh su sudo user".split()
)
_CODES = (
    *(
        f"{of} code"
        for of in (
            "pin access unlock verification security door alarm gate safe entry one-time login backup"
            " 2fa mfa otp sms auth authentication confirmation"
        ).split()
    ),
    *"puk geheimzahl zugangscode sicherheitscode bestätigungscode türcode einmalcode".split(),
    *"验证码 校验码 动态码 门禁码 门禁密码 解锁码 認証コード 確認コード 暗証番号 인증번호".split(),
)
# Qualifiers that say nothing about what is meant.
_TRAILING = frozenset(
    """
    value string str text raw plain plaintext b base encoded prod production dev development test testing staging
    stage live default new old current local main backup env var literal
    """.split()
)


@cache
def named_secrets() -> dict[str, Secret]:
    """Return the secrets by their names in each language, which have no parts and mostly no blanks around them."""
    kinds = {"password_names": PASSWORD, "key_names": _KEY, "token_names": TOKEN}
    return {name: secret for kind, secret in kinds.items() for name in words(kind)} | {
        **dict.fromkeys(_CODES, _PIN),
        **dict.fromkeys(("密码短语", "パスフレーズ", "phrase de passe"), PASSPHRASE),
    }


@lru_cache(maxsize=4096)
def secret_of(name: str) -> Secret | None:
    """Return the secret that a variable *name* holds, in any spelling (`dbPassword`, `DB_PASSWORD`, `db password`)."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)]
    while len(words) > 1 and (words[-1] in _TRAILING or words[-1].isdigit()):
        words.pop()
    if not words or words[-1] in {"fingerprint", "sha"}:
        return None
    if name.startswith("-") and re.fullmatch(r"(?!by|com|tres)[a-z]{2,20}pass|pass", words[-1]):  # -storepass
        return PASSWORD
    if words[-1] == "pass" and len(words) > 1 and words[-2] in _PASS_OF:
        return PASSWORD
    secret = _of_word(words[-1])
    if secret and words[-1] in {"key", "keys"} and len(words) > 1:
        return _KEYS.get(words[-2], _SOME_KEY)
    return secret or (_HINT if any(_of_word(word) for word in words) else None)


def _of_word(word: str) -> Secret | None:
    if word == "tokens":
        return _HINT  # they are mostly counted
    singular = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    if secret := _BY_LAST_WORD.get(singular):
        return secret
    joined = re.search(_JOINED, word)
    return _BY_KIND[joined.lastgroup] if joined and joined.lastgroup else None


# The last part of words that were run together, such as `dbpassword`.
_JOINED = (
    r"(?P<password>password|passwd|passphrase|pwd)s?$|(?P<secret>secret)s?$|(?P<token>token)$"
    r"|(?P<key>(?:api|access|secret|private|app|auth|account|master|client|encryption|signing|license|subscription"
    r"|consumer|service)keys?)$"
)
