"""Vectors computed on this machine by fastembed: a model by name, or one in a local folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtool.embeddings.card import Card, find_card, keep_card
from memtool.embeddings.model_folder import ModelFolder, find_downloaded_model, local_model
from memtool.embeddings.network import OWN_POOLING, Network
from memtool.embeddings.prefixes import prefixes_of
from memtool.embeddings.scripts import scripts_of_languages, scripts_of_tokenizer
from memtool.embeddings.vectors import check_dimension, clean
from memtool.errors import ProviderMissing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.settings import EmbeddingSettings

DEFAULT_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"

# More texts at once are slower on a processor: its caches overflow, and each text is padded to the longest.
# Of 4, 8, 16, 32 and 64, measured with MiniLM, 64 costs half as much again as 8.
_AT_ONCE = 8


class FastembedEmbedder:
    """A model on this machine. Its network is loaded when the first text is embedded."""

    def __init__(self, network: Network, name: str, card: Card, *, at_once: int) -> None:
        self.name = name
        self.dimension, self.scripts = card
        self._network = network
        self._before_query, self._before_note = prefixes_of(network.folder.model)
        self._at_once = at_once

    @classmethod
    def open(
        cls, settings: EmbeddingSettings, _key: str, cache: Path, *, may_download: bool, announce: Callable[[str], None]
    ) -> FastembedEmbedder:
        """Return the embedder for *settings*; see `memtool.embeddings.open_embedder`."""
        folder = _find_folder(settings, cache)
        if folder is None:
            folder = _fetched(settings.model or DEFAULT_MODEL, cache, announce if may_download else None)
        network = Network(folder, settings.pooling if settings.path else OWN_POOLING)
        name = f"{folder.model} {folder.fingerprint(network.pooling, *prefixes_of(folder.model))}"
        card = find_card(cache, name) or _examine(network, cache, name)
        check_dimension(settings.dimension, card.dimension, f"the model '{folder.model}'")
        if settings.languages:
            card = card._replace(scripts=scripts_of_languages(settings.languages))
        return cls(network, name, card, at_once=max(1, min(settings.batch, _AT_ONCE)))

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 per text, in the order of the texts."""
        import numpy as np

        cleaned = [self._before_note + clean(text) for text in texts]
        # Texts of like length share a batch, so that little of it is padding. Bytes foretell the number of
        # tokens better than characters do: one Chinese character is a token, and so are four English letters.
        order = sorted(range(len(cleaned)), key=lambda place: len(cleaned[place].encode()))
        vectors = np.empty((len(cleaned), self.dimension), np.float32)
        if order:
            vectors[order] = self._network.run([cleaned[place] for place in order], at_once=self._at_once)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        vector: NDArray[np.float32] = self._network.run([self._before_query + clean(text)], at_once=1, query=True)[0]
        return vector


def _find_folder(settings: EmbeddingSettings, cache: Path) -> ModelFolder | None:
    if settings.path:
        return local_model(Path(settings.path).expanduser(), settings.model)
    return find_downloaded_model(cache, settings.model or DEFAULT_MODEL)


def _fetched(model: str, cache: Path, announce: Callable[[str], None] | None) -> ModelFolder:
    if announce is None:
        raise ProviderMissing(
            f"the embedding model '{model}' is not on this machine",
            hint="`memtool index` downloads it once; or name a folder with `[embeddings] path`.",
        )
    from memtool.embeddings.download import download_model

    return download_model(cache, model, announce)


def _examine(network: Network, cache: Path, name: str) -> Card:
    dimension = network.run(["dimension"], at_once=1).shape[1]
    card = Card(dimension, scripts_of_tokenizer(network.folder.path / "tokenizer.json"))
    keep_card(cache, name, card)
    return card
