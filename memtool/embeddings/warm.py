"""An embedder whose questions are answered by the process that holds the model, where there is one."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtool.errors import ProviderMissing
from memtool.service_client import MODEL, Fields, ServicePlace, ask_service

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder

_PATIENCE = 0.25  # seconds: as long as it takes to load a small model

# Models that this process holds itself, by name: a service of many vaults asks no other process.
held_here: dict[str, Embedder] = {}


class WarmEmbedder:
    """*embedder*, for whose questions the process at *place* makes the vectors, if it is there.

    With *only_warm*, none are made without it.
    """

    def __init__(self, embedder: Embedder, place: ServicePlace, *, only_warm: bool = False) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.scripts = embedder.scripts
        self._embedder = embedder
        self._place = place
        self._only_warm = only_warm

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 per text, in the order of the texts."""
        return held_here.get(self.name, self._embedder).embed_notes(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question.

        Raises:
            ProviderMissing: the process does not answer, and the model must not be loaded here.
        """
        if held := held_here.get(self.name):
            return held.embed_query(text)
        answer = ask_service(self._place, {"ask": "vector", "text": text}, part=MODEL, patience=_PATIENCE)
        vector = _vector(answer, self.dimension) if answer and answer.get("model") == self.name else None
        if vector is None and self._only_warm:
            raise ProviderMissing("the model is being loaded")
        return self._embedder.embed_query(text) if vector is None else vector


def _vector(answer: Fields, dimension: int) -> NDArray[np.float32] | None:
    """Return the vector in *answer*; None if it holds none."""
    import numpy as np

    try:
        vector = np.frombuffer(base64.b64decode(answer.get("vector", ""), validate=True), "<f4")
    except (ValueError, TypeError):
        return None
    is_sound = vector.shape == (dimension,) and np.isfinite(vector).all() and abs(float(vector @ vector) - 1) < 0.01
    return vector if is_sound else None
