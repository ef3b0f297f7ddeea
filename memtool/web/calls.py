"""Parts that all calls share: their parameters, their workspace, and examples in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from memtool.workspace import OpenWorkspace, Workspace

MOST_ITEMS = 100  # of a page
LONGEST_WORDS = 20_000  # characters of a query, a prompt, or a text whose vector is requested
LONGEST_TEXT = 500_000  # characters of a memory, or of a tool's output

Name: TypeAlias = Annotated[str, Field(max_length=200)]
Day: TypeAlias = Annotated[str, Field(max_length=40)]
PathText: TypeAlias = Annotated[str, Field(max_length=4_096)]
Words: TypeAlias = Annotated[str, Field(max_length=LONGEST_WORDS)]
Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=MOST_ITEMS)]
Offset: TypeAlias = Annotated[int, Field(ge=0, le=10_000)]  # items before a page


class Body(BaseModel):
    """The body of a request. An unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


async def _opening(request: Request) -> OpenWorkspace:
    opening: OpenWorkspace = request.app.state.open_workspace
    return opening


def workspace(request: Request) -> Workspace:
    """Return the workspace of the application, opened again: settings may have changed since the last request."""
    work: Workspace = request.app.state.open_workspace(None)
    return work


Opening: TypeAlias = Annotated[OpenWorkspace, Depends(_opening)]
Work: TypeAlias = Annotated[Workspace, Depends(workspace)]


def example(
    answer: Mapping[str, Any] | list[Any], *, asked: Mapping[str, Any] | None = None, status: int = 200
) -> dict[str, Any]:
    """Return the part of an OpenAPI document that shows *answer* as an example, and the body that it answers."""
    content = {"description": "Done", "content": {"application/json": {"example": answer}}}
    body = {"requestBody": {"content": {"application/json": {"example": asked}}}} if asked is not None else {}
    return {"responses": {str(status): content}, **body}
