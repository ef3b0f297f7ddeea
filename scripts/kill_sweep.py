"""Kill memtool's commands at many points, and look whether the next command completes what was cut off.

    python scripts/kill_sweep.py                # some 1,000 points over all commands
    python scripts/kill_sweep.py --most 5 undo  # five points of one

A world is made once: a user with a vault, its remote, another machine, a project and sessions. For each point it is
laid out anew; a command is killed right before its n-th change of a file or start of a program, or in the middle of its
n-th call of git, with git and all that this has started. Then comes the next command, now the same one, now another,
and then a sync; and what must hold then is looked at.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import json
import os
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

CLONE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CLONE))

import memtool  # noqa: E402
from memtool.cli.main import main as cli  # noqa: E402
from memtool.hook import main as hook_main  # noqa: E402
from memtool.hook.main import main as hook  # noqa: E402
from memtool.vault.facts import Fact, parse_facts  # noqa: E402

_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
# In place of git: its n-th call is killed after a while, with all that it has started, and memtool right before it.
_GIT = """#!/bin/sh
count=$(($(cat "$KILL_GIT_COUNT" 2>/dev/null || echo 0) + 1))
echo $count > "$KILL_GIT_COUNT"
[ "$count" = "$KILL_GIT" ] || exec "$REAL_GIT" "$@"
exec 3<&0
"$REAL_GIT" "$@" <&3 &
sleep "$KILL_GIT_AFTER"
kill -9 $PPID
kill -9 -$$
"""


_NOT_NEEDED = ("memtool.web", "memtool.mcp", "memtool.team", "memtool.embeddings")
_CHANGES = frozenset(
    f"os.{name}" for name in ("rename", "remove", "link", "symlink", "mkdir", "rmdir", "truncate", "chmod")
)


class Point(NamedTuple):
    """Where a command is killed: before a *change*, by its number, or *after* so many seconds of a call of *git*."""

    change: int = -1
    git: int = 0
    after: float = 0.0


class Ran(NamedTuple):
    """The outcome of a command: its exit code, or minus the signal that ended it; what it said on stderr."""

    code: int
    err: str


class Command(NamedTuple):
    """What is killed: the words behind `memtool`, or the event that a hook gets; and what must hold in the end."""

    words: tuple[str, ...]
    event: Mapping[str, object] | None = None
    holds: Callable[[World], str] = lambda _: ""


def _within(command: Command, root: str, kill_at: int, counted: Path) -> int:
    """Run *command* in this process and return its exit code; at its change number *kill_at* the process is killed."""
    seen = 0

    def watch(event: str, args: tuple[Any, ...]) -> None:
        nonlocal seen
        if event == "open":
            is_change = bool(args[2] & (os.O_WRONLY | os.O_RDWR)) and str(args[0]).startswith(root)
        else:
            is_within = event in _CHANGES and (root in str(args[0]) or isinstance(args[0], int))
            is_change = is_within or event == "subprocess.Popen"
        if is_change:
            if seen == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1

    def exited(code: int) -> NoReturn:
        raise SystemExit(code)

    sys.argv[:] = ["memtool", *command.words]
    sys.stdin, sys.stdout, sys.stderr = open(0, encoding="utf-8"), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    atexit._clear()  # noqa: SLF001  (those of the parent are none of ours)
    atexit.register(lambda: counted.write_text(str(seen), encoding="utf-8"))
    sys.addaudithook(watch)
    try:
        if command.event is None:
            cli()
        else:
            vars(hook_main)["os"] = SimpleNamespace(**{**vars(os), "_exit": exited})
            hook()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0


class World:
    """A user's home in *folder*, with a vault, its remote, another machine's clone, and a project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "world"
        self._kept = folder / "kept"
        self.vault, self.other, self.home = (self.folder / name for name in ("vault", "other", "home"))
        self.project = self.home / "shop"
        self._shim = folder / "bin" / "git"

    def make(self) -> None:
        """Make it, once."""
        self._shim.parent.mkdir(parents=True)
        self._shim.write_text(_GIT, encoding="utf-8")
        self._shim.chmod(0o755)
        self.project.mkdir(parents=True)
        self.git(self.folder, "init", "-q", "--bare", "-b", "main", "hub.git")
        self.git(self.project, "init", "-q")
        self.git(self.project, "remote", "add", "origin", "https://example.org/me/shop.git")
        self.done("init", str(self.vault))
        for path in (CLONE / "sample_vault").rglob("*.*"):
            if path.is_file() and path.name != "memtool.toml":
                target = self.vault / path.relative_to(CLONE / "sample_vault")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        self.git(self.vault, "add", "-A")
        self.git(self.vault, "commit", "-q", "-m", "my notes")
        self.done("capture", *map(str, (CLONE / "sample_sessions").glob("*.jsonl")))
        self.git(self.vault, "remote", "add", "origin", str(self.folder / "hub.git"))
        self.done("remember", "Die Sitzung endet nach 15 Minuten")
        self.git(self.project, "remote", "set-url", "origin", "https://example.org/me/laden.git")
        (self.vault / ".memtool" / "projects.json").unlink()  # or else its new address is not looked for today
        self.done("sync")
        self.git(self.folder, "clone", "-q", "hub.git", "other")
        for vault, name in ((self.other, "乙"), (self.vault, "甲")):
            self.write(
                vault,
                "areas/projects/neu/summary.md",
                f"---\ntype: project\ntriggers: [{name}]\n---\n\n# neu\n\n{name}\n",
            )
            self.write(vault, "daily/2026-11-22.md", f"---\ntype: daily\n---\n\n# Daily\n\n{name} 走路\n")
            self.write(vault, f"rules/{name}.json", "{}\n")
            self.write(vault, "rules/same.json", f'{{"{name}": 1}}\n')
            self.git(vault, "add", "-A")
            self.git(vault, "commit", "-q", "-m", "by hand")
            self.done("remember", "Die API spricht JSON", "--global", vault=vault)
            self.done("remember", f"所有金额以 {name} 为单位", "--project", "shop", vault=vault)
        for number in range(150):
            self.write(self.other, f"areas/tools/viele/knowledge/{number}.md", f"# 笔记 {number}\n")
        self.git(self.other, "add", "-A")
        self.git(self.other, "commit", "-q", "-m", "many notes")
        self.done("sync", vault=self.other)
        self._sessions()
        for vault in (self.vault, self.other, self.folder / "hub.git"):
            self.git(vault, "gc", "-q")
        self.wait()
        shutil.copytree(self.folder, self._kept, symlinks=True)

    def _sessions(self) -> None:
        folder = self.home / ".claude" / "projects" / "-shop"
        folder.mkdir(parents=True)
        whole = next((CLONE / "sample_sessions").glob("*.jsonl")).read_text(encoding="utf-8")
        for number in range(3):
            text = whole.replace("sample-1f3c9a52", f"kill-{number}").replace("teahouse", f"teahouse{number}")
            (folder / f"kill-{number}.jsonl").write_text(text, encoding="utf-8")
        self.transcript = folder / "kill-0.jsonl"

    def lay_out(self) -> None:
        """Bring it back to its beginning."""
        self.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        subprocess.run(["cp", "-a", str(self._kept), str(self.folder)], check=True)

    def wait(self) -> None:
        """Wait for what hooks have started in the background."""
        for _ in range(300):
            if not any(self._is_ours(path) for path in Path("/proc").glob("[0-9]*/cmdline")):
                return
            time.sleep(0.1)

    def _is_ours(self, path: Path) -> bool:
        try:
            return str(self.vault).encode() in path.read_bytes() and int(path.parent.name) != os.getpid()
        except OSError:
            return False

    def run(self, command: Command, *, vault: Path | None = None, point: Point = Point()) -> Ran:  # noqa: B008
        """Run *command*; it is killed at *point*.

        It runs in a fork of this process, which has imported memtool.
        """
        environ = {
            "PATH": f"{self._shim.parent}:{os.environ['PATH']}" if point.git else os.environ["PATH"],
            "HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
            "MEMTOOL_VAULT": str(vault or self.vault), "MEMTOOL_SESSIONS_NAMES": "id", "KILL_GIT": str(point.git),
            "KILL_GIT_AFTER": f"{point.after:.4f}",
            "KILL_GIT_COUNT": str(self.folder / "gits"), "REAL_GIT": shutil.which("git") or "git",
        }  # fmt: skip
        said, event = self._shim.parent / "said", self._shim.parent / "event"
        event.write_text(json.dumps(command.event), encoding="utf-8")
        child = os.fork()
        if not child:
            code = 70
            try:
                os.environ.clear()
                os.environ.update(environ)
                os.chdir(self.project)
                for number, path, flags in ((0, event, os.O_RDONLY), (1, os.devnull, os.O_WRONLY), (2, said, _NEW)):
                    os.dup2(os.open(path, flags, 0o600), number)
                code = _within(command, str(self.folder), point.change, self._shim.parent / "count")
            finally:
                atexit._run_exitfuncs()  # noqa: SLF001
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return Ran(code, said.read_text(encoding="utf-8", errors="replace"))

    def count(self, command: Command) -> tuple[int, int]:
        """Return how many changes and how many calls of git *command* makes."""
        (self._shim.parent / "count").unlink(missing_ok=True)
        self.run(command, point=Point(git=10**9))
        calls = self.folder / "gits"  # there is none without a call
        return int((self._shim.parent / "count").read_text()), int(calls.read_text()) if calls.exists() else 0

    def done(self, *words: str, vault: Path | None = None) -> None:
        """Run a command that must succeed."""
        ran = self.run(Command(words), vault=vault)
        if ran.code:
            raise SystemExit(f"memtool {' '.join(words)}: {ran.err}")

    def git(self, folder: Path, *args: str) -> str:
        """Run git as the user."""
        identity = ("-c", "user.name=安娜", "-c", "user.email=anna@example.org")
        command = ["git", "-C", str(folder), *identity, *args]
        environ = {**os.environ, "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout

    def write(self, vault: Path, ref: str, text: str) -> None:
        """Write a file of a vault by hand."""
        (vault / ref).parent.mkdir(parents=True, exist_ok=True)
        (vault / ref).write_text(text, encoding="utf-8")

    def text(self, ref: str) -> str:
        """Return a file of the vault; empty if there is none."""
        path = self.vault / ref
        return path.read_text(encoding="utf-8") if path.is_file() else ""


def commands(world: World) -> dict[str, Command]:
    """Return the commands that are killed, by name."""
    fact = next((fact.id for fact in _facts(world) if "Minuten" in fact.fact), "")
    session = {"session_id": "kill-0", "transcript_path": str(world.transcript), "cwd": str(world.project)}

    edited = {"file_path": str(world.project / "支付.ts")}

    def event(name: str, **more: object) -> Command:
        return Command((), {**session, "hook_event_name": name, **more}, lambda world: _daily(world, name))

    return {
        "index": Command(("index",)),
        "capture": Command(("capture", str(world.transcript)), holds=_captured),
        "import": Command(("import", "claude-code", "--yes"), holds=_captured),
        "consolidate": Command(("consolidate", "--week", "2026-W07"), holds=_reported),
        "sync": Command(("sync",), holds=_synced),
        "undo": Command(("undo",), holds=_undone),
        "supersede": Command(("facts", "supersede", fact, "会话在 30 分钟后结束"), holds=_superseded),
        "remember": Command(("remember", "购物车保存 7 天", "--kind", "knowledge"), holds=_remembered),
        "forget": Command(("forget", fact)),
        "purge": Command(("purge", "--yes", "--text", "15 Minuten"), holds=_purged),
        "rewrite": Command(("capture", "--rewrite"), holds=_rewritten),
        "export": Command(("export", str(world.home / "all.json")), holds=_exported),
        "install": Command(("install", "codex"), holds=_installed),
        "hook SessionStart": event("SessionStart", source="startup"),
        "hook UserPromptSubmit": event("UserPromptSubmit", prompt="why were customers charged twice?"),
        "hook PostToolUse": event("PostToolUse", tool_name="Write", tool_input=edited),
    }  # fmt: skip


def _daily(world: World, name: str) -> str:
    written = any("支付.ts" in path.read_text(encoding="utf-8") for path in (world.vault / "daily").glob("*.md"))
    return "" if written == (name == "PostToolUse") else "the daily note does not hold the edit"


def _captured(world: World) -> str:
    note, day = world.text("sessions/kill-0.md"), world.text("daily/2026-02-11.md")
    if day.count("sessions/kill-0.md") != 1:
        return "the day does not list the session once"
    return "" if note.startswith("---\n") and "teahouse0" in note else "the note of the session is not whole"


def _reported(world: World) -> str:
    report = world.text("reports/2026-W07.md")
    lines = re.findall(r"(?m)^- (?:fact|notes to the archive|written anew|done).*", report)
    known = {fact.id for fact in _facts(world)}
    told = set(re.findall(r"\((fact-[0-9a-f-]+)\)", report))
    shown = sorted(re.sub(r"fact-[0-9a-f-]+", "…", line) for line in lines)
    wanted = world.__dict__.setdefault("wanted_report", shown)
    if not told <= known:
        return f"the report tells of facts that are not there: {told - known}"
    return "" if shown == wanted and shown else f"the report's list of changes is {shown}, and not {wanted}"


def _synced(world: World) -> str:
    summary = world.text("areas/projects/neu/summary.md")
    is_whole = "triggers: [乙, 甲]" in summary.replace('"', "") or "triggers: [甲, 乙]" in summary.replace('"', "")
    twins = [fact.status for fact in parse_facts(world.text("areas/global/facts.json")).facts if "API" in fact.fact]
    if not is_whole or sorted(twins) != ["active", "superseded"]:
        return f"the merge is not whole: {summary} {twins}"
    return "" if len(list((world.vault / "rules").glob("same*.json"))) == 2 else "the other version is missing"


def _undone(world: World) -> str:
    undone = world.git(world.vault, "log", "--format=%(trailers:key=Undoes,valueonly)").split()
    return "" if undone and "甲" not in world.text("areas/projects/shop/facts.json") else "nothing was undone"


def _superseded(world: World) -> str:
    new = [fact for fact in _facts(world) if "30 分钟" in fact.fact and fact.status == "active"]
    old = [fact for fact in _facts(world) if "15 Minuten" in fact.fact]
    if len(new) != 1 or old[0].superseded_by != new[0].id:
        return f"the fact was superseded by {len(new)}"
    return _registered(world)


def _remembered(world: World) -> str:
    notes = list(world.vault.glob("areas/projects/*/knowledge/*购物车*"))
    return _registered(world) if len(notes) == 1 else f"{len(notes)} notes were remembered"


def _purged(world: World) -> str:
    files = (path for path in world.vault.rglob("*") if path.is_file() and ".git" not in path.parts)
    found = [path.name for path in files if b"15 Minuten" in path.read_bytes()]
    return f"the text is still in {found}" if found else ""


def _rewritten(world: World) -> str:
    notes = [path.read_text(encoding="utf-8") for path in (world.vault / "sessions").glob("sample-*.md")]
    is_whole = notes and all(text.startswith("---\n") and "\n# " in text for text in notes)
    return "" if is_whole else "a rewritten note is not whole"


def _registered(world: World) -> str:
    summaries = [path.read_text(encoding="utf-8") for path in world.vault.glob("areas/projects/*/summary.md")]
    known = sum("example.org/me/laden" in text for text in summaries)
    return "" if known == 1 else f"the identity of the project is in {known} summaries"


def _facts(world: World) -> list[Fact]:
    paths = sorted(world.vault.glob("areas/**/facts.json"))
    return [fact for path in paths for fact in parse_facts(path.read_text(encoding="utf-8")).facts]


def _exported(world: World) -> str:
    try:
        return "" if json.loads((world.home / "all.json").read_text(encoding="utf-8")) else "the export is empty"
    except ValueError:
        return "the export is cut off"


def _installed(world: World) -> str:
    path = world.home / ".codex" / "config.toml"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return "" if text.count("[mcp_servers.memtool]") == 1 else f"the settings of the agent: {text!r}"


def faults(world: World) -> Iterator[str]:
    """Give what does not hold of the vault, after any command, a kill and a sync."""
    repository = world.vault / ".git"
    yield from (f"left: {path.name}" for path in (*repository.rglob("*.lock"), *world.vault.glob(".merge_file_*")))
    if (repository / "MERGE_HEAD").exists():
        yield "a merge is under way"
    fsck = subprocess.run(
        ["git", "-C", str(world.vault), "fsck", "--no-dangling"], capture_output=True, text=True, check=False
    )
    if fsck.returncode:
        yield f"git fsck: {fsck.stderr}"
    if status := world.git(world.vault, "-c", "core.quotePath=false", "status", "--porcelain"):
        yield f"not committed: {status.splitlines()}"
    for line in world.git(world.vault, "log", "--format=%s").splitlines():
        if line.startswith(("keep: ", "Edits of")):
            yield f"counted as the user's: {line}"
    for path in world.vault.glob("areas/**/facts.json"):
        text = path.read_text(encoding="utf-8")
        yield from parse_facts(text).problems
        known = {fact.id: fact for fact in parse_facts(text).facts}
        torn = [fact.id for fact in known.values() if fact.supersedes and known[fact.supersedes].status == "active"]
        yield from (f"{name} supersedes an active fact" for name in torn)
    if any("<<<<<<< " in path.read_text(encoding="utf-8").split("\n---\n")[0] for path in world.vault.rglob("*.md")):
        yield "marks in front matter"


def tried(world: World, name: str, point: Point, *, same: bool) -> list[str]:
    """Kill the command *name* at one point, run the next one and a sync, and return what does not hold."""
    world.lay_out()
    command = commands(world)[name]
    world.run(command, point=point)
    world.wait()
    other = Command(("remember", "Die Suche ist 快", "--global"))
    following = (command,) if same else (other, command)
    found = []
    for each in following:
        ran = world.run(each)
        world.wait()
        if "Traceback" in ran.err or "bug in memtool" in ran.err or (each is other and "not committed" in ran.err):
            found.append(ran.err.strip())
    ran = world.run(Command(("sync",)))
    if ran.code:
        found.append(f"sync: {ran.err.strip()}")
    if name != "undo" or same:  # what is undone next is another change then
        found += filter(None, [command.holds(world)])
    return [*found, *faults(world)]


def points(world: World, name: str, most: int, part: float = 0.0) -> Iterator[Point]:
    """Give at most *most* points at which to kill the command *name*: each change, and git in the middle.

    Another *part*, from 0 to 1, gives others.
    """
    world.lay_out()
    changes, gits = world.count(commands(world)[name])
    every = [Point(at) for at in range(changes)]
    delays = (0.0, 0.002, 0.005, 0.01, 0.02, 0.04, *((0.1, 0.2, 0.3, 0.4, 0.5) if name == "sync" else ()))
    every += [Point(-1, call, delay) for delay in delays for call in range(1, gits + 1)]
    step = max(1.0, len(every) / most)
    yield from (every[int((at + part) * step)] for at in range(min(most, len(every))))


def sweep(folder: Path, names: Sequence[str], most: int, part: float = 0.0, tell: Callable[[str], None] = print) -> int:
    """Kill the commands *names* at *most* points each; return how many points were not clean."""
    for module in pkgutil.walk_packages(memtool.__path__, "memtool."):
        if not module.name.startswith(_NOT_NEEDED) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    world = World(folder)
    world.make()
    unclean = total = 0
    for name in names or list(commands(world)):
        world.lay_out()
        world.run(commands(world)[name])
        world.wait()
        world.run(Command(("sync",)))
        if fault := commands(world)[name].holds(world) if name != "undo" else "":
            raise SystemExit(f"{name} without a kill: {fault}")
        found = 0
        for number, point in enumerate(points(world, name, most, part)):
            if wrong := tried(world, name, point, same=number % 2 == 0):
                found += 1
                tell(f"  {name} {point} {'same' if number % 2 == 0 else 'other'}: {wrong}")
            total += 1
        unclean += found
        tell(f"{name}: {number + 1} points, {found} not clean")
    tell(f"{total} points, {unclean} not clean")
    return unclean


def main() -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="commands; all if none is named")
    parser.add_argument("--most", type=int, default=110, help="points of each command")
    parser.add_argument("--part", type=float, default=0.0, help="from 0 to 1: between the points of another run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return (
            1
            if sweep(
                Path(folder).resolve(), options.names, options.most, options.part, lambda line: print(line, flush=True)
            )
            else 0
        )


if __name__ == "__main__":
    sys.exit(main())
