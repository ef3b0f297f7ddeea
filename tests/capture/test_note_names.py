from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from memtool.capture.note_place import name_from


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Can you please use ULIDs for the orders?", "ulids-orders"),
        ("Rename `orders` to `purchases` everywhere, and update the docs.", "rename-orders-purchases-everywhere"),
        ("hi!\nPlease fix the login in Safari; it fails.", "fix-login-safari"),
        ("Look at @src/shop/auth/jwt.ts: the tokens don't expire", "look-jwt-ts"),
        ("See https://example.com/issues/12 and repair it", "see-repair"),
        ("Übersetze die Rechnung für André", "ubersetze-rechnung-fur-andre"),
        ("Bump v2.1.210 of getUserById", "bump-v2-1-210-getuserbyid"),
        ("请帮我把登录接口加上限流，每分钟十次", "登录接口加上限流"),
        ("我想架构一个Android的下载库，必须稳定", "我想架构一个Android的下载库"),
        ("数据库迁移脚本在生产环境里执行失败了怎么办", "数据库迁移脚本在生产环境"),
        ("好的。修复 Safari 登录", "修复Safari登录"),
        ("ok", ""),
        ("", ""),
        ("fix ../../etc/passwd", "fix-passwd"),
    ],
)
def test_a_session_is_named_after_what_was_wanted_first(typed: str, name: str) -> None:
    assert name_from([typed]) == name


def test_the_first_prompt_that_tells_something_counts() -> None:
    assert name_from(["hi", "commit", "Move the cart to Redis, 购物车"]) == "move-cart-redis"
    assert name_from(["hi", "commit"]) == "commit"
    assert name_from([]) == ""


@given(st.lists(st.text(max_size=80), max_size=4))
def test_a_name_is_a_short_part_of_a_path(typed: list[str]) -> None:
    name = name_from(typed)
    assert len(name) <= 44
    assert not re.search(r"[\s/\\:*?\"<>|()\[\]#^]|^[.-]|[.-]$", name)
