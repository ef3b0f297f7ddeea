from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from memtool.text import languages
from memtool.text.languages import LANGUAGES, begins_with, mentioned, starts_with, words

KINDS = (
    "contradiction", "consent", "announcement", "standing", "taken_back", "replaced_by", "urgent", "function", "offer",
    "admission", "lasting", "option", "ordering", "picking", "praise", "refutation",
    "concession", "denial", "reversal", "continuing", "choosing", "trial", "proposal",
)  # fmt: skip


def words_of(code: str) -> dict[str, list[str]]:
    return tomllib.loads((resources.files(languages) / f"{code}.toml").read_text("utf-8"))


def test_there_is_a_file_for_each_language_and_no_other() -> None:
    files = {path.name.removesuffix(".toml") for path in resources.files(languages).iterdir() if ".toml" in path.name}
    assert files == set(LANGUAGES)


def test_no_language_lacks_a_kind_of_words() -> None:
    lacking = {code: sorted(set(KINDS) - words_of(code).keys()) for code in LANGUAGES}
    assert {code: kinds for code, kinds in lacking.items() if kinds} == {}


@pytest.mark.parametrize("code", LANGUAGES)
def test_words_are_written_as_they_are_looked_for(code: str) -> None:
    for kind, listed in words_of(code).items():
        assert kind in KINDS
        assert all(word == word.casefold().strip() and word for word in listed)
        assert len(listed) == len(set(listed))
        assert all(begins_with(kind, word) or word in mentioned(kind, word) for word in listed)


def test_the_longest_word_comes_first() -> None:
    lengths = [len(word) for word in words("contradiction")]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("contradiction", "No, keep the old cookie"),
        ("contradiction", "ok. But wait, the tests"),
        ("contradiction", "不对，旧的也要保留"),
        ("contradiction", "hm: that's not what I meant"),
        ("consent", "Yes, go on"),
        ("consent", "好的，继续"),
        ("standing", "Always run the linter first"),
        ("standing", "以后都用 pnpm"),
        ("announcement", "Let me look at jwt.ts"),
        ("praise", "哇，终于好了，太棒了"),
        ("praise", "ok, works. great"),
        ("admission", "You're right, it was the synonym file."),
        ("admission", "确实，代码没有引用它"),
        ("lasting", "这个先不管，以后都用 pnpm"),
    ],
)
def test_a_text_begins_with_words_of_a_kind(kind: str, text: str) -> None:
    assert begins_with(kind, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("contradiction", "Nobody knows the node version"),
        ("contradiction", "Notes go to docs/"),
        ("consent", "Yesterday it worked"),
        ("standing", "The parser always returns a list"),
        ("consent", ""),
        ("standing", "x" * 500 + ". Always do it"),
    ],
)
def test_the_middle_of_a_sentence_and_parts_of_words_are_no_beginning(kind: str, text: str) -> None:
    assert not begins_with(kind, text)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("Always inject clocks", True),
        ("ok, never push to main", True),
        ("好，一律先 dry-run", True),
        ("It fails one time in five on CI, never locally", False),
        ("启动要等十几秒，用户总是抱怨，绝不是网络的问题", False),
    ],
)
def test_a_text_starts_with_an_order_or_only_goes_on_with_its_word(text: str, starts: bool) -> None:
    assert starts_with("ordering", text) is starts
