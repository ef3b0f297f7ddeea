from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.team.webhook import is_genuine

SECRET = "It's a Secret to Everybody"


def test_the_example_of_github_is_genuine() -> None:
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"  # docs.github.com
    assert is_genuine(SECRET, {"x-hub-signature-256": signature}, b"Hello, World!")
    assert not is_genuine(SECRET, {"x-hub-signature-256": signature}, b"Hello, World?")


def test_the_token_of_gitlab_is_genuine() -> None:
    assert is_genuine(SECRET, {"x-gitlab-token": SECRET}, b"{}")
    assert not is_genuine(SECRET, {"x-gitlab-token": SECRET[:-1]}, b"{}")


@pytest.mark.parametrize("secret", ["", "short"])
def test_without_a_secret_nothing_is_genuine(secret: str) -> None:
    assert not is_genuine(secret, {"x-gitlab-token": secret}, b"")


@given(st.text(), st.text(), st.binary(max_size=50))
def test_nothing_made_up_is_genuine(signature: str, token: str, body: bytes) -> None:
    assert not is_genuine(SECRET, {"x-hub-signature-256": signature, "x-gitlab-token": token}, body)
