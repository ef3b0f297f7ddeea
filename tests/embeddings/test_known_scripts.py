from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from memtool.embeddings.known_scripts import (
    ALL_SCRIPTS,
    fits,
    scripts_of,
    scripts_of_languages,
    scripts_of_tokenizer,
    scripts_of_vocabulary,
)
from memtool.errors import BadSetting, ProviderFailed

ENGLISH = frozenset({"latin"})
CHINESE = frozenset({"han"})
LATIN_WORDS = ["".join(letters) for letters in itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=3)][:10_000]
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 7000)]


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("naïve café", "latin"),
        ("ＡＢＣ", "latin"),
        ("解密失败", "han"),
        ("𠮷", "han"),
        ("ひらがなとカタカナー", "kana"),
        ("ｶﾀｶﾅ", "kana"),
        ("데이터베이스", "hangul"),
        ("база данных", "cyrillic"),
        ("قاعدة", "arabic"),
        ("βάση", "greek"),
        ("מסד", "hebrew"),
        ("ฐาน", "thai"),
        ("डटब", "devanagari"),
        ("ქართული", "other"),
        ("தரவு", "other"),
    ],
)
def test_each_writing_system_is_recognised(text: str, script: str) -> None:
    assert scripts_of(text) == {script: 1.0}


def test_digits_and_punctuation_belong_to_no_script() -> None:
    assert scripts_of("4573 #!? 2026-02-10 🎉") == {}


@pytest.mark.slow
@given(st.text())
def test_shares_are_of_known_scripts_and_add_up(text: str) -> None:
    shares = scripts_of(text)
    assert shares.keys() <= ALL_SCRIPTS
    assert not shares or sum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "query",
    [
        "解密失败",
        "Rust 中如何处理 panic",
        "PostgreSQL max_connections 配置",
        "東京の天気",
        "데이터베이스",
        "база данных",
        "API の設定",
    ],
)
def test_an_english_model_does_not_fit_other_scripts_not_even_among_latin_words(query: str) -> None:
    assert not fits(ENGLISH, query)


def test_one_foreign_name_does_not_make_a_long_question_foreign() -> None:
    assert fits(ENGLISH, "why does the parser of the configuration file reject the value of the field named 名前")


@pytest.mark.parametrize("query", ["how do tokens expire", "東京の天気はどうですか", "데이터베이스"])
def test_a_chinese_model_does_not_fit_english_japanese_or_korean(query: str) -> None:
    assert not fits(CHINESE, query)


def test_languages_become_scripts() -> None:
    assert scripts_of_languages("en") == {"latin"}
    assert scripts_of_languages("en, zh-TW ja_JP") == {"latin", "han", "kana"}
    assert scripts_of_languages("sr") == {"cyrillic", "latin"}
    assert scripts_of_languages("*") == ALL_SCRIPTS
    assert scripts_of_languages("") == frozenset()


def test_an_unknown_language_is_a_bad_setting() -> None:
    with pytest.raises(BadSetting, match="'klingon'"):
        scripts_of_languages("en,klingon")


def test_a_chinese_vocabulary_with_some_latin_pieces_is_chinese() -> None:
    assert scripts_of_vocabulary([*HAN, *(f"##{each}" for each in HAN), *LATIN_WORDS[:5000]]) == {"han"}


def test_a_vocabulary_too_small_to_tell_is_taken_for_latin() -> None:
    assert scripts_of_vocabulary(["a", "b", "解"]) == {"latin"}
    assert scripts_of_vocabulary([]) == {"latin"}


def _byte_level(token: str) -> str:
    # As GPT-2 writes it, for tokens of two or three bytes per character and for spaces.
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = sorted(set(range(0x100)) - printable)
    return "".join(chr(byte if byte in printable else 0x100 + others.index(byte)) for byte in token.encode())


def _tokenizer_file(folder: Path, model: dict[str, object], **around: object) -> Path:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({"model": model, **around}), encoding="utf-8")
    return path


def test_word_pieces_are_read(tmp_path: Path) -> None:
    vocabulary = {token: place for place, token in enumerate([*LATIN_WORDS, *(f"##{each}" for each in HAN)])}
    assert scripts_of_tokenizer(_tokenizer_file(tmp_path, {"type": "WordPiece", "vocab": vocabulary})) == {
        "latin",
        "han",
    }


@pytest.mark.slow
def test_unigrams_are_read(tmp_path: Path) -> None:
    vocabulary = [[f"▁{token}", -1.0] for token in [*LATIN_WORDS, *HAN]]
    assert scripts_of_tokenizer(_tokenizer_file(tmp_path, {"type": "Unigram", "vocab": vocabulary})) == {"latin", "han"}


@pytest.mark.slow
def test_byte_level_tokens_count_for_the_characters_that_they_spell(tmp_path: Path) -> None:
    tokens = [
        *(_byte_level(f" {word}") for word in LATIN_WORDS),
        *map(_byte_level, HAN),
        *map(chr, range(0x100, 0x143)),
    ]
    vocabulary = {token: place for place, token in enumerate(tokens)}
    inside = {"type": "Sequence", "pretokenizers": [{"type": "Split"}, {"type": "ByteLevel"}]}
    path = _tokenizer_file(tmp_path, {"type": "BPE", "vocab": vocabulary}, pre_tokenizer=inside)
    assert scripts_of_tokenizer(path) == {"latin", "han"}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"model": 1}', b'{"model": {"vocab": [1]}}', b"\xff", b"[" * 99_999]
)
def test_what_is_no_tokenizer_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(ProviderFailed, match="is not a tokenizer"):
        scripts_of_tokenizer(tmp_path / "tokenizer.json")
