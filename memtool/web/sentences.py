"""Sentences of memtool in the language of the page: findings of the doctor, lines of the log, refusals, notices."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache

from memtool.resources import shipped

_JOINTS = ((": ", "："), (". ", "。"))  # between two sentences, and the same in Chinese
_DEEPEST = 3  # parts within parts
_LONGEST = 2_000  # characters


def said(sentence: str, language: str) -> str:
    """Return *sentence*, which is in English, in *language*; what is not known there stays as it is.

    The words of others, such as git, a model or the system, are not translated.
    """
    return _said(sentence, language, _DEEPEST) if len(sentence) <= _LONGEST else sentence


@lru_cache(maxsize=2_000)
def _said(sentence: str, language: str, depth: int) -> str:
    for form, words in _forms(language):
        if found := form.fullmatch(sentence):
            return words.format(*(_said(part, language, depth - 1) if depth else part for part in found.groups()))
    for mark, own_mark in _JOINTS if depth else ():
        parts = sentence.split(mark, 1)
        told = [_said(part, language, depth - 1) for part in parts]
        if told != parts:
            return own_mark.join(told)
    return sentence


@cache
def _forms(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    path = shipped("rules") / language / "sentences.toml"
    if not path.exists():
        return ()  # English is what the sentences are in
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple((re.compile(_pattern(form), re.DOTALL), words) for form, words in table.items())


def _pattern(form: str) -> str:
    return re.escape(form).replace(r"\{\}", "(.+?)").replace(r"\{n\}", r"([\d,]+)")
