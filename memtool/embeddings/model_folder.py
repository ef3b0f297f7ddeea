"""A folder that holds a model: which file is the network, and how one tells that the model was replaced."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import NamedTuple

from memtool.errors import ProviderFailed, ProviderMissing

ONNX_FILES = (
    "model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx",
    "onnx/model_optimized.onnx", "onnx/model_quantized.onnx",
)  # fmt: skip
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
_MARK = "memtool.json"  # written when a download is complete
_EDGE = 65_536  # bytes


class ModelFolder(NamedTuple):
    """The model called *model* in the folder *path*; *file* is its network, relative to the folder."""

    path: Path
    model: str
    file: str

    def fingerprint(self, *use: str) -> str:
        """Return what changes when the network, the tokenizer or the *use* that is made of them does.

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


def mark_downloaded(cache: Path, model: str, file: str) -> None:
    """Note that the download of *model* is complete and that *file* is its network."""
    path = downloaded_path(cache, model) / _MARK
    path.write_text(json.dumps({"model": model.lower(), "file": file}), encoding="utf-8")


def _edges(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(_EDGE)
        size = file.seek(0, 2)
        file.seek(max(_EDGE, size - _EDGE))
        return b"%d %b %b" % (size, head, file.read(_EDGE))
