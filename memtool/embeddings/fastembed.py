"""Vectors computed on this machine by fastembed: a model by name, or one in a local folder."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from memtool.embeddings.card import Card, find_card, keep_card, prefixes_of
from memtool.embeddings.model_folder import ModelFolder, find_downloaded_model, local_model
from memtool.embeddings.scripts import scripts_of_languages, scripts_of_tokenizer
from memtool.embeddings.vectors import check_dimension, clean, unit_vectors
from memtool.errors import ProviderFailed, ProviderMissing
from memtool.resources import how_to_add

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding
    from numpy.typing import NDArray

    from memtool.settings.sections import EmbeddingSettings

DEFAULT_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"

# More texts at once are slower on a processor: its caches overflow, and each text is padded to the longest.
# Of 4, 8, 16, 32 and 64, measured with MiniLM, 64 costs half as much again as 8.
_AT_ONCE = 8
_BATCH = 4_096  # bytes of a batch, padding included: attention takes memory by the square of the length

OWN_POOLING = ""  # of a model that fastembed knows by name


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
        # Bytes foretell the number of tokens better than characters do: one Chinese character is a token, and so are
        # four English letters.
        lengths = [len(text.encode()) for text in cleaned]
        vectors = np.empty((len(cleaned), self.dimension), np.float32)
        for batch in _batches(lengths, self._at_once):
            vectors[batch] = self._network.run([cleaned[place] for place in batch], at_once=len(batch))
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        vector: NDArray[np.float32] = self._network.run([self._before_query + clean(text)], at_once=1, query=True)[0]
        return vector


class Network:
    """The network in *folder*, loaded when it first runs. *pooling* is `mean`, `cls` or `OWN_POOLING`."""

    def __init__(self, folder: ModelFolder, pooling: str) -> None:
        self.folder = folder
        self.pooling = pooling

    def run(self, texts: Sequence[str], *, at_once: int, query: bool = False) -> NDArray[np.float32]:
        """Return one row of length 1 per text; *at_once* of them are padded to the same length and run together.

        Raises:
            ProviderFailed: the files are no network, or not one that makes vectors of tokens.
        """
        model = self._model
        try:
            rows = list((model.query_embed if query else model.passage_embed)(list(texts), batch_size=at_once))
        except Exception as error:  # noqa: BLE001  (onnxruntime and tokenizers raise bare exceptions)
            raise self._broken(error) from None
        return unit_vectors(rows, f"the model '{self.folder.model}'")

    @cached_property
    def _model(self) -> TextEmbedding:
        path = str(self.folder.path)
        with quiet_fastembed():
            from fastembed import TextEmbedding

            name = self._registered() if self.pooling else self.folder.model
            try:
                # Given a path, fastembed asks no network. Without a cache folder it would make a temporary one.
                return TextEmbedding(
                    name, cache_dir=path, specific_model_path=path, local_files_only=True, enable_cpu_mem_arena=False
                )
            except Exception as error:  # noqa: BLE001  (as above)
                raise self._broken(error) from None

    def _registered(self) -> str:
        # fastembed keeps custom models in a table of the process. The name says all that the entry does, so that
        # one entry does for every folder; the path is given when the model is loaded.
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType

        name = f"memtool/{self.pooling}/{self.folder.file}"
        if all(known["model"] != name for known in TextEmbedding.list_supported_models()):
            TextEmbedding.add_custom_model(
                model=name,
                pooling=PoolingType.CLS if self.pooling == "cls" else PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=name),  # must not be empty, and is never asked
                dim=0,  # what fastembed would tell those who ask; the vectors themselves are the answer
                model_file=self.folder.file,
            )
        return name

    def _broken(self, error: Exception) -> ProviderFailed:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return ProviderFailed(
            f"the model in '{self.folder.path}' does not work: {reason}",
            hint="Get the model again: delete a downloaded folder, or copy yours anew.",
        )


@contextlib.contextmanager
def quiet_fastembed() -> Iterator[None]:
    """Import fastembed, and keep it and what it builds on from warnings, logs, progress bars and telemetry.

    Raises:
        ProviderFailed: it is installed and cannot be imported.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _silence()
        except ImportError as error:
            hint = f"Install it again. {how_to_add('vectors')}"
            raise ProviderFailed(f"fastembed is installed but cannot be used: {error}", hint=hint) from None
        yield


def _silence() -> None:
    # From 1.29 on, onnxruntime makes an id of the machine when it is imported and sends its maker the names of
    # models and the like. Only this variable, set before the import, prevents it. Whoever set it has decided.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    # By name, because these libraries have no types, or none that are exact.
    import_module("onnxruntime").set_default_logger_severity(4)  # only what is fatal; the rest is raised
    hub = import_module("huggingface_hub.utils")
    hub.logging.set_verbosity_error()
    hub.disable_progress_bars()
    vars(import_module("huggingface_hub.constants"))["HF_HUB_DISABLE_TELEMETRY"] = True
    import_module("loguru").logger.disable("fastembed")
    import_module("fastembed")


def _batches(lengths: Sequence[int], at_once: int) -> Iterator[list[int]]:
    """Give the places of texts of these *lengths* in batches of like length, the longest last."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == at_once or (len(batch) + 1) * lengths[place] > _BATCH):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


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
    from memtool.embeddings.model_folder import download_model

    return download_model(cache, model, announce)


def _examine(network: Network, cache: Path, name: str) -> Card:
    dimension = network.run(["dimension"], at_once=1).shape[1]
    card = Card(dimension, scripts_of_tokenizer(network.folder.path / "tokenizer.json"))
    keep_card(cache, name, card)
    return card
