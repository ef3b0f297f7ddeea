from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.routing.globs import LONGEST_GLOB, fault_of, matches

# Each of these was tried with the client: see tests/claude_code/test_rules.py.
SEEN = [
    ("src/pay/**", True),
    ("*.py", True),
    ("**/pay/*.py", True),
    ("src/{pay,zzz}/*.py", True),
    ("a.py", True),
    ("src/pay/", True),
    ("src/pay", True),
    ("pay/**", True),
    ("**/src/pay/**", True),
    ("/src/pay/**", True),
    ("src/[p]ay/*", True),
    ("SRC/pay/**", True),
    ("other/**", False),
    ("src/支付/**", False),
]


@pytest.mark.parametrize(("glob", "expected"), SEEN)
def test_a_glob_means_what_it_means_to_the_client(glob: str, *, expected: bool) -> None:
    assert matches(glob, "src/pay/a.py") is expected


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("src/支付/**", "src/支付/回调.py", True),
        ("src/*.py", "src/pay/a.py", False),
        ("src/**/a.py", "src/a.py", True),
        ("src/**/a.py", "src/x/y/a.py", True),
        ("pay/*.py", "src/pay/a.py", False),
        ("src/payments", "src/payments2/a.py", False),
        ("[", "a[b", False),
        ("*.{ts,tsx}", "x/y.tsx", True),
        ("src/**", "", False),
    ],
)
def test_a_glob_matches_whole_names(glob: str, path: str, *, expected: bool) -> None:
    assert matches(glob, path) is expected


@pytest.mark.parametrize(
    ("glob", "fault"),
    [
        ("", "is empty"),
        (" ", "is empty"),
        ("**", "matches every file"),
        ("/**/*", "matches every file"),
        ("../x/**", "does not begin and stay in a project"),
        ("a/../../x", "does not begin and stay in a project"),
        ("~/x", "does not begin and stay in a project"),
        ("C:/x", "does not begin and stay in a project"),
        ("!src/**", "does not begin and stay in a project"),
        ("a\\b", "holds a character that no glob may hold"),
        ("a\nb", "holds a character that no glob may hold"),
        ("{a,b}" * 30, "means more than 64 globs"),
        ("x" * (LONGEST_GLOB + 1), "has more than 200 characters"),
        ("src/支付/**", ""),
    ],
)
def test_a_bad_glob_is_named(glob: str, fault: str) -> None:
    assert fault_of(glob) == fault


@given(st.text(alphabet="a*?[]{},/.支!-", max_size=60), st.text(alphabet="a/.支", max_size=60))
def test_any_glob_is_harmless(glob: str, path: str) -> None:
    assert matches(glob, path) in (True, False)


@pytest.mark.parametrize("glob", ["*a" * 90 + "b", "**/" * 60 + "b", "{" * 90, "[a" * 60])
def test_a_hostile_glob_takes_no_time(glob: str) -> None:
    assert not matches(glob, "a" * 2_000)
    assert not matches(glob, "a/" * 2_000)
