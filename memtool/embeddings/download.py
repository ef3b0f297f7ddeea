"""Models that fastembed knows by name, fetched once into the user's cache folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memtool.embeddings.model_folder import (
    TOKENIZER_FILES,
    ModelFolder,
    downloaded_path,
    find_downloaded_model,
    mark_downloaded,
)
from memtool.embeddings.quiet import quiet_fastembed
from memtool.errors import BadSetting, ProviderFailed

_SMALL_FILES = (*TOKENIZER_FILES, "config.json", "special_tokens_map.json")


def download_model(cache: Path, model: str, announce: Callable[[str], None]) -> ModelFolder:
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
        _fetch(known["sources"]["hf"], wanted, downloaded_path(cache, model), model)
        mark_downloaded(cache, model, known["model_file"])
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
