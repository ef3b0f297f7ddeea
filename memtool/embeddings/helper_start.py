"""Whether the warm helper is of use, and its start. Hooks come by here: what the helper itself needs stays out."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtool.workspace import Workspace


def start_helper(work: Workspace) -> bool:
    """Start the helper of the vault if it is of use and none is there; return whether it was started.

    It starts for models on this machine only: a prompt is sent nowhere.
    """
    if not is_of_use(work):
        return False
    from memtool.embeddings.helper import helper_place, is_at_work
    from memtool.processes import start_command

    if is_at_work(helper_place(work.cache, work.vault.root)):
        return False
    start_command(work.vault.root, work.environ, "helper")
    return True


def is_of_use(work: Workspace) -> bool:
    """Return whether a helper has something to hold: a model of this machine, and vectors that it made."""
    settings = work.settings
    if settings.embeddings.provider != "fastembed" or settings.search.mode == "bm25":
        return False
    if any((work.index_folder / "vectors").glob("*.f32")):
        return True
    if find_spec("fastembed") is None:
        return False
    from memtool.index.engines import engine_class

    # To ask a server takes too long here: the helper does, and ends at once where there is nothing.
    return not engine_class(settings.index.engine).keeps_files
