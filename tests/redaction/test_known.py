"""What was found once in a session is masked in all of its texts."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given, strategies as st

from memtool.redaction import Redactor, make_redactor
from memtool.settings.sections import RedactSettings

PASSWORD = "k?7wTpZQmuriGX2!"


@pytest.fixture
def session() -> Redactor:
    """A redactor of a session that knows nothing yet."""
    return make_redactor(RedactSettings()).of_session()


def spellings(secret: str) -> dict[str, str]:
    """Return *secret* in every encoding that a session shows it in."""
    coded = base64.b64encode(secret.encode()).decode()
    return {
        "plain": secret,
        "URL": quote(secret, safe=""),
        "form": quote_plus(secret),
        "URL twice": quote(quote(secret, safe=""), safe=""),
        "URL in small letters": "".join(f"%{byte:02x}" for byte in secret.encode()),
        "JSON": json.dumps(secret)[1:-1],
        "JSON in JSON": json.dumps(json.dumps(secret))[1:-1],
        "JSON with numbers": "".join(f"\\u{ord(letter):04x}" for letter in secret),
        "shell": shlex.quote(secret),
        "shell with backslashes": "".join(letter if letter.isalnum() else f"\\{letter}" for letter in secret),
        "HTML": html.escape(secret),
        "HTML with numbers": "".join(f"&#{ord(letter)};" for letter in secret),
        "HTML with hexadecimal numbers": "".join(f"&#x{ord(letter):x};" for letter in secret),
        "base64": coded,
        "base64 for URLs": base64.urlsafe_b64encode(secret.encode()).decode().rstrip("="),
        "base64 of more": base64.b64encode(f"anna:{secret} and 你好".encode()).decode(),
        "base64 in lines": base64.encodebytes(f"{'x' * 50}{secret}{'y' * 50}".encode()).decode(),
        "base64 behind a word": f"data{base64.b64encode(f'u:{secret}'.encode()).decode()}",
        "base64 in base64": base64.b64encode(coded.encode()).decode(),
        "PowerShell": base64.b64encode(f"pw {secret}".encode("utf-16-le")).decode(),
        "hexadecimal": secret.encode().hex(),
    }


@pytest.mark.parametrize("form", spellings(PASSWORD))
def test_every_spelling_of_a_known_secret_goes(session: Redactor, form: str) -> None:
    session(f"the password is {PASSWORD}")
    spelled = spellings(PASSWORD)[form].strip()
    for before, after in (("so it is ", " then"), ("之后：", "，好"), ('{"a": "', '"}')):
        left = session(f"{before}{spelled}{after}")
        assert left.startswith(before)
        assert left.endswith(after)
        assert re.fullmatch(
            r"[\\\"']*\[redacted: (?:password|random)\][\\\"']*", left.removeprefix(before).removesuffix(after)
        )


def test_a_spelling_that_was_found_first_gives_the_secret_away(session: Redactor) -> None:
    session("password=k%3F7wTpZQmuriGX2%21")
    assert session(f"try {PASSWORD} then") == "try [redacted: password] then"


def test_the_exact_example(session: Redactor) -> None:
    assert session(f"{PASSWORD} escape this for the URL") == "[redacted: password] escape this for the URL"
    assert session("`k%3F7wTpZQmuriGX2%21`") == "`[redacted: password]`"


@pytest.mark.parametrize("secret", ["hunter2", "rotkehlchen", "芝麻开门2024", "482913"])
def test_a_weak_secret_goes_as_a_whole_word(session: Redactor, secret: str) -> None:
    session(f"密码: {secret}")
    assert session(f"with {secret}, then") == "with [redacted: password], then"
    assert session(f"x{secret}y1") == f"x{secret}y1" or not secret.isascii()


def test_a_word_of_every_text_is_not_taken_for_known(session: Redactor) -> None:
    session('password: "default"; DB_PASSWORD=test; password=main')
    assert session("the default branch main has a test") == "the default branch main has a test"


def test_a_private_word_is_known_as_well(session: Redactor) -> None:
    session("<private>hunter2xy</private>")
    assert session("it was hunter2xy") == "it was [redacted: private]"


def test_two_sessions_know_nothing_of_each_other() -> None:
    redact = make_redactor(RedactSettings())
    redact.of_session()(f"the password is {PASSWORD}")
    assert redact.of_session()(f"x {PASSWORD} x") == f"x {PASSWORD} x" == redact(f"x {PASSWORD} x")


def test_what_the_user_allows_stays() -> None:
    redact = make_redactor(RedactSettings(allow=("hunter2xy",))).of_session()
    assert redact("password: hunter2xy") == "password: hunter2xy"
    assert redact("hunter2xy") == "hunter2xy"


@pytest.mark.slow
@given(
    st.text(
        st.characters(codec="utf-8", max_codepoint=0xFFFF, exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")),
        min_size=8,
        max_size=24,
    )
)
def test_any_drawn_secret_goes_in_every_spelling(drawn: str) -> None:
    secret = f"Qz7{drawn}9!kW"
    assume("[redacted" not in secret)
    session = make_redactor(RedactSettings()).of_session()
    assert session.known is not None
    session.known.learn(secret, "password")
    left = {form: session(f"- {spelled} -") for form, spelled in spellings(secret).items()}
    assert [form for form, text in left.items() if spellings(secret)[form] in text] == []


@pytest.mark.slow
def test_many_secrets_in_a_long_text_take_linear_time(session: Redactor) -> None:
    for number in range(500):
        session(f"password: Xy{number:05d}!kQ")
    assert session("Xy00007!kQ " + "aGVsbG8gd29ybGQ %41\\u0041 " * 2_000).startswith("[redacted: password] aGVs")
