"""Whether a process with the model is of use, and its start. Hooks import this: what the process needs stays out."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtool.workspace import Workspace


def model_is_of_use(work: Workspace) -> bool:
    """Return whether a process has something to hold: a model of this machine, and vectors that it made.

    An endpoint is no such model: a prompt is sent nowhere.
    """
    settings = work.settings
    if settings.embeddings.provider != "fastembed" or settings.search.mode == "bm25":
        return False
    if any((work.index_folder / "vectors").glob("*.f32")):
        return True
    if find_spec("fastembed") is None:
        return False
    from memtool.index.engines import engine_class

    # To ask a server takes too long here: the process does, and ends at once where there is nothing.
    return not engine_class(settings.index.engine).keeps_files


def start_service(work: Workspace) -> bool:
    """Start a process that holds the model, if that is of use and no process is there; return whether it started."""
    if not model_is_of_use(work):
        return False
    from memtool.processes import start_command
    from memtool.service_client import is_at_work, service_place

    if is_at_work(service_place(work.cache, work.vault.root)):
        return False
    start_command(work.vault.root, work.environ, "serve", "--no-http")
    return True
