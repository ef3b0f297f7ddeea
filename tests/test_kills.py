"""A few of the points at which `scripts/kill_sweep.py` kills each command; the whole is run from there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SWEEP = Path(__file__).parent.parent / "scripts" / "kill_sweep.py"
COMMANDS = ("sync", "undo", "supersede", "consolidate", "hook PostToolUse")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_commands_that_are_killed_are_completed_by_the_next_one() -> None:
    """In a process of its own: an audit hook cannot be taken away."""
    command = [sys.executable, str(SWEEP), "--most", "2", *COMMANDS]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.endswith(f"{2 * len(COMMANDS)} points, 0 not clean\n")
