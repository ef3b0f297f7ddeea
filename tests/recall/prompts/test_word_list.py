from __future__ import annotations

import pytest

from memtool.index.text import stem
from memtool.recall.prompts.word_list import WordList

LIST = WordList("deploy use\ntry happy uber release  и")


@pytest.mark.parametrize("word", ["deploy", "deployed", "deploying", "using", "used", "releases"])
def test_a_word_is_known_by_its_stem(word: str) -> None:
    assert LIST.has_stem(stem(word))


@pytest.mark.parametrize("word", ["deployer-x", "us-east", "re", "releasenotes", "部署"])
def test_what_only_begins_alike_is_not(word: str) -> None:
    assert not LIST.has_stem(stem(word))


def test_a_word_is_in_the_list_as_it_is() -> None:
    assert "uber" in LIST
    assert "и" in LIST
    assert "deployed" not in LIST
    assert "deploy use" not in WordList("deploy  the use")
