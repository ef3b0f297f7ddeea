"""How builds and tests ended, by what they printed, and not by what the shell says of the last command of a pipe."""

from __future__ import annotations

import pytest

from memtool.capture.checks import (
    FAILED,
    NOTHING_RAN,
    check_in,
    error_lines,
    fault_in,
    is_sure_to_have_failed,
)


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


def test_the_telling_lines_of_an_error() -> None:
    assert error_lines("FAIL\n* goconst: 1\nmake: *** [all] Error 2\nuser.py:3: DeprecationWarning: x is old") == []
    assert error_lines("x\nerror: cannot find module 'redis'\nmore") == ["error: cannot find module 'redis'"]
    output = '--- FAIL: TestCart (0.1s)\n"session_id": "one"\ncart_test.go:7: got 3\n编译错误：找不到符号 购物车'
    assert error_lines(output) == ["--- FAIL: TestCart (0.1s)", "cart_test.go:7: got 3", "编译错误：找不到符号 购物车"]
