"""How many saves of an editor are lost while memtool changes the same note, and how long the window for that is.

`python -m benchmarks.saves [SECONDS]`. An editor in a process of its own reads the note, adds a line and saves it, in
place or by rename, as fast as it can; memtool adds lines at the same time, and two more processes keep the machine
busy. A save is lost when its line is gone the next time that the editor looks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from memtool.errors import BrokenVaultFile, NoteChanged
from memtool.vault import files

_EDITOR = """
import os, random, sys, time
path, how, end = sys.argv[1], sys.argv[2], time.time() + float(sys.argv[3])
other, saved, lost, last = path + ".editor", 0, 0, None
while time.time() < end:
    text = open(path, encoding="utf-8").read()
    lost += last is not None and last not in text
    saved += 1
    last = f"- editor {saved} 编辑器\\n"
    lines = text.splitlines(keepends=True)[-200:]
    if how == "rename":
        open(other, "w", encoding="utf-8").write("".join(lines) + last)
        os.replace(other, path)
    else:
        open(path, "w", encoding="utf-8").write("".join(lines) + last)
    time.sleep(random.random() / 50)
print(saved, lost)
"""
_BUSY = "import time\nend = time.time() + {}\nwhile time.time() < end: pass"


def main() -> int:
    """Print what was saved and lost in each way to save, and the window."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    for how in ("rename", "in place"):
        with tempfile.TemporaryDirectory() as folder:
            saved, lost, wrote = _race(Path(folder) / "note.md", how, seconds)
        print(f"saved {how}: {saved} saves of the editor, {wrote} changes by memtool, {lost} saves lost")
    with tempfile.TemporaryDirectory() as folder:
        windows = sorted(_window(Path(folder) / "note.md") for _ in range(500))
    print(f"from the last look to the rename: {windows[250]:.0f} µs (p50), {windows[495]:.0f} µs (p99)")
    return 0


def _race(path: Path, how: str, seconds: float) -> tuple[int, int, int]:
    path.write_text("# Note\n", encoding="utf-8")
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY.format(seconds)]) for _ in range(2)]
    command = [sys.executable, "-c", _EDITOR, str(path), how, str(seconds)]
    wrote = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as editor:
        while editor.poll() is None:
            try:
                wrote += files.change(path, lambda text: f"{text}- memtool {time.monotonic_ns()}\n")
            except (NoteChanged, BrokenVaultFile):  # half a character, of a save in place
                continue
        saved, lost = (editor.stdout.read() if editor.stdout else "0 0").split()
    for process in busy:
        process.wait()
    return int(saved), int(lost), wrote


def _window(path: Path) -> float:
    """Return the microseconds between the last look at the file and the rename over it."""
    looked: list[int] = []
    renamed: list[int] = []
    real_samefile, real_replace = Path.samefile, os.replace

    def samefile(one: Path, other: Path) -> bool:
        looked.append(time.perf_counter_ns())
        return real_samefile(one, other)

    def replace(source: Path, target: Path) -> None:
        real_replace(source, target)
        renamed.append(time.perf_counter_ns())

    path.write_text("# Note\n" * 500, encoding="utf-8")
    Path.samefile, os.replace = samefile, replace  # type: ignore[method-assign, assignment]
    try:
        files.change(path, lambda text: f"{text}!")
    finally:
        Path.samefile, os.replace = real_samefile, real_replace  # type: ignore[method-assign]
    return (renamed[0] - looked[0]) / 1000 if looked else 0.0


if __name__ == "__main__":
    sys.exit(main())
