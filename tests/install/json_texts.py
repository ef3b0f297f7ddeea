"""Texts of JSON in every layout that people and programs write, for property tests."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "model", "env", "权限", "Stop", "hooks", 'q"', "// no comment"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.sampled_from(["", "x", "解密失败", "a: b", '{"', "/* */"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def layouts(draw: st.DrawFn, value: Any) -> str:
    """*value* as JSON: on one line or on many, with white space and comments anywhere, a BOM, a last line end."""
    kind = draw(st.sampled_from(["dense", "line", "2", "4", "tab", "wild"]))
    if kind == "wild":
        text = _wild(draw, value)
    elif kind in ("dense", "line"):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":") if kind == "dense" else None)
    else:
        text = json.dumps(value, ensure_ascii=False, indent="\t" if kind == "tab" else int(kind))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    ends = draw(st.sampled_from(["", "\n", "\n\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + (text + ends).replace("\n", newline)


_GAPS = st.sampled_from(["", "", " ", "\n", "\n  ", " \t", "/* , */", " // } \n", "\n\n    "])


def _wild(draw: st.DrawFn, value: Any) -> str:
    def gap() -> str:
        return draw(_GAPS)

    def write(item: Any) -> str:
        if not isinstance(item, dict | list):
            return json.dumps(item, ensure_ascii=False)
        parts = (
            [f"{json.dumps(name)}{gap()}:{gap()}{write(inner)}" for name, inner in item.items()]
            if isinstance(item, dict)
            else [write(inner) for inner in item]
        )
        trailing = draw(st.sampled_from(["", f"{gap()},"])) if parts else ""
        body = ",".join(f"{gap()}{part}{gap()}" for part in parts)
        brackets = "{}" if isinstance(item, dict) else "[]"
        return f"{brackets[0]}{body}{trailing}{gap()}{brackets[1]}"

    return gap() + write(value) + gap()
