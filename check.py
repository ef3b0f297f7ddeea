#!/usr/bin/env python3
"""Check memtool: lint, format, types, layers, tests.

python3 check.py                the fast set: all of this, without the tests marked slow
python3 check.py --all          everything: slow tests too, with a browser, a database and the real clients
python3 check.py --static       no test
python3 check.py tests/vault    other arguments go to pytest, which runs slow tests too; --fast leaves them out
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree as ET

CLONE = Path(__file__).resolve().parent
ENVIRONMENT = CLONE / ".venv-dev"
MEMORY = "/dev/shm"  # noqa: S108  (no disk has to write it: tests take half the time there)
ROOM = 4 * 2**30
FAST, ALL, STATIC = "--fast", "--all", "--static"
AGAIN = ("pytest", "--last-failed", "--last-failed-no-failures", "none")
_FAST_OPTIONS = ("-m", "not slow", "--hypothesis-profile", "fast")

sys.path.insert(0, str(CLONE))
from scripts import newer_python

newer_python.require()

from scripts.virtual_environment import SetupFailed, make_ready, script_of

STATIC_CHECKS = (("ruff", "check"), ("ruff", "format", "--check"), ("mypy",), ("lint-imports",))
# One more than there are processors: many tests wait for a program.
TESTS = ("pytest", "--numprocesses", str((os.cpu_count() or 1) + 1), "--dist", "worksteal")


def main(arguments: list[str]) -> int:
    """Run every check, even after one has failed; return 1 if any has."""
    started_at = time.monotonic()
    of_pytest = [argument for argument in arguments if argument not in (FAST, ALL, STATIC)]
    is_fast = FAST in arguments or not (of_pytest or {ALL, STATIC} & {*arguments})
    if is_fast:
        print(f"The fast set. Slow tests, browser, database and clients come with: python3 check.py {ALL}")
    try:
        _set_up(is_whole=ALL in arguments)
    except SetupFailed as error:
        print(f"\nSetting up failed: {error}", file=sys.stderr)
        return 1
    set_up_in = time.monotonic() - started_at
    tests = None if STATIC in arguments else [*(_FAST_OPTIONS if is_fast else ()), *of_pytest]
    failed = _failing(tests, tries_again=not of_pytest)
    took = f"{_minutes(time.monotonic() - started_at)}, of which the set-up took {_minutes(set_up_in)}"
    if failed:
        print(f"\nFailed: {', '.join(failed)}\nIt took {took}.", file=sys.stderr)
        return 1
    print(f"\n{'The fast set: all' if is_fast else 'All'} passed. It took {took}.")
    return 0


def _set_up(*, is_whole: bool) -> None:
    if not is_whole:
        make_ready(ENVIRONMENT, CLONE, "dev", "dev-all")
        return
    clients = [sys.executable, str(CLONE / "scripts" / "clients.py")]
    with subprocess.Popen(clients, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, encoding="utf-8") as fetching:
        make_ready(ENVIRONMENT, CLONE, "dev-all")
        print(fetching.communicate()[0], end="", flush=True)


def _failing(tests: Sequence[str] | None, *, tries_again: bool) -> list[str]:
    """Run every check, and pytest with the options *tests* unless they are None; return those that fail."""
    # Without bytecode every process compiles memtool and its tests anew, which doubles the time.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if _is_roomy(MEMORY):
        environ.setdefault("TMPDIR", MEMORY)
    with ThreadPoolExecutor() as pool:  # mypy takes one processor for a minute, the first time
        static = [pool.submit(_complaint, check, environ) for check in STATIC_CHECKS]
        print(f"\n$ {'; '.join(' '.join(check) for check in STATIC_CHECKS)}", flush=True)
        passed = tests is None or _passes(tests, environ, tries_again=tries_again)
        complaints = zip(STATIC_CHECKS, [ended.result() for ended in static], strict=True)
        failed = [] if passed else [" ".join(TESTS)]
        for check, complaint in complaints:
            if complaint:
                print(f"\n$ {' '.join(check)}\n{complaint}", flush=True)
                failed.append(" ".join(check))
    return failed


def _complaint(check: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return what *check* found wrong, or nothing."""
    command = [str(script_of(ENVIRONMENT, check[0])), *check[1:]]
    ran = subprocess.run(command, cwd=CLONE, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return (ran.stdout.decode("utf-8", "replace") or f"it ended with {ran.returncode}") if ran.returncode else ""


def _passes(options: Sequence[str], environ: Mapping[str, str], *, tries_again: bool) -> bool:
    """Run pytest with *options*; what fails may be tried once more, alone."""
    print(f"\n$ {' '.join([*TESTS, *options])}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [str(script_of(ENVIRONMENT, TESTS[0])), *TESTS[1:], f"--junitxml={report}", *options]
        passed = not subprocess.call(command, cwd=CLONE, env=environ)
        _print_skipped(report)
    if passed or not tries_again:
        return passed
    # A program under test waits for another one, which may get no processor for seconds while two run at once.
    print(f"\n$ {' '.join(AGAIN)}  # what failed is tried once more, alone", flush=True)
    if subprocess.call([script_of(ENVIRONMENT, AGAIN[0]), *AGAIN[1:]], cwd=CLONE, env=environ):
        return False
    print("\nEach test passed, but those named above only alone: they or what they test has a race.")
    return True


def _print_skipped(report: Path) -> None:
    """Print how many tests were skipped for each reason: a part that is missing must not go unseen."""
    skipped = ET.parse(report).iter("skipped") if report.exists() else ()  # noqa: S314  (pytest wrote it)
    for reason, count in Counter(each.get("message", "") for each in skipped).most_common():
        print(f"Skipped: {count} {'test' if count == 1 else 'tests'}, because {reason.removeprefix('Skipped: ')}")


def _minutes(seconds: float) -> str:
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def _is_roomy(folder: str) -> bool:
    """Return whether *folder* is there for temporary files of tests, some of which are programs."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    system = os.statvfs(folder)
    return not system.f_flag & os.ST_NOEXEC and system.f_bavail * system.f_frsize > ROOM


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
