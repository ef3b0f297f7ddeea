"""What the benchmark of kept turns counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import sources
from benchmarks.sources import Asked


def test_the_first_hit_and_five_are_counted_apart() -> None:
    ranks = {"a": ["x-1", "y-2"], "二": ["y-2", "x-1"], "c": ["z"]}
    asked = [Asked(text, "x", "shop") for text in ranks]
    assert sources._shares(asked, ranks.__getitem__) == "0.333 · 0.667"


def test_without_the_private_sessions_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sources.main(["--shared", str(tmp_path)]) == 0
    assert "skipped: transcripts is not in" in capsys.readouterr().err
