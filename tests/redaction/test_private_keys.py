from __future__ import annotations

import json
import textwrap

import pytest
from redaction.noise import BASE64, HEX, noise

from memtool.redaction import Redactor

BODY = textwrap.fill(noise(1590, BASE64) + "==", 64)
LAST = BODY.splitlines()[-1]
MARKER = "[redacted: private-key]"


def armour(kind: str, body: str = BODY, dashes: str = "-----") -> str:
    return f"{dashes}BEGIN {kind}{dashes}\n{body}\n{dashes}END {kind}{dashes}"


@pytest.mark.parametrize("kind", ["PRIVATE", "RSA PRIVATE", "EC PRIVATE", "OPENSSH PRIVATE", "ENCRYPTED PRIVATE"])
def test_a_private_key_goes_whole(redact: Redactor, kind: str) -> None:
    assert redact(f"私钥：\n{armour(kind + ' KEY')}\nend") == f"私钥：\n{MARKER}\nend"


def test_a_pgp_key_and_an_old_ssh_key_go_whole(redact: Redactor) -> None:
    pgp = armour("PGP PRIVATE KEY BLOCK", f"Version: GnuPG v2\n\n{BODY}\n=aB3d")
    assert redact(f"a {pgp} b") == f"a {MARKER} b"
    assert (
        redact(f"a {armour('SSH2 ENCRYPTED PRIVATE KEY', dashes='---- ').replace('KEY---- ', 'KEY ----')} b")
        == f"a {MARKER} b"
    )


def test_a_key_in_a_json_string_goes_and_the_json_stays(redact: Redactor) -> None:
    account = json.dumps({"type": "service_account", "private_key": armour("PRIVATE KEY") + "\n", "id": 7})
    assert json.loads(redact(account)) == {"type": "service_account", "private_key": MARKER, "id": 7}
    twice = json.dumps(account)
    assert json.loads(json.loads(redact(twice)))["id"] == 7
    assert BODY[:64] not in redact(twice)


@pytest.mark.parametrize("lines", [1, 3, 25])
def test_a_key_that_is_cut_off_goes_as_far_as_it_reaches(redact: Redactor, lines: int) -> None:
    body = "\n".join(BODY.splitlines()[:lines])
    head = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3F17F5316E2BAC89\n\n"
    assert redact(f"a\n{head}{body}\n\n## Next steps") == f"a\n{MARKER}\n\n## Next steps"
    assert redact(f"a\n{head}{body}".replace("\n", "\\n")) == f"a\\n{MARKER}"


def test_an_indented_or_quoted_key_goes(redact: Redactor) -> None:
    for prefix in ("    ", "> ", "+ ", "  12→"):
        assert LAST not in redact(textwrap.indent(armour("PRIVATE KEY"), prefix))


def test_a_putty_key_goes(redact: Redactor) -> None:
    text = (
        f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n{noise(64, BASE64)}\n{noise(20, BASE64)}\n"
        f"Private-MAC: {noise(64, HEX)}"
    )
    cleaned = redact(text)
    assert noise(64, BASE64) not in cleaned
    assert noise(20, BASE64) not in cleaned
    assert cleaned.startswith("PuTTY-User-Key-File-3: ssh-ed25519\n")


@pytest.mark.parametrize(
    "text",
    [
        'if "-----BEGIN PRIVATE KEY-----" in text: refuse()',
        "A PEM starts with -----BEGIN RSA PRIVATE KEY----- and then come lines of base64.",
        "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----",
        "-----END PRIVATE KEY-----",
        "# PRIVATE KEY\n\nstays in the vault",
    ],
)
def test_talk_about_keys_stays(redact: Redactor, text: str) -> None:
    assert redact(text) == text
