"""Capture: what hooks cost as whole processes, a transcript of 1 MB to its note, an import of many transcripts."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.processes import run, sample
from benchmarks.questions import questions
from benchmarks.rows import Row
from benchmarks.transcripts import write_transcript
from memtool.capture.queue import only_worker
from memtool.install.hooks import find_program
from memtool.vault.layout import open_vault

if TYPE_CHECKING:
    from benchmarks.groups import Stage

_EVENTS = ("PostToolUse", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact", "SessionEnd", "SessionStart")
_PROMPT, _PLAIN = "UserPromptSubmit", "English"
_BUDGETS = {"PostToolUse": 2.5, _PROMPT: 4.0, "SessionStart": 3.3}  # design, section 11
_TRANSCRIPTS, _KILOBYTES = 1_000, 40  # of the import


def hooks(stage: Stage) -> Iterator[Row]:
    """Every event as a process of its own, against Python with the two modules that no hook can do without.

    A worker is held to be at work, so that none is started: what a worker does is not what the client waits for.
    """
    stage.prepare()
    prompts = _prompts(stage.size)
    project = stage.scratch / "project-0000"  # of which the vault has facts, rules and notes
    (project / ".git").mkdir(parents=True, exist_ok=True)
    transcript = stage.scratch / "projects" / "-shop" / "one.jsonl"
    write_transcript(transcript, 1024, str(project))
    environ = {**stage.environ, "MEMTOOL_VAULT": str(stage.vault)}
    program = find_program(None, this_project=False)
    with _worker_at_work(stage.vault):
        tried = [(name, kind) for name in _EVENTS for kind in (prompts if name == _PROMPT else [""])]
        for event, kind in tried:
            ours, floor = [], []
            for number in range(stage.quick):
                given = json.dumps(_event(event, project, transcript, prompts[kind or _PLAIN], number)).encode()
                ours.append(run([program.command, *program.args], environ, given=given).seconds * 1000)
                floor.append(run([sys.executable, "-I", "-S", "-c", "import json, sqlite3"], environ).seconds * 1000)
            what = f"`memtool-hook`, {event}{kind and f', {kind}'}"
            yield Row(what, stage.size, "ms", ours, floor, most_ratio=_BUDGETS.get(event))


def _prompts(size: int) -> dict[str, str]:
    """Return a prompt of each kind that costs differently: in English, in Chinese, and one with something pasted."""
    asked = {question.kind: question.text for question in questions(size, 1)}
    trace = "\n".join(f'  File "/srv/shop/src/step_{number}.py", line {number}, in run' for number in range(60))
    english = asked["English question"]
    return {
        _PLAIN: english,
        "Chinese": asked["Chinese question"],
        "pasted": f"{english}\n{asked['long passage']}\n{trace}",
    }


def transcripts(stage: Stage) -> Iterator[Row]:
    """From a transcript of 1 MB to its note, and the import of a thousand; each in a process of its own."""
    folder = stage.scratch / "client"
    path = folder / "projects" / "-shop" / "one.jsonl"
    write_transcript(path, 1024, str(stage.scratch / "shop"))
    given = {"folder": stage.scratch, "repeat": stage.quick}
    answer, peak = sample("transcript_to_note", stage.environ, transcript=path, **given)
    yield Row("a transcript of 1 MB to its note", 0, "ms", [each * 1000 for each in answer["ours"]])
    yield Row("memory of that", 0, "MB", [peak / 1e6], most=100.0)
    for number in range(1, _TRANSCRIPTS):
        write_transcript(path.with_name(f"s{number}.jsonl"), _KILOBYTES, str(stage.scratch / "shop"), number)
    answer, peak = sample("import_all", stage.environ, client=folder, folder=stage.scratch)
    yield Row(f"import of {_TRANSCRIPTS:,} transcripts", 0, "s", [answer["seconds"]], details=answer)
    yield Row("memory of an import", 0, "MB", [peak / 1e6], most=150.0)


@contextlib.contextmanager
def _worker_at_work(vault: Path) -> Iterator[None]:
    with only_worker(open_vault(vault)) as alone:
        if not alone:
            raise RuntimeError("a worker is at work in the vault that is to be measured")
        yield


def _event(name: str, project: Path, transcript: Path, prompt: str, number: int) -> dict[str, Any]:
    return {
        "hook_event_name": name,
        "session_id": f"one-{number}",  # a session is told nothing twice
        "prompt": prompt,
        "transcript_path": str(transcript),
        "cwd": str(project),
        "tool_name": "Edit",
        "tool_input": {"file_path": str(project / "src" / "解密.ts"), "old_string": "a", "new_string": "b"},
        "last_assistant_message": "All 14 tests pass. 已改为发送幂等键。",
        "compact_summary": "<summary>Refunds are idempotent now.</summary>",
    }
