"""Errors as problem details (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from memtool.errors import MemtoolError, faults_in

MEDIA_TYPE = "application/problem+json"


class Refusal(MemtoolError):
    """A request that is answered with *status* and a sentence."""

    def __init__(self, status: int, sentence: str, hint: str = "") -> None:
        super().__init__(sentence, hint=hint)
        self.http_status = status


def problem(status: int, detail: str, hint: str = "", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the fields of problem details."""
    fields = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return fields | ({"hint": hint} if hint else {}) | more


def problem_of(error: Exception) -> dict[str, Any]:
    """Return *error* as problem details; *code* is the exit code that the command line would end with.

    The text of an unexpected error may be private, so only its type is named.
    """
    if isinstance(error, MemtoolError):
        return problem(error.http_status, f"{str(error).rstrip('.')}.", error.hint, code=error.exit_code)
    if isinstance(error, OSError):
        return problem(500, f"the system refused: {error.strerror or error}.")
    return problem(500, f"this is a bug in memtool: {type(error).__name__}.")


def problem_of_fields(errors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return pydantic's *errors* as problem details, one sentence for each."""
    faults = faults_in([{**error, "loc": error["loc"][1:] or error["loc"]} for error in errors])
    return problem(422, f"The request is invalid: {'; '.join(faults)}.", "/openapi.json describes each request.")


def as_bytes(fields: Mapping[str, Any]) -> bytes:
    """Return problem details as they are sent."""
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
