"""Which writing systems an embedding model fits, and which ones a text is written in.

An English model on Chinese text is worse than no model at all: on the Chinese sets, recall at 1 falls from .97 to .46.
So an embedder has a say only where its scripts fit the query's.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from memtool.errors import BadSetting, ProviderFailed

# The words of Unicode's names of letters that tell a script; any other script is "other".
_NAMED = {
    "LATIN": "latin", "GREEK": "greek", "CYRILLIC": "cyrillic", "HEBREW": "hebrew", "ARABIC": "arabic",
    "DEVANAGARI": "devanagari", "THAI": "thai", "HANGUL": "hangul", "CJK": "han", "IDEOGRAPHIC": "han",
    "KATAKANA": "kana", "HIRAGANA": "kana",
}  # fmt: skip
ALL_SCRIPTS = frozenset({*_NAMED.values(), "other"})

_LANGUAGES = {
    ("latin",): "af az br bs ca cs cy da de en eo es et eu fi fil fo fr ga gl gn ha haw hr ht hu id ig is it jv ku "
    "la lb lt lv mg mi ms mt nb nl nn no oc pl pt qu rm ro rw sk sl sm sn so sq su sv sw tk tl tn tr uz vi wo xh yo zu",
    ("han",): "zh yue wuu",
    ("han", "kana"): "ja",
    ("hangul",): "ko",
    ("cyrillic",): "ba be bg ce cv kk ky mk mn ru tg tt uk",
    ("cyrillic", "latin"): "sr",
    ("arabic",): "ar ckb fa ps sd ug ur",
    ("greek",): "el",
    ("hebrew",): "he iw yi",
    ("thai",): "th",
    ("devanagari",): "hi mr ne sa",
    ("other",): "am as bn bo dv dz gu hy ka km kn lo ml my or pa si ta te ti",
}

_SCRIPTS_OF_LANGUAGE = {code: scripts for scripts, codes in _LANGUAGES.items() for code in codes.split()}

# A character of these scripts says about as much as three letters of an alphabet.
_DENSE = {"han": 3, "kana": 3, "hangul": 3}

# How many different words or pieces of words a vocabulary needs before the model can be said to know the script.
# bert-base-uncased has 244 Han characters, 93 kana and 8 Cyrillic pieces by accident; bge-small-zh has 7,000 Han
# characters and about 5,000 Latin pieces; multilingual BERT has 1,500 Greek and XLM-R tens of thousands of everything.
_PIECES_NEEDED = {"latin": 8000, "han": 2000, "hangul": 800, "kana": 400, "other": 2000}
_ONE_CHARACTER_IS_A_PIECE = frozenset({"han", "hangul"})


def scripts_of(text: str) -> dict[str, float]:
    """Return the share of each writing system among the letters of *text*; empty where there are no letters."""
    letters: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            letters[_script(character)] += count
    total = letters.total()
    return {script: count / total for script, count in letters.items()}


def fits(known: frozenset[str], text: str) -> bool:
    """Return whether a model that knows the scripts *known* understands (nearly) all of *text*.

    Latin words beside a dense script that the model knows are names and code: `Rust 中如何处理 panic` suits a
    Chinese model, and not an English one.
    """
    weights = {script: share * _DENSE.get(script, 1) for script, share in scripts_of(text).items()}
    some = sum(weights.values()) / 10  # less does not change what a text is
    foreign = weights.keys() - known
    if foreign == {"latin"}:
        return sum(weights[script] for script in weights.keys() & known & _DENSE.keys()) > some
    return sum(weights[script] for script in foreign) <= some


def scripts_of_languages(languages: str) -> frozenset[str]:
    """Return the scripts of a list of language codes such as `en, zh-TW`; `*` means all.

    Raises:
        BadSetting: a code is not known.
    """
    scripts: set[str] = set()
    for code in languages.replace(",", " ").split():
        if code == "*":
            return ALL_SCRIPTS
        language = code.lower().replace("_", "-").split("-")[0]
        if language not in _SCRIPTS_OF_LANGUAGE:
            raise BadSetting(
                f"'embeddings.languages' names an unknown language, '{code}'",
                hint="Use two-letter codes such as `en,zh`, or `*` for all languages.",
            )
        scripts.update(_SCRIPTS_OF_LANGUAGE[language])
    return frozenset(scripts)


def scripts_of_vocabulary(tokens: Iterable[str]) -> frozenset[str]:
    """Return the scripts that have so many pieces among *tokens* that the model must have learned them."""
    pieces: dict[str, set[str]] = {}
    for token in tokens:
        letters = "".join(filter(str.isalpha, token.removesuffix("</w>")))
        scripts = {_script(letter) for letter in letters}
        if len(scripts) == 1 and (len(letters) > 1 or scripts <= _ONE_CHARACTER_IS_A_PIECE):
            pieces.setdefault(scripts.pop(), set()).add(letters)
    known = {script for script, seen in pieces.items() if len(seen) >= _PIECES_NEEDED.get(script, 200)}
    return frozenset(known or {"latin"})


def scripts_of_tokenizer(path: Path) -> frozenset[str]:
    """Return the scripts that the vocabulary in the `tokenizer.json` at *path* covers.

    Raises:
        ProviderFailed: the file is no tokenizer.
    """
    try:
        return scripts_of_vocabulary(_vocabulary(json.loads(path.read_bytes())))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ProviderFailed(
            f"'{path}' is not a tokenizer that memtool can read", hint="Download the model again."
        ) from None


@cache
def _script(letter: str) -> str:
    if letter < "\u02b0":  # `µ` and `ª` as well, whose names say nothing
        return "latin"
    words = re.findall("[A-Z]+", unicodedata.name(letter, ""))
    return next((_NAMED[word] for word in words if word in _NAMED), "other")


def _vocabulary(tokenizer: Mapping[str, Any]) -> Iterator[str]:
    # WordPiece, WordLevel and BPE: {token: id}. Unigram: [[token, score], ...].
    vocabulary = tokenizer["model"]["vocab"]
    tokens = iter(vocabulary) if isinstance(vocabulary, dict) else (token for token, _ in vocabulary)
    around = json.dumps([tokenizer.get("pre_tokenizer"), tokenizer.get("decoder")])
    return _decoded(tokens) if '"ByteLevel"' in around else tokens


def _decoded(tokens: Iterable[str]) -> Iterator[str]:
    # A byte-level vocabulary can spell every script, one byte at a time. What the model learned shows in
    # the tokens that are whole characters; pieces of characters are left out.
    table = _byte_of_character()
    for token in tokens:
        try:
            yield bytes(map(table.__getitem__, token)).decode()
        except (KeyError, UnicodeDecodeError):
            continue


def _byte_of_character() -> dict[str, int]:
    # GPT-2 writes printable bytes as themselves and the others as the characters from U+0100 on.
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = sorted(set(range(0x100)) - set(printable))
    return {chr(byte): byte for byte in printable} | {chr(0x100 + n): byte for n, byte in enumerate(others)}
