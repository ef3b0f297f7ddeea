"""Telling from the name of a variable, setting or header what kind of secret it holds."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache, lru_cache
from typing import NamedTuple


class Proof(IntEnum):
    """What a value must show before it is taken for a secret."""

    NONE = 0  # any value will do
    MIXED = 1  # letters and digits, or more than a word
    DRAWN = 2  # random, or at least a long hexadecimal number
    RANDOM = 3


class Secret(NamedTuple):
    """What a name promises: a secret of this *kind*, *least* characters long. *is_said*: also in sentences."""

    kind: str
    least: int
    proof: Proof
    is_said: bool = True


PASSWORD = Secret("password", 4, Proof.NONE)
_PASS = Secret("password", 5, Proof.MIXED, is_said=False)  # tests and people pass
_SECRET = Secret("secret", 6, Proof.NONE)
_KEY = Secret("key", 8, Proof.MIXED)
TOKEN = Secret("token", 8, Proof.MIXED)
_SOME_KEY = Secret("key", 16, Proof.DRAWN)
_DRAWN = Secret("secret", 16, Proof.DRAWN)
_HINT = Secret("secret", 16, Proof.RANDOM)

# Every name that is looked into holds one of these; the name is then read word by word.
STEMS = ("pass", "pw", "secret", "token", "key", "cred", "auth", "sess", "cookie", "signature", "bearer", "jwt", "psk")
# Words of other languages stand alone: they have no parts and mostly no blanks around them.
WORDS = {
    **dict.fromkeys(
        "密码 密碼 口令 パスワード 暗証番号 비밀번호 암호 passwort kennwort contraseña senha пароль".split(), PASSWORD
    ),
    "mot de passe": PASSWORD,
    **dict.fromkeys("密钥 密鑰 秘钥 私钥 凭证 凭据 秘密鍵 シークレット 비밀키 секрет".split(), _KEY),
    **dict.fromkeys("令牌 权杖 アクセスキー apiキー トークン 토큰 токен".split(), TOKEN),
}
_BY_LAST_WORD = {
    **dict.fromkeys("password passwd passphrase passcode passwort pwd pswd psk".split(), PASSWORD),
    **dict.fromkeys("pass pw".split(), _PASS),
    **dict.fromkeys("secret".split(), _SECRET),
    **dict.fromkeys("credential cred auth oauth authorization".split(), _KEY),
    **dict.fromkeys("token bearer jwt".split(), TOKEN),
    **dict.fromkeys("session cookie sessionid sessid jsessionid phpsessid signature".split(), _DRAWN),
    "key": _HINT,
}
_BY_KIND = {"password": PASSWORD, "key": _KEY, "secret": _SECRET, "token": TOKEN}
_KEYS_OF = frozenset(
    """
    api access secret private encryption decryption crypt crypto cipher signing sign auth account master service
    deploy subscription shared storage webhook jwt session hmac aes rsa des app application license licence client
    server admin root consumer tls ssl wallet security sdk bot
    """.split()
)
_OPEN_KEYS = frozenset(
    """
    cache primary public pub foreign partition sort unique index object s row idempotency dedup dedupe hash lookup
    map dict column natural composite host bucket shard routing group query translation config registry the a this
    that each by of last next first content file blob etag ssh commit
    """.split()
)
# Qualifiers that say nothing about what is meant.
_TRAILING = frozenset(
    """
    value string str text raw plain plaintext b base encoded prod production dev development test testing staging
    stage live default new old current local main backup env var literal
    """.split()
)


@lru_cache(maxsize=4096)
def secret_of(name: str) -> Secret | None:
    """Return what a variable called *name* would hold, in any spelling (`dbPassword`, `DB_PASSWORD`, `db password`)."""
    words = [word.lower() for word in _word().findall(name)]
    while len(words) > 1 and (words[-1] in _TRAILING or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    if secret := _of_word(words[-1]):
        return _key_of(words[-2]) if words[-1] in {"key", "keys"} and len(words) > 1 else secret
    return _HINT if any(_of_word(word) for word in words) else None


def _key_of(word: str) -> Secret:
    if word in _KEYS_OF:
        return _KEY
    return _HINT if word in _OPEN_KEYS else _SOME_KEY


def _of_word(word: str) -> Secret | None:
    if word == "tokens":
        return _HINT  # they are mostly counted
    singular = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    if secret := _BY_LAST_WORD.get(singular):
        return secret
    joined = _joined().search(word)
    return _BY_KIND[joined.lastgroup] if joined and joined.lastgroup else None


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@cache
def _joined() -> re.Pattern[str]:
    """Return what finds the last part of words that were run together, such as `dbpassword`."""
    return re.compile(
        r"(?P<password>password|passwd|passphrase|pwd)s?$|(?P<secret>secret)s?$|(?P<token>token)$"
        r"|(?P<key>(?:api|access|secret|private|app|auth|account|master|client|encryption|signing|license|subscription"
        r"|consumer|service)keys?)$"
    )
