from __future__ import annotations

import sqlite3
import unicodedata
from contextlib import closing

import pytest
from hypothesis import given, strategies as st

from memtool.index import schema
from memtool.text.tokens import (
    LONGEST_TERM,
    WordTerms,
    capitalised_terms,
    fold,
    index_terms,
    plain_words,
    query_characters,
    query_names,
    query_terms,
    query_words,
    stem,
    term_spans,
    unspaced_runs,
    words_of,
)

anything = st.text(st.characters(exclude_categories=()))  # lone surrogates and NUL are among it
letters_without_spaces = st.one_of(
    st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF),
    st.characters(min_codepoint=0x20000, max_codepoint=0x2A6DF),
    st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3),
    st.characters(min_codepoint=0x3041, max_codepoint=0x3096),
    st.characters(min_codepoint=0x30A1, max_codepoint=0x30FA),
    st.sampled_from("的什么谁吗目确士如何무엇인가なに"),
)
around = st.text(st.sampled_from("ab Z_0.,#/-+，。「」 \n"))


@pytest.mark.slow
@given(around, st.text(letters_without_spaces, min_size=1), around, st.data())
def test_every_one_or_two_characters_of_a_run_are_findable(
    before: str, run: str, after: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    piece = run[start : start + data.draw(st.integers(1, 2))]

    asked = query_terms(piece)

    assert asked
    assert set(asked) <= set(index_terms(before + run + after))


@pytest.mark.slow
@given(anything)
def test_fts5_gives_every_term_back_whole(text: str) -> None:
    assert vocabulary_of(text) == set(index_terms(text))


@pytest.mark.slow
def test_fts5_gives_the_terms_of_every_character_back_whole() -> None:
    letters = [letter for letter in map(chr, range(0x110000)) if index_terms(letter)]
    every = " ".join(letters)

    assert len(letters) > 100_000
    assert vocabulary_of(every) == set(index_terms(every))


def vocabulary_of(text: str) -> set[str]:
    with closing(sqlite3.connect(":memory:")) as db:
        schema.create(db)
        db.execute("INSERT INTO chunk_terms (terms) VALUES (?)", (" ".join(index_terms(text)),))
        return {row[0] for row in db.execute("SELECT term FROM vocabulary")}


@given(anything)
def test_no_text_is_too_strange(text: str) -> None:
    for terms in (query_characters(text), query_words(text), query_names(text), unspaced_runs(text), words_of(text)):
        assert all(terms)
    assert len(plain_words(text)) <= len(text)


@pytest.mark.slow
@given(anything, st.data())
def test_spans_are_in_order_inside_the_text_apart_and_match(text: str, data: st.DataObject) -> None:
    terms = index_terms(text)
    wanted = frozenset(data.draw(st.lists(st.sampled_from(terms)))) if terms else frozenset({"a"})

    spans = list(term_spans(text, wanted))

    ends = [0, *(end for span in spans for end in span), len(text)]
    assert ends == sorted(ends)
    assert all(wanted.intersection(index_terms(text[start:end])) for start, end in spans)


FOUND = [
    ("error[E0308]: mismatched types", "e0308"),
    ("Fixes #4573.", "#4573"),
    ("Fixes #4573.", "4573"),
    ("since v2.1.210 (stable)", "v2.1.210"),
    ("getUserById(7)", "user"),
    ("getUserById(7)", "GETUSERBYID"),
    ("HTTPServer", "http server"),
    ("max_connections = 5", "connections"),
    ("`SELECT__x`", "select"),
    ("see src/auth/jwt_middleware.ts", "src/auth/jwt_middleware.ts"),
    ("see src/auth/jwt_middleware.ts", "middleware"),
    (r"in C:\Users\me\notes.md", "notes"),
    ("at https://example.com/a-b?page=2#top", "https://example.com/a-b?page=2"),
    ("at https://example.com/a-b?page=2#top", "example"),
    ("mail me@example.com", "me@example.com"),
    ("std::vec::Vec", "vec"),
    ("written in C++ and C#.", "C++"),
    ("written in C++ and C#.", "c#"),
    ("since C++17", "C++"),
    ("compile it with g++", "g++"),
    ("用C++写的", "C++"),
    ("用C#写的", "C#"),
    ("Rust中的panic怎么处理", "rust"),
    ("Rust中的panic怎么处理", "panic"),
    ("Rust中的panic怎么处理", "处理"),
    ("解密失败", "密失"),
    ("２０２６年のＡＰＩ", "api"),
    ("２０２６年のＡＰＩ", "2026"),
    ("ｶﾞｲﾄﾞ", "ガイド"),
    ("ガイド", "ｶﾞｲﾄﾞ"),
    (unicodedata.normalize("NFD", "ガイド"), "ガイド"),
    (unicodedata.normalize("NFD", "데이터베이스"), "데이터"),
    ("데이터베이스를", unicodedata.normalize("NFD", "베이스")),
    (unicodedata.normalize("NFD", "résumé"), "resume"),
    ("Việt Nam", unicodedata.normalize("NFD", "việt")),
    ("ЁЛКА", "ёлка"),
    ("ฐานข้อมูล", "ข้อมูล"),
    ("हिन्दी में", "हिन्दी"),
    ("straße", "STRASSE"),
    ("⾃⼰", "自己"),  # Kangxi radicals, as they are copied out of PDF files
    ("ﷺ", "ﷺ"),
    ("𠮷野家", "𠮷"),
    ("办公室的Wi-Fi密码", "wifi"),
    ("the WiFi of the office", "Wi-Fi"),
    ("log-in page", "login"),
    ("call RetryFailedInvoiceJob每小时一次", "retry_failed_invoice_job"),
    ("retry-failed-invoice-job", "RetryFailedInvoiceJob"),
    ("see src/auth/jwt_middleware.ts", "jwtMiddleware"),
    ("the café is closed", "cafe"),
    ("一个cafe", "CAFÉ"),
    ("don't panic", "dont"),
    ("don’t panic", "don't"),
    ("Caroline’s keys", "caroline"),
    ("O'Brien said so", "obrien"),
    ("l'eau", "eau"),
    ("written in C/C++", "C"),
    ("written in C/C++", "C++"),
    ("развертывания серверов", "развертывание"),
    ("用новый ключ解密", "новая"),
    ("без ключей", "ключ"),
]


def test_it_is_found_by_whole_and_by_part() -> None:
    for text, query in FOUND:
        assert query_terms(query), query
        assert set(query_terms(query)) <= set(index_terms(text)), (text, query)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("What is the deploy key?", ["deploi", "kei"]),
        ("the who", ["the", "who"]),  # nothing but stop words: then those
        ("数据库的备份是什么", ["数据", "据库", "备份", "份是"]),
        ("什么", ["什么"]),
        ("目的", ["目的"]),
        ("的确", ["的确"]),
        ("배포 키는 무엇인가", ["배포", "키는"]),
        ("なぜ失敗したのか", ["なぜ", "ぜ失", "失敗", "敗し", "した", "たの", "のか"]),
        ("!?，。\x00\ud800", []),
        ("I don't know why we'd say dont", ["know", "sai"]),
        ("为什么don't panic", ["panic"]),
    ],
)
def test_function_words_are_not_asked_for(query: str, terms: list[str]) -> None:
    asked = query_terms(query)

    assert sorted(asked) == sorted(terms)


def test_the_same_letter_in_another_script_is_another_term() -> None:
    assert not set(index_terms("авто")) & set(index_terms("abto"))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("written in C++, 用C++写的", "C"),
        ("written in C#", "c"),
        ("written in C, 用C写的", "C++"),
        ("written in C", "C#"),
        ("written in C++", "C#"),
        ("it’s, she’ll, we're", "shell"),
        ("2026-02-05", "20260205"),
        ("мой", "мои"),  # й is a letter of its own, as ё is not
    ],
)
def test_what_is_something_else_is_not_found(text: str, query: str) -> None:
    assert not set(query_terms(query)) & set(index_terms(text))


def test_a_sign_after_a_longer_word_does_not_hide_the_word() -> None:
    assert set(index_terms("counter++")) == {"counter++", "counter"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("why does RetryFailedInvoice fail", ["retryfailedinvoic"]),
        ("retry_failed_invoice为什么失败", ["retryfailedinvoic"]),
        ("jwt.ts v2.1.210 a-b-c", ["jwt.ts", "v2.1.210", "abc"]),
        ("Wi-Fi, don't, e-mail, C++ and 2026", []),
    ],
)
def test_identifiers_of_a_query_are_told_from_words(text: str, names: list[str]) -> None:
    assert list(query_names(text)) == names


def test_stemming_is_for_english_and_russian_words_only() -> None:
    assert stem("connections") == "connect"
    assert stem("миграцией") == stem("миграции") == "миграц"
    assert stem("e0308") == "e0308"
    assert stem("données") == "données"


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "aB",
        "a.",
        "a://",
        "a中",
        "中",
        "的",
        "#",
        "+",
        "-",
        "_",
        "a+",
        "A",
        "\u0301",
        "e\u0301",
        "か\u3099",
        "ﷺ",
        "1",
        " ",
    ],
)
def test_terms_grow_with_the_text_and_no_faster(unit: str) -> None:
    hostile = unit * (300_000 // len(unit))  # would not end if the work grew with the square

    terms = index_terms(hostile)

    assert len(terms) <= 2 * len(hostile)
    assert all(len(term) <= LONGEST_TERM for term in terms)
    assert len(query_terms(hostile)) < 10_000


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("When did Caroline go to the group in Paris?", ["carolin", "pari"]),
        ("what is Zoë's and Iván’s answer to it all", ["zoe", "ivan"]),
        ("Why does the pool of getUserById use SQL and OAuth?", []),
        ("What did he say? Because of that I am late", []),
        ("How To Write A Good Test", []),
        ("Wo steht die Anmeldung der Kunden im Shop", []),
        ("支付回调为什么失败", []),
        ("问一下 Caroline 去哪儿了", []),
        ("", []),
    ],
)
def test_capitalised_words_within_a_sentence_are_names(text: str, terms: list[str]) -> None:
    assert capitalised_terms(text) == terms


def test_what_folding_leaves_alone_at_once_is_what_it_would_leave_alone() -> None:
    plain = [
        chr(code)
        for first, last in ((0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FFF))
        for code in range(first, last + 1)
    ]
    for text in ("".join(plain), "".join(reversed(plain)), "".join(plain[::7])):
        folded = unicodedata.normalize("NFKC", text).casefold()
        assert unicodedata.normalize("NFC", unicodedata.normalize("NFD", folded)) == text
        assert fold(text) == text
        assert fold(f"{text}É") == f"{text}e"


@given(st.lists(st.text() | st.sampled_from(["getUserById", "(Wi-Fi,", "C#-Code", "解密C++失败。", "ÉTÉ's", "\u0301"])))
def test_words_that_were_cut_before_give_the_same_terms(texts: list[str]) -> None:
    known = WordTerms()
    for text in [*texts, " ".join(texts), *texts]:
        assert known.of(text).split() == index_terms(text)
    assert known.words == words_of("\n".join(texts))
