"""Secrets that their place gives away: in a header, in a URL, behind an option of a command."""

from __future__ import annotations

import re

from memtool.redaction.shapes import Shape
from memtool.text.scripts import CJK_TEXT as CJK

_ARGUMENT = rf"(?:\"([^\"\n]{{1,256}})\"|'([^'\n]{{1,256}})'|(?!\\[\r\n])([^\s\"'<>|;{CJK}]{{1,256}}))"
_WORD = r"(?:\"[^\"\n]{1,128}\"|'[^'\n]{1,128}'|[^\s\"']{1,128})"
_ON = r"[^\n]{0,200}?[ \t]"  # further on in the same line
_OPENING = r"[\"'\])]{0,3}[ \t]{0,8}[:=,][ \t]{0,8}\[?[fbru]?[\"'`]?"
_SCHEME = r"(?:[Bb]asic|[Bb]earer|[Tt]oken|Negotiate|NTLM|[Aa]pi-?[Kk]ey|Key|OAuth|Bot|SSWS|DPoP)"
_CREDENTIAL = r"(?!(?i:your|token|access_?token|my[_-]|api[_-]?key|x{4}|\$|\{|<|%))((?:(?![\"'`,;<>\\])[!-~]){6,}+)"


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


PLACES = (
    # URLs and their like keep user and host.
    Shape(
        "url-password",
        "://",
        r"://[^\s:/?#@\[\"'<>\\`]{0,128}+:(?![0-9]{1,5}(?:[/?#\s]|$))"
        r"([^\s/?#\"'<>`\\]{1,256}|[^\s@\"'<>`\\]{1,256})@(?=[A-Za-z0-9\[$_])",
    ),
    # The same in a path: `PurePath` and `normpath` leave one slash of two.
    Shape(
        "url-password",
        ":/",
        r":/(?<=[a-z]:/)(?!/)[^\s:/?#@\[\"'<>\\`]{0,128}+:([^\s/@?#\"'<>`\\]{1,256})@(?=[A-Za-z0-9\[$_])",
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
            "mnemonic", mark, rf"{mark}\W{{1,12}}(?:is\W{{1,4}})?((?:[a-z]{{3,8}}[ ,\n]{{1,3}}){{11,23}}[a-z]{{3,8}})"
        )
        for mark in ("mnemonic", "phrase", "助记词")  # BIP 39: 12 to 24 short words
    ),
    Shape(
        "password",
        'variable "',
        r'variable "[^"\n]{0,60}(?:password|passwd|passphrase|secret|token|_pass|_pwd|(?:api|access|private)_key)"'
        r'\s{0,8}\{[^{}]{0,400}?\bdefault\s{0,16}=\s{0,8}"([^"\n]{4,256})"',
    ),
    # bob:…@host
    Shape(
        "password",
        "@",
        r"(?<![A-Za-z0-9_./:@-])[A-Za-z][\w.-]{0,63}+:(?=[^\s@]{0,128}[0-9!#$%^&*+=?~|])(?=[^\s@]{0,128}[A-Za-z])"
        r"([^\s:/\"'`]{6,128})@(?=[a-z][\w-]{0,62}(?:\.[\w-]{1,63}){1,6}|[0-9]{1,3}(?:\.[0-9]{1,3}){3})",
    ),
    # Headers
    *_header("uthorization"),
    *_header("UTHORIZATION"),
    Shape("authorization", "earer ", r"earer (?=[A-Za-z_-]{0,60}[0-9])([A-Za-z0-9._~+/=-]{16,}+)"),
    Shape("authorization", "Basic ", r"Basic (?=[A-Za-z+/]{0,40}[0-9=])([A-Za-z0-9+/]{12,}+={0,2})"),
    Shape("cookie", "ookie", r"ookie[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?(?=[\w.-]{1,80}=[^=\s])([^\r\n\"'`\\]{4,}+)"),
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
    _option("smbclient", r"-U[ \t]?[^\s%]{1,64}%"),
    _option("htpasswd", r"-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}[ \t]{1,16}\S{1,200}[ \t]{1,16}\S{1,64}[ \t]{1,16}"),
    _option("ssh-keygen", "-[NP][ ]?"),
    _option("openssl", "-k[ ]"),
    _option("usermod", "(?:-p|--password)[ =]?"),
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
            kind, mark, rf"{re.escape(mark)}{first},[ ]?[\"'](?!(?i:your|pass(?:word)?[\"']))([^\"'\n]{{4,128}})[\"']"
        )
        for kind, mark, first in (
            ("password", "ogin(", _WORD),
            *(("password", mark, _WORD) for mark in ("asicAuth(", "asic_auth(", "igestAuth(", "auth=(", "auth = (")),
            ("secret", "createHmac(", _WORD),
            ("secret", "jwt.sign(", r"[^\"'\n]{1,80}"),
        )
    ),
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
        rf"echo[ \t]{{1,16}}{_ARGUMENT}[ \t]{{0,16}}\|[^\n]{{0,80}}?(?:sudo[ \t]{{1,16}}-S|-stdin|passwd|--with-token)",
    ),
    *(
        Shape("password", by, rf"{by}[ \t]{{1,16}}['\"]([^'\"\n]{{1,256}})")
        for by in ("IDENTIFIED BY", "identified by")
    ),
    Shape("password", "requirepass", rf"requirepass[ \t]{{1,16}}{_ARGUMENT}"),
    Shape(
        "password", "machine", r"machine\s{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S{1,256})"
    ),
    Shape(
        "secret",
        "--from-literal",
        rf"--from-literal[= ][\"']?(?!(?i:user(?:name)?|login|email|host)=)[\w.-]{{1,64}}={_ARGUMENT}",
    ),
    Shape("secret", "configure set", rf"configure set[ \t]{{1,16}}\w{{1,60}}(?:key|token)[ \t]{{1,16}}{_ARGUMENT}"),
)
