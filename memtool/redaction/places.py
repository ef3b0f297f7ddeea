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
from itertools import pairwise

from memtool.redaction.vendors import Shape
from memtool.redaction.views import Finding, any_of, compiled, merge
from memtool.text.scripts import CJK_TEXT as CJK

CONTEXT_TAG = "memtool-context"
PRIVATE_TAG = "private"
_CONTEXT_TAGS = f"(?:{CONTEXT_TAG}|claude-mem-context)"  # the service speaks the dialect of that one, too
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」"}
_PRIVATE_KEY = "private-key"
_TALK = r"[.,;:!?)\]}，。；：！？）、]|\s?(?:tags?|blocks?|elements?|markers?|标签|標籤|标记|块|タグ|태그)(?![A-Za-z])"
_ARMOUR = r"-{4,5} ?(?P<what>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_GAP = r"(?:\s|\\++[nr]|[\"'+,]){0,40}"
_LINES_OF_KEY = (
    rf"(?:{_GAP}(?:[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{1,200}}|[A-Za-z0-9+/=]{{16,}}+))++"
    rf"(?:{_GAP}[A-Za-z0-9+/]{{1,15}}={{0,2}}(?![A-Za-z0-9]))?"
)
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
    begin, end = r"(?:[<＜]|\\{1,4}u003c|%3c)", r"(?:[>＞]|\\{1,4}u003e|%3e)"
    attributes = r"(?:\s(?:(?!%3e)[^<>＜＞\\]){0,400}+)?"
    tags = compiled(rf"(?i){begin}\s{{0,8}}(?P<closes>(?:\\{{0,4}}/)?)\s{{0,8}}{name}{attributes}(?<!/){end}")
    for tag in tags.finditer(text):
        if not tag["closes"]:
            before, after = text[max(tag.start() - 1, 0) : tag.start()], text[tag.end() : tag.end() + 4].lstrip("\\")
            is_quoted = before in _QUOTES and after.startswith(_QUOTES[before])
            if not is_quoted:
                unclosed.append(tag)
        elif unclosed:
            pairs.append(Finding(unclosed.pop().start(), tag.end(), kind))
    talk = re.compile(_TALK, re.IGNORECASE)
    pairs += [Finding(tag.start(), len(text), kind) for tag in unclosed if not talk.match(text, tag.end())]
    return pairs


def find_private_keys(text: str) -> Iterator[Finding]:
    """Return every private key: up to its end mark or, where that is missing, as far as its lines go."""
    if "PRIVATE KEY" in text:
        for mark, following in pairwise([*re.finditer(_ARMOUR, text), None]):
            if mark is None or mark["what"] == "END":
                continue
            if following is not None and following["what"] == "END":
                yield Finding(mark.start(), following.end(), _PRIVATE_KEY)
            elif lines := compiled(_LINES_OF_KEY).match(text, mark.end()):
                yield Finding(mark.start(), lines.end(), _PRIVATE_KEY)
    if "Private-Lines:" in text:
        yield from (Finding(found.start(), found.end(), _PRIVATE_KEY) for found in re.finditer(_PUTTY, text))


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
_USER_OF_URL = r"[^\s:/?#@\[\"'<>\\`]"
_NO_PORT = r"(?![0-9]{1,5}(?:[/?#\s]|$))"


def _behind(kind: str, marks: str, pattern: str) -> Iterator[Shape]:
    """Return the shapes of what matches *pattern* behind one of the *marks*, which `|` parts."""
    for mark in marks.split("|"):
        yield Shape(kind, mark, re.escape(mark) + pattern)


# The options by which commands take a secret: its kind, the option, the commands.
_OPTIONS = (
    ("cookie", r"-b[ \t]?|--cookie[ =]", "curl"),
    ("password", r"-p(?=[^\s-])", "mysql|mariadb|7z"),
    ("password", "-p(?:=|[ ]{0,24})", "mongo|sshpass|login"),
    ("password", "-a(?:=|[ ]{0,24})", "redis-cli"),
    ("password", "-w(?:=|[ ]{0,24})", "ldap"),
    ("password", "-P(?:=|[ ]{0,24})", "zip|sqlcmd|bcp"),
    ("password", r"(?:-c[ ]?|community[ ])(?!public\b|private\b)", "snmp"),
    ("password", r"-U[ \t]?[^\s%]{1,64}%", "smbclient"),
    ("password", r"-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}[ \t]{1,16}\S{1,200}[ \t]{1,16}\S{1,64}[ \t]{1,16}", "htpasswd"),
    ("password", "-[NP][ ]?", "ssh-keygen"),
    ("password", "-k[ ]", "openssl"),
    ("password", "(?:-p|--password)(?:=|[ ]{0,24})", "usermod"),
    ("password", "<<<[ ]?", "cryptsetup|kinit|passwd|sudo|gpg|read -s"),
    (
        "secret",
        "(?:--body|-b|--value|--data|--secret-string|-v)(?:=|[ ]{0,24})",
        "secret set|secrets set|secret create|put-parameter|put-secret-value",
    ),
    ("secret", "", "encrypt_string"),
)
# How the names of functions end that log in, connect or make a user.
_LOGGING_IN = "login connect connection getConnection .auth credential superuser create_user PDO Client".split()

PLACES = (
    # URLs and their like keep user and host.
    *_behind(
        "url-password",
        "://",
        rf"{_USER_OF_URL}{{0,128}}+:{_NO_PORT}{_NO_PLACEHOLDER}"
        r"([^\s/?#\"'<>`\\]{1,256}|[^\s@\"'<>`\\]{1,256})@(?=[A-Za-z0-9\[$_])",
    ),
    # The same in a path: `PurePath` and `normpath` leave one slash of two.
    *_behind(
        "url-password",
        ":/",
        rf"(?<=[a-z]:/)(?!/){_USER_OF_URL}{{0,128}}+:([^\s/@?#\"'<>`\\]{{1,256}})@(?=[A-Za-z0-9\[$_])",
    ),
    # The user may be an address: smtps://bob@example.org:…@host
    *_behind(
        "url-password",
        "://",
        rf"{_USER_OF_URL}{{1,64}}@[\w.-]{{1,64}}:{_NO_PORT}([^\s/@?#\"'<>`\\]{{1,256}})@(?=[A-Za-z0-9\[$_])",
    ),
    *_behind("url-password", "://", r"(?=[A-Za-z_-]{0,40}[0-9])([A-Za-z0-9_.-]{16,256}+)@(?=[A-Za-z0-9])"),
    *(Shape("url-password", f"@{net}(", rf":([^\s:@\"'`/]{{1,256}})@{net}\(") for net in ("tcp", "unix")),
    *_behind("url-password", "thin:", r"[^/\s@]{1,64}/([^@\s]{1,128})@"),
    *_behind("password", ":5432:", r"[^:\s]{1,64}:[^:\s]{1,64}:([^\s:]{1,128})"),
    Shape(
        "password-hash",
        "$",
        r"\$(?:2[abxy]?|[156]|y|7|gy|md5|sha1|apr1|argon2(?:id|i|d)|scrypt|pbkdf2(?:-sha[0-9]{1,3})?)"
        r"\$[A-Za-z0-9./+=,$-]{20,}+",
    ),
    *_behind(
        "mnemonic",  # BIP 39: 12 to 24 short words
        "mnemonic|phrase|seed|12 words|24 words|助记词",
        r"\W{1,12}(?:is\W{1,4}|[^\n:：]{1,100}[:：]\s{0,4})?((?:[a-z]{3,8}[ ,\n]{1,3}){11,23}[a-z]{3,8})",
    ),
    *_behind(
        "password",
        'variable "',
        rf'[^"\n]{{0,60}}{_NAMED}"\s{{0,8}}\{{[^{{}}]{{0,400}}?\bdefault\s{{0,16}}=\s{{0,8}}"([^"\n]{{4,256}})"',
    ),
    # bob:…@host
    Shape(
        "password",
        "@",
        r"(?<![A-Za-z0-9_./:@-])[A-Za-z][\w.-]{0,63}+:(?=[^\s@]{0,128}[0-9!#$%^&*+=?~|])(?=[^\s@]{0,128}[A-Za-z])"
        r"([^\s:/\"'`]{6,128})@(?=[a-z][\w-]{0,62}(?:\.[\w-]{1,63}){1,6}|[0-9]{1,3}(?:\.[0-9]{1,3}){3})",
    ),
    # The name is beside: in another column, on the line above, or in a later call.
    *_behind(
        "password",
        "SET |set ",
        r"\w{0,24}(?i:value)[ ]?=[ ]?'([^'\n]{4,256})'\s{1,24}(?i:where)\s[^'\n]{1,60}"
        rf"'[^'\n]{{0,60}}(?i:{_NAMED})'",
    ),
    *(
        shape
        for kind, marks in (("password", "assword|assphrase"), ("secret", "ecret"), ("token", "oken"))
        for shape in _behind(kind, marks, r"s?\r?\n[ \t]{1,8}[^\r\n]{1,200}?input_value='([^'\n]{4,256})'")
    ),
    *_behind(
        "password",
        "String |const |let |var ",
        r"(\w{1,32}) = (?:[\w.]{1,24}\(|\[)?[\"'](?!(?i:pass))([^\"'\n]{1,64}(?:[\"'],[ ]?[\"'][^\"'\n]{0,64}){0,16}+)"
        r"[\"'][^{}]{1,200}?(?:set|with)_?[Pp]assword\(\1\)",
    ),
    # Headers
    *_behind("authorization", "uthorization|UTHORIZATION", rf"{_OPENING}{_SCHEME}[ \t]{{1,16}}{_CREDENTIAL}"),
    *_behind(
        "authorization",
        "uthorization|UTHORIZATION",
        rf"{_OPENING}(?:Digest|AWS4-[A-Z0-9-]{{4,20}})[ \t]([^\r\n]{{8,}}+)",
    ),
    *_behind("authorization", "earer ", r"(?=[A-Za-z_-]{0,60}[0-9])([A-Za-z0-9._~+/=-]{16,}+)"),
    *_behind("authorization", "Basic ", r"(?=[A-Za-z+/]{0,40}[0-9=])([A-Za-z0-9+/]{12,}+={0,2})"),
    *_behind(
        "cookie",
        "ookie",
        r"[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?(?=[\w.-]{1,80}=[^=\s])"
        r"(?=[^\r\n]{0,2000}?=(?<!omain=)(?=[^;\s]{0,64}[0-9])(?=[^;\s]{0,64}[A-Za-z])[^;\s]{6})([^\r\n\"'`\\]{4,}+)",
    ),
    # Commands
    *(
        shape
        for command, option in (("curl", "-u|--user|-U|--proxy-user"), ("http", "-a|--auth"))
        for shape in _behind(
            "password", command, rf"{_ON}(?:{option})[ \t=]?[\"']?[^\s:\"']{{0,128}}:([^\s\"'{CJK}]{{1,256}})"
        )
    ),
    *(
        shape
        for kind, option, commands in _OPTIONS
        for shape in _behind(kind, commands, rf"{_ON}(?:{option}){_ARGUMENT}")
    ),
    # Any command that takes a user and then a password, which is no number as a port is.
    *_behind(
        "password",
        " -u| -U| -D| --user| --username",
        rf"[ =]?{_WORD}[ \t](?:{_ON})?(?:-p|-P|-w|--pass)[ =]?[\"']?"
        r"(?=[^\s\"':/]{0,64}[0-9!@#$%^&*])(?=[^\s\"':/]{0,64}[A-Za-z])([^\s\"':/]{4,128})",
    ),
    *_behind("password", "lftp", rf"{_ON}(?:-u|--user)[ =]?[^\s,]{{1,64}},{_ARGUMENT}"),
    *_behind("password", "sqlplus", r"[ \t]{1,8}(?:-\S{1,8}[ \t]{1,8}){0,3}[^\s/@]{1,64}/([^\s@/]{1,128})@?"),
    *_behind("password", "username ", r"\S{1,64} (?:privilege \d{1,2} )?(?:password|secret) [0-9] (\S{4,128})"),
    # a UUID or 32 digits
    *_behind("token", "codecov|codacy", rf"{_ON}(?:-t|--token)[ =]?[\"']?([0-9a-fA-F-]{{32,36}})(?![\w-])"),
    *_behind(
        "password",
        "passphrase for ",
        r"(?:key )?['\"]?[^\s'\":]{1,200}['\"]?:[ \t]{1,4}(\S{4,128}|[a-z]{2,12}(?: [a-z0-9]{2,12}){2,8})"
        r"(?=[ \t]{0,8}(?:[\r\n]|\Z))",
    ),
    *_behind(
        "password",
        "openssl passwd",
        rf"(?:[ \t]{{1,4}}-(?:salt[ \t]{{1,4}}\S{{1,40}}|[\w-]{{1,20}})){{0,6}}+[ \t]{{1,4}}(?!-){_ARGUMENT}",
    ),
    *_behind("password", "wpa_passphrase", rf"[ \t]{{1,8}}{_WORD}[ \t]{{1,8}}{_ARGUMENT}"),
    *(
        shape
        for mark, front, end in (
            ("net user", rf"[ \t]{{1,8}}{_WORD}", ""),
            ("net use ", rf"[^\n]{{0,200}}?/(?i:u|user):{_WORD}", ""),
            ("net use ", rf"[^\n]{{0,24}}?\\\\{_WORD}", r"[ \t]{1,8}/(?i:u|user):"),
        )
        for shape in _behind("password", mark, rf"{front}[ \t]{{1,8}}(?![/*]){_ARGUMENT}{end}")
    ),
    *_behind("password", "PASSWORD FOR|password for", r" [^=\n]{1,120}=[ \t]{0,8}(?:PASSWORD\()?'([^'\n]{1,256})'"),
    *(
        shape
        for kind, marks, first in (
            ("password", "ogin(|asicAuth(|asic_auth(|igestAuth(|auth=(|auth = (", _WORD),
            ("secret", "createHmac(|pgp_sym_encrypt(", _WORD),
            ("secret", "jwt.sign(|jwt.encode(|pgp_sym_decrypt(", r"[^\"'\n]{1,80}"),
        )
        for shape in _behind(
            kind,
            marks,
            rf"{first},[ ]?(?:Some\()?[\"'](?!(?i:your|pass(?:word)?[\"']))([^\"'\n]{{4,128}})[\"']",
        )
    ),
    *_behind("secret", "hmac.new(|hashpw(|hash_password(|password_hash(", r"b?[\"']([^\"'\n]{4,128})[\"'],"),
    # connect(…, "app", "…"): the last text of a call that logs in, connects or makes a user.
    *_behind(
        "password",
        "(",
        rf"(?i:{any_of(*(rf'(?<={end}.)' for end in _LOGGING_IN))})"
        rf"(?:\s{{0,24}}(?:{_WORD}),){{1,3}}\s{{0,24}}[\"']"
        r"(?=[^\s\"']{0,64}[0-9!#$%^&*])(?=[^\s\"']{0,64}[A-Z])(?=[^\s\"']{0,64}[a-z])"
        r"([^\s\"'/:()<>]{8,128})[\"']",
    ),
    # What is typed into an app for one-time codes.
    *_behind(
        "otp-key",
        " key",
        r"[^\n:]{0,60}:\s{0,8}(?=[A-Za-z ]{0,40}[2-7])((?:[A-Za-z2-7]{4} ){3,15}[A-Za-z2-7]{4})(?!\w)",
    ),
    # A login in a directory: Bind("cn=…,dc=…", "…")
    *_behind("password", "dc=", r"[^\"'\n]{1,80}[\"'],[ ]?[\"']([^\"'\n]{4,128})[\"']"),
    # Twilio's client takes an account and then its token.
    *_behind("twilio-key", "AC", r"[0-9a-f]{32}[\"']?[,:][ ]?[\"']?([0-9a-f]{32})(?![0-9a-f])"),
    # What expect, pexpect and the like type: one word with a letter and a digit, and the key that ends it.
    *_behind(
        "password",
        "send",
        r"(?:line)?[ \t(]{1,4}(?:--[ \t])?[\"'](?=[^\s\"']{0,64}[0-9])(?=[^\s\"']{0,64}[A-Za-z])"
        r"((?!\$[a-zA-Z{])[^\s\"'/]{6,128}?)\\[rn][\"']",
    ),
    *_behind("password", "sendline(", r"[\"'](?=[^\s\"']{0,64}[0-9])(?=[0-9]{0,64}[A-Za-z])([^\s\"'/]{6,128})[\"']"),
    *_behind(
        "password",
        "assword",
        r"[^\n]{0,12}[\"'}][^\n]{0,24}\n?[ \t]{0,16}(?:\w{1,16}\.)?(?:exp_)?send(?:line)?[ \t(]{1,4}(?:--[ \t])?"
        r"[\"']([^\n\"']{4,256}?)(?:\\[rn])?[\"']",
    ),
    *_behind("password", "SecureString", rf"[ \t]{{1,16}}(?:-String[ \t]{{1,16}})?{_ARGUMENT}"),
    *_behind("password", "-pass", rf"(?:in|out)?[ =]pass:{_ARGUMENT}"),
    *_behind(
        "password",
        "echo",
        rf"[ \t]{{1,16}}(?:-n[ \t]{{1,8}})?{_ARGUMENT}[ \t]{{0,16}}\|[^\n]{{0,80}}?"
        r"(?:sudo[ \t]{1,16}-S|-stdin|passwd|--with-token|secrets? |password=/dev/stdin)",
    ),
    # The settings of a network: its name, and then its key.
    *_behind(
        "password",
        "ssid|SSID",
        rf"[\"']?[ \t]{{0,4}}[:=][^\n]{{1,64}}[\n,;]\s{{0,16}}[\"']?key[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}}{_ARGUMENT}",
    ),
    *_behind("password", "WiFi.begin(", rf"{_WORD},[ ]?{_ARGUMENT}"),
    *_behind("password", "PRAGMA ", rf"(?:re)?key[ ]?=[ ]?{_ARGUMENT}"),
    # A key that the query of a URL gives: `key` in other places is mostly no secret.
    *(Shape("key", mark, rf"{mark}(?<=[?&]{mark})([0-9a-fA-F]{{24,256}})") for mark in ("key=", "appid=")),
    *_behind("password", "IDENTIFIED BY|identified by", r"[ \t]{1,16}['\"]([^'\"\n]{1,256})"),
    *_behind("password", "IDENTIFIED BY|identified by", r"[ \t]{1,16}(?=[A-Za-z_]{0,30}[0-9])([\w$#]{6,64})"),
    *_behind("password", "ATTACH ", r"[^\n;]{1,200}?\bKEY[ ]{1,4}'([^'\n]{1,256})'"),
    *_behind("secret", "/private-", r"([0-9a-f]{32})/"),  # a calendar's address
    *_behind("password", "PlainAuth(", rf"(?:{_WORD}|\"\"),[ ]?{_WORD},[ ]?{_ARGUMENT}"),
    *_behind("password", "requirepass", rf"[ \t]{{1,16}}{_ARGUMENT}"),
    *_behind("password", "machine", r"\s{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S{1,256})"),
    *_behind(
        "secret",
        "--from-literal",
        rf"[= ][\"']?(?!(?i:user(?:name)?|login|email|host)=)[\w.-]{{1,64}}={_ARGUMENT}",
    ),
    *_behind("password", "alias set", rf"(?:[ \t]{{1,8}}{_WORD}){{3}}[ \t]{{1,8}}{_ARGUMENT}"),  # MinIO's client
    *_behind("secret", "configure set", rf"[ \t]{{1,16}}\w{{1,60}}(?:key|token)[ \t]{{1,16}}{_ARGUMENT}"),
)
