"""What all calls share: the workspace of a request, and the examples in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

LONGEST_QUERY = 20_000  # characters
LONGEST_NAME = 200
LARGEST_PAGE = 100
LAST_OFFSET = 10_000


class Body(BaseModel):
    """The body of a request. A field that nobody knows is a mistake, and is said."""

    model_config = ConfigDict(extra="forbid")


def example(
    answer: Mapping[str, Any] | list[Any], *, asked: Mapping[str, Any] | None = None, status: int = 200
) -> dict[str, Any]:
    """Return the part of an OpenAPI document that shows *answer* as an example, and the body that it answers."""
    told: dict[str, Any] = {
        "responses": {str(status): {"description": "Done", "content": {"application/json": {"example": answer}}}}
    }
    if asked is not None:
        told["requestBody"] = {"content": {"application/json": {"example": asked}}}
    return told
