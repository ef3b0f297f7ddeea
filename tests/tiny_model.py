"""A model that the tests make themselves: a few kilobytes of ONNX and a tokenizer, loaded by fastembed like any other.

It has no sense of language. A word of its vocabulary has a direction of its own, and words that *meanings* maps to
the same thing share one; any other word is spelled in single letters, which say little. The vector of a text is the
mean of those of its words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_WORDS = (
    "token tokens access refresh login logout password user session server client database table query index search "
    "vector note vault project error failure crash test build deploy release branch merge commit cache memory file "
    "folder path network timeout retry lock thread process queue worker config setting secret key car automobile"
)
WORDS = tuple(_WORDS.split())
MEANINGS = {"automobile": "car", "failure": "error", "crash": "error", "tokens": "token", "folder": "path"}


def make_tiny_model(
    folder: Path,
    *,
    words: Sequence[str] = WORDS,
    meanings: Mapping[str, str] = MEANINGS,
    han: int = 0,
    dimension: int = 16,
    file: str = "model.onnx",
    seed: int = 0,
) -> Path:
    """Make a model in *folder* and return it; *han* adds so many Chinese characters to its vocabulary.

    memtool takes it for an English model, and with 2,000 characters and more for a Chinese one.
    """
    onnx = pytest.importorskip("onnx", reason="onnx is not installed; `check.py --all` installs it")
    pieces = [piece for letter in _LETTERS for piece in (letter, f"##{letter}")]
    vocabulary = [*_SPECIAL, *pieces, *(chr(0x4E00 + place) for place in range(han)), *dict.fromkeys(words)]
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(_network(_directions(vocabulary, meanings, dimension, seed)), str(folder / file))
    ids = {token: place for place, token in enumerate(vocabulary)}
    _write(folder / "tokenizer.json", _tokenizer(ids))
    _write(folder / "tokenizer_config.json", {"model_max_length": 128, "pad_token": "[PAD]"})
    _write(folder / "config.json", {"hidden_size": dimension, "pad_token_id": 0})
    return folder


def _directions(vocabulary: list[str], meanings: Mapping[str, str], dimension: int, seed: int) -> np.ndarray:
    table = np.random.default_rng(seed).standard_normal((len(vocabulary), dimension)).astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    for place, token in enumerate(vocabulary):
        if token in meanings and meanings[token] in vocabulary:
            table[place] = table[vocabulary.index(meanings[token])]
        elif len(token.removeprefix("##")) == 1 and token.isascii():
            table[place] *= 0.1
    table[: len(_SPECIAL)] *= 0.01  # not zero: a text of nothing else still has a direction
    return table


def _network(table: np.ndarray) -> Any:
    from onnx import TensorProto, helper, numpy_helper

    tokens = ["batch", "tokens"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, tokens) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*tokens, table.shape[1]])],
        [numpy_helper.from_array(table, "table")],
    )
    # Old versions of the format, so that every onnxruntime can read it.
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


def _tokenizer(ids: dict[str, int]) -> dict[str, object]:
    special = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in ("[CLS]", "[SEP]")}
    single = [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ]
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": ids[token], "content": token, "special": True, "single_word": False, "lstrip": False,
             "rstrip": False, "normalized": False}
            for token in _SPECIAL
        ],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": True, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": ids},
    }  # fmt: skip


def _write(path: Path, values: object) -> None:
    path.write_text(json.dumps(values), encoding="utf-8")
