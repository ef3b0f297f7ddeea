from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies
from scripted_hub import serve_hub
from tiny_model import make_tiny_model

from memtool.embeddings import Embedder, open_embedder
from memtool.embeddings.fastembed import ENGLISH_MODEL, MULTILINGUAL_MODEL, _batches, default_model
from memtool.embeddings.known_scripts import ALL_SCRIPTS
from memtool.errors import BadSetting, ProviderFailed, ProviderMissing
from memtool.settings.sections import EmbeddingSettings

# Not imported here: memtool must be the first to, so that it can switch off what these libraries tell their makers.
pytestmark = pytest.mark.skipif(find_spec("fastembed") is None, reason="the extra `vectors` is not installed")

Open = Callable[..., Embedder]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return make_tiny_model(tmp_path / "tiny")


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Open the model that the settings name, without a network."""

    def opened(path: Path | str = "", **settings: Any) -> Embedder:
        asked = EmbeddingSettings(path=str(path), **settings)
        return open_embedder(asked, "", tmp_path / "cache", may_download=False)

    return opened


def _like(embedder: Embedder, query: str, note: str) -> float:
    return float(embedder.embed_notes([note])[0] @ embedder.embed_query(query))


@pytest.mark.slow
def test_a_folder_alone_is_enough(model: Path, opened: Open) -> None:
    embedder = opened(model)
    assert embedder.name.startswith("tiny ")
    assert embedder.dimension == 16
    assert embedder.scripts == {"latin"}


def test_vectors_have_length_1_and_come_in_the_order_of_the_texts(model: Path, opened: Open) -> None:
    embedder = opened(model, batch=3)
    texts = [
        "token " * count + word for count, word in enumerate(["database", "lock", "car", "retry", "password"] * 4)
    ][::-1]
    together = embedder.embed_notes(texts)
    assert together.dtype == np.float32
    assert together.shape == (20, 16)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(embedder.embed_notes([text])[0], vector, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "解密失败", "a" * 100_000, "token " * 50_000])
def test_any_text_has_a_vector(model: Path, opened: Open, text: str) -> None:
    embedder = opened(model)
    for vector in (embedder.embed_query(text), embedder.embed_notes([text])[0]):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_pooling_decides_which_tokens_count(model: Path, opened: Open) -> None:
    by_mean, by_first = opened(model), opened(model, pooling="cls")
    assert by_mean.name != by_first.name
    first = by_first.embed_notes(["car", "database"])
    np.testing.assert_allclose(first[0], first[1], atol=1e-6)  # every text begins with the same [CLS]


@pytest.mark.parametrize("file", ["onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx"])
def test_the_network_is_found_under_each_of_its_usual_names(tmp_path: Path, opened: Open, file: str) -> None:
    assert opened(make_tiny_model(tmp_path / "other", file=file)).embed_query("car").shape == (16,)


def test_two_folders_with_one_name_are_not_confused(tmp_path: Path, opened: Open) -> None:
    one = opened(make_tiny_model(tmp_path / "a" / "tiny"), model="mine")
    two = opened(make_tiny_model(tmp_path / "b" / "tiny", dimension=24, seed=1), model="mine")
    assert one.name != two.name
    assert [one.embed_query("car").shape, two.embed_query("car").shape] == [(16,), (24,)]


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_replaced_model_is_another_model(tmp_path: Path, model: Path, opened: Open, file: str) -> None:
    before = opened(model)
    shutil.copy(make_tiny_model(tmp_path / "new", words=["car", "plane"], seed=1) / file, model / file)
    assert opened(model).name != before.name


def test_the_dimension_may_be_stated_and_must_then_be_right(model: Path, opened: Open) -> None:
    assert opened(model, dimension=16).dimension == 16
    for _ in "before and after it is remembered":
        with pytest.raises(BadSetting, match=r"is 384, but the model 'tiny' makes vectors of 16"):
            opened(model, dimension=384)


def test_languages_that_are_stated_are_believed(model: Path, opened: Open) -> None:
    assert opened(model, languages="en,zh").scripts == {"latin", "han"}
    assert opened(model, languages="*").scripts == ALL_SCRIPTS
    with pytest.raises(BadSetting, match="unknown language"):
        opened(model, languages="xx")


def test_else_the_vocabulary_says_what_the_model_fits(tmp_path: Path, opened: Open) -> None:
    assert opened(make_tiny_model(tmp_path / "zh", han=3000)).scripts == {"han"}


def test_what_was_learned_about_a_model_is_remembered(
    model: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = opened(model)
    monkeypatch.setattr("memtool.embeddings.fastembed.scripts_of_tokenizer", lambda _: pytest.fail("read again"))
    monkeypatch.setattr("memtool.embeddings.fastembed.Network.run", lambda *_, **__: pytest.fail("run again"))
    after = opened(model)
    assert (after.name, after.dimension, after.scripts) == (before.name, before.dimension, before.scripts)


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path, model: Path, opened: Open) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    assert opened(model).dimension == 16


def test_the_model_and_its_folder_are_left_as_they_were(model: Path, opened: Open) -> None:
    before = {path: path.read_bytes() for path in model.rglob("*")}
    opened(model).embed_query("car")
    assert {path: path.read_bytes() for path in model.rglob("*")} == before


def test_a_folder_that_does_not_exist_is_missing(tmp_path: Path, opened: Open) -> None:
    with pytest.raises(ProviderMissing, match="does not exist"):
        opened(tmp_path / "nowhere")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_folder_that_lacks_a_file_says_which(model: Path, opened: Open, file: str) -> None:
    (model / file).unlink()
    with pytest.raises(ProviderFailed, match=f"has no {file}"):
        opened(model)


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("damage", [lambda old: b"", lambda old: old[: len(old) // 2], lambda old: bytes(len(old))])
def test_a_damaged_file_is_one_sentence(model: Path, opened: Open, file: str, damage: Callable[[bytes], bytes]) -> None:
    (model / file).write_bytes(damage((model / file).read_bytes()))
    with pytest.raises(ProviderFailed) as caught:
        opened(model)
    assert str(model) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_a_broken_installation_is_one_sentence(model: Path, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # importing it fails now
    with pytest.raises(ProviderFailed, match="installed but cannot be used"):
        opened(model)


def test_fastembed_says_nothing(model: Path, opened: Open, capfd: pytest.CaptureFixture[str]) -> None:
    opened(model).embed_notes(["car"])
    (model / "model.onnx").write_bytes(b"no network")
    with pytest.raises(ProviderFailed):
        opened(model)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_nothing_is_told_to_the_makers_of_libraries_nor_left_in_the_home_folder(model: Path, tmp_path: Path) -> None:
    script = f"""
from pathlib import Path
from memtool.embeddings import open_embedder
from memtool.settings.sections import EmbeddingSettings
cache = Path({str(tmp_path / "cache")!r})
open_embedder(EmbeddingSettings(path={str(model)!r}), "", cache, may_download=False).embed_query("car")
"""
    (tmp_path / "home").mkdir()
    # onnxruntime keeps its id of the machine and what it is about to send below the home folder.
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "ORT_DISABLE_TELEMETRY")}
    environment["HOME"] = str(tmp_path / "home")
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert list((tmp_path / "home").iterdir()) == []


def test_a_model_by_name_that_is_not_here_is_missing_and_nobody_is_asked(opened: Open) -> None:
    for name in ("", "BAAI/bge-small-en-v1.5", "../../etc", "."):
        with pytest.raises(ProviderMissing, match="is not on this machine"):
            opened(model=name)  # the guard in conftest.py watches the network


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Point the library that downloads models to another address."""

    def hub(address: str) -> None:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        template = address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)

    return hub


@pytest.mark.slow
def test_a_model_by_name_is_downloaded_once_and_then_needs_no_network(
    tmp_path: Path, opened: Open, hub: Callable[[str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    with serve_hub(make_tiny_model(tmp_path / "hub", file="model_optimized.onnx")) as (address, _):
        hub(address)
        first = open_embedder(EmbeddingSettings(), "", tmp_path / "cache", may_download=True, announce=said.append)
    assert said == [f"downloading the model {MULTILINGUAL_MODEL} (0.22 GB)"]
    assert first.name.startswith(MULTILINGUAL_MODEL)
    again = opened()
    assert again.name == first.name
    assert _like(again, "automobile", "car") > 0.8
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_the_default_is_for_english_until_one_for_all_scripts_is_here(
    tmp_path: Path, opened: Open, hub: Callable[[str], None]
) -> None:
    cache = tmp_path / "cache"
    assert default_model(cache, for_all_scripts=False) == ENGLISH_MODEL
    assert default_model(cache, for_all_scripts=True) == MULTILINGUAL_MODEL

    names = []
    for model, file in ((ENGLISH_MODEL, "model.onnx"), (MULTILINGUAL_MODEL, "model_optimized.onnx")):
        with serve_hub(make_tiny_model(tmp_path / file, file=file)) as (address, _):
            hub(address)
            open_embedder(EmbeddingSettings(model=model), "", cache, may_download=True)
        names.append(opened().name.partition(" ")[0])

    assert names == [ENGLISH_MODEL, MULTILINGUAL_MODEL]
    assert default_model(cache, for_all_scripts=False) == MULTILINGUAL_MODEL


@pytest.mark.slow
def test_a_download_that_breaks_off_is_no_model_and_goes_on_later(
    tmp_path: Path, opened: Open, hub: Callable[[str], None]
) -> None:
    source = make_tiny_model(tmp_path / "hub", file="model_optimized.onnx")
    with serve_hub(source, refuse=frozenset({"model_optimized.onnx"})) as (address, _):
        hub(address)
        with pytest.raises(ProviderFailed, match="could not be downloaded"):
            open_embedder(EmbeddingSettings(), "", tmp_path / "cache", may_download=True)
    with pytest.raises(ProviderMissing):
        opened()
    with serve_hub(source) as (address, _):
        hub(address)
        assert open_embedder(EmbeddingSettings(), "", tmp_path / "cache", may_download=True).dimension == 16


def test_a_model_that_fastembed_does_not_know_is_a_bad_setting(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="knows no model 'no/such'"):
        open_embedder(EmbeddingSettings(model="no/such"), "", tmp_path, may_download=True)


REAL = Path(__file__).parents[2].parent / "shared" / "models" / "all-MiniLM-L6-v2"


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="needs the real model beside the repository")
def test_a_real_model_knows_meaning(opened: Open) -> None:
    embedder = opened(REAL)
    assert (embedder.dimension, embedder.scripts) == (384, frozenset({"latin"}))
    near = _like(embedder, "how do I sign in", "The login page asks for a user name and a password.")
    assert near > _like(embedder, "how do I sign in", "The database is backed up every night.") + 0.1


@pytest.mark.slow
@given(strategies.lists(strategies.integers(0, 9_000), max_size=40))
def test_texts_of_like_length_share_a_batch_of_bounded_size(lengths: list[int]) -> None:
    batches = list(_batches(lengths))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[place] for place in batch)
        assert len(batch) <= 8
        assert len(batch) == 1 or len(batch) * longest <= 4_096
