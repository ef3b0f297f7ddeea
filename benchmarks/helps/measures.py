"""The measures of "does memory help", each with what a user has without memtool, an empty vault and a wrong one."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.helps.invented import DECISIONS, holds, write_sessions
from benchmarks.helps.memory import WAYS, Memory, Transcripts

NONE = "–"  # does not apply
LATER = (6, 60, 600)  # sessions after the one that decided
SOME = 40  # sessions of other projects that make a wrong vault


class Row(NamedTuple):
    """A measure: with memory, without it, with an empty vault, with a wrong one."""

    what: str
    memtool: str
    without: str = NONE
    empty: str = NONE
    wrong: str = NONE


class Skipped(Exception):
    """Material that is not on this machine."""


def decisions(scratch: Path, later: Sequence[int] = LATER) -> Iterator[Row]:
    """Give what is left of decisions after many other sessions of the project: at a start, and when asked for."""
    cwd = _folder(scratch / "shop")
    paths = list(write_sessions(scratch / "decided", cwd, max(later)))
    memory, empty, found = Memory(scratch / "memory"), Memory(scratch / "empty"), Transcripts()
    wrong = Memory(scratch / "wrong")
    wrong.capture(paths[len(DECISIONS) :][:SOME])
    done = 0
    for count in later:
        until = len(DECISIONS) + count
        memory.capture(paths[done:until])
        for path in paths[done:until]:
            found.add(path)
        done = until
        yield Row(
            f"invented decisions that a start still has after {count} other sessions, of {len(DECISIONS)}",
            str(_carried(memory, cwd)),
            NONE,
            str(_carried(empty, cwd)),
            str(_carried(wrong, cwd)),
        )
    ways = f"questions about them answered after that: {', '.join(WAYS)}"
    cells = [_decided(each, cwd) for each in (memory, empty, wrong)]
    yield Row(ways, cells[0], str(sum(holds(each, found.read(each.question)) for each in DECISIONS)), *cells[1:])


def next_day(shared: Path, scratch: Path) -> Iterator[Row]:
    """Give how many questions of the next day about real sessions are answered, and what their starts carry."""
    ask, carried, score = (scorer(shared, name) for name in ("ask", "carried", "score"))
    asked = lines_in(shared / "transcripts" / "questions.jsonl")
    memory, empty, wrong = Memory(scratch / "memory"), Memory(scratch / "empty"), wrong_vault(shared, scratch)
    projects: dict[str, list[str]] = carried.lay(memory.home)
    memory.run("import", "claude-code", "-y")
    names = dict(memory.sessions().values())
    cwds = {session: cwd for cwd, sessions in projects.items() for session in sessions}
    found = Transcripts(sorted((shared / "transcripts" / "sessions").glob("*.jsonl")))
    due, void = ([each for each in asked if (each["kind"] == "nothing") is nothing] for nothing in (False, True))

    def came(vault: Memory, question: dict[str, Any], folder: str = "") -> tuple[str, ...]:
        session = next(name for name in cwds if name.startswith(question["session"]))
        cwd, project = folder or cwds[session], names.get(session, "") if vault is memory else ""
        return vault.answers(cwd, question["q"], project)

    def answered(vault: Memory, folder: str = "") -> str:
        grades = [[ask.grade(each, text) == "answered" for text in came(vault, each, folder)] for each in due]
        return _sums(grades)

    by_words = sum(ask.grade(each, found.read(each["q"])) == "answered" for each in due)
    yield Row(
        f"questions of the next day answered, of {len(due)}: {', '.join(WAYS)}",
        answered(memory),
        str(by_words),
        answered(empty),
        answered(wrong, wrong_folder(scratch)),
    )

    def loud(vault: Memory, folder: str = "") -> str:
        session_of = next(iter(cwds))
        said = []
        for each in void:
            cwd = folder or cwds[next((name for name in cwds if name.startswith(each["session"])), session_of)]
            texts = (vault.prompt(cwd, each["q"]), *vault.answers(cwd, each["q"], "")[1:])
            said.append([ask.grade(each, text) == "noise" for text in texts])
        return _sums(said)

    yield Row(
        f"questions without an answer that got anything, of {len(void)}: prompt, {', '.join(WAYS[1:])}",
        loud(memory),
        str(sum(bool(found.read(each["q"])) for each in void)),
        loud(empty),
        loud(wrong, wrong_folder(scratch)),
    )
    labels = {label["session"]: label for label in score.read_labels()}

    def share(vault: Memory, folder: str = "") -> str:
        judged = [
            carried.judge(vault.start(folder or cwd), [labels[session] for session in sessions[: carried.NEWEST]])
            for cwd, sessions in projects.items()
        ]
        held, lost = (sum(len(each[what]) for each in judged) for what in ("carried", "lost"))
        return f"{100 * held / (held + lost):.0f} %"

    yield Row(
        "decisions, rules, open and main items of the newest five sessions that a start has",
        share(memory),
        NONE,
        share(empty),
        share(wrong, wrong_folder(scratch)),
    )


def real_prompts(shared: Path, scratch: Path) -> Iterator[Row]:
    """Give whether what real prompts are given is worth reading; each comes before its own session is captured."""
    given = scorer(shared, "prompts.given")
    labels = {
        (each["session"], each["prompt"]): each for each in lines_in(shared / "transcripts/prompts/prompts.jsonl")
    }
    memory, empty, wrong = Memory(scratch / "memory"), Memory(scratch / "empty"), wrong_vault(shared, scratch)
    found, rows = Transcripts(), []
    for path, cwd in given.by_time():
        for number, prompt in enumerate(given.typed(path)):
            label = labels.get((path.stem[:8], number))
            if label:
                places = ((memory, cwd), (empty, cwd), (wrong, wrong_folder(scratch)))
                blocks = [_items(vault.prompt(place, prompt)) for vault, place in places]
                rows.append((label, blocks, found.read(prompt).splitlines()))
        memory.capture([path])
        found.add(path)
    ideal = sum(len(label["ideal"]) for label, *_ in rows)

    def met(lines: Callable[[Any], list[str]]) -> str:
        hits = [any(given.is_ideal(each, line) for line in lines(row)) for row in rows for each in row[0]["ideal"]]
        return str(sum(hits))

    def worth(which: int) -> str:
        graded = [
            next((entry["worth"] for entry in label["lines"] if given.same(entry["text"], line)), "unknown")
            for label, blocks, _ in rows
            for line in blocks[which]
        ]
        known = [each for each in graded if each != "unknown"]
        share = f"{100 * known.count('yes') / len(known):.0f} % of {len(known)}" if known else "0 lines"
        return f"{share}, {len(graded) - len(known)} not labelled" if len(graded) > len(known) else share

    def prompts_given(which: int) -> str:
        return str(sum(bool(blocks[which]) for label, blocks, _ in rows if not label["ideal"]))

    needless = sum(not label["ideal"] for label, *_ in rows)
    ideals = [met(lambda row, which=which: row[1][which]) for which in range(3)]  # type: ignore[misc]
    yield Row(f"lines worth having that real prompts got, of {ideal}", ideals[0], met(lambda row: row[2]), *ideals[1:])
    yield Row("labelled lines given to real prompts that are worth reading", worth(0), NONE, worth(1), worth(2))
    yield Row(
        f"real prompts that needed nothing and got something, of {needless}",
        prompts_given(0),
        NONE,
        *(prompts_given(which) for which in (1, 2)),
    )


def related_issues(shared: Path, scratch: Path, most: int | None = None) -> Iterator[Row]:
    """Give whether a related issue brings back the session that edited the file which its patch edits."""
    run, carried = scorer(shared, "swectx.run"), scorer(shared, "carried")
    memory, empty, wrong = Memory(scratch / "memory"), Memory(scratch / "empty"), Memory(scratch / "wrong")
    folders = carried.lay(wrong.home)
    wrong.run("import", "claude-code", "-y")
    records = run.sessions(set())
    paths = captured(run, memory, scratch, records)
    found = Transcripts(paths)
    sessions = {name: session for name, (session, _) in memory.sessions().items()}
    touched = {instance: run.edited(lines) for instance, lines in records.items()}
    counts = {name: [0, 0, 0, 0, 0] for name in ("memtool", "without", "empty", "wrong")}
    answerable = all_issues = 0
    for issue in lines_in(shared / "swectx" / "issues.jsonl")[:most]:
        names = tuple("/" + name for name in issue["files"])
        gold = {
            instance
            for instance, files in touched.items()
            if run.repository(instance) == issue["repo"] and any(file.endswith(names) for file in files)
        }
        all_issues += 1
        answerable += bool(gold)
        cwd, text = str(run.checkout(scratch, issue["repo"], memory.environ)), issue["problem_statement"]
        places = {"memtool": (memory, cwd), "empty": (empty, cwd), "wrong": (wrong, next(iter(folders)))}
        for name, (vault, place) in places.items():
            block = vault.prompt(place, "Fix this issue:\n" + text)
            named = [sessions.get(each, each) for each in re.findall(r"sessions/([\w.-]+?)\.md", block)]
            _count(counts[name], _items(block), named, gold, issue, block)
        named = found.best(text.strip().splitlines()[0][:200], 2)
        _count(counts["without"], named, named, gold, issue, "")

    def cell(name: str) -> str:
        _, right, lines, of, files = counts[name]
        share = f"{100 * lines / of:.0f} % of {of}" if of else "0 lines"
        return f"{right}, {share}" + (f", {files}" if name != "without" else "")

    yield Row(
        f"related issues: of {answerable} answerable those that got the right session, lines of right sessions, blocks"
        " with one that name a file of the patch",
        *(cell(name) for name in counts),
    )
    yield Row(
        f"issues that got anything, of {all_issues}",
        *(str(counts[name][0]) for name in ("memtool", "without", "empty", "wrong")),
    )


def _count(count: list[int], lines: Sequence[str], sessions: list[str], gold: set[str], issue: Any, block: str) -> None:  # noqa: ANN401
    count[0] += bool(lines)
    if gold:
        count[1] += bool(gold & set(sessions))
        count[2] += sum(session in gold for session in sessions)
        count[3] += len(sessions)
        count[4] += bool(gold & set(sessions)) and any(Path(name).name in block for name in issue["files"])


def wrong_vault(shared: Path, scratch: Path) -> Memory:
    """Return the memory of somebody who worked on other projects."""
    run = scorer(shared, "swectx.run")
    wrong = Memory(scratch / "wrong")
    records = dict(list(run.sessions({"sympy/sympy"}).items())[:SOME])
    captured(run, wrong, scratch, records)
    return wrong


def wrong_folder(scratch: Path) -> str:
    """Return the folder in which the sessions of `wrong_vault` ran."""
    return str(scratch / "src" / "sympy__sympy")


def captured(run: ModuleType, memory: Memory, scratch: Path, records: dict[str, list[dict[str, Any]]]) -> list[Path]:
    """Let *memory* capture the sessions *records*, each in the checkout of its repository; return their transcripts."""
    paths = []
    (scratch / "moved").mkdir(exist_ok=True)
    for instance, lines in records.items():
        cwd = str(run.checkout(scratch, run.repository(instance), memory.environ | _AUTHOR))
        paths.append(scratch / "moved" / f"{instance}.jsonl")
        moved = (line | ({"cwd": cwd} if "cwd" in line else {}) for line in lines)
        paths[-1].write_text("".join(json.dumps(line) + "\n" for line in moved), encoding="utf-8")
    memory.capture(paths)
    return paths


_AUTHOR = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def scorer(shared: Path, name: str) -> ModuleType:
    """Return what grades the private material; it lies beside it."""
    folder = shared / "swectx" if name == "swectx.run" else shared / "transcripts"
    folder = folder / "prompts" if name == "prompts.given" else folder
    if not folder.is_dir():
        raise Skipped(f"{folder.name} is not in {shared}")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return importlib.import_module(name.rpartition(".")[2])


def _carried(memory: Memory, cwd: str) -> int:
    block = memory.start(cwd)
    return sum(holds(each, block) for each in DECISIONS)


def _decided(memory: Memory, cwd: str) -> str:
    return _sums([[holds(each, text) for text in memory.answers(cwd, each.question, "")] for each in DECISIONS])


def _sums(rows: Sequence[Sequence[bool]]) -> str:
    return " · ".join(str(sum(column)) for column in zip(*rows, strict=True))


def _items(block: str) -> list[str]:
    return [line[2:].strip() for line in block.splitlines() if line.startswith("- ")]


def _folder(path: Path) -> str:
    path.mkdir(parents=True)
    return str(path)


def lines_in(path: Path) -> list[dict[str, Any]]:
    """Return the objects on the lines of the file at *path*."""
    if not path.exists():
        raise Skipped(f"{path.name} is not on this machine")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
