"""Libraries that talk unasked, to the terminal or to their makers, silenced."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from importlib import import_module

from memtool.errors import ProviderFailed
from memtool.resources import how_to_add


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
