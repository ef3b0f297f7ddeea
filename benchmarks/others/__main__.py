"""Ask other memory tools, where they are installed, the questions that memtool is measured with (docs/comparison.md).

`python -m benchmarks.others SETS --model DIR --set techfaq-en-ci --tool grep --tool memsearch=/opt/memsearch/bin`.
SETS is a folder with sets (`SET/vault/`, `SET/queries.jsonl`), DIR one with an ONNX model, which every tool is given.
After `=` stands the folder of the tool's commands and Python; for claude-mem the npm package, unpacked, with bun and
uvx on the PATH. A tool that is not there, or does not work, is skipped with a reason.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.others.endpoint import serve
from benchmarks.others.tools import TOOLS, Place
from memtool.index.evaluation import KnownQuestion, evaluate, parse_questions
from memtool.vault.memory import Location

OURS = str(Path(sys.executable).parent)


def main() -> int:
    """Print a line of JSON for each set and tool."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.others", description=__doc__)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--set", action="append", required=True)
    parser.add_argument("--tool", action="append", metavar="NAME[=FOLDER]", help=", ".join(TOOLS), required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--most", type=int, default=1000, help="ask only about so many questions of a set")
    options = parser.parse_args()
    server = serve(options.model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in options.set:
        for tool, _, bins in (each.partition("=") for each in options.tool):
            with tempfile.TemporaryDirectory() as folder:
                home = Path(folder) / "home"
                home.mkdir()
                vault = Path(shutil.copytree(options.sets / name / "vault", Path(folder) / "vault"))
                address = f"http://127.0.0.1:{server.server_port}/v1"
                place = Place(vault, home, Path(bins or OURS), options.model.resolve(), address)
                row = measured(tool, place, questions(options.sets / name, options.most))
                end(home)
            print(json.dumps({"set": name, "tool": tool} | row), flush=True)
    return 0


def questions(folder: Path, most: int) -> list[KnownQuestion]:
    """Return the questions of a set but those that no note answers, at most about *most*, spread over all of it."""
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    found = parse_questions(line for line in lines if json.loads(line).get("category") != "adversarial")
    return found[:: -(-len(found) // most)]


def measured(tool: str, place: Place, asked: Sequence[KnownQuestion]) -> dict[str, Any]:
    """Return how well *tool* finds, its times and what it leaves behind, or the reason why it cannot run."""
    started = time.perf_counter()
    try:
        with TOOLS[tool](place) as ask:
            filled = time.perf_counter() - started
            before, seconds, spans = work(place.home), [], []
            for each in asked:
                started = time.perf_counter()
                paths = [path.removeprefix(f"{place.vault}/") for path in ask(each.query)]
                seconds.append(time.perf_counter() - started)
                spans.append([Location(path, 0, 0) for path in dict.fromkeys(paths)])
            used, during = work(place.home) - before, processes(place.home)
        left = processes(place.home)
        started = time.perf_counter()
        with TOOLS[tool](place._replace(fill=False)) as ask:
            list(ask(asked[0].query))
            first = time.perf_counter() - started
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as reason:
        return {"skipped": f"{type(reason).__name__}: {reason}"}
    metrics = evaluate(asked, spans)
    return {
        "questions": len(asked), "recall@5": round(metrics["recall@5"], 3), "mrr@10": round(metrics["mrr@10"], 3),
        "empty": sum(not each for each in spans), "fill_s": round(filled, 1),
        "p50_ms": round(statistics.median(seconds) * 1000), "work_ms": round(used * 1000 / len(asked)),
        "first_ms": round(first * 1000), "processes": len(during), "held_mb": round(sum(each[1] for each in during)),
        "left": len(left), "left_mb": round(sum(each[1] for each in left)),
    }  # fmt: skip


def processes(home: Path) -> list[tuple[int, float, float]]:
    """Return the id, memory in MB and processor time of each process whose home folder is *home* (Linux)."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={home}\0".encode() in (each / "environ").read_bytes():
                megabytes = int((each / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
                ticks = sum(map(int, (each / "stat").read_text().rpartition(")")[2].split()[11:13]))
                found.append((int(each.name), megabytes, ticks / os.sysconf("SC_CLK_TCK")))
        except OSError:
            continue  # it has ended
    return found


def work(home: Path) -> float:
    """Return the processor time so far, in seconds: of a tool, of all commands that ended, and of the model here."""
    return sum(each[2] for each in processes(home)) + sum(os.times()[:4])


def end(home: Path) -> None:
    """End the processes that a tool left behind, which are those whose home folder is *home*."""
    for number, *_ in processes(home):
        os.kill(number, 15)


if __name__ == "__main__":
    sys.exit(main())
