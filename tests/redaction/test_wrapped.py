from __future__ import annotations

import pytest
from redaction.noise import noise

from memtool.redaction import Redactor

FIRST, REST, LAST = noise(24, seed=7), noise(18, seed=8), noise(9, seed=14)


@pytest.mark.parametrize(
    "text",
    [
        f"the token is {FIRST}\n{REST} (wrapped by my terminal)",
        f"Our secret got wrapped in the mail:\nclient_secret={FIRST}\n  {REST}\nregards",
        f"> api_key: {FIRST}\n> {REST}\n> thanks",
        f"der Token lautet {FIRST}\n{REST}",
        f"令牌：{FIRST}\n{REST}\n请保存",
        f"API_TOKEN={FIRST}\\\n  {REST}\nDEBUG=0",
    ],
)
def test_the_rest_of_a_wrapped_secret_goes(text: str, redact: Redactor) -> None:
    redacted = redact(text)
    assert FIRST not in redacted
    assert REST not in redacted
    assert redacted.count("\n") == text.count("\n")
    assert redact(redacted) == redacted


@pytest.mark.parametrize("sign", ["\\", "="])
def test_a_sign_at_the_end_of_the_line_makes_a_shorter_rest_enough(sign: str, redact: Redactor) -> None:
    assert LAST not in redact(f"client_secret={FIRST}{sign}\n  {LAST}")
    assert LAST in redact(f"client_secret={FIRST}\n  {LAST}")


@pytest.mark.parametrize(
    "below",
    [
        "DATABASE_HOST=db2.internal",
        "ConnectionPoolFactory2 opens it",
        "9f8e7d6c5b4a39281706f5e4d3c2b1a0ffeeddcc is the commit",
        "und in Zeile 12 steht der Rest",
        "IMG_2026TxW.jpg",
        "JIRA-1234-FixX",
        "把它写进配置文件2",
        "0b5ce0f3-5d0c-4d7e-9a2d-6b1f0b7c9e11",
    ],
)
def test_what_is_no_rest_stays_below_a_secret(below: str, redact: Redactor) -> None:
    assert redact(f"API_TOKEN={FIRST}\n{below}").endswith(f"\n{below}")


def test_what_is_below_a_line_that_goes_on_behind_the_secret_stays(redact: Redactor) -> None:
    assert redact(f"API_TOKEN={FIRST} # old\n{REST}").endswith(REST)
