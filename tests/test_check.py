"""check.py and .ci/run: which tests they run, where, and what they say at the end."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import check
from scripts.virtual_environment import SetupFailed

ROOT = Path(__file__).parents[1]
Runs = list[tuple[bool, Sequence[str] | None]]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    """For each run of check.py: whether all was set up, and the options of pytest, None if it does not run."""
    found: Runs = []
    whole: list[bool] = []

    def failing(tests: Sequence[str] | None, *, tries_again: bool) -> list[str]:
        assert tries_again == ("tests/vault" not in (tests or ()))
        found.append((whole.pop(), tests))
        return []

    monkeypatch.setattr(check, "_set_up", lambda *, is_whole: whole.append(is_whole))
    monkeypatch.setattr(check, "_failing", failing)
    return found


FAST = ["-m", "not slow", "--hypothesis-profile", "fast"]


@pytest.mark.parametrize(
    ("arguments", "is_whole", "options"),
    [
        ([], False, FAST),
        (["--fast"], False, FAST),
        (["--all"], True, []),
        (["--static"], False, None),
        (["tests/vault"], False, ["tests/vault"]),
        (["--fast", "tests/vault"], False, [*FAST, "tests/vault"]),
        (["--all", "tests/vault"], True, ["tests/vault"]),
    ],
)
def test_without_arguments_it_runs_the_fast_set(
    runs: Runs, arguments: list[str], is_whole: bool, options: list[str] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main(arguments) == 0
    assert runs == [(is_whole, options)]
    printed = capsys.readouterr().out
    is_fast = "not slow" in (options or ())
    assert ("The fast set: all passed. It took 0 min 0 s, of which" in printed) == is_fast
    assert ("with: python3 check.py --all\n" in printed) == is_fast
    assert "ll passed. It took " in printed


def test_what_failed_is_named_with_the_time(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "_failing", lambda tests, *, tries_again: ["mypy", "ruff check"])
    assert check.main([]) == 1
    said = capsys.readouterr()
    assert "Failed: mypy, ruff check\nIt took 0 min " in said.err
    assert "passed" not in said.out
    assert not runs


def test_a_set_up_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(**_: bool) -> None:
        raise SetupFailed("没有网络")

    monkeypatch.setattr(check, "_set_up", fails)
    assert check.main(["--all"]) == 1
    assert "Setting up failed: 没有网络" in capsys.readouterr().err


def test_skipped_tests_are_counted_by_their_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        f'<testcase><skipped message="{why}"/></testcase>' for why in ("Skipped: 没有 chromium", "no npm", "no npm")
    ]
    (tmp_path / "report.xml").write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>", "utf-8")
    check._print_skipped(tmp_path / "report.xml")
    assert capsys.readouterr().out == "Skipped: 2 tests, because no npm\nSkipped: 1 test, because 没有 chromium\n"
    check._print_skipped(tmp_path / "missing.xml")
    assert capsys.readouterr().out == ""


# What CI runs

NOTES = """import os, sys
from pathlib import Path
with open({log!r}, "a") as log:
    print(sys.argv[1:], Path.cwd(), os.environ["HOME"], sorted(p.name for p in Path().iterdir()), sep="|", file=log)
sys.exit({code})
"""


@pytest.fixture
def ci(tmp_path: Path) -> Callable[..., tuple[int, list[list[str]]]]:
    """Run .ci/run in a clone whose check.py only notes how it was run; return the exit code and the notes."""
    clone, log = tmp_path / "clone", tmp_path / "log"
    (clone / ".ci").mkdir(parents=True)
    (clone / "scripts").mkdir()
    (clone / "scripts" / "clients.py").touch()
    (clone / ".venv-dev").mkdir()
    (clone / ".ci" / "run").write_bytes((ROOT / ".ci" / "run").read_bytes())
    (clone / ".ci" / "run").chmod(0o755)
    places = tmp_path / "places"
    places.mkdir()

    def run(code: int = 0) -> tuple[int, list[list[str]]]:
        (clone / "check.py").write_text(NOTES.format(log=str(log), code=code))
        environ = {**os.environ, "TMPDIR": str(places)}
        ran = subprocess.run([clone / ".ci" / "run"], env=environ, stdin=subprocess.DEVNULL, timeout=60, check=False)
        assert [*places.iterdir()] == []
        return ran.returncode, [line.split("|") for line in log.read_text().splitlines()]

    return run


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="CI runs on Linux")
def test_ci_runs_the_fast_set_and_then_everything_in_a_folder_with_a_space(
    ci: Callable[..., tuple[int, list[list[str]]]], tmp_path: Path
) -> None:
    code, (fast, whole) = ci()
    assert (code, fast[:2]) == (0, ["[]", str(tmp_path / "clone")])
    arguments, place, home, names = whole
    assert arguments == "['--all']"
    assert " " in Path(place).parent.name
    assert Path(home).parent == Path(place).parent
    assert names == str([".ci", ".claude-client", ".clients", "check.py", "scripts"])


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="CI runs on Linux")
def test_ci_ends_where_the_fast_set_fails(ci: Callable[..., tuple[int, list[list[str]]]]) -> None:
    code, runs = ci(1)
    assert (code, len(runs)) == (1, 1)
