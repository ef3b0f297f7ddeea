"""Parts that all calls share: bodies, examples in the OpenAPI document, errors as problem details (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict

from memtool.errors import (
    BadSetting,
    BrokenVaultFile,
    Busy,
    DatabaseUnavailable,
    MemtoolError,
    NotAVault,
    NoteChanged,
    NoteNotFound,
    NotWritable,
    OnlyReading,
    OutsideVault,
    ProviderFailed,
    ProviderMissing,
    SchemaMismatch,
    SessionNotFound,
    UsageError,
    VaultNotFound,
    VaultTooNew,
)

MEDIA_TYPE = "application/problem+json"

_STATUS: Mapping[type[MemtoolError], HTTPStatus] = {
    UsageError: HTTPStatus.BAD_REQUEST,
    NoteNotFound: HTTPStatus.NOT_FOUND,
    SessionNotFound: HTTPStatus.NOT_FOUND,
    OutsideVault: HTTPStatus.NOT_FOUND,
    NoteChanged: HTTPStatus.CONFLICT,
    BrokenVaultFile: HTTPStatus.CONFLICT,
    NotWritable: HTTPStatus.INSUFFICIENT_STORAGE,
    OnlyReading: HTTPStatus.FORBIDDEN,
    VaultNotFound: HTTPStatus.SERVICE_UNAVAILABLE,
    NotAVault: HTTPStatus.SERVICE_UNAVAILABLE,
    VaultTooNew: HTTPStatus.SERVICE_UNAVAILABLE,
    Busy: HTTPStatus.SERVICE_UNAVAILABLE,
    BadSetting: HTTPStatus.SERVICE_UNAVAILABLE,
    ProviderMissing: HTTPStatus.SERVICE_UNAVAILABLE,
    DatabaseUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    SchemaMismatch: HTTPStatus.SERVICE_UNAVAILABLE,
    ProviderFailed: HTTPStatus.BAD_GATEWAY,
}


class Refusal(MemtoolError):
    """A request that is answered with *status* and a sentence."""

    def __init__(self, status: int, sentence: str, hint: str = "") -> None:
        super().__init__(sentence, hint=hint)
        self.status = status


class QuickerWriter(Refusal):
    """Someone else changed the memory after the caller had read it."""

    def __init__(self, what: str) -> None:
        super().__init__(412, f"'{what}' was changed since you read it", "Read it again and repeat.")


def status_of(error: MemtoolError) -> int:
    """Return the HTTP status of *error*: that of the nearest class above its own."""
    if isinstance(error, Refusal):
        return error.status
    return next((int(_STATUS[kind]) for kind in type(error).__mro__ if kind in _STATUS), 409)


def problem(status: int, detail: str, hint: str = "", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the fields of problem details."""
    fields = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return fields | ({"hint": hint} if hint else {}) | more


def problem_of(error: MemtoolError) -> dict[str, Any]:
    """Return *error* as problem details; *code* is the exit code that the command line would end with."""
    return problem(status_of(error), f"{str(error).rstrip('.')}.", error.hint, code=error.exit_code)


def problem_of_bug(error: Exception) -> dict[str, Any]:
    """Return an unexpected *error* as problem details, without its text, which may be private."""
    return problem(500, f"this is a bug in memtool: {type(error).__name__}.")


def problem_of_fields(faults: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return pydantic's *faults* as problem details, one sentence for each, without repeating long values."""
    sentences = [f"{_place(fault['loc'])}: {fault['msg']}{_got(fault.get('input'))}" for fault in faults[:10]]
    return problem(422, f"The request is invalid: {'; '.join(sentences)}.", "/openapi.json describes each request.")


def as_bytes(fields: Mapping[str, Any]) -> bytes:
    """Return problem details as they are sent."""
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")


def _place(steps: Sequence[object]) -> str:
    return ".".join(map(str, steps[1:] if len(steps) > 1 else steps))


def _got(value: object) -> str:
    short = isinstance(value, int | float) or (isinstance(value, str) and len(value) < 60)
    return f" (got {value!r})" if short else ""


class Body(BaseModel):
    """The body of a request. An unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


def example(
    answer: Mapping[str, Any] | list[Any], *, asked: Mapping[str, Any] | None = None, status: int = 200
) -> dict[str, Any]:
    """Return the part of an OpenAPI document that shows *answer* as an example, and the body that it answers."""
    extra: dict[str, Any] = {
        "responses": {str(status): {"description": "Done", "content": {"application/json": {"example": answer}}}}
    }
    if asked is not None:
        extra["requestBody"] = {"content": {"application/json": {"example": asked}}}
    return extra
