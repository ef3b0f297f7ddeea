from __future__ import annotations

from memtool.text.languages import word_file
from memtool.text.tokens import fold

LINES = [line for line in word_file("synonyms.txt").splitlines() if line]
ENTRIES = [line.split(", ") for line in LINES]


def are_in_one_group(*words: str) -> bool:
    return any(set(words) <= set(group) for group in ENTRIES)


def test_entries_are_folded_and_have_no_space_around_them() -> None:
    entries = [entry for group in ENTRIES for entry in group]
    assert [entry for entry in entries if not entry or entry != " ".join(fold(entry).split())] == []


def test_entries_are_words_or_short_phrases() -> None:
    entries = [entry for group in ENTRIES for entry in group]
    assert [entry for entry in entries if len(entry) > 40 or len(entry.split()) > 3] == []


def test_english_words_find_each_other() -> None:
    pairs = [
        ("phone", "handset"),
        ("phone", "device"),
        ("cert", "certificate"),
        ("roll back", "revert"),
        ("kubernetes", "k8s"),
        ("postgres", "pg"),
        ("stock", "inventory"),
        ("coupon", "voucher"),
        ("crash", "panic"),
        ("flaky", "intermittent"),
        ("pull request", "mr"),
        ("cap", "limit"),
    ]
    assert [(word, other) for word, other in pairs if not are_in_one_group(word, other)] == []


def test_english_and_chinese_words_find_each_other() -> None:
    pairs = [
        ("roll back", "回滚"),
        ("revert", "回滚"),
        ("phone", "手机"),
        ("certificate", "证书"),
        ("database", "数据库"),
        ("login", "登录"),
        ("auth", "鉴权"),
        ("inventory", "库存"),
        ("oversell", "超卖"),
        ("refund", "退款"),
        ("invoice", "发票"),
        ("threshold", "阈值"),
        ("stuck", "卡住"),
        ("timeout", "超时"),
        ("nightly", "凌晨"),
        ("time zone", "时区"),
        ("owner", "负责人"),
        ("sign off", "审批"),
        ("release", "上线"),
    ]
    assert [(word, other) for word, other in pairs if not are_in_one_group(word, other)] == []


def test_neighbours_and_opposites_are_no_synonyms() -> None:
    pairs = [
        ("database", "index"),
        ("encrypt", "decrypt"),
        ("login", "logout"),
        ("scale up", "scale down"),
        ("上架", "下架"),
    ]
    assert [(word, other) for word, other in pairs if are_in_one_group(word, other)] == []
