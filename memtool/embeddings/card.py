"""What memtool learned about a model when it first ran it, kept so that later runs need not load it.

Loading a model to ask its dimension takes a third of a second, and reading a large vocabulary as long again.
A card that is missing, torn or nonsense is learned anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from memtool.embeddings.scripts import ALL_SCRIPTS


class Card(NamedTuple):
    """The dimension of a model's vectors and the writing systems it fits."""

    dimension: int
    scripts: frozenset[str]


def find_card(cache: Path, model: str) -> Card | None:
    """Return what is known about the model with the identity *model*, or None."""
    try:
        values = json.loads(_path(cache, model).read_bytes())
        dimension, scripts = values["dimension"], frozenset(values["scripts"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    good = isinstance(dimension, int) and dimension > 0 and scripts and scripts <= ALL_SCRIPTS
    return Card(dimension, scripts) if good else None


def keep_card(cache: Path, model: str, card: Card) -> None:
    """Remember *card* for the next run; a cache that cannot be written is no reason to fail."""
    values = {"model": model, "dimension": card.dimension, "scripts": sorted(card.scripts)}
    with contextlib.suppress(OSError):
        path = _path(cache, model)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")


def _path(cache: Path, model: str) -> Path:
    return cache / "model_cards" / f"{hashlib.sha256(model.encode()).hexdigest()[:24]}.json"
