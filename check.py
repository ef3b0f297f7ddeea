#!/usr/bin/env python3
"""Check memtool: lint, format, types, layers, tests.

python3 check.py                everything
python3 check.py --fast         the same without the slow tests: the loop while you work
python3 check.py --static       the same without any test
python3 check.py tests/vault    other arguments go to pytest
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CLONE = Path(__file__).resolve().parent
ENVIRONMENT = CLONE / ".venv-dev"
MEMORY = "/dev/shm"  # noqa: S108  (no disk has to write it: tests take half the time there)
ROOM = 4 * 2**30
FAST, STATIC = "--fast", "--static"
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
    try:
        make_ready(ENVIRONMENT, CLONE, "dev,vectors,llm,postgres")
    except SetupFailed as error:
        print(f"\nSetting up failed: {error}", file=sys.stderr)
        return 1
    options = {FAST: _FAST_OPTIONS, STATIC: ()}
    given = [part for argument in arguments for part in options.get(argument, (argument,))]
    # Without bytecode every process compiles memtool and its tests anew, which doubles the time.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if _is_roomy(MEMORY):
        environ.setdefault("TMPDIR", MEMORY)
    with ThreadPoolExecutor() as pool:  # mypy takes one processor for a minute, the first time
        static = [pool.submit(_said_by, check, environ) for check in STATIC_CHECKS]
        print(f"\n$ {'; '.join(' '.join(check) for check in STATIC_CHECKS)}", flush=True)
        failed = [] if STATIC in arguments or _passes(TESTS, given, environ) else [" ".join(TESTS)]
        for check, said in zip(STATIC_CHECKS, [ended.result() for ended in static], strict=True):
            if said:
                print(f"\n$ {' '.join(check)}\n{said}", flush=True)
                failed.append(" ".join(check))
    if failed:
        print(f"\nFailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _said_by(check: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return what *check* found wrong, or nothing."""
    command = [str(script_of(ENVIRONMENT, check[0])), *check[1:]]
    ran = subprocess.run(command, cwd=CLONE, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return (ran.stdout.decode("utf-8", "replace") or f"it ended with {ran.returncode}") if ran.returncode else ""


def _passes(tests: Sequence[str], given: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Run the *tests*; those that fail in a whole run are tried once more, alone."""
    print(f"\n$ {' '.join([*tests, *given])}", flush=True)
    if not subprocess.call([script_of(ENVIRONMENT, tests[0]), *tests[1:], *given], cwd=CLONE, env=environ):
        return True
    if given:
        return False
    # A program under test waits for another one, which may get no processor for seconds while two run at once.
    print(f"\n$ {' '.join(AGAIN)}  # what failed is tried once more, alone", flush=True)
    if subprocess.call([script_of(ENVIRONMENT, AGAIN[0]), *AGAIN[1:]], cwd=CLONE, env=environ):
        return False
    print("\nEach test passed, but those named above only alone: they or what they test has a race.")
    return True


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
