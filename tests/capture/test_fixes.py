from __future__ import annotations

import pytest

from memtool.capture.fixes import fixes_in, telling_error
from memtool.capture.turns import Run, Turn
from memtool.vault.fix_lines import Fix, parse_fix, render_fix, same_error
from memtool.vault.session_rows import Piece

ERROR = "Exit code 1\n[test] $ pytest\nE   sqlite3.OperationalError: no such table: users\n=== 1 failed ==="
FILE = "/src/shop/migrate.py"


def test_a_command_that_failed_and_passed_after_an_edit_is_a_fix() -> None:
    turns = [
        Turn(asked="tests fail", runs=(Run("cd /src && pytest -q tests/db", ERROR),)),
        Turn(ended="migrations run before the tests", files=(FILE,), runs=(Run("pytest -q tests/db 2>&1 | tail -3"),)),
    ]
    (fix,) = fixes_in(turns)
    assert fix.command == "pytest -q tests/db"
    assert fix.error == "E sqlite3.OperationalError: no such table: users"
    assert fix.change == "migrations run before the tests (migrate.py)"


@pytest.mark.parametrize(
    ("ended", "change"),
    [
        ("The table 用户 is made by migrate.py first", "The table 用户 is made by migrate.py first"),
        ("压测：P99 降到 86 毫秒", "migrate.py"),
    ],
)
def test_the_end_of_a_long_message_tells_a_fix_only_if_it_is_about_it(ended: str, change: str) -> None:
    told = (Piece("one"), Piece("two"), Piece(ended))
    turns = [Turn(runs=(Run("pytest", ERROR),)), Turn(ended=ended, told=told, files=(FILE,), runs=(Run("pytest"),))]
    assert [fix.change for fix in fixes_in(turns)] == [change]


@pytest.mark.parametrize(
    "turns",
    [
        [Turn(runs=(Run("pytest", ERROR), Run("pytest")))],  # nothing was edited: it may be flaky
        [Turn(files=(FILE,), runs=(Run("pytest", "Exit code 1"), Run("pytest")))],  # nobody knows what was wrong
        [Turn(files=(FILE,), runs=(Run("pytest", ERROR), Run("pytest"), Run("pytest", ERROR)))],  # it did not hold
        [Turn(files=(FILE,), runs=(Run("pytest", ERROR), Run("ruff check")))],  # another command
    ],
)
def test_what_is_no_fix(turns: list[Turn]) -> None:
    assert fixes_in(turns) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_fix_is_read_again_from_its_line(language: str) -> None:
    fix = Fix("pytest tests/auth", "clock skew: 令牌无效", "leeway of 30 s in middleware/jwt.ts")
    assert parse_fix(render_fix(fix, language)) == fix
    assert parse_fix("fixed the `clock`") is None


def test_the_telling_line_of_an_error() -> None:
    assert telling_error("FAIL\n* goconst: 1\nmake: *** [all] Error 2") == ""
    assert telling_error("x\nerror: cannot find module 'redis'\nmore") == "error: cannot find module 'redis'"


def test_errors_are_compared_without_what_differs() -> None:
    one = "FATAL: /home/a/db.sqlite: connection 4711 refused at 0xdeadbeef"
    assert same_error(one) == same_error("fatal: /tmp/x/db.sqlite: connection 12 refused at 0x00ff")
    assert same_error(one) != same_error("fatal: disk full")
