from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from memtool.recall.routing.prefix_map import PrefixEntry, longest, parse_prefix_map, table_names


def test_entries_know_their_lines_even_twice() -> None:
    text = '{\n  "t_order_": "a.md",\n  "订单_": "b.md",\n "t_order_": "c.md", "x": 1, "y": {"z": "d.md"}}'
    assert parse_prefix_map(text) == [
        PrefixEntry("t_order_", "a.md", 2),
        PrefixEntry("订单_", "b.md", 3),
        PrefixEntry("t_order_", "c.md", 4),
        PrefixEntry("x", "", 4),
        PrefixEntry("y", "", 4),
    ]


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', "null", '{"a": "b"} x', "[" * 100_000, '{"a":' * 100_000])
def test_what_is_no_map_is_one_error(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_prefix_map(text)


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=6), st.booleans())
def test_any_map_is_read(pairs: dict[str, str], ascii_only: bool) -> None:
    entries = parse_prefix_map(json.dumps(pairs, ensure_ascii=ascii_only, indent=2))
    assert [(entry.prefix, entry.ref, entry.line) for entry in entries] == [
        (key, value, line) for line, (key, value) in enumerate(pairs.items(), start=2)
    ]


def test_the_longest_prefix_wins() -> None:
    assert longest({"t_", "t_order_", "订单"}, ["t_order_items"]) == ["t_order_"]
    assert longest({"t_", "t_order_", "订单"}, ["t_x", "订单_明细"]) == ["t_", "订单"]
    assert longest({"", "t_order_"}, ["t_order", "x", ""]) == []


@pytest.mark.parametrize("name", ["ORDER_ITEMS", '"shop"."order_items"', "`order_items`", "[dbo].[Order_Items]"])
def test_a_table_is_known_however_it_is_written(name: str) -> None:
    assert "order_items" in table_names(name)
