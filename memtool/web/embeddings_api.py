"""The calls on vectors: of one text, of many in the form of OpenAI's API, and of the whole vault again."""

from __future__ import annotations

import base64
import threading
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from pydantic import Field

from memtool.embeddings import Embedder, open_embedder
from memtool.errors import MemtoolError, UsageError
from memtool.index.engine import Index, place_of, use_index
from memtool.index.semantic import embed, forget_unused, open_vectors
from memtool.text.lines import tokens_in
from memtool.web import limits
from memtool.web.calls import Body, example
from memtool.web.state_api import JOB, Jobs, ReportProgress, begun
from memtool.workspace import OpenWorkspace, Workspace

_VECTOR = [0.0213, -0.0178, 0.0446]


class EmbedAsked(Body):
    """A text, and whether it is a query or a passage."""

    text: str = Field(min_length=1, max_length=limits.QUERY)
    task_type: Literal["retrieval.query", "retrieval.passage"] = "retrieval.query"


class EmbeddingsAsked(Body):
    """The request of OpenAI's API. *model* and *user* are accepted and ignored: there is one model."""

    input: Any
    model: str = Field(default="", max_length=limits.NAME)
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str = Field(default="", max_length=limits.NAME)


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


def add_embedding_calls(app: FastAPI, open_workspace: OpenWorkspace, jobs: Jobs) -> None:
    """Add the calls to *app*; long work becomes one of *jobs*."""
    models = Models()

    @app.post(
        "/embed",
        tags=["vectors"],
        summary="Make the vector of a text",
        openapi_extra=example(
            {"embedding": _VECTOR, "dimension": 3, "model": "tiny"},
            asked={"text": "why JWT?", "task_type": "retrieval.query"},
        ),
    )
    def embed_text(asked: EmbedAsked) -> dict[str, Any]:
        embedder = models.embedder(open_workspace(None))
        row = (
            embedder.embed_query(asked.text)
            if asked.task_type == "retrieval.query"
            else embedder.embed_notes([asked.text])[0]
        )
        return {"embedding": row.tolist(), "dimension": embedder.dimension, "model": embedder.name}

    @app.post(
        "/v1/embeddings",
        tags=["vectors"],
        summary="Make the vectors of texts, in the form of OpenAI's API",
        openapi_extra=example(
            {
                "object": "list",
                "data": [{"object": "embedding", "index": 0, "embedding": _VECTOR}],
                "model": "tiny",
                "usage": {"prompt_tokens": 4, "total_tokens": 4},
            },
            asked={"input": ["why JWT?"], "model": "tiny"},
        ),
    )
    def embeddings(asked: EmbeddingsAsked) -> dict[str, Any]:
        texts = _texts(asked.input)
        embedder = models.embedder(open_workspace(None))
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
            "data": [
                {"object": "embedding", "index": number, "embedding": embedding}
                for number, embedding in enumerate(encoded)
            ],
            "model": embedder.name,
            "usage": {"prompt_tokens": used, "total_tokens": used},
        }

    @app.post(
        "/rebuild",
        status_code=202,
        tags=["vectors"],
        summary="Rebuild the index and the vectors, in the background",
        openapi_extra=example(JOB, asked={"batch_size": 64}, status=202),
    )
    def rebuild(_asked: RebuildAsked | None = None) -> JSONResponse:
        work = open_workspace(None)
        return begun(jobs.start("rebuild", lambda report: _rebuilt(work, report, models)))


def _texts(given: object) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise UsageError("the input must be a string or a list of strings", hint="Lists of tokens are not supported.")
    most, longest = 256, limits.QUERY
    if not texts or not all(texts) or len(texts) > most or max(map(len, texts)) > longest:
        raise UsageError(f"the input is 1 to {most} strings of 1 to {longest:,} characters each")
    return texts


def _rebuilt(work: Workspace, report: ReportProgress, models: Models) -> dict[str, Any]:
    """Rebuild the index and make missing vectors; without a model, return a notice that says why there are none."""

    def vectors(index: Index) -> dict[str, Any]:
        files = len(index.applied.added)
        try:
            return {"files": files, "vectors": _embedded(index, models.embedder(work), report), "notices": []}
        except MemtoolError as error:
            return {"files": files, "vectors": 0, "notices": [f"there are no vectors: {error}"]}

    return use_index(place_of(work, progress=report, patience=600.0), vectors, rebuild=True)


def _embedded(index: Index, embedder: Embedder, report: ReportProgress) -> int:
    with open_vectors(index, embedder) as store:
        done = embed(index, embedder, store, report)
        forget_unused(index, embedder, store)
        return done
