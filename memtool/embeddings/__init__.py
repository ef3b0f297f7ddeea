"""Providers of vectors: a model on this machine (fastembed), or an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memtool.errors import ProviderMissing
from memtool.installation import how_to_add

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.settings.sections import EmbeddingSettings

PROVIDERS = {
    "fastembed": "memtool.embeddings.fastembed:FastembedEmbedder",
    "openai": "memtool.embeddings.openai:OpenAIEmbedder",
}
_NEEDS = {"fastembed": "fastembed", "openai": "numpy"}  # what the extra `vectors` brings


class Embedder(Protocol):
    """A provider that turns texts into vectors of length 1, so that a dot product is their likeness."""

    @property
    def name(self) -> str:
        """The identity of the model for a cache: it changes whenever the vectors would."""

    @property
    def dimension(self) -> int:
        """The length of its vectors."""

    @property
    def scripts(self) -> frozenset[str]:
        """The writing systems that it fits (see `memtool.embeddings.known_scripts.fits`)."""

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, in the order of the texts: float32, (len(texts), dimension)."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question: float32, (dimension,)."""


def open_embedder(
    settings: EmbeddingSettings,
    api_key: str,
    cache: Path,
    *,
    may_download: bool,
    announce: Callable[[str], None] = lambda _sentence: None,
) -> Embedder:
    """Return the embedder that *settings* ask for; nothing heavy is loaded before the first text is embedded.

    *cache* is the user's cache folder: models live in `models`, what was learned about them in `model_cards`.
    *announce* is told in one sentence what takes long (a download).

    Raises:
        ProviderMissing: a library is not installed, or the model is not on this machine and may not be downloaded.
        ProviderFailed: the model or the endpoint does not work.
        BadSetting: the settings contradict the model, or each other.
    """
    if settings.provider not in PROVIDERS:
        raise ProviderMissing("no embedder is set up", hint="Choose one with `[embeddings] provider`.")
    # Every search comes by here, and most machines have no fastembed: they should learn it in no time.
    if find_spec(_NEEDS[settings.provider]) is None:
        hint = how_to_add("vectors")
        raise ProviderMissing(f"{_NEEDS[settings.provider]} is not installed", hint=hint)
    module, _, name = PROVIDERS[settings.provider].partition(":")
    provider = getattr(import_module(module), name)
    embedder: Embedder = provider.open(settings, api_key, cache, may_download=may_download, announce=announce)
    return embedder
