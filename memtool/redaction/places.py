"""Secrets that their place gives away: between private tags, in the armour of a key, in a header, a URL or a command.

A private tag may be in capitals, have attributes or blanks in it, and be escaped as in JSON or a URL. A block may hold
further tags of its name: what counts is the outermost pair. A tag that is never closed hides the rest of the text:
better to lose a paragraph than to keep a secret. Talk about a tag hides nothing: that is a tag alone in quotes or
backticks and, where it is never closed, one that punctuation or a word such as "tag" follows. A private key is in its
armour (RFC 7468, OpenSSH, PGP, PuTTY), whole or cut off, its line ends escaped or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from memtool.redaction.vendors import Shape
from memtool.redaction.views import Finding, any_of, merge
from memtool.text.scripts import CJK_TEXT as CJK

CONTEXT_TAG = "memtool-context"
PRIVATE_TAG = "private"
_CONTEXT_TAGS = f"(?:{CONTEXT_TAG}|claude-mem-context)"  # the service speaks the dialect of that one, too
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」"}
_PRIVATE_KEY = "private-key"
_TALK = r"[.,;:!?)\]}，。；：！？）、]|\s?(?:tags?|blocks?|elements?|markers?|标签|標籤|标记|块|タグ|태그)(?![A-Za-z])"
_ARMOUR = r"-{4,5} ?(?P<what>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_PUTTY = r"Private-Lines: ?\d{1,4}(?:(?:\s|\\++[nr]){1,8}[A-Za-z0-9+/=]{4,80}(?![A-Za-z0-9:-]))++"


def find_blocks(text: str) -> list[Finding]:
    """Return the blocks that the user marked as private, and those that a memory gave: no secrets, a space is left."""
    contexts = merge(_blocks(text, _CONTEXT_TAGS, ""))
    # What memtool quoted in its own block may speak of the other tag. It must not open a block that goes on behind.
    pieces, end = [], 0
    for block in contexts:
        pieces += [text[end : block.start], " " * (block.end - block.start)]
        end = block.end
    return _blocks("".join([*pieces, text[end:]]), PRIVATE_TAG, "private") + contexts


def _blocks(text: str, name: str, kind: str) -> list[Finding]:
    unclosed: list[re.Match[str]] = []
    pairs: list[Finding] = []
    for tag in _tags(name).finditer(text):
        if not tag["closes"]:
            if not _is_quoted(text, tag):
                unclosed.append(tag)
        elif unclosed:
            pairs.append(Finding(unclosed.pop().start(), tag.end(), kind))
    talk = re.compile(_TALK, re.IGNORECASE)
    pairs += [Finding(tag.start(), len(text), kind) for tag in unclosed if not talk.match(text, tag.end())]
    return pairs


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before, after = text[max(tag.start() - 1, 0) : tag.start()], text[tag.end() : tag.end() + 4].lstrip("\\")
    return before in _QUOTES and after.startswith(_QUOTES[before])


@cache
def _tags(name: str) -> re.Pattern[str]:
    begin, end = r"(?:[<＜]|\\{1,4}u003c|%3c)", r"(?:[>＞]|\\{1,4}u003e|%3e)"
    attributes = r"(?:\s(?:(?!%3e)[^<>＜＞\\]){0,400}+)?"
    return re.compile(
        rf"{begin}\s{{0,8}}(?P<closes>(?:\\{{0,4}}/)?)\s{{0,8}}{name}{attributes}(?<!/){end}", re.IGNORECASE
    )


def find_private_keys(text: str) -> Iterator[Finding]:
    """Return every private key: up to its end mark or, where that is missing, as far as its lines go."""
    if "PRIVATE KEY" in text:
        for mark, following in pairwise([*re.finditer(_ARMOUR, text), None]):
            if mark is None or mark["what"] == "END":
                continue
            if following is not None and following["what"] == "END":
                yield Finding(mark.start(), following.end(), _PRIVATE_KEY)
            elif lines := _lines().match(text, mark.end()):
                yield Finding(mark.start(), lines.end(), _PRIVATE_KEY)
    if "Private-Lines:" in text:
        yield from (Finding(found.start(), found.end(), _PRIVATE_KEY) for found in re.finditer(_PUTTY, text))


@cache
def _lines() -> re.Pattern[str]:
    gap = r"(?:\s|\\++[nr]|[\"'+,]){0,40}"
    header = r"[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,200}"
    return re.compile(
        rf"(?:{gap}(?:{header}|[A-Za-z0-9+/=]{{16,}}+))++(?:{gap}[A-Za-z0-9+/]{{1,15}}={{0,2}}(?![A-Za-z0-9]))?"
    )


_ARGUMENT = rf"(?:\"([^\"\n]{{1,256}})\"|'([^'\n]{{1,256}})'|(?!\\[\r\n])([^\s\"'<>|;{CJK}]{{1,256}}))"
_WORD = r"(?:\"[^\"\n]{1,128}\"|'[^'\n]{1,128}'|[^\s\"']{1,128})"
_ON = r"[^\n]{0,200}?[ \t]"  # further on in the same line
_OPENING = r"[\"'\])]{0,3}[ \t]{0,8}[:=,][ \t]{0,8}\[?[fbru]?[\"'`]?"
_SCHEME = r"(?:[Bb]asic|[Bb]earer|[Tt]oken|Negotiate|NTLM|[Aa]pi-?[Kk]ey|Key|OAuth|Bot|SSWS|DPoP)"
_CREDENTIAL = r"(?!(?i:your|token|access_?token|my[_-]|api[_-]?key|x{4}|\$|\{|<|%))((?:(?![\"'`,;<>\\])[!-~]){6,}+)"
# How the name of a secret ends.
_NAMED = r"(?:password|passwd|passphrase|secret|token|_pass|_pwd|(?:api|access|private)_key)"
# What examples of a URL have in place of a password.
_NO_PLACEHOLDER = r"(?!(?i:(?:your|my|the)?[_-]?(?:password|passwd|passwort|pass|pwd|secret)|change[_-]?me|密码)@)"


def _header(name: str) -> tuple[Shape, ...]:
    return (
        Shape("authorization", name, rf"{name}{_OPENING}{_SCHEME}[ \t]{{1,16}}{_CREDENTIAL}"),
        Shape("authorization", name, rf"{name}{_OPENING}(?:Digest|AWS4-[A-Z0-9-]{{4,20}})[ \t]([^\r\n]{{8,}}+)"),
    )


def _option(command: str, option: str, kind: str = "password") -> Shape:
    option = option.replace("[ =]?", "(?:=|[ ]{0,24})")  # a line that goes on has many blanks
    return Shape(kind, command, rf"{command}{_ON}(?:{option}){_ARGUMENT}")


def _login(command: str, option: str) -> Shape:
    pair = rf"[\"']?[^\s:\"']{{0,128}}:([^\s\"'{CJK}]{{1,256}})"
    return Shape("password", command, rf"{command}{_ON}(?:{option})[ \t=]?{pair}")


# How the names of functions end that log in, connect or make a user.
_LOGGING_IN = "login connect connection getConnection .auth credential superuser create_user PDO Client".split()

PLACES = (
    # URLs and their like keep user and host.
    Shape(
        "url-password",
        "://",
        r"://[^\s:/?#@\[\"'<>\\`]{0,128}+:(?![0-9]{1,5}(?:[/?#\s]|$))"
        rf"{_NO_PLACEHOLDER}([^\s/?#\"'<>`\\]{{1,256}}|[^\s@\"'<>`\\]{{1,256}})@(?=[A-Za-z0-9\[$_])",
    ),
    # The same in a path: `PurePath` and `normpath` leave one slash of two.
    Shape(
        "url-password",
        ":/",
        r":/(?<=[a-z]:/)(?!/)[^\s:/?#@\[\"'<>\\`]{0,128}+:([^\s/@?#\"'<>`\\]{1,256})@(?=[A-Za-z0-9\[$_])",
    ),
    # The user may be an address: smtps://bob@example.org:…@host
    Shape(
        "url-password",
        "://",
        r"://[^\s:/?#@\[\"'<>\\`]{1,64}@[\w.-]{1,64}:(?![0-9]{1,5}(?:[/?#\s]|$))([^\s/@?#\"'<>`\\]{1,256})@(?=[A-Za-z0-9\[$_])",
    ),
    Shape("url-password", "://", r"://(?=[A-Za-z_-]{0,40}[0-9])([A-Za-z0-9_.-]{16,256}+)@(?=[A-Za-z0-9])"),
    *(Shape("url-password", f"@{net}(", rf":([^\s:@\"'`/]{{1,256}})@{net}\(") for net in ("tcp", "unix")),
    Shape("url-password", "thin:", r"thin:[^/\s@]{1,64}/([^@\s]{1,128})@"),
    Shape("password", ":5432:", r":5432:[^:\s]{1,64}:[^:\s]{1,64}:([^\s:]{1,128})"),
    Shape(
        "password-hash",
        "$",
        r"\$(?:2[abxy]?|[156]|y|7|gy|md5|sha1|apr1|argon2(?:id|i|d)|scrypt|pbkdf2(?:-sha[0-9]{1,3})?)"
        r"\$[A-Za-z0-9./+=,$-]{20,}+",
    ),
    *(
        Shape(
            "mnemonic",
            mark,
            rf"{mark}\W{{1,12}}(?:is\W{{1,4}}|[^\n:：]{{1,100}}[:：]\s{{0,4}})?"
            r"((?:[a-z]{3,8}[ ,\n]{1,3}){11,23}[a-z]{3,8})",
        )
        for mark in ("mnemonic", "phrase", "seed", "12 words", "24 words", "助记词")  # BIP 39: 12 to 24 short words
    ),
    Shape(
        "password",
        'variable "',
        rf'variable "[^"\n]{{0,60}}{_NAMED}"'
        r'\s{0,8}\{[^{}]{0,400}?\bdefault\s{0,16}=\s{0,8}"([^"\n]{4,256})"',
    ),
    # bob:…@host
    Shape(
        "password",
        "@",
        r"(?<![A-Za-z0-9_./:@-])[A-Za-z][\w.-]{0,63}+:(?=[^\s@]{0,128}[0-9!#$%^&*+=?~|])(?=[^\s@]{0,128}[A-Za-z])"
        r"([^\s:/\"'`]{6,128})@(?=[a-z][\w-]{0,62}(?:\.[\w-]{1,63}){1,6}|[0-9]{1,3}(?:\.[0-9]{1,3}){3})",
    ),
    # The name is beside: in another column, on the line above, behind the user, or in a later call.
    *(
        Shape(
            "password",
            mark,
            rf"{mark}\w{{0,24}}(?i:value)[ ]?=[ ]?'([^'\n]{{4,256}})'\s{{1,24}}(?i:where)\s[^'\n]{{1,60}}"
            rf"'[^'\n]{{0,60}}(?i:{_NAMED})'",
        )
        for mark in ("SET ", "set ")
    ),
    *(
        Shape(kind, mark, rf"{mark}s?\r?\n[ \t]{{1,8}}[^\r\n]{{1,200}}?input_value='([^'\n]{{4,256}})'")
        for kind, mark in (("password", "assword"), ("password", "assphrase"), ("secret", "ecret"), ("token", "oken"))
    ),
    *(
        Shape(
            "password",
            mark,
            rf"{mark}[ \t]{{1,4}}[\w.@-]{{1,64}}[ \t]{{1,4}}(?:密码|密碼|口令)[ \t]{{1,4}}"
            rf"(?=[A-Za-z_.-]{{0,64}}[0-9!@#$%^&*])([^\s,;，；、。{CJK}]{{4,128}})",
        )
        for mark in ("账号", "帐号", "账户", "用户名", "用户")
    ),
    *(
        Shape(
            "password",
            mark,
            rf"{mark}(\w{{1,32}}) = (?:[\w.]{{1,24}}\(|\[)?[\"'](?!(?i:pass))([^\"'\n]{{1,64}}"
            rf"(?:[\"'],[ ]?[\"'][^\"'\n]{{0,64}}){{0,16}}+)[\"'][^{{}}]{{1,200}}?(?:set|with)_?[Pp]assword\(\1\)",
        )
        for mark in ("String ", "const ", "let ", "var ")
    ),
    # Headers
    *_header("uthorization"),
    *_header("UTHORIZATION"),
    Shape("authorization", "earer ", r"earer (?=[A-Za-z_-]{0,60}[0-9])([A-Za-z0-9._~+/=-]{16,}+)"),
    Shape("authorization", "Basic ", r"Basic (?=[A-Za-z+/]{0,40}[0-9=])([A-Za-z0-9+/]{12,}+={0,2})"),
    Shape(
        "cookie",
        "ookie",
        r"ookie[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?(?=[\w.-]{1,80}=[^=\s])"
        r"(?=[^\r\n]{0,2000}?=(?<!omain=)(?=[^;\s]{0,64}[0-9])(?=[^;\s]{0,64}[A-Za-z])[^;\s]{6})([^\r\n\"'`\\]{4,}+)",
    ),
    # Commands
    _login("curl", "-u|--user|-U|--proxy-user"),
    _login("http", "-a|--auth"),
    _option("curl", "-b[ \t]?|--cookie[ =]", "cookie"),
    _option("mysql", r"-p(?=[^\s-])"),
    _option("mariadb", r"-p(?=[^\s-])"),
    _option("mongo", "-p[ =]?"),
    _option("sshpass", "-p[ =]?"),
    _option("redis-cli", "-a[ =]?"),
    _option("login", "-p[ =]?"),
    _option("ldap", "-w[ =]?"),
    _option("7z", r"-p(?=[^\s-])"),
    _option("zip", "-P[ =]?"),
    _option("sqlcmd", "-P[ =]?"),
    _option("bcp", "-P[ =]?"),
    # Any command that takes a user and then a password, which is no number as a port is.
    *(
        Shape(
            "password",
            user,
            rf"{user}[ =]?{_WORD}[ \t](?:{_ON})?(?:-p|-P|-w|--pass)[ =]?[\"']?"
            r"(?=[^\s\"':/]{0,64}[0-9!@#$%^&*])(?=[^\s\"':/]{0,64}[A-Za-z])([^\s\"':/]{4,128})",
        )
        for user in (" -u", " -U", " -D", " --user", " --username")
    ),
    Shape("password", "lftp", rf"lftp{_ON}(?:-u|--user)[ =]?[^\s,]{{1,64}},{_ARGUMENT}"),
    Shape("password", "sqlplus", r"sqlplus[ \t]{1,8}(?:-\S{1,8}[ \t]{1,8}){0,3}[^\s/@]{1,64}/([^\s@/]{1,128})@?"),
    _option("snmp", r"-c[ ]?(?!public\b|private\b)"),
    _option("snmp", r"community[ ](?!public\b|private\b)"),
    Shape("password", "username ", r"username \S{1,64} (?:privilege \d{1,2} )?(?:password|secret) [0-9] (\S{4,128})"),
    *(
        _option(command, "(?:--body|-b|--value|--data|--secret-string|-v)[ =]?", "secret")
        for command in ("secret set", "secrets set", "secret create", "put-parameter", "put-secret-value")
    ),
    _option("encrypt_string", "", "secret"),
    _option("smbclient", r"-U[ \t]?[^\s%]{1,64}%"),
    _option("htpasswd", r"-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}[ \t]{1,16}\S{1,200}[ \t]{1,16}\S{1,64}[ \t]{1,16}"),
    _option("ssh-keygen", "-[NP][ ]?"),
    _option("openssl", "-k[ ]"),
    _option("usermod", "(?:-p|--password)[ =]?"),
    *(
        Shape("token", command, rf"{command}{_ON}(?:-t|--token)[ =]?[\"']?([0-9a-fA-F-]{{32,36}})(?![\w-])")
        for command in ("codecov", "codacy")  # a UUID or 32 digits
    ),
    Shape(
        "password",
        "passphrase for ",
        r"passphrase for (?:key )?['\"]?[^\s'\":]{1,200}['\"]?:[ \t]{1,4}"
        r"(\S{4,128}|[a-z]{2,12}(?: [a-z0-9]{2,12}){2,8})(?=[ \t]{0,8}(?:[\r\n]|\Z))",
    ),
    *(_option(command, "<<<[ ]?") for command in ("cryptsetup", "kinit", "passwd", "sudo", "gpg", "read -s")),
    Shape(
        "password",
        "openssl passwd",
        r"openssl passwd(?:[ \t]{1,4}-(?:salt[ \t]{1,4}\S{1,40}|[\w-]{1,20})){0,6}+[ \t]{1,4}(?!-)" + _ARGUMENT,
    ),
    Shape("password", "wpa_passphrase", rf"wpa_passphrase[ \t]{{1,8}}{_WORD}[ \t]{{1,8}}{_ARGUMENT}"),
    *(
        Shape("password", mark, rf"{mark}{front}[ \t]{{1,8}}(?![/*]){_ARGUMENT}{behind}")
        for mark, front, behind in (
            ("net user", rf"[ \t]{{1,8}}{_WORD}", ""),
            ("net use ", rf"[^\n]{{0,200}}?/(?i:u|user):{_WORD}", ""),
            ("net use ", rf"[^\n]{{0,24}}?\\\\{_WORD}", r"[ \t]{1,8}/(?i:u|user):"),
        )
    ),
    *(
        Shape("password", mark, rf"{mark} [^=\n]{{1,120}}=[ \t]{{0,8}}(?:PASSWORD\()?'([^'\n]{{1,256}})'")
        for mark in ("PASSWORD FOR", "password for")
    ),
    *(
        Shape(
            kind,
            mark,
            rf"{re.escape(mark)}{first},[ ]?(?:Some\()?[\"'](?!(?i:your|pass(?:word)?[\"']))([^\"'\n]{{4,128}})[\"']",
        )
        for kind, mark, first in (
            ("password", "ogin(", _WORD),
            *(("password", mark, _WORD) for mark in ("asicAuth(", "asic_auth(", "igestAuth(", "auth=(", "auth = (")),
            ("secret", "createHmac(", _WORD),
            *(("secret", f"jwt.{call}(", r"[^\"'\n]{1,80}") for call in ("sign", "encode")),
            ("secret", "pgp_sym_encrypt(", _WORD),
            ("secret", "pgp_sym_decrypt(", r"[^\"'\n]{1,80}"),
        )
    ),
    *(
        Shape("secret", mark, rf"{re.escape(mark)}b?[\"']([^\"'\n]{{4,128}})[\"'],")
        for mark in ("hmac.new(", "hashpw(", "hash_password(", "password_hash(")
    ),
    # connect(…, "app", "…"): the last text of a call that logs in, connects or makes a user.
    Shape(
        "password",
        "(",
        rf"\((?i:{any_of(*(rf'(?<={end}.)' for end in _LOGGING_IN))})"
        rf"(?:\s{{0,24}}(?:{_WORD}),){{1,3}}\s{{0,24}}[\"']"
        r"(?=[^\s\"']{0,64}[0-9!#$%^&*])(?=[^\s\"']{0,64}[A-Z])(?=[^\s\"']{0,64}[a-z])"
        r"([^\s\"'/:()<>]{8,128})[\"']",
    ),
    # What is typed into an app for one-time codes.
    Shape(
        "otp-key",
        " key",
        r" key[^\n:]{0,60}:\s{0,8}(?=[A-Za-z ]{0,40}[2-7])((?:[A-Za-z2-7]{4} ){3,15}[A-Za-z2-7]{4})(?!\w)",
    ),
    # A login in a directory: Bind("cn=…,dc=…", "…")
    Shape("password", "dc=", r"dc=[^\"'\n]{1,80}[\"'],[ ]?[\"']([^\"'\n]{4,128})[\"']"),
    # Twilio's client takes an account and then its token.
    Shape("twilio-key", "AC", r"AC[0-9a-f]{32}[\"']?[,:][ ]?[\"']?([0-9a-f]{32})(?![0-9a-f])"),
    # What expect, pexpect and the like type: one word with a letter and a digit, and the key that ends it.
    Shape(
        "password",
        "send",
        r"send(?:line)?[ \t(]{1,4}(?:--[ \t])?[\"'](?=[^\s\"']{0,64}[0-9])(?=[^\s\"']{0,64}[A-Za-z])"
        r"((?!\$[a-zA-Z{])[^\s\"'/]{6,128}?)\\[rn][\"']",
    ),
    Shape(
        "password", "sendline(", r"sendline\([\"'](?=[^\s\"']{0,64}[0-9])(?=[0-9]{0,64}[A-Za-z])([^\s\"'/]{6,128})[\"']"
    ),
    Shape(
        "password",
        "assword",
        r"assword[^\n]{0,12}[\"'}][^\n]{0,24}\n?[ \t]{0,16}(?:\w{1,16}\.)?(?:exp_)?send(?:line)?[ \t(]{1,4}(?:--[ \t])?"
        r"[\"']([^\n\"']{4,256}?)(?:\\[rn])?[\"']",
    ),
    Shape("password", "SecureString", rf"SecureString[ \t]{{1,16}}(?:-String[ \t]{{1,16}})?{_ARGUMENT}"),
    Shape("password", "-pass", rf"-pass(?:in|out)?[ =]pass:{_ARGUMENT}"),
    Shape(
        "password",
        "echo",
        rf"echo[ \t]{{1,16}}(?:-n[ \t]{{1,8}})?{_ARGUMENT}[ \t]{{0,16}}\|[^\n]{{0,80}}?"
        r"(?:sudo[ \t]{1,16}-S|-stdin|passwd|--with-token|secrets? |password=/dev/stdin)",
    ),
    # The settings of a network: its name, and then its key.
    *(
        Shape(
            "password",
            ssid,
            rf"{ssid}[\"']?[ \t]{{0,4}}[:=][^\n]{{1,64}}[\n,;]\s{{0,16}}[\"']?key[\"']?"
            rf"[ \t]{{0,4}}[:=][ \t]{{0,4}}{_ARGUMENT}",
        )
        for ssid in ("ssid", "SSID")
    ),
    Shape("password", "WiFi.begin(", rf"WiFi\.begin\({_WORD},[ ]?{_ARGUMENT}"),
    Shape("password", "PRAGMA ", rf"PRAGMA (?:re)?key[ ]?=[ ]?{_ARGUMENT}"),
    # A key that the query of a URL gives: `key` in other places is mostly no secret.
    *(Shape("key", mark, rf"{mark}(?<=[?&]{mark})([0-9a-fA-F]{{24,256}})") for mark in ("key=", "appid=")),
    *(
        Shape("password", by, rf"{by}[ \t]{{1,16}}['\"]([^'\"\n]{{1,256}})")
        for by in ("IDENTIFIED BY", "identified by")
    ),
    *(
        Shape("password", by, rf"{by}[ \t]{{1,16}}(?=[A-Za-z_]{{0,30}}[0-9])([\w$#]{{6,64}})")
        for by in ("IDENTIFIED BY", "identified by")
    ),
    Shape("password", "ATTACH ", r"ATTACH [^\n;]{1,200}?\bKEY[ ]{1,4}'([^'\n]{1,256})'"),
    Shape("secret", "/private-", r"/private-([0-9a-f]{32})/"),  # a calendar's address
    Shape("password", "PlainAuth(", rf"PlainAuth\((?:{_WORD}|\"\"),[ ]?{_WORD},[ ]?{_ARGUMENT}"),
    Shape("password", "requirepass", rf"requirepass[ \t]{{1,16}}{_ARGUMENT}"),
    Shape(
        "password", "machine", r"machine\s{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S{1,256})"
    ),
    Shape(
        "secret",
        "--from-literal",
        rf"--from-literal[= ][\"']?(?!(?i:user(?:name)?|login|email|host)=)[\w.-]{{1,64}}={_ARGUMENT}",
    ),
    Shape("password", "alias set", rf"alias set(?:[ \t]{{1,8}}{_WORD}){{3}}[ \t]{{1,8}}{_ARGUMENT}"),  # MinIO's client
    Shape("secret", "configure set", rf"configure set[ \t]{{1,16}}\w{{1,60}}(?:key|token)[ \t]{{1,16}}{_ARGUMENT}"),
)
