"""The calls on vectors: of one text, of many in the form of OpenAI's API, and of the whole vault again."""

from __future__ import annotations

import base64
import threading
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from memtool.embeddings import Embedder, open_embedder
from memtool.errors import MemtoolError, UsageError
from memtool.index.engine import Index, place_of, use_index
from memtool.index.semantic import embed, forget_unused, open_vectors
from memtool.text.lines import tokens_in
from memtool.web.calls import LONGEST_WORDS, Body, Name, Words, Work, example
from memtool.web.state_api import JOB, ReportProgress, TheJobs, begun
from memtool.workspace import Workspace

_VECTOR = [0.0213, -0.0178, 0.0446]
_EMBEDDINGS = {
    "object": "list", "data": [{"object": "embedding", "index": 0, "embedding": _VECTOR}], "model": "tiny",
    "usage": {"prompt_tokens": 4, "total_tokens": 4},
}  # fmt: skip


class EmbedAsked(Body):
    """A text, and whether it is a query or a passage."""

    text: Words = Field(min_length=1)
    task_type: Literal["retrieval.query", "retrieval.passage"] = "retrieval.query"


class EmbeddingsAsked(Body):
    """The request of OpenAI's API. *model* and *user* are accepted and ignored: there is one model."""

    input: Any
    model: Name = ""
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: Name = ""


class RebuildAsked(Body):
    """*batch_size* is accepted and ignored: the settings of the model decide."""

    batch_size: int = Field(default=64, ge=1, le=10_000)


class Models:
    """The model of the settings, opened again when they change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: tuple[object, Embedder] | None = None

    def embedder(self, work: Workspace) -> Embedder:
        """Return the embedder of *work*.

        Raises:
            ProviderMissing, ProviderFailed, BadSetting: there is none.
        """
        wanted = (work.settings.embeddings, work.settings.keys.embeddings)
        with self._lock:
            if self._opened is None or self._opened[0] != wanted:
                self._opened = (wanted, open_embedder(*wanted, work.cache, may_download=False))
            return self._opened[1]


async def _models(request: Request) -> Models:
    models: Models = request.app.state.models
    return models


TheModels: TypeAlias = Annotated[Models, Depends(_models)]
router = APIRouter(tags=["vectors"])


@router.post(
    "/embed",
    openapi_extra=example(
        {"embedding": _VECTOR, "dimension": 3, "model": "tiny"},
        asked={"text": "why JWT?", "task_type": "retrieval.query"},
    ),
)
def embed_text(work: Work, models: TheModels, asked: EmbedAsked) -> dict[str, Any]:
    """Make the vector of a text."""
    embedder = models.embedder(work)
    is_query = asked.task_type == "retrieval.query"
    row = embedder.embed_query(asked.text) if is_query else embedder.embed_notes([asked.text])[0]
    return {"embedding": row.tolist(), "dimension": embedder.dimension, "model": embedder.name}


@router.post("/v1/embeddings", openapi_extra=example(_EMBEDDINGS, asked={"input": ["why JWT?"], "model": "tiny"}))
def embeddings(work: Work, models: TheModels, asked: EmbeddingsAsked) -> dict[str, Any]:
    """Make the vectors of texts, in the form of OpenAI's API."""
    texts = _texts(asked.input)
    embedder = models.embedder(work)
    if asked.dimensions not in (None, embedder.dimension):
        raise UsageError(f"the vectors of this model have {embedder.dimension} dimensions, and no others")
    rows = embedder.embed_notes(texts)
    if asked.encoding_format == "float":
        encoded = [row.tolist() for row in rows]
    else:
        encoded = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in rows]
    used = tokens_in(*texts)
    return {
        "object": "list",
        "data": [{"object": "embedding", "index": number, "embedding": each} for number, each in enumerate(encoded)],
        "model": embedder.name,
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }


@router.post("/rebuild", status_code=202, openapi_extra=example(JOB, asked={"batch_size": 64}, status=202))
def rebuild(work: Work, models: TheModels, jobs: TheJobs, _asked: RebuildAsked | None = None) -> JSONResponse:
    """Rebuild the index and the vectors, in the background."""
    return begun(jobs.start("rebuild", lambda report: _rebuilt(work, report, models)))


def _texts(given: object) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise UsageError("the input must be a string or a list of strings", hint="Lists of tokens are not supported.")
    if not 0 < len(texts) <= 256 or not all(0 < len(each) <= LONGEST_WORDS for each in texts):
        raise UsageError(f"the input is 1 to 256 strings of 1 to {LONGEST_WORDS:,} characters each")
    return texts


def _rebuilt(work: Workspace, report: ReportProgress, models: Models) -> dict[str, Any]:
    """Rebuild the index and make missing vectors; without a model, return a notice that says why there are none."""

    def vectors(index: Index) -> dict[str, Any]:
        made, notices = 0, []
        try:
            embedder = models.embedder(work)
            with open_vectors(index, embedder) as store:
                made = embed(index, embedder, store, report)
                forget_unused(index, embedder, store)
        except MemtoolError as error:
            notices = [f"there are no vectors: {error}"]
        return {"files": len(index.applied.added), "vectors": made, "notices": notices}

    return use_index(place_of(work, progress=report, patience=600.0), vectors, rebuild=True)
