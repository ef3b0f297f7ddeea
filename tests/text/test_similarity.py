from __future__ import annotations

from memtool.text.similarity import are_alike, is_said, trigrams, words


def test_words_are_those_that_tell_something() -> None:
    assert words("Fix the LOGIN of jwt.ts:41") == {"fix", "the", "login", "jwt", "41"}
    assert words("令牌有效期") == {"令牌", "牌有", "有效", "效期"}
    assert words("!? 。") == frozenset()


def test_what_is_said_in_other_order_is_said() -> None:
    long = words("the retry of the gateway charges customers twice, 令牌过期")
    assert is_said(words("customers twice: the gateway retry"), [long])
    assert is_said(words("令牌过期"), [long])
    assert not is_said(words("令牌有效期为二十四小时"), [long])
    assert not is_said(words("the build of the gateway is slow today"), [long])
    assert not is_said(words("…"), [long])


def test_texts_are_alike_by_three_letters_at_a_time() -> None:
    one, other = trigrams("the cookie is 解密失败"), trigrams("the cookies is 解密失败")
    assert are_alike(one, other, 0.7)
    assert not are_alike(one, other, 0.95)
    assert not are_alike(trigrams("ab"), trigrams("ab"), 0.5)
    assert trigrams("解密失败") == {"解密失", "密失败"}
