"""The figures of turns, by the client's own transcript: the tokens that each took, and the files it read and changed.

A transcript repeats the usage of a message in each of its records. What a model reads again from its cache is no
discovery and is not counted; what it is shown anew, and what it says, is.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator
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

_FIGURES = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
_LARGEST = 67_108_864  # bytes of a transcript
_LETTERS = 40  # by which a note that shortened a text is known to tell of it
_FEWEST = 8  # letters that are hardly said twice
_MOST = 10_000_000  # tokens of a message; what is more is no figure
_MOST_FILES = 50
_MOST_SAID = 20_000  # letters of a turn


class TurnFigures(NamedTuple):
    """The figures of a turn, or of several.

    Args:
        prompt, said: what was typed, and what the agent said and ran; letters only.
        tokens: what it took; 0 where the client gave no figures.
        read, changed: files, as a person would name them.
    """

    prompt: str = ""
    said: str = ""
    tokens: int = 0
    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def turns_in(lines: Iterable[bytes], home: Path) -> tuple[TurnFigures, ...]:
    """Return the turns of a transcript."""
    return tuple(_turns(lines, home))


def figures_of(work: Workspace, ref: str) -> TurnFigures:
    """Return the figures of the whole session whose note lies at *ref*, as far as its transcript is there."""
    turns = _read(work, ref)
    return TurnFigures(
        tokens=sum(turn.tokens for turn in turns),
        read=_each_once(file for turn in turns for file in turn.read),
        changed=_each_once(file for turn in turns for file in turn.changed),
    )


def figures_of_turn(work: Workspace, ref: str, asked: str, told: str) -> TurnFigures:
    """Return the figures of the turn that a statement of a session's note is about; none where that is not sure.

    Args:
        work: where we work.
        ref: the path of the note.
        asked: the prompt of the turn, as the note has it; empty where the note does not say.
        told: the statement.
    """
    turns, wanted = _read(work, ref), _telling(asked or told)
    if asked:
        return next((turn for turn in turns if wanted and wanted in turn.prompt), TurnFigures())
    found = [turn for turn in turns if len(wanted) >= _FEWEST and (wanted in turn.said or wanted in turn.prompt)]
    return found[0] if len(found) == 1 else TurnFigures()


def _read(work: Workspace, ref: str) -> tuple[TurnFigures, ...]:
    session_id = session_at(work.vault, ref)
    with suppress(OSError, ValueError):
        of_client = (work.client_folder / "projects").glob(f"*/{glob.escape(session_id)}.jsonl")
        for path in (*of_client, heard_path(work.vault, session_id)):
            if path.is_file() and (about := path.stat()).st_size <= _LARGEST:
                return _read_as_it_is(path, work.home, about.st_size, about.st_mtime_ns)
    return ()


@lru_cache(maxsize=32)
def _read_as_it_is(path: Path, home: Path, _size: int, _mtime_ns: int) -> tuple[TurnFigures, ...]:
    with path.open("rb") as lines:
        return turns_in(lines, home)


def _turns(lines: Iterable[bytes], home: Path) -> Iterator[TurnFigures]:
    prompt, tokens, seen, root = "", 0, set[str](), ""
    said, read, changed = list[str](), list[str](), list[str]()

    def turn() -> TurnFigures:
        letters = "".join(said)[:_MOST_SAID]
        return TurnFigures(prompt, letters, tokens, _each_once(read), _each_once(changed))

    for line in lines:
        if b'"assistant"' not in line and b'"user"' not in line:
            continue
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if not isinstance(record, dict) or record.get("isSidechain") is True:
                continue
            root = root or text_at(record, "cwd")
            content = content_of(record)
            if record.get("type") == "assistant":
                message = text_at(record, "message", "id")
                tokens += _used(record) if message not in seen else 0
                seen |= {message} if message else set()
                said.append(_letters(text_in(content)))
                for tool, target in _used_tools(content):
                    if tool == "Bash":
                        said.append(_letters(target))
                    elif target:
                        (read if tool == READING_TOOL else changed).append(shown_path(target, Path(root), home))
            elif record.get("type") == "user" and is_by_a_person(record) and (typed := text_in(content)):
                yield turn()
                prompt, tokens, said, read, changed = _letters(typed), 0, [], [], []
    yield turn()


def _used_tools(content: object) -> Iterator[tuple[str, str]]:
    """Give the tools in a message that read, change or run, each with its file or command."""
    for block in content if isinstance(content, list) else ():
        tool = text_at(block, "name") if isinstance(block, dict) and block.get("type") == "tool_use" else ""
        if tool == "Bash":
            yield tool, text_at(block, "input", "command")
        elif tool == READING_TOOL or tool in EDITING_TOOLS:
            yield tool, text_at(block, "input", "file_path") or text_at(block, "input", "notebook_path")


def _used(record: dict[str, object]) -> int:
    message = record.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    figures = [usage.get(name) for name in _FIGURES] if isinstance(usage, dict) else []
    return sum(figure for figure in figures if type(figure) is int and 0 <= figure <= _MOST)


def _telling(text: str) -> str:
    """Return the first letters of the longest piece of *text* that a note left whole."""
    pieces = text.replace("…", "\n").replace("→", "\n").split("\n")
    return max(map(_letters, pieces), key=len)[:_LETTERS]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _each_once(files: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(files))[:_MOST_FILES]
