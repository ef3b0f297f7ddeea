"""The fields of a transcript's record. The format is the client's own and changes: any field may be of any type."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from memtool.capture.transcript import ASKING_TOOL, EDITING_TOOLS, PLANNING_TOOL, SHELL_TOOL
from memtool.capture.transcript.record_stream import Record
from memtool.capture.transcript.text import inside, said_on_refusal
from memtool.text.lines import one_line
from memtool.text.scripts import HAN

IN_BACKGROUND = "Command running in background"  # how the result of a command begins that goes on
NO_ANSWER = "No response requested."  # what the model says where it has nothing to say

COMMIT = "git commit -m "  # how a commit is described, whatever else its command says
_COMMIT = re.compile(
    r"""(?:^|[;&|]\s*)git (?:-\S+ \S+ )?commit\b[^\n]{0,80}?\s-[a-z]*m[= ]*"""
    r"""(?:"\$\(cat <<\s*'?"?\w+'?"?\s*\n\s*|["'])([^\n"']{3,200})"""
)

HOOK_CONTEXT = "hook_additional_context"  # the type of an attachment that holds what hooks gave the model
TOLD_SUMMARY = "told_summary"  # the subtype of a record of ours that holds a summary by who worked
TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_NEW_TEXT = ("new_string", "content", "new_source")
_WORDS, _HAN = re.compile(r"[^\W\d_]{2,}"), re.compile(f"[{HAN}]{{2}}")
_STOPPED = (
    "The user doesn't want to",
    "The user wants to clarify these questions",
    "The agent proposed a plan that was rejected by the user",
    "Claude requested permissions to",
    "Permission to use ",
    "Permission for this tool use was denied",
    "[Request interrupted by user",
    "[Tool call",  # did not complete, was skipped
)
_PERSON, _SOURCES = "human", ("", "typed", "sdk", "queued", "suggestion_accepted")  # origins of what a person wrote
_REJECTED = "user-rejected"
_LAST_WITHOUT_KIND = (2, 1, 197)  # version of the client up to which a denial is known by its sentence only


class EditSize(NamedTuple):
    """The size of an edit: lines *added* and *removed*, and the first of each that says something."""

    added: int = 0
    removed: int = 0
    line: str = ""
    was: str = ""


class Call(NamedTuple):
    """The use of a tool: the full command of a shell, the file to edit and its change, or questions with options."""

    id: str
    tool: str
    command: str
    file: str
    change: EditSize = EditSize()
    questions: Mapping[str, tuple[str, ...]] = {}


class Result(NamedTuple):
    """The result of a call.

    Args:
        stopped: by the user or by a rule of theirs, which is no failure.
        said: what the user typed when they refused the call.
        is_sure: whether the record has a field of its own for that; a server's tool may print an old client's sentence.
    """

    call_id: str
    text: str
    failed: bool
    stopped: bool
    said: str = ""
    is_sure: bool = False


def text_at(record: Mapping[str, Any], *path: str) -> str:
    """Return the text at *path* in *record*, empty if there is none."""
    value: Any = record
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def dict_of(value: object) -> Record:
    """Return *value* if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts_of(value: object) -> list[Record]:
    """Return the objects in *value*, if it is a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def time_of(record: Record) -> datetime | None:
    """Return when *record* was written."""
    try:
        at = datetime.fromisoformat(text_at(record, "timestamp")[:40])
    except ValueError:
        return None
    if not 2000 <= at.year < 9000:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def moment_of(milliseconds: object) -> datetime | None:
    """Return the moment that *milliseconds* since 1970 name."""
    with suppress(ValueError, OverflowError, OSError):
        if isinstance(milliseconds, int | float) and milliseconds > 0:
            return datetime.fromtimestamp(milliseconds / 1000, UTC)
    return None


def is_by_a_person(record: Record) -> bool:
    """Return whether a person wrote the message in *record*, a user's or an attachment.

    An origin that is not known is no person's: new clients bring new ones. Old clients named none.
    """
    if record.get("isMeta") or record.get("isVisibleInTranscriptOnly"):
        return False
    if record.get("origin") is not None:
        return text_at(record, "origin", "kind") == _PERSON
    return text_at(record, "promptSource") in _SOURCES and text_at(record, "commandMode") in ("", "prompt")


def is_by_the_model(record: Record) -> bool:
    """Return whether the assistant's message in *record* is an answer, and not the client's word on an error."""
    return record.get("isApiErrorMessage") is not True and text_at(record, "message", "model") != "<synthetic>"


def content_of(record: Record) -> object:
    """Return the content of the message in *record*: a text, a list of blocks, or anything."""
    message = record.get("message")
    return message.get("content") if isinstance(message, dict) else message


def text_in(content: object) -> str:
    """Return the text in a message's *content*."""
    if isinstance(content, str):
        return content
    texts = (text_at(block, "text") for block in _blocks(content, "text"))
    return "\n\n".join(text for text in texts if text.strip())


def calls_in(content: object, cwd: str) -> Iterator[Call]:
    """Give the uses of tools in an assistant's message; files are made absolute by *cwd*."""
    for block in _blocks(content, "tool_use", "server_tool_use"):
        tool, given = text_at(block, "name"), block.get("input")
        given = given if isinstance(given, dict) else {}
        command, name = text_at(given, "command") if tool == SHELL_TOOL else "", text_at(block, "id")
        if commit := _COMMIT.search(command):
            push = " && git push" if re.search(r"\bgit push\b", command[commit.end() :]) else ""
            command = f'{COMMIT}"{commit[1].strip()}"{push}'
        if tool in EDITING_TOOLS:
            file = text_at(given, "file_path") or text_at(given, "notebook_path")
            yield Call(name, tool, "", _absolute(file, cwd), change_in(given))
        else:
            yield Call(name, tool, command, "", questions=_questions(given) if tool == ASKING_TOOL else {})


def change_in(given: Mapping[str, Any]) -> EditSize:
    """Return the size of the edit that a tool was *given*: whole lines that are only in the new or the old text."""
    edits = [edit for edit in given.get("edits") or () if isinstance(edit, dict)] if "edits" in given else [given]
    old = "\n".join(text_at(edit, "old_string") for edit in edits)
    new = "\n".join(next(filter(None, (text_at(edit, key) for key in _NEW_TEXT)), "") for edit in edits)
    before, after = Counter(filter(str.strip, old.split("\n"))), Counter(filter(str.strip, new.split("\n")))
    fresh, gone = after - before, before - after
    telling = (
        (line for line in lines if len(_WORDS.findall(line)) > 1 or _HAN.search(line)) for lines in (fresh, gone)
    )
    return EditSize(fresh.total(), gone.total(), *(next(lines, "").strip() for lines in telling))


def _questions(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the questions that a tool was *given* to ask, each with its options."""
    asked: dict[str, tuple[str, ...]] = {}
    for one in given["questions"] if isinstance(given.get("questions"), list) else ():
        if isinstance(one, dict):
            options = one["options"] if isinstance(one.get("options"), list) else []
            labels = (text_at(each, "label") if isinstance(each, dict) else each for each in options)
            asked[one_line(text_at(one, "question"))] = tuple(
                one_line(each) for each in labels if isinstance(each, str)
            )
    return asked


def plans_in(content: object) -> Iterator[str]:
    """Give the plans that an assistant's message lays before the user."""
    for block in _blocks(content, "tool_use"):
        if block.get("name") == PLANNING_TOOL and (plan := text_at(block, "input", "plan")):
            yield plan


def results_in(record: Record) -> Iterator[Result]:
    """Give the results of tools that *record* brings."""
    detail = record.get("toolUseResult")
    interrupted = isinstance(detail, dict) and detail.get("interrupted") is True
    kind = text_at(record, "toolDenialKind")
    # An old client's own word on a denial. What a tool prints never begins so: an exit code or a tag is before it.
    version = re.match(r"(\d+)\.(\d+)\.(\d+)", text_at(record, "version"))
    is_old = version is not None and tuple(map(int, version.groups())) <= _LAST_WITHOUT_KIND and isinstance(detail, str)
    for block in _blocks(content_of(record), "tool_result"):
        text = text_in(block.get("content"))
        failed = block.get("is_error") is True
        is_known = failed and not kind and is_old and text.lstrip().startswith(_STOPPED)
        said = said_on_refusal(text) if is_known or (failed and kind == _REJECTED) else ""
        stopped = interrupted or is_known or (failed and bool(kind))
        yield Result(text_at(block, "tool_use_id"), text, failed, stopped, said, is_sure=bool(kind))


def answers_in(record: Record) -> dict[str, str]:
    """Return the user's answers to the questions of a tool."""
    detail = record.get("toolUseResult")
    answers = detail.get("answers") if isinstance(detail, dict) else None
    if not isinstance(answers, dict):
        return {}
    chosen = {}
    for question, answer in answers.items():
        parts = answer if isinstance(answer, list) else [answer]
        if text := one_line(", ".join(part for part in parts if isinstance(part, str))):
            chosen[one_line(str(question))] = text
    return chosen


def shell_command(text: str) -> str:
    """Return the command that the user gave the shell by `!`; empty if *text* is something else."""
    return inside(text, "bash-input") if text.lstrip().startswith("<bash-input>") else ""


def is_notification(text: str) -> bool:
    """Return whether *text* tells of a call whose work went on in the background."""
    return text.lstrip().startswith("<task-notification>")


def notification_in(text: str) -> Result:
    """Return what *text*, a notification, says of its call."""
    failed = inside(text, "status") == "failed"
    return Result(inside(text, "tool-use-id"), inside(text, "summary"), failed, stopped=False)


def _blocks(content: object, *kinds: str) -> Iterator[Any]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in kinds:
            yield block


def _absolute(file: str, cwd: str) -> str:
    """Return *file* as the tool understood it: the model may name it from the folder it is in."""
    if not file or file.startswith("~") or PurePosixPath(file).is_absolute() or PureWindowsPath(file).drive:
        return file
    if cwd.startswith("/"):
        return posixpath.normpath(f"{cwd}/{file}")
    return str(PureWindowsPath(cwd, file)) if cwd else file
