"""What mended a check: only where an error, an edit and what the agent said in between belong together."""

from __future__ import annotations

import pytest

from memtool.capture.mended import fixes_in
from memtool.capture.turns import FileEdit, Run, Turn

ERROR = "Exit code 1\nE   sqlite3.OperationalError: no such column: users.mail_hash\n=== 1 failed ==="
TESTS = "pytest -q tests/db"
SAID = "The migration has to add the column mail_hash before the tests run."
EDIT = FileEdit("/src/shop/migrate.py", 2, 1, "add_column('users', 'mail_hash')", after=1)


def mended(
    said: str = SAID,
    *,
    error: str = ERROR,
    command: str = TESTS,
    edits: tuple[FileEdit, ...] = (EDIT,),
    then: str = "谢谢",
) -> list[str]:
    """Return the fixes of a turn in which *command* failed, *said* was said, *edits* were made and it passed."""
    runs = (Run(command, error, after=0), Run(f"{command} 2>&1 | tail -3", last_line="3 passed", after=1))
    turn = Turn(typed="查一下", messages=(said, "All tests pass."), runs=runs, edits=edits)
    return [line.text for line in fixes_in([turn, Turn(typed=then)])]


def test_a_fix_is_told_with_error_file_edit_and_cause() -> None:
    (fix,) = mended()
    error, _, change = fix.partition(" → ")
    assert error == "`pytest -q tests/db`: “E sqlite3.OperationalError: no such column: users.mail_hash”"
    assert change == f"{SAID} → migrate.py: `add_column('users', 'mail_hash')` ✓ passed"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("cart_test.go:7: undefined: NewTaxTable", "NewTaxTable 改名了，测试要跟着改。"),
        ("编译错误：找不到符号 TaxTable", "原因是 TaxTable 没有导出，所以加上导出。"),
        ("error: the tax of the cart is rounded twice", "The issue is that the cart was rounded before the tax."),
    ],
)
def test_both_languages_tell_a_fix(error: str, said: str) -> None:
    (line,) = mended(said, error=error)
    assert said in line


@pytest.mark.parametrize(
    "nothing",
    [
        {"edits": ()},
        {"said": "Let me look at this."},
        {"command": "python test_try.py", "edits": (FileEdit("/src/test_try.py", 9, 0, "import x", after=1),)},
        {"command": "git push"},
        {"then": "no, that is wrong, put the old column back"},
        {"edits": (EDIT._replace(stopped=True),)},
        {"said": "Which column do the users of mail_hash need?"},
    ],
)
def test_where_one_of_them_is_missing_nothing_is_claimed(nothing: dict[str, object]) -> None:
    assert mended(**nothing) == []  # type: ignore[arg-type]


def test_what_every_command_prints_is_no_error_of_one() -> None:
    noise = "Exit code 1\nError processing line 1 of matplotlib.pth: module 'x' cannot be imported"
    runs = (Run("pytest a", noise), Run(TESTS, noise), Run(TESTS, after=1))
    assert fixes_in([Turn(messages=(f"{SAID} matplotlib.pth",), runs=runs, edits=(EDIT,))]) == []
