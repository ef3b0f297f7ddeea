from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memtool.embeddings import PROVIDERS, open_embedder
from memtool.errors import ProviderMissing
from memtool.installation import how_to_add
from memtool.settings.sections import ABOUT, EmbeddingSettings


def test_no_provider_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ProviderMissing, match="no embedder is set up"):
        open_embedder(EmbeddingSettings(provider="none"), "", tmp_path, may_download=True)


def test_every_provider_of_the_settings_can_be_opened() -> None:
    choices = ABOUT["embeddings.provider"].choices
    assert {*PROVIDERS, "none"} == set(choices)


@pytest.mark.parametrize(("provider", "library"), [("fastembed", "fastembed"), ("openai", "numpy")])
def test_a_machine_without_the_library_is_told_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, library: str
) -> None:
    monkeypatch.setattr("memtool.embeddings.find_spec", lambda name: None if name == library else name)
    with pytest.raises(ProviderMissing, match=f"{library} is not installed") as caught:
        open_embedder(EmbeddingSettings(provider=provider), "", tmp_path, may_download=True)
    assert caught.value.hint == how_to_add("vectors")


def test_finding_no_model_loads_nothing_heavy(tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from memtool.embeddings import open_embedder
from memtool.errors import ProviderMissing
from memtool.installation import how_to_add
from memtool.settings.sections import ABOUT, EmbeddingSettings
try:
    open_embedder(EmbeddingSettings(), "", Path({str(tmp_path)!r}), may_download=False)
except ProviderMissing:
    print(sorted({{"numpy", "fastembed", "onnxruntime", "urllib.request", "asyncio"}} & sys.modules.keys()))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
