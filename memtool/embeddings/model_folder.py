"""A folder that holds a model: which file is the network, whether it was replaced, and how it is downloaded."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import BadSetting, ProviderFailed, ProviderMissing

ONNX_FILES = (
    "model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx",
    "onnx/model_optimized.onnx", "onnx/model_quantized.onnx",
)  # fmt: skip
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
_SMALL_FILES = (*TOKENIZER_FILES, "config.json", "special_tokens_map.json")
_MARK = "memtool.json"  # written when a download is complete
_EDGE = 65_536  # bytes


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
                digest.update(_edges(path))
        except OSError as error:
            raise ProviderFailed(f"'{self.path}' cannot be read: {error.strerror}") from None
        return digest.hexdigest()[:16]


def local_model(path: Path, model: str) -> ModelFolder:
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


def download_model(cache: Path, model: str, announce: Callable[[str], None]) -> ModelFolder:
    """Return the folder of *model* after fetching what it lacks; an interrupted download goes on where it stopped.

    The files lie in a plain folder of their own, which can be copied to a machine without a network.

    Raises:
        BadSetting: fastembed knows no such model.
        ProviderFailed: the download failed.
    """
    from memtool.embeddings.fastembed import quiet_fastembed

    with quiet_fastembed():
        known = _described(model)
        announce(f"downloading the model {known['model']} ({known['size_in_GB']:.2f} GB)")
        wanted = [known["model_file"], *known["additional_files"], *_SMALL_FILES]
        _fetch(known["sources"]["hf"], wanted, downloaded_path(cache, model), model)
        _mark_downloaded(cache, model, known["model_file"])
    folder = find_downloaded_model(cache, model)
    if folder is None:
        raise ProviderFailed(f"the download of '{model}' left no model", hint="Repeat the command.")
    return folder


def _mark_downloaded(cache: Path, model: str, file: str) -> None:
    """Note that the download of *model* is complete and that *file* is its network."""
    path = downloaded_path(cache, model) / _MARK
    path.write_text(json.dumps({"model": model.lower(), "file": file}), encoding="utf-8")


def _edges(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(_EDGE)
        size = file.seek(0, 2)
        file.seek(max(_EDGE, size - _EDGE))
        return b"%d %b %b" % (size, head, file.read(_EDGE))


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
