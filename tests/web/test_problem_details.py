from __future__ import annotations

import json
from typing import Any

import pytest

from memtool.errors import (
    Busy,
    MemtoolError,
    NoteNotFound,
    NotWritable,
    ProviderFailed,
    RemoteFailed,
    Unavailable,
    UsageError,
)
from memtool.web.problems import Refusal, as_bytes, problem_of, problem_of_fields


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("no"), 400),
        (NoteNotFound("笔记"), 404),
        (Busy("no"), 503),
        (NotWritable("no"), 507),
        (ProviderFailed("no"), 502),
        (Unavailable("no"), 502),
        (RemoteFailed("no"), 409),
        (MemtoolError("no"), 409),
        (Refusal(418, "no"), 418),
    ],
)
def test_an_error_has_the_status_of_its_nearest_kin(error: MemtoolError, status: int) -> None:
    fields = problem_of(error)
    assert (fields["status"], fields["code"], fields["type"]) == (status, error.exit_code, "about:blank")


def test_a_problem_is_a_sentence_with_a_hint() -> None:
    assert problem_of(NoteNotFound("笔记"))["detail"] == "no note matches '笔记'."
    assert problem_of(NoteNotFound("笔记"))["hint"].startswith("Find it")
    assert json.loads(as_bytes({"detail": "半\ud800"}))["detail"] == "半?"


def test_faults_of_a_request_are_named_without_long_values() -> None:
    faults: list[dict[str, Any]] = [
        {"loc": ("body", "limit"), "msg": "Input should be less than 100", "input": 1000},
        {"loc": ("body", "query"), "msg": "Field is too long", "input": "x" * 100},
    ]
    detail = problem_of_fields(faults)["detail"]
    assert "limit: Input should be less than 100 (got 1000)" in detail
    assert "xxx" not in detail
