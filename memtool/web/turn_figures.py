"""The tokens and the files of each turn of a session, from the client's own transcript.

The transcript repeats the usage of a message in each of its records. Tokens that a model reads again from its cache
are not counted.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from memtool.capture.heard import READING_TOOL, heard_path
from memtool.capture.transcript import EDITING_TOOLS
from memtool.capture.transcript.record_fields import content_of, is_by_a_person, text_at, text_in
from memtool.vault.project_area import shown_path
from memtool.vault.session_names import session_at
from memtool.workspace import Workspace


class TurnFigures(NamedTuple):
    """The words, tokens and files of one turn, or of several together.

    Args:
        prompt: what was typed; letters only.
        answer: what the agent wrote and ran; letters only.
        tokens: 0 where the client gave no figures.
        read, changed: files, as a person would name them.
    """

    prompt: str = ""
    answer: str = ""
    tokens: int = 0
    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def figures_of_session(work: Workspace, ref: str) -> TurnFigures:
    """Return the figures of the whole session whose note is at *ref*; empty ones without its transcript."""
    turns = _turns(work, ref)
    return TurnFigures(
        tokens=sum(turn.tokens for turn in turns),
        read=_each_once(file for turn in turns for file in turn.read),
        changed=_each_once(file for turn in turns for file in turn.changed),
    )


def figures_of_statement(work: Workspace, ref: str, asked: str, statement: str) -> TurnFigures:
    """Return the figures of the turn that a *statement* of the note at *ref* is about; empty ones if that is unsure.

    *asked* is the prompt above the statement, if there is one. A note may have shortened both.
    """
    pieces = (asked or statement).replace("…", "\n").replace("→", "\n").split("\n")
    wanted = max(map(_letters, pieces), key=len)[:40]  # of the longest piece that the note left whole
    turns = _turns(work, ref)
    if asked:
        return next((turn for turn in turns if wanted and wanted in turn.prompt), TurnFigures())
    # Fewer than eight letters often occur in several turns.
    found = [turn for turn in turns if len(wanted) >= 8 and (wanted in turn.answer or wanted in turn.prompt)]
    return found[0] if len(found) == 1 else TurnFigures()


def _turns(work: Workspace, ref: str) -> Sequence[TurnFigures]:
    session_id, largest = session_at(work.vault, ref), 64 << 20  # bytes of a transcript that is read for its figures
    with suppress(OSError, ValueError):
        of_client = (work.claude_folder / "projects").glob(f"*/{glob.escape(session_id)}.jsonl")
        for path in (*of_client, heard_path(work.vault, session_id)):
            if path.is_file() and (about := path.stat()).st_size <= largest:
                return _turns_at(path, work.home, about.st_size, about.st_mtime_ns)
    return ()


@lru_cache(maxsize=32)
def _turns_at(path: Path, home: Path, _size: int, _mtime_ns: int) -> Sequence[TurnFigures]:
    with path.open("rb") as lines:
        return tuple(turns_in(lines, home))


def turns_in(lines: Iterable[bytes], home: Path) -> Iterator[TurnFigures]:
    """Give the figures of each turn of a transcript; of the first one, they may be empty."""
    prompt, tokens, seen, root = "", 0, set[str](), ""
    answer, read, changed = list[str](), list[str](), list[str]()

    def turn() -> TurnFigures:
        return TurnFigures(prompt, "".join(answer)[:20_000], tokens, _each_once(read), _each_once(changed))

    for record in _messages(lines):
        root = root or text_at(record, "cwd")
        content = content_of(record)
        if record.get("type") == "assistant":
            message = text_at(record, "message", "id")
            tokens += _used(record) if message not in seen else 0
            seen |= {message} if message else set()
            answer.append(_letters(text_in(content)))
            for tool, target in _used_tools(content):
                if tool == "Bash":
                    answer.append(_letters(target))
                elif target:
                    (read if tool == READING_TOOL else changed).append(shown_path(target, Path(root), home))
        elif record.get("type") == "user" and is_by_a_person(record) and (typed := text_in(content)):
            yield turn()
            prompt, tokens, answer, read, changed = _letters(typed), 0, [], [], []
    yield turn()


def _messages(lines: Iterable[bytes]) -> Iterator[dict[str, object]]:
    """Give the records of messages, without those of agents that the agent started."""
    for line in lines:
        if b'"assistant"' in line or b'"user"' in line:
            with suppress(ValueError, RecursionError):
                record = json.loads(line)
                if isinstance(record, dict) and record.get("isSidechain") is not True:
                    yield record


def _used_tools(content: object) -> Iterator[tuple[str, str]]:
    """Give the tools in a message that read, change or run, each with its file or command."""
    for block in content if isinstance(content, list) else ():
        tool = text_at(block, "name") if isinstance(block, dict) and block.get("type") == "tool_use" else ""
        if tool == "Bash":
            yield tool, text_at(block, "input", "command")
        elif tool == READING_TOOL or tool in EDITING_TOOLS:
            yield tool, text_at(block, "input", "file_path") or text_at(block, "input", "notebook_path")


def _used(record: dict[str, object]) -> int:
    """Return the tokens of a message; a figure that no message can have is left out."""
    message = record.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    names = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
    figures = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    return sum(figure for figure in figures if type(figure) is int and 0 <= figure <= 10_000_000)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _each_once(files: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(files))[:50]
