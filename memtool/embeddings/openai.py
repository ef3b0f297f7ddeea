"""Vectors from an endpoint that speaks OpenAI's `/v1/embeddings`, in the cloud or on this machine.

Protocol: https://platform.openai.com/docs/api-reference/embeddings
"""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtool.embeddings.known_scripts import ALL_SCRIPTS, scripts_of_languages
from memtool.embeddings.models import ModelCard, check_dimension, clean, find_card, keep_card, prefixes_of, unit_vectors
from memtool.errors import BadSetting, ProviderFailed
from memtool.http import endpoint, post_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.settings.sections import EmbeddingSettings

_FOR_NOTES = (60.0, (1.0, 2.0, 4.0))  # seconds: for an answer, and before each new try
_FOR_QUERY = (10.0, (0.25,))  # someone waits


class OpenAIEmbedder:
    """A model behind an endpoint. Its dimension is that of its first answer, remembered in *cache*."""

    def __init__(
        self, settings: EmbeddingSettings, api_key: str, cache: Path, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        """*pause* is called with the seconds to wait before a request is repeated.

        Raises:
            BadSetting: the endpoint or the model is not named, or not usable.
        """
        if not settings.base_url:
            raise BadSetting("the provider 'openai' needs the address of its endpoint", hint="Set embeddings.base_url.")
        if not settings.model:
            raise BadSetting("the provider 'openai' needs the name of a model", hint="Set embeddings.model.")
        self._endpoint = endpoint(settings.base_url, "embeddings", api_key)
        self._settings = settings
        self._cache = cache
        self._pause = pause
        self._before_query, self._before_note = prefixes_of(settings.model)
        self.name = f"{settings.model} at {self._endpoint.url} {self._before_note}".strip()
        self.scripts = scripts_of_languages(settings.languages) or ALL_SCRIPTS
        card = find_card(cache, self.name)
        self._dimension = card.dimension if card else 0
        if card:
            self._check(card.dimension)

    @classmethod
    def open(cls, settings: EmbeddingSettings, api_key: str, cache: Path, **_: object) -> OpenAIEmbedder:
        """Return the embedder for *settings*; see `memtool.embeddings.open_embedder`. Nothing is sent yet."""
        return cls(settings, api_key, cache)

    @property
    def dimension(self) -> int:
        """The length of the endpoint's vectors; it is asked where no answer came yet."""
        if not self._dimension:
            self._embed(["dimension"], *_FOR_QUERY)
        return self._dimension

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 per text, in the order of the texts."""
        import numpy as np

        size = self._settings.batch
        cleaned = [clean(self._before_note + text) for text in texts]
        parts = [self._embed(cleaned[at : at + size], *_FOR_NOTES) for at in range(0, len(cleaned), size)]
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        vector: NDArray[np.float32] = self._embed([clean(self._before_query + text)], *_FOR_QUERY)[0]
        return vector

    def _embed(self, texts: list[str], timeout: float, pauses: Sequence[float]) -> NDArray[np.float32]:
        question = {"model": self._settings.model, "input": texts}
        answer = post_json(self._endpoint, question, timeout=timeout, pauses=pauses, pause=self._pause)
        vectors = unit_vectors(_rows(answer, len(texts), self._endpoint.host), self._endpoint.host)
        if vectors.shape[1] != self._dimension:
            self._learn(vectors.shape[1])
        return vectors

    def _learn(self, dimension: int) -> None:
        before, self._dimension = self._dimension, dimension
        self._check(dimension)
        keep_card(self._cache, self.name, ModelCard(dimension, self.scripts))
        if before:
            raise ProviderFailed(
                f"{self._endpoint.host} now answers with {dimension} numbers per vector, and before with {before}",
                hint="The model was replaced. `memtool index` embeds everything anew.",
            )

    def _check(self, dimension: int) -> None:
        check_dimension(self._settings.dimension, dimension, f"the model '{self._settings.model}'")


def _rows(answer: Any, count: int, host: str) -> list[Any]:  # noqa: ANN401  (anything may come)
    try:
        rows = {item["index"]: _numbers(item["embedding"]) for item in answer["data"]}
    except (TypeError, ValueError, LookupError):
        raise ProviderFailed(f"{host} answered with something that is no list of embeddings") from None
    if len(answer["data"]) != count or rows.keys() != set(range(count)):
        raise ProviderFailed(f"{host} answered with {len(answer['data'])} embeddings for {count} texts")
    return [rows[place] for place in range(count)]


def _numbers(embedding: object) -> Any:  # noqa: ANN401
    if isinstance(embedding, str):  # base64 of little-endian float32, which some servers prefer
        import numpy as np

        return np.frombuffer(b64decode(embedding, validate=True), "<f4")
    if isinstance(embedding, list) and all(type(number) in (int, float) for number in embedding):
        return embedding
    raise TypeError
