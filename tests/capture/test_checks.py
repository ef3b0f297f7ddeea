"""How builds and tests ended, by what they printed, and not by what the shell says of the last command of a pipe."""

from __future__ import annotations

import pytest

from memtool.capture.checks import (
    FAILED,
    NOTHING_RAN,
    check_in,
    fault_in,
    fixes_in,
    is_sure_to_have_failed,
    is_test,
    telling_error,
)
from memtool.capture.turns import Run, Turn
from memtool.vault.session_lines import Fix, parse_fix, render_fix
from memtool.vault.session_rows import Piece

ERROR = "Exit code 1\n[test] $ pytest\nE   sqlite3.OperationalError: no such table: users\n=== 1 failed ==="
FILE = "/src/shop/migrate.py"


@pytest.mark.parametrize(
    ("command", "output", "fault"),
    [
        ("pytest -q", "12 passed in 3.1s", ""),
        ("pytest -q | tail -3", "1 failed, 11 passed in 3.1s", FAILED),
        ("go test ./... 2>&1 | head -50", "--- FAIL: TestCart (0.1s)", FAILED),
        ("go test ./...", "ok  \tshop/cart\t0.2s\n?   \tshop/api\t[no test files]", ""),
        ("npx tsc --noEmit; echo $?", "src/购物车.ts(3,1): error TS2304: Cannot find name", FAILED),
        ("pnpm test -- --testPathPattern=支付", "No tests found, exiting with code 0", NOTHING_RAN),
        ("pytest -k nothing", "collected 0 items", NOTHING_RAN),
        ("npx jest | tail -5", "Tests:       3 passed, 3 total\nwith 0 failed", ""),
    ],
)
def test_a_check_has_passed_only_if_its_output_does_not_say_otherwise(command: str, output: str, fault: str) -> None:
    assert fault_in(command, output) == fault


def test_checks_are_told_from_other_commands() -> None:
    assert check_in("cd /srv/shop && make test 2>&1 | tail -20") == "make test"
    assert [check_in(command) for command in ("git status", "test -f a", "/tmp/shop-test run", "")] == [""] * 4
    assert [is_test(command) for command in ("npm run lint", "npx jest 登录")] == [False, True]


@pytest.mark.parametrize(
    ("command", "output", "is_sure"),
    [
        ("go build ./... && /tmp/shop bad-argument", "Error: unknown command 错误", False),
        ("go build ./... && /tmp/shop bad-argument", "cart.go:3: error: undefined", False),
        ("go build ./... && /tmp/shop bad-argument", "error[E0425]: cannot find 购物车\nerror: aborting", True),
        ("make lint && make test", "boom", True),
        ("pytest -q", "boom", True),
    ],
)
def test_a_program_that_was_tried_out_may_fail_as_it_should(command: str, output: str, is_sure: bool) -> None:
    assert is_sure_to_have_failed(command, output) == is_sure


def test_what_a_check_built_is_not_part_of_it() -> None:
    assert (
        check_in("cd a && go build -o /tmp/shop ./cmd && /tmp/shop 订单 2>&1; echo $?") == "go build -o /tmp/shop ./cmd"
    )
    assert check_in("mise run fmt && mise run lint") == "mise run fmt && mise run lint"


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
