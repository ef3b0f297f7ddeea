from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st
from redaction.noise import lines, noise

from memtool.errors import BadSetting
from memtool.redaction import make_redactor
from memtool.redaction.places import PLACES
from memtool.redaction.vendors import VENDORS, Shape
from memtool.settings.sections import RedactSettings

REDACT = make_redactor(RedactSettings())
PIECES = st.sampled_from(
    lines(r"""
        <private>
        </private>
        <memtool-context>
        </memtool-context>
        [redacted:
        [redacted: password]
        ]
        password
        token
        key
        api
        value
        hunter2
        S3cret!
        sk-ant-
        aB3dE5fG7hJ9kL1mN3pQ5rS7tV9
        0123456789abcdef
        -----BEGIN PRIVATE KEY-----
        -----END PRIVATE KEY-----
        Authorization: Bearer
        Cookie: a=
        curl -u
        mysql -p
        ://
        eyJ
        $2b$12$
        密码是
        is
        to
        \n
        %3D
    """)
    + list("=:.@h\"'`\\\n {(,;&<|：Ａ\u200b\ud800\0")
)


@pytest.mark.slow
@given(st.lists(PIECES, max_size=25).map("".join))
@hypothesis_settings(max_examples=400)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = REDACT(text)
    assert REDACT(once) == once


@pytest.mark.slow
@given(st.text(st.characters()))
def test_any_text_can_be_redacted(text: str) -> None:
    once = REDACT(text)
    assert REDACT(once) == once


def test_a_pattern_of_the_user_removes_what_it_matches() -> None:
    redact = make_redactor(RedactSettings(patterns=(r"ACME-\d{4}", r"badge (?P<secret>\d+)", r"\w*")))
    assert redact("ACME-1234") == "[redacted: custom]"
    assert (
        make_redactor(RedactSettings(patterns=(r"badge (?P<secret>\d+)",)))("badge 77, 徽章")
        == "badge [redacted: custom], 徽章"
    )
    assert redact("a b") == "[redacted: custom] [redacted: custom]"


def test_an_exception_of_the_user_stays() -> None:
    redact = make_redactor(RedactSettings(allow=(r"hunter\d", r"sk-ant-test-.*")))
    assert redact("password: hunter2") == "password: hunter2"
    assert redact("password: hunter22") == "password: [redacted: password]"
    token = "sk-ant-" + "test-" + noise(30)
    assert redact(f"use {token}") == f"use {token}"


@pytest.mark.parametrize("setting", ["patterns", "allow"])
def test_a_broken_pattern_is_named(setting: str) -> None:
    with pytest.raises(BadSetting, match=rf"'\(oops' in 'redact.{setting}' is no regular expression: .+"):
        make_redactor(RedactSettings(**{setting: ("(oops",)}))


def test_it_counts_what_it_removed() -> None:
    redact = make_redactor(RedactSettings())
    redact("password: hunter2, DB_PASSWORD=hunter3 <private>x</private> <memtool-context>y</memtool-context>")
    redact("nothing here")
    assert redact.counts == {"password": 2, "private": 1}


def test_a_secret_that_comes_again_is_removed_and_counted_again() -> None:
    redact = make_redactor(RedactSettings())
    for _ in range(3):
        assert redact("pytest -q 测试/支付") == "pytest -q 测试/支付"
        assert redact("密码: hunter2x") == "密码: [redacted: password]"
    assert redact.counts == {"password": 3}


def test_what_was_redacted_before_is_left_alone() -> None:
    text = "password: [redacted: password], token: [redacted: github-token]abc <private>[redacted: jwt]"
    assert REDACT(text) == "password: [redacted: password], token: [redacted: github-token]abc [redacted: private]"


def test_importing_it_compiles_nothing() -> None:
    code = (
        "import re, sys\n"
        "compile, seen = re.compile, []\n"
        "re.compile = lambda *a: seen.append(sys._getframe(1).f_globals['__name__']) or compile(*a)\n"
        "import memtool.redaction\n"
        "print([name for name in seen if name.startswith('memtool')], 'memtool.redaction' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[] True"


def test_no_pattern_can_backtrack_far() -> None:
    """What repeats without bound is possessive, so that an attempt reads a text once."""
    assert [f"{shape.kind}-{shape.mark}" for shape in (*VENDORS, *PLACES) if not is_bounded(shape)] == []


def is_bounded(shape: Shape) -> bool:
    without_sets = re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.", "x", shape.pattern)
    unbounded = re.findall(r"(?:[*+]|\{[0-9]+,\})[+?]?", without_sets)
    is_possessive = all(
        repeat.endswith("+") and len(repeat) > 1 for repeat in unbounded if repeat != "+" or "}+" not in without_sets
    )
    # What the search for the mark leaves out cannot match.
    return is_possessive and shape.mark in shape.pattern.replace("\\", "")


HOSTILE = """
import sys
from memtool.redaction import make_redactor
from memtool.settings.sections import RedactSettings

redact = make_redactor(RedactSettings())
for unit in sys.stdin.buffer.read().decode("utf-8", "surrogatepass").split("\\x1e"):
    redact((unit * (200_000 // len(unit) + 1))[:200_000])
"""
UNITS = [
    *lines(r"""
        <private>
        <private>,
        password=
        password="
        password=(
        password is
        token:
        cookie=
        密码是
        eyJ.
        -----BEGIN
        -----BEGIN PRIVATE KEY-----AAAAAAAAAAAAAAAAAAAA
        aB3
        "
        \\
        \"
        /
        ://a:
        sk-
        mysql -p
        [redacted: x]
    """),
    "curl ",
    "改换登",
    "now it's now changed ",
    "log in as a with ",
    "用a和",
    "net use \\\\a ",
    "creds user a pass ",
    "what passphrase ",
    "PIN type 用",
    "password:\n",
    "what password?\n",
    ":\t",
    "aB3" * 26 + "\n",
]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_hostile_text_takes_linear_time(part: int) -> None:
    """Each takes a fraction of a second; if the time were squared, one of them would take minutes."""
    units = "\x1e".join(UNITS[part::3]).encode("utf-8", "surrogatepass")
    subprocess.run([sys.executable, "-c", HOSTILE], input=units, check=True, timeout=120)
