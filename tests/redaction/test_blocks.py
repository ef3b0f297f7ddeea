from __future__ import annotations

import json
import textwrap

import pytest
from redaction.noise import BASE64, HEX, noise

from memtool.redaction import CONTEXT_TAG, Redactor

PRIVATE = "[redacted: private]"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a <private>b</private> c", f"a {PRIVATE} c"),
        ("a <private>\nb\n\nc\n</private> d", f"a {PRIVATE} d"),
        ("<PRIVATE>b</Private>", PRIVATE),
        ('<private reason="mine" lang=zh>b</private >', PRIVATE),
        ("< private >b</ private > c", f"{PRIVATE} c"),
        ("我的<private>密码</private>在这里", f"我的{PRIVATE}在这里"),
        ("＜private＞b＜/private＞", PRIVATE),
        (r'{"text": "<private>b<\/private> c"}', f'{{"text": "{PRIVATE} c"}}'),
        ("%3Cprivate%3Eb%3C/private%3E", PRIVATE),
        (r"\u003cprivate\u003eb\u003c/private\u003e c", f"{PRIVATE} c"),
        ("<private>a</private><private>b</private>", PRIVATE * 2),
        ("<private>a<private>b</private>c</private>d", f"{PRIVATE}d"),
        ("`<private>b</private>`", f"`{PRIVATE}`"),
    ],
)
def test_a_private_block_goes_whole(redact: Redactor, text: str, cleaned: str) -> None:
    assert redact(text) == cleaned


@pytest.mark.parametrize(
    "text",
    ["a <private>b", "a <private>b <private>c</private> d", "a <private>\n\nb\n\n# c", "a <private> `</private>"],
)
def test_a_private_tag_that_nobody_closes_hides_the_rest(redact: Redactor, text: str) -> None:
    assert redact(f"{text} e") in {f"a {PRIVATE}", f"a {PRIVATE} e"}


@pytest.mark.parametrize(
    "text",
    [
        "write `<private>` before it",
        'if tag == "<private>": skip()',
        r'{"text": "skip \"<private>\" here"}',
        "标签是「<private>」，不要忘记",
        "the <private> tag hides what follows",
        "tags such as <private>, <b> and <i>",
        "用 <private> 标签包起来",
        "a stray </private> closes nothing",
        "private: true, List<privateKey>, <privateer>b</privateer>, <private/>",
    ],
)
def test_talk_about_the_tag_hides_nothing(redact: Redactor, text: str) -> None:
    assert redact(text) == text


def test_talk_about_the_tag_does_not_unhide_a_block(redact: Redactor) -> None:
    assert redact("the <private> tag: <private>b</private> c") == f"the <private> tag: {PRIVATE} c"
    assert redact("<private>, b</private> c") == f"{PRIVATE} c"


def test_memtools_own_context_goes_and_leaves_a_space(redact: Redactor) -> None:
    block = f'<{CONTEXT_TAG} source="x">\n- [decision] JWT\n</{CONTEXT_TAG}>'
    assert redact(f"before\n{block}\nafter") == "before\n \nafter"
    assert redact(f"before {block.upper()} after") == "before   after"
    assert redact(f"before <{CONTEXT_TAG}>cut off") == "before  "


def test_a_tag_inside_memtools_context_opens_nothing_behind_it(redact: Redactor) -> None:
    assert redact(f"<{CONTEXT_TAG}>use <private> for it</{CONTEXT_TAG}> b") == "  b"
    assert redact(f"<private>a <{CONTEXT_TAG}>b</{CONTEXT_TAG}> c</private> d") == f"{PRIVATE} d"


def test_what_removal_brings_together_is_no_tag(redact: Redactor) -> None:
    assert "hidden" not in redact(f"<pri<{CONTEXT_TAG}></{CONTEXT_TAG}>vate>hidden</private>").replace(
        "vate>hidden", ""
    )


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


@pytest.mark.parametrize("name", ["PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE", "CERTIFICATE REQUEST"])
@pytest.mark.parametrize("end", ["\n", r"\n"])
def test_a_public_key_stays_and_a_token_behind_it_goes(redact: Redactor, name: str, end: str) -> None:
    armour = end.join([f"-----BEGIN {name}-----", noise(64, BASE64), noise(40, BASE64), f"-----END {name}-----", ""])
    assert redact(f"公钥 {armour}") == f"公钥 {armour}"
    assert noise(50, BASE64) not in redact(f"{armour}{noise(50, BASE64)}")


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


def test_what_claude_mem_gave_is_taken_out_like_our_own(redact: Redactor) -> None:
    assert redact("a <claude-mem-context>\n- [decision] 用 JWT\n</claude-mem-context> b").split() == ["a", "b"]
    assert redact("the `<claude-mem-context>` tag, 标签") == "the `<claude-mem-context>` tag, 标签"
