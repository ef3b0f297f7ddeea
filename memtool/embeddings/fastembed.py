"""Vectors computed on this machine by fastembed: by a model that it downloads, or by one in a local folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.embeddings.known_scripts import scripts_of_languages, scripts_of_tokenizer
from memtool.embeddings.models import ModelCard, check_dimension, clean, find_card, keep_card, prefixes_of, unit_vectors
from memtool.errors import BadSetting, ProviderFailed, ProviderMissing
from memtool.installation import how_to_add

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding
    from numpy.typing import NDArray

    from memtool.settings.sections import EmbeddingSettings

ENGLISH_MODEL = "sentence-transformers/all-MiniLM-L6-v2"  # measured: docs/benchmarks.md
MULTILINGUAL_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"  # not measured

# More texts at once are slower on a processor: its caches overflow, and each text is padded to the longest.
# Of 4, 8, 16, 32 and 64, measured with MiniLM, 64 costs half as much again as 8.
_AT_ONCE = 8
_BATCH = 4_096  # bytes of a batch, padding included: attention takes memory by the square of the length

OWN_POOLING = ""  # of a model that fastembed knows by name

ONNX_FILES = (
    "model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx",
    "onnx/model_optimized.onnx", "onnx/model_quantized.onnx",
)  # fmt: skip
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
_SMALL_FILES = (*TOKENIZER_FILES, "config.json", "special_tokens_map.json")
_MARK = "memtool.json"  # written when a download is complete


class FastembedEmbedder:
    """A model on this machine. Its network is loaded when the first text is embedded."""

    def __init__(self, network: Network, name: str, card: ModelCard) -> None:
        self.name = name
        self.dimension, self.scripts = card
        self._network = network
        self._before_query, self._before_note = prefixes_of(network.folder.model)

    @classmethod
    def open(
        cls, settings: EmbeddingSettings, _key: str, cache: Path, *, may_download: bool, announce: Callable[[str], None]
    ) -> FastembedEmbedder:
        """Return the embedder for *settings*; see `memtool.embeddings.open_embedder`."""
        if not (settings.model or settings.path):
            settings = settings._replace(model=default_model(cache, for_all_scripts=may_download))
        if settings.path:
            folder = _local_model(Path(settings.path).expanduser(), settings.model)
        elif found := find_downloaded_model(cache, settings.model):
            folder = found
        elif may_download:
            folder = _download_model(cache, settings.model, announce)
        else:
            raise ProviderMissing(
                f"the embedding model '{settings.model}' is not on this machine",
                hint="`memtool index` downloads it once; or name a folder with `[embeddings] path`.",
            )
        network = Network(folder, settings.pooling if settings.path else OWN_POOLING)
        name = f"{folder.model} {folder.fingerprint(network.pooling, *prefixes_of(folder.model))}"
        card = find_card(cache, name)
        if card is None:
            dimension = network.run(["dimension"]).shape[1]
            card = ModelCard(dimension, scripts_of_tokenizer(folder.path / "tokenizer.json"))
            keep_card(cache, name, card)
        check_dimension(settings.dimension, card.dimension, f"the model '{folder.model}'")
        if settings.languages:
            card = card._replace(scripts=scripts_of_languages(settings.languages))
        return cls(network, name, card)

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 per text, in the order of the texts."""
        import numpy as np

        cleaned = [self._before_note + clean(text) for text in texts]
        # Bytes foretell the number of tokens better than characters do: one Chinese character is a token, and so are
        # four English letters.
        lengths = [len(text.encode()) for text in cleaned]
        vectors = np.empty((len(cleaned), self.dimension), np.float32)
        for batch in _batches(lengths):
            vectors[batch] = self._network.run([cleaned[place] for place in batch])
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        vector: NDArray[np.float32] = self._network.run([self._before_query + clean(text)], query=True)[0]
        return vector


class Network:
    """The network in *folder*, loaded when it first runs. *pooling* is `mean`, `cls` or `OWN_POOLING`."""

    def __init__(self, folder: ModelFolder, pooling: str) -> None:
        self.folder = folder
        self.pooling = pooling

    def run(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Return one row of length 1 per text; they are padded to the same length and run together.

        Raises:
            ProviderFailed: the files are no network, or not one that makes vectors of tokens.
        """
        model = self._model
        try:
            rows = list((model.query_embed if query else model.passage_embed)(list(texts), batch_size=len(texts)))
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
    # From 1.29 on, onnxruntime makes an id of the machine when it is imported and sends its maker the names of
    # models and the like. Only this variable, set before the import, prevents it. A user who set it has decided.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:  # by name, because these libraries have no types, or none that are exact
            import_module("onnxruntime").set_default_logger_severity(4)  # only what is fatal; the rest is raised
            hub = import_module("huggingface_hub.utils")
            hub.logging.set_verbosity_error()
            hub.disable_progress_bars()
            vars(import_module("huggingface_hub.constants"))["HF_HUB_DISABLE_TELEMETRY"] = True
            import_module("loguru").logger.disable("fastembed")
            import_module("fastembed")
        except ImportError as error:
            hint = how_to_add("vectors")
            raise ProviderFailed(f"fastembed is installed but cannot be used: {error}", hint=hint) from None
        yield


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Give the places of texts of these *lengths* in batches of like length, the longest last."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == _AT_ONCE or (len(batch) + 1) * lengths[place] > _BATCH):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def default_model(cache: Path, *, for_all_scripts: bool) -> str:
    """Return the model for users who name none: the multilingual one if it is here or needed, else the English one."""
    is_here = for_all_scripts or find_downloaded_model(cache, MULTILINGUAL_MODEL)
    return MULTILINGUAL_MODEL if is_here else ENGLISH_MODEL


class ModelFolder(NamedTuple):
    """The model called *model* in the folder *path*; *file* is its network, relative to the folder."""

    path: Path
    model: str
    file: str

    def fingerprint(self, *use: str) -> str:
        """Return a fingerprint of the network, the tokenizer and the *use* that is made of them.

        The sizes, heads and tails of the files stand for the whole of them.
        """
        network = self.path / self.file
        # Large networks keep their weights beside them, in `model.onnx_data`.
        tokenizer = [self.path / name for name in TOKENIZER_FILES if (self.path / name).is_file()]
        paths = [*sorted(network.parent.glob(f"{network.name}*")), *tokenizer]
        digest = hashlib.sha256(repr((self.file, *use)).encode())
        try:
            for path in paths:
                with path.open("rb") as file:
                    head, size = file.read(65_536), file.seek(0, 2)
                    file.seek(max(len(head), size - 65_536))
                    digest.update(b"%d %b %b" % (size, head, file.read()))
        except OSError as error:
            raise ProviderFailed(f"'{self.path}' cannot be read: {error.strerror}") from None
        return digest.hexdigest()[:16]


def _local_model(path: Path, model: str) -> ModelFolder:
    """Return the model in the user's own folder *path*, called *model* or else by the folder's name.

    Raises:
        ProviderMissing: there is no such folder.
        ProviderFailed: it lacks a file that every model has.
    """
    if not path.is_dir():
        raise ProviderMissing(f"the model folder '{path}' does not exist", hint="Mend `[embeddings] path`.")
    needed = "A model folder holds model.onnx, " + " and ".join(TOKENIZER_FILES) + "."
    file = next((file for file in ONNX_FILES if (path / file).is_file()), None)
    if file is None:
        raise ProviderFailed(f"the model folder '{path}' has no model.onnx", hint=needed)
    for name in TOKENIZER_FILES:
        if not (path / name).is_file():
            raise ProviderFailed(f"the model folder '{path}' has no {name}", hint=needed)
    return ModelFolder(path, model or path.resolve().name, file)


def downloaded_path(cache: Path, model: str) -> Path:
    """Return the folder for the downloaded *model*."""
    return cache / "models" / re.sub(r"[^\w.-]+", "--", model.lower()).strip(".")


def find_downloaded_model(cache: Path, model: str) -> ModelFolder | None:
    """Return the *model* that was downloaded before, or None where it was not, or not to the end."""
    path = downloaded_path(cache, model)
    try:
        mark = json.loads((path / _MARK).read_bytes())
        complete = mark["model"] == model.lower() and (path / mark["file"]).is_file()
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return ModelFolder(path, model, mark["file"]) if complete else None


def _download_model(cache: Path, model: str, announce: Callable[[str], None]) -> ModelFolder:
    """Return the folder of *model* after fetching what it lacks; an interrupted download goes on where it stopped.

    The files lie in a plain folder of their own, which can be copied to a machine without a network.

    Raises:
        BadSetting: fastembed knows no such model.
        ProviderFailed: the download failed.
    """
    with quiet_fastembed():
        known = _described(model)
        announce(f"downloading the model {known['model']} ({known['size_in_GB']:.2f} GB)")
        wanted = [known["model_file"], *known["additional_files"], *_SMALL_FILES]
        path = downloaded_path(cache, model)
        _fetch(known["sources"]["hf"], wanted, path, model)
        (path / _MARK).write_text(json.dumps({"model": model.lower(), "file": known["model_file"]}), encoding="utf-8")
    folder = find_downloaded_model(cache, model)
    if folder is None:
        raise ProviderFailed(f"the download of '{model}' left no model", hint="Repeat the command.")
    return folder


def _described(model: str) -> dict[str, Any]:
    from fastembed import TextEmbedding

    for known in TextEmbedding.list_supported_models():
        if known["model"].lower() == model.lower() and known["sources"]["hf"]:
            return dict(known)
    raise BadSetting(
        f"fastembed knows no model '{model}'",
        hint="Name one of its text models, or a folder with `[embeddings] path`.",
    )


def _fetch(repository: str, wanted: list[str], folder: Path, model: str) -> None:
    from huggingface_hub import snapshot_download

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Without a cache folder of its own it would leave a trace in the user's.
        snapshot_download(repository, local_dir=folder, cache_dir=folder / ".cache", allow_patterns=wanted)
    except Exception as error:  # noqa: BLE001  (each transport below raises its own kind)
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ProviderFailed(
            f"the model '{model}' could not be downloaded: {reason}",
            hint="Check the network and repeat, or name a folder with `[embeddings] path`.",
        ) from None
