"""The warm helper: how soon it is there and answers, what it holds, and what a prompt costs with it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.processes import CLONE, run
from benchmarks.questions import questions
from benchmarks.rows import Row
from memtool.recall.prompts.meaning import WarmMeaning
from memtool.service_client import MODEL, ServicePlace, ask_service, end_service, find_address, service_place

if TYPE_CHECKING:
    from benchmarks.groups import Stage

_HELD = 200.0  # MB that it may hold (design, section 11)
_ANSWER = 50.0  # ms after which a hook has no more use for it
_HOOK = 4.0


def helper(stage: Stage) -> Iterator[Row]:
    """With the model that `--model` names; without one there is nothing to measure."""
    if stage.model is None:
        return
    cache = stage.scratch / "helper-cache"
    environ = {
        **stage.environ, "MEMTOOL_VAULT": str(stage.vault), "MEMTOOL_CACHE": str(cache), "PYTHONPATH": str(CLONE),
        "MEMTOOL_EMBEDDINGS_PROVIDER": "fastembed", "MEMTOOL_EMBEDDINGS_PATH": str(stage.model.resolve()),
    }  # fmt: skip
    run([sys.executable, "-m", "memtool", "index"], environ)
    place = service_place(cache, stage.vault.resolve())
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "memtool", "serve", "--no-http"], env=environ, cwd=CLONE) as process:
        try:
            while find_address(place, MODEL) is None and process.poll() is None:
                time.sleep(0.005)
            yield Row("start of the helper", stage.size, "ms", [(time.perf_counter() - started) * 1000])
            prompts = [question.text for question in questions(stage.size, 20)]
            yield Row(
                "answer of the helper", stage.size, "ms", [_answer(place, each) for each in prompts], most=_ANSWER
            )
            yield _prompts(stage, environ, prompts)
            status = ask_service(place, {"ask": "status"}, patience=5.0) or {}
            yield Row("memory of the helper", stage.size, "MB", [float(status.get("memory", 0)) / 1e6], most=_HELD)
        finally:
            end_service(place)


def _answer(place: ServicePlace, prompt: str) -> float:
    started = time.perf_counter()
    address = find_address(place, MODEL)
    if address is None:
        raise RuntimeError("the helper has ended")
    meaning = WarmMeaning(place, address, prompt)
    meaning.begin("")
    meaning.nearness(range(1, 21))
    return (time.perf_counter() - started) * 1000


def _prompts(stage: Stage, environ: dict[str, str], prompts: list[str]) -> Row:
    script = str(Path(sys.executable).with_name("memtool-hook"))
    ours, floor = [], []
    for number in range(stage.quick):
        event = {
            "hook_event_name": "UserPromptSubmit", "session_id": f"warm-{number}", "prompt": prompts[0],
            "cwd": str(stage.scratch), "transcript_path": "",
        }  # fmt: skip
        ours.append(run([script], environ, given=json.dumps(event).encode()).seconds * 1000)
        floor.append(run([sys.executable, "-I", "-S", "-c", "import json, sqlite3"], environ).seconds * 1000)
    return Row("`memtool-hook`, UserPromptSubmit, with the helper", stage.size, "ms", ours, floor, most_ratio=_HOOK)
