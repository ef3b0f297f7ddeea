"""Record memtool in a terminal: `python3 scripts/recording.py docs/recording.svg`.

The commands of `SCENES` are run one after the other, in a home folder made for it, by the `memtool` that lies beside
this interpreter. What the terminal then shows becomes one SVG file whose frames follow each other without a script, so
that it plays wherever a picture is shown. Needs the `[dev]` extra.
"""

from __future__ import annotations

import html
import os
import pty
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path

import pyte

CLONE = Path(__file__).resolve().parents[1]
COLUMNS, LINES = 100, 30
SCENES = (
    "memtool install claude-code",
    "memtool capture sample_sessions/*.jsonl   # what the hooks do when a session ends",
    "memtool search 'why an exclusion constraint'",
    "memtool search 取消预订的提示",
    "memtool context --project teahouse   # what the next session there is given",
    "memtool log",
)
PROMPT = "$ "
TYPED, READ = 0.6, 4.0  # seconds: a command before it is run, and its output
CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.4, 18, 14
BACKGROUND, FOREGROUND = "#1b1f27", "#d7dae0"
COLOURS = {
    "black": "#6b7280",
    "red": "#f28b82",
    "green": "#8bd49c",
    "brown": "#e6c07b",
    "blue": "#7cb7ff",
    "magenta": "#d3a4f9",
    "cyan": "#72d0d6",
    "white": "#ffffff",
}
FONT = 'text{font:14px ui-monospace,Menlo,Consolas,"Noto Sans Mono CJK SC",monospace;white-space:pre}'


@dataclass(frozen=True)
class Frame:
    """What the terminal shows for some *seconds*: its lines, each as runs of text with their style."""

    lines: tuple[tuple[tuple[int, str, str], ...], ...]
    """For each line: (column, text, SVG attributes)."""
    seconds: float


def main(arguments: list[str]) -> int:
    """Write the recording into the file that *arguments* name."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="memtool-recording-") as home:
        svg = as_svg(list(record(surroundings(Path(home)))))
    Path(arguments[0]).write_text(svg, encoding="utf-8")
    return 0


def surroundings(home: Path) -> dict[str, str]:
    """Return the environment of somebody who has just installed memtool."""
    (home / ".claude").mkdir()
    programs = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    size = {"COLUMNS": str(COLUMNS), "LINES": str(LINES)}
    plain = {"LANG": "C.UTF-8", "TERM": "xterm-256color", "MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
    return {"HOME": str(home), "PATH": programs} | plain | size


def record(environ: Mapping[str, str]) -> Iterator[Frame]:
    """Yield what the terminal shows while the scenes are played."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.Stream(screen)
    for command in SCENES:
        stream.feed(f"\x1b[2J\x1b[H{PROMPT}\x1b[1m{command}\x1b[0m")
        yield frame(screen, TYPED)
        stream.feed("\r\n" + output(command, environ))
        yield frame(screen, READ)


def output(command: str, environ: Mapping[str, str]) -> str:
    """Run *command* in a terminal; return all that it writes there, with its colours."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        ["/bin/bash", "-c", command],
        cwd=CLONE,
        env=dict(environ),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    )
    os.close(theirs)
    written = bytearray()
    while select.select([ours], [], [], 60)[0]:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        written += part
    os.close(ours)
    if running.wait() != 0:
        raise SystemExit(f"`{command}` failed:\n{written.decode(errors='replace')}")
    return written.decode("utf-8", "replace").replace(environ["HOME"], "/home/lin")


def frame(screen: pyte.Screen, seconds: float) -> Frame:
    """Return what *screen* shows now."""
    return Frame(tuple(runs(screen.buffer[number]) for number in range(LINES)), seconds)


def runs(line: Mapping[int, pyte.screens.Char]) -> tuple[tuple[int, str, str], ...]:
    """Return the runs of one style in a *line* of the screen. A wide character is followed by an empty cell."""
    cells = [(column, line[column].data, style(line[column])) for column in range(COLUMNS)]
    found = []
    for attributes, group in groupby(cells, key=lambda cell: cell[2]):
        part = list(group)
        if text := "".join(data for _, data, _ in part).rstrip():
            found.append((part[0][0], text, attributes))
    return tuple(found)


def style(cell: pyte.screens.Char) -> str:
    """Return how *cell* is drawn, as SVG attributes."""
    colour = COLOURS.get(cell.fg, FOREGROUND)
    bold = ' font-weight="bold"' if cell.bold else ""
    return f'fill="{colour}"{bold}'


def as_svg(frames: list[Frame]) -> str:
    """Return *frames* as one SVG that plays them over and over; where nothing moves it shows the last but one scene."""
    width, height = round(COLUMNS * CELL_WIDTH + 2 * MARGIN), LINES * LINE_HEIGHT + 2 * MARGIN
    total = sum(one.seconds for one in frames)
    ends = list(accumulate(one.seconds for one in frames))
    rules = ["g{visibility:hidden}"]
    for number, (one, end) in enumerate(zip(frames, ends, strict=True)):
        begins, ends_at = (end - one.seconds) / total * 100, end / total * 100
        hidden = "{visibility:hidden}"
        rules.append(
            f"@keyframes k{number}{{0%{hidden}{begins:.3f}%{{visibility:visible}}{ends_at:.3f}%{hidden}}}"
            f"#f{number}{{animation:k{number} {total:.1f}s step-end infinite}}"
        )
    rules.append(
        f"@media (prefers-reduced-motion){{g{{animation:none!important}}#f{len(frames) - 3}{{visibility:visible}}}}"
    )
    drawn = "\n".join(f'<g id="f{number}">{drawing(one)}</g>' for number, one in enumerate(frames))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>memtool in a terminal</title>
<style>{FONT}{"".join(rules)}</style>
<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>
{drawn}
</svg>
"""


def drawing(one: Frame) -> str:
    """Return the texts of a frame."""
    return "".join(
        f'<text x="{MARGIN + column * CELL_WIDTH:.1f}" y="{MARGIN + (number + 1) * LINE_HEIGHT - 4}" {attributes}>'
        f"{html.escape(text)}</text>"
        for number, line in enumerate(one.lines)
        for column, text, attributes in line
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
