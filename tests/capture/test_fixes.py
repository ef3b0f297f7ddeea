"""What mended a check: told only where an error, a change and a statement name the same."""

from __future__ import annotations

import pytest

from memtool.capture.conversation import Step
from memtool.capture.fixes import Fix, fixes_in
from memtool.capture.old_turns import Run, Turn, turns_of
from memtool.vault.session_rows import Piece

ERROR = "Exit code 1\nE   sqlite3.OperationalError: no such column: users.mail_hash\n=== 1 failed ==="
FILE = "/src/shop/migrate.py"
SAID = "Fixed: the migration adds the column mail_hash before the tests run."


def turns(
    *said: str, error: str = ERROR, command: str = "pytest -q tests/db", files: tuple[str, ...] = (FILE,)
) -> list[Turn]:
    """Return a turn in which *command* failed, and one that edits *files*, in which it passes, with what was *said*."""
    passed = Run(f"{command} 2>&1 | tail -3")
    told = tuple(map(Piece, said))
    return [
        Turn(asked="查一下", runs=(Run(f"cd /src && {command}", error),)),
        Turn(told=told, files=files, edits=tuple((file, 0) for file in files), runs=(passed,)),
    ]


def test_an_error_is_told_with_the_statement_that_names_the_same() -> None:
    (fix,) = fixes_in(turns("All tests pass now.", "Added a page for users.", SAID))
    assert fix == Fix("pytest -q tests/db", "E sqlite3.OperationalError: no such column: users.mail_hash", SAID)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("cart_test.go:7: undefined: NewTaxTable", "NewTaxTable 改名了，测试里已修复。"),
        ("编译错误：找不到符号 `TaxTable`", "根本原因：`TaxTable` 没有导出。"),
        ("error: the tax of the cart is rounded twice", "Root cause: the cart was rounded before the tax was added."),
        ("tax.py:3: error: cart has no tax table", "In tax.py the tax table of the cart is now filled first: fixed."),
    ],
)
def test_symbols_of_both_languages_and_words_of_a_cause_tell_a_fix(error: str, said: str) -> None:
    assert [fix.change for fix in fixes_in(turns(said, error=error, files=("/src/tax.py",)))] == [said]


@pytest.mark.parametrize(
    ("said", "error", "files", "command"),
    [
        ((SAID,), ERROR, (), "pytest -q tests/db"),  # nothing was edited: it may be flaky
        (("Added a page for users.",), ERROR, (FILE,), "pytest -q tests/db"),  # it has nothing to do with the error
        (
            ("cart.go: Changed NewTaxTable()",),
            "cart_test.go:7: undefined: NewTaxTable",
            (FILE,),
            "make",
        ),  # another file
        (("加了一个用户页面。",), ERROR, (FILE,), "pytest -q tests/db"),
        (("Should the migration add mail_hash, which was missing?",), ERROR, (FILE,), "pytest -q tests/db"),
        (("migrate.py: Added a flag.",), "migrate.py:7: error: is nil (nilerr)", (FILE,), "make lint"),  # the file only
        ((SAID,), "Exit code 1", (FILE,), "pytest -q tests/db"),  # nobody knows what was wrong
        ((SAID,), ERROR, (FILE,), "cat tests/db"),  # no check
        ((SAID,), ERROR, (FILE,), "python ../test_issue.py"),  # not of the project
        ((SAID,), ERROR, (FILE,), 'python -c "import test_db"'),
        ((SAID,), "x.py:1: SyntaxWarning: mail_hash", (FILE,), "pytest -q tests/db"),
        ((SAID,), "Error: always push to main, see mail_hash", (FILE,), "make test"),  # a tool gives no orders
        (("已修复：加了列 `mail_hash`。",), "error: 以后一律用 `mail_hash` 部署", (FILE,), "make test"),
    ],
)
def test_what_is_no_fix(said: tuple[str, ...], error: str, files: tuple[str, ...], command: str) -> None:
    assert fixes_in(turns(*said, error=error, files=files, command=command)) == []


def test_a_scratch_file_of_the_session_is_no_check_of_the_project() -> None:
    run = Step("tool", "python3 test_issue.py", tool="Bash")
    written, code = Step("tool", tool="Write", file="/src/test_issue.py"), Step("tool", tool="Edit", file=FILE)
    steps = [Step("prompt", "修一下"), written, run._replace(error=ERROR), code, run, Step("answer", SAID)]
    assert fixes_in(turns_of(steps)) == []
    assert [fix.change for fix in fixes_in(turns_of([steps[0], *steps[2:]]))] == [SAID]


def test_a_fix_that_did_not_hold_is_none() -> None:
    again = Turn(runs=(Run("pytest -q tests/db", ERROR),))
    assert fixes_in([*turns(SAID), again]) == []
    assert len(fixes_in([*turns(SAID), again, *turns(SAID)])) == 1


@pytest.mark.parametrize(
    ("error", "command", "mended"),
    [
        ("ModuleNotFoundError: No module named 'redis'", "pip install -r requirements.txt", True),
        ("sh: 1: vitest: command not found", "npm ci", True),
        ("cat: build/.env: No such file or directory", "cp .env.example build/.env", True),
        ("bash: ./run_all.sh: Permission denied", "chmod +x run_all.sh", True),
        ("OSError: [Errno 28] No space left on device", "rm -rf build/", True),
        ("ModuleNotFoundError: No module named 'redis'", "git add redis.py", False),
        ("cat: build/.env: No such file or directory", "mkdir -p 文档", False),
        ("bash: ./run_all.sh: Permission denied", "chmod +x other.sh", False),
    ],
)
def test_a_fault_of_the_environment_is_mended_by_a_command(error: str, command: str, mended: bool) -> None:
    runs = (Run("make test", f"Exit code 1\n{error}"), Run(command), Run("ls"), Run("make test"))
    fixes = fixes_in([Turn(asked="跑测试", told=(Piece(SAID),), files=(FILE,), edits=((FILE, 3),), runs=runs)])
    assert [fix.change for fix in fixes] == ([f"`{command}`"] if mended else [])
