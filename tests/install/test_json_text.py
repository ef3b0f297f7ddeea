from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st
from install.json_texts import NAMES, VALUES, layouts

from memtool.install.json_text import added, is_plain, removed, replaced
from memtool.text.json_places import Node, parse

NEW = {"type": "command", "args": ["--vault", "/记忆"], "timeout": 10}


def containers(root: Node) -> list[Node]:
    """All objects and lists below *root*, itself included."""
    below = [node for member in root.members for node in containers(member.node)]
    return [root, *below] if isinstance(root.value, dict | list) else below


@st.composite
def documents(draw: st.DrawFn) -> str:
    value = draw(st.dictionaries(NAMES, VALUES, max_size=4) | st.lists(VALUES, max_size=4))
    return draw(layouts(value))


@pytest.mark.slow
@given(VALUES.flatmap(lambda value: st.tuples(st.just(value), layouts(value))))
def test_any_layout_is_read_as_what_it_means(case: tuple[Any, str]) -> None:
    value, text = case
    assert parse(text).value == value


@pytest.mark.slow
@given(documents(), st.data())
def test_what_is_added_comes_last_and_changes_nothing_else(text: str, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(containers(parse(text))))
    name = "added" if isinstance(place.value, dict) else ""
    new = added(text, place, NEW, name)
    again = containers(parse(new))[containers(parse(text)).index(place)]
    assert again.value == ({**place.value, name: NEW} if name else [*place.value, NEW])
    assert new[: place.start + 1] == text[: place.start + 1]
    assert new.endswith(text[place.end :])


@pytest.mark.slow
@given(documents(), st.data())
def test_removing_takes_back_adding(text: str, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(containers(parse(text))) - 1))
    place = containers(parse(text))[number]
    new = added(text, place, NEW, "added" if isinstance(place.value, dict) else "")
    again = containers(parse(new))[number]
    back = removed(new, again, len(again.members) - 1)
    if place.members:
        assert back == text
    else:  # only the white space inside something empty may differ
        assert without_space(back) == without_space(text)
        assert parse(back).value == parse(text).value


def test_two_slashes_between_two_comments_are_no_comment() -> None:
    text = "[null,[null]/* , *//* , */]"
    new = added(text, parse(text), NEW)
    assert removed(new, parse(new), 2) == text


def without_space(text: str) -> str:
    return re.sub(r"\s", "", text)


@pytest.mark.slow
@given(documents(), st.data())
def test_any_member_can_be_removed_and_no_comment_is_lost(text: str, data: st.DataObject) -> None:
    places = [place for place in containers(parse(text)) if place.members]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    at = data.draw(st.integers(0, len(place.members) - 1))
    rest = list(place.value.items()) if isinstance(place.value, dict) else list(place.value)
    del rest[at]
    new = removed(text, place, at)
    again = containers(parse(new))[containers(parse(text)).index(place)]
    assert again.value == (dict(rest) if isinstance(place.value, dict) else rest)
    assert is_plain(new) or not is_plain(text)


@pytest.mark.slow
@given(documents(), VALUES, st.data())
def test_replacing_changes_one_value(text: str, value: Any, data: st.DataObject) -> None:
    nodes = [member.node for place in containers(parse(text)) for member in place.members]
    if not nodes:
        return
    node = data.draw(st.sampled_from(nodes))
    new = replaced(text, node, value)
    assert new.startswith(text[: node.start])
    assert new.endswith(text[node.end :])
    there = [member.node for place in containers(parse(new)) for member in place.members]
    assert [other.value for other in there if other.start == node.start] == [value]


def test_what_is_added_looks_like_what_stands_there() -> None:
    assert (
        added('{\n\t"a": 1\n}', parse('{\n\t"a": 1\n}'), {"b": []}, "c")
        == '{\n\t"a": 1,\n\t"c": {\n\t\t"b": []\n\t}\n}'
    )
    assert added('{"a":1}', parse('{"a":1}'), [1, 2], "c") == '{"a":1,"c":[1,2]}'
    assert added('{"a": 1}', parse('{"a": 1}'), [1, 2], "c") == '{"a": 1, "c": [1, 2]}'
    assert added('{\r\n    "a": 1\r\n}', parse('{\r\n    "a": 1\r\n}'), 2, "c") == '{\r\n    "a": 1,\r\n    "c": 2\r\n}'
    assert added("{}\n", parse("{}\n"), 2, "c") == '{\n  "c": 2\n}\n'
    text = '{\n  "Stop": [{\n    "hooks": []\n  }]\n}'
    stop = parse(text).get("Stop")
    assert stop
    assert added(text, stop, {"x": 1}) == '{\n  "Stop": [{\n    "hooks": []\n  }, {\n    "x": 1\n  }]\n}'


def test_comments_and_trailing_commas_stay_with_what_they_belong_to() -> None:
    text = '{\n  "a": 1 // one\n  /* the end */\n}'
    new = added(text, parse(text), 2, "b")
    assert new == '{\n  "a": 1, // one\n  /* the end */\n  "b": 2\n}'
    assert removed(new, parse(new), 1) == text
    assert removed(new, parse(new), 0) == '{ // one\n  /* the end */\n  "b": 2\n}'
    text = '{\n  "a": 1, // one\n}'
    assert added(text, parse(text), 2, "b") == '{\n  "a": 1, // one\n  "b": 2,\n}'
    text = '{ // first\n "a": 1, "b": 2}'
    assert parse(removed(text, parse(text), 0)).value == {"b": 2}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ("{", "expected a name in double quotes"),
        ("{'a': 1}", "expected a name in double quotes"),
        ('{"a" 1}', "expected ':'"),
        ('{"a": }', "Expecting value"),
        ('{"a": 1 "b": 2}', "expected ',' or '}'"),
        ("[1 2]", "expected ',' or ']'"),
        ("{,}", "expected a name in double quotes"),
        ('{"a": 1} x', "text after the end"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1, "解密": 2, "解密": 3}', "'解密' is there twice"),
        ('{"a": "x\n"}', "Invalid control character at"),
        ("{} /* no end", "text after the end"),
        ("9" * 5000, "Exceeds the limit"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text: str, why: str) -> None:
    with pytest.raises(json.JSONDecodeError, match=re.escape(why)):
        parse(text)


@pytest.mark.parametrize("text", ['"' + "\\" * 99_999, '{"a": "' + "x" * 99_999, "/*" * 50_000, "[" + "/**/" * 50_000])
def test_hostile_texts_are_refused_at_once(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        parse(text)


def test_names_are_found_by_their_value() -> None:
    node = parse(r'{"\u89e3": 1}').get("解")
    assert node == Node(1, 11, 12)
    assert parse("[1]").get("a") is None
