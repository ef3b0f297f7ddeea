"""`python -m benchmarks.year`: a weekly run, the first and a later one, on a vault that holds a year of work.

2,000 sessions, 300 daily notes, 40 projects and 1,500 facts (a seed decides every byte), and a quarter of that: time
and peak memory of the whole process, git included. The budget holds for the processor's time: a machine that others
share is as slow as they let it be.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from memtool.git import tell
from memtool.history.repository import get_own_repository
from memtool.history.template import make_vault
from memtool.vault.facts import Fact, render_facts
from memtool.vault.memory import COMMAND, DECISION, FIX, RULE, USER
from memtool.vault.sessions import Draft, Line, SessionNote, render_session

TODAY = date(2026, 11, 22)
BUDGET_SECONDS, BUDGET_MB = 20.0, 300.0
_WORDS = (
    "gateway token cache queue worker index schema migration invoice order login session retry timeout parser renderer"
    " 缓存 令牌 队列 订单 登录 迁移 支付 日志 接口 部署"
).split()
_FILES = "auth.ts jwt.ts queue.py worker.py schema.sql routes.go main.rs 订单.py README.md deploy.yaml".split()
_COMMANDS = ("pnpm test", "go test ./...", "cargo build", "pytest -q", "make lint")


def main(arguments: Sequence[str]) -> int:
    """Make the vaults, run, and print a line for each; return 1 if the budget is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.year", description=__doc__)
    parser.add_argument("--parts", default="4,1", help="divide the year by these: 4 is a quarter (4,1)")
    asked = parser.parse_args(arguments)
    missed = False
    with tempfile.TemporaryDirectory(prefix="memtool-year-") as scratch:
        for part in map(int, asked.parts.split(",")):
            vault = make_year(
                Path(scratch) / f"year-{part}", sessions=2_000 // part, days=300 // part, projects=40 // part
            )
            for run in ("first run", "second run"):
                seconds, processor, megabytes, changes = _weekly_run(vault, Path(scratch))
                told = f"{seconds:6.2f} s ({processor:5.2f} of the processor), {megabytes:4.0f} MB, {changes} changes"
                print(f"{2_000 // part:5} sessions, {run}: {told}", flush=True)
                missed |= processor > BUDGET_SECONDS or megabytes > BUDGET_MB
    return 1 if missed else 0


def make_year(folder: Path, *, sessions: int, days: int, projects: int) -> Path:
    """Make a vault with so much work of the year before `TODAY`; 1,500 facts for 40 projects."""
    draw = random.Random(2_026)
    vault = make_vault(folder).vault
    names = [f"project-{number}" for number in range(projects)]
    for number in range(sessions):
        day = TODAY - timedelta(days=365 * number // sessions)
        _write(
            vault.root / f"sessions/s{number:05}.md",
            render_session(_session(draw, f"s{number:05}", day, draw.choice(names))),
        )
    for number in range(days):
        day = TODAY - timedelta(days=365 * number // days)
        lines = [f"- {hour:02}:10 **{draw.choice(names)}**: `{draw.choice(_FILES)}`" for hour in range(8, 18)]
        links = f"\n## Sessions\n\n- 18:00: [work](../sessions/s{number * sessions // days:05}.md)\n"
        _write(
            vault.root / f"daily/{day}.md", f"---\ntype: daily\ndate: {day}\n---\n\n" + "\n".join(lines) + "\n" + links
        )
    for at, name in enumerate(names):
        area = vault.root / "areas" / "projects" / name
        _write(area / "summary.md", f"---\ntype: project\n---\n\n# {name}\n\nWhat it is.\n")
        facts = [_fact(draw, f"fact-{at}-{number}") for number in range(1_500 // 40)]
        _write(area / "facts.json", render_facts(facts))
    tell(vault.root, "add", "-A", timeout=600)
    tell(
        vault.root,
        *get_own_repository(vault.root).author_options,
        "commit",
        "--quiet",
        "--message=init: a year of work",
        timeout=600,
    )
    _in_process(vault.root, folder.parent, _INDEX)  # as it stands in a vault that is in use
    return vault.root


def _session(draw: random.Random, name: str, day: date, project: str) -> SessionNote:
    def said(length: int) -> str:
        return " ".join(draw.choices(_WORDS, k=length)) + f" {draw.choice(_FILES)}"

    asked = [said(6) for _ in range(5)]
    lines = [Line(said(14), asked=each) for each in asked for _ in range(3)]
    command = draw.choice(_COMMANDS)
    if draw.random() < 0.2:
        lines.append(Line(f'`{command}` failed: "cannot find {said(3)}" → {said(5)} → passed', FIX))
    title, files = said(8), tuple(draw.sample(_FILES, 3))
    if draw.random() < 0.2:
        lines.append(Line(f"Where does it lie? → {said(4)}", DECISION, USER))
    if draw.random() < 0.1:
        lines.append(Line(f"always {said(4)}", RULE, USER))
    lines += [Line(f"{command}: passed; committed"), Line(command, COMMAND)]
    return SessionNote(
        name,
        project=project,
        updated=f"{day} {draw.randrange(24):02}:{draw.randrange(60):02}",
        draft=Draft(title, lines=tuple(lines), files=files),
    )


def _fact(draw: random.Random, fact_id: str) -> Fact:
    text = f"{' '.join(draw.choices(_WORDS, k=6))} {draw.randrange(10_000)} {draw.choice(_FILES)}"
    return Fact(
        id=fact_id, fact=text, evidence="seen", timestamp="2026-03-01", author="agent", category="configuration"
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _weekly_run(vault: Path, scratch: Path) -> tuple[float, float, float, int]:
    """Return the seconds, those of the processor, the peak memory in MB and the number of changes of one run."""
    seconds, printed = _in_process(vault, scratch, _RUN)
    answer: dict[str, Any] = json.loads(printed)
    return seconds, answer["processor"], answer["kilobytes"] / 1024, answer["changes"]


def _in_process(vault: Path, scratch: Path, code: str) -> tuple[float, str]:
    """Run *code* with a workspace in a process of its own; return its seconds and what it prints."""
    environ = os.environ | {
        "HOME": str(scratch),
        "MEMTOOL_CACHE": str(scratch / "cache"),
        "MEMTOOL_EMBEDDINGS_PROVIDER": "none",
    }
    command = [sys.executable, "-c", _WORK + code, str(vault)]
    began = time.perf_counter()
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return time.perf_counter() - began, done.stdout


_WORK = f"""
import json, resource, sys
from datetime import datetime
from pathlib import Path
from memtool import settings
from memtool.consolidate.run import consolidate
from memtool.consolidate.week import week_of
from memtool.index.engine import place_of, use_index
from memtool.vault.layout import open_vault
from memtool.workspace import Workspace
vault = open_vault(Path(sys.argv[1]))
environ = settings.environment()
work = Workspace(vault, settings.load(vault.settings_path, environ), environ, Path.home(), vault.root,
                 lambda: datetime.fromisoformat("{TODAY}T12:00:00+00:00"))
"""
_INDEX = "use_index(place_of(work), lambda _: None)"
_RUN = """
outcome = consolidate(work, week_of(work.now().date()))
usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
kilobytes, seconds = max(one.ru_maxrss for one in usages), sum(one.ru_utime + one.ru_stime for one in usages)
print(json.dumps({"changes": len(outcome.changes), "kilobytes": kilobytes, "processor": seconds}))
"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
