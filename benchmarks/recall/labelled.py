"""The labelled set: memories, and conversations whose prompts name the memories that belong to them.

Both are Markdown that a person writes and reads. `memories/*.md`:

    # projects/shop                                        an area of the vault, and for a project a line about it
    - sh-01 · decision · 12d · Tokens live ten minutes.    a fact: id, category, age, text
    ## sh-n1 · knowledge · 30d · Title                     a note: decision, change, knowledge or session, and its text

`conversations/*.md`:

    # lost-phone · shop · en                               a conversation: name, project (`-` for none), language
    - How long does a token live?                          a prompt; it goes on in lines that are indented
      + sh-01                                              relevant, and the prompt names what it is about
      > sh-02                                              relevant, but the prompt only implies it
      ~ sh-n1                                              neither missed if it is not given nor wrong if it is
      =                                                    about the project, of which nothing is remembered here

A prompt without any of these marks has nothing to do with what the vault holds.

There are four parts. In `plain` each prompt says what it is about, or has nothing to do with the vault: the goals are
meant for it, and no weight is fitted to it. The other two are days of work, with hints, follow-ups, tasks that silently
touch a convention, and prompts about parts of a project of which nothing is remembered: `development`, to which the
weights are fitted, and `held_out`, which tells how they do elsewhere. `fresh` is small and new: written before a change
whose author has read the other parts, measured before and after it, and never tuned to. Most of it is said in quite
other words than the memories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

PLAIN, DEVELOPMENT, HELD_OUT, FRESH = PARTS = ("plain", "development", "held_out", "fresh")
NOTES = ("decision", "change", "knowledge", "session")

P = TypeVar("P")  # a prompt, with whatever labels it has

_FOLDER = Path(__file__).parent
_FACT = re.compile(r"- (\S+) · (\w+) · (\d+)d · (.+)")
_NOTE = re.compile(r"## (\S+) · (\w+) · (\d+)d · (.+)")


class BadSet(ValueError):
    """The labelled set says something that means nothing."""


class Memory(NamedTuple):
    """What the vault remembers. *kind* is `fact` or one of NOTES; *text* is the fact, or what stands below *title*."""

    id: str
    area: str
    kind: str
    category: str
    days: int
    text: str
    title: str = ""


class Area(NamedTuple):
    """A part of the vault, such as `projects/shop`, with its memories."""

    name: str
    about: str
    memories: tuple[Memory, ...]


class Prompt(NamedTuple):
    """What a user says, and the ids of the memories that belong to it, *named* or only *implied*."""

    text: str
    named: frozenset[str] = frozenset()
    implied: frozenset[str] = frozenset()
    tolerated: frozenset[str] = frozenset()
    is_near: bool = False

    @property
    def relevant(self) -> frozenset[str]:
        """The memories that it should be given."""
        return self.named | self.implied

    @property
    def is_unrelated(self) -> bool:
        """Whether it has nothing to do with what the vault holds."""
        return not self.relevant and not self.tolerated and not self.is_near


class Conversation(NamedTuple):
    """The prompts of one session. *project* is empty where it is held in a folder that is no project of the vault."""

    name: str
    project: str
    language: str
    prompts: tuple[Prompt, ...]


def read_areas(folder: Path = _FOLDER / "memories") -> list[Area]:
    """Return all areas of the set.

    Raises:
        BadSet
    """
    areas = [area for path in sorted(folder.glob("*.md")) for area in parse_areas(path.read_text(encoding="utf-8"))]
    _refuse_doubles(memory.id for area in areas for memory in area.memories)
    return areas


def read_conversations(part: str, known: Iterable[str], folder: Path = _FOLDER / "conversations") -> list[Conversation]:
    """Return the conversations of one of PARTS, of which every label is one of the *known* ids.

    Raises:
        BadSet
    """
    conversations = parse_conversations((folder / f"{part}.md").read_text(encoding="utf-8"))
    _refuse_doubles(conversation.name for conversation in conversations)
    prompts = [prompt for conversation in conversations for prompt in conversation.prompts]
    unknown = {label for prompt in prompts for label in prompt.relevant | prompt.tolerated} - set(known)
    if unknown:
        raise BadSet(f"no memory has the id {', '.join(sorted(unknown))}")
    return conversations


def known_ids(areas: Iterable[Area]) -> list[str]:
    """Return the ids of all memories in *areas*."""
    return [memory.id for area in areas for memory in area.memories]


def parse_areas(text: str) -> list[Area]:
    """Return the areas in the *text* of a file of memories.

    Raises:
        BadSet
    """
    return [_area(name, lines) for name, lines in sections(text)]


def parse_conversations(text: str) -> list[Conversation]:
    """Return the conversations in the *text* of a file of conversations.

    Raises:
        BadSet
    """
    return [Conversation(*read_conversation(*section, "project", Prompt, _with_line)) for section in sections(text)]


def sections(text: str) -> list[tuple[str, list[str]]]:
    """Return the first-level headings of *text*, each with the lines below it that are not empty.

    Raises:
        BadSet
    """
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("# "):
            found.append((line[2:].strip(), []))
        elif line.strip():
            if not found:
                raise BadSet(f"'{line}' stands before the first heading")
            found[-1][1].append(line)
    return found


def _area(name: str, lines: list[str]) -> Area:
    about = ""
    memories: list[Memory] = []
    for line in lines:
        if fact := _FACT.fullmatch(line):
            memories.append(Memory(fact[1], name, "fact", fact[2], int(fact[3]), fact[4]))
        elif note := _NOTE.fullmatch(line):
            memories.append(Memory(note[1], name, _note_kind(note[2]), "", int(note[3]), "", note[4]))
        elif memories and memories[-1].kind != "fact" and not line.startswith("#"):
            memories[-1] = memories[-1]._replace(text=f"{memories[-1].text}{line}\n")
        elif not memories and not about and not line.startswith(("#", "-")):
            about = line
        else:
            raise BadSet(f"'{line}' is neither a fact nor a note")
    return Area(name, about, tuple(memories))


def _note_kind(word: str) -> str:
    if word not in NOTES:
        raise BadSet(f"'{word}' is no kind of note")
    return word


def read_conversation(
    heading: str, lines: Sequence[str], place: str, begin: Callable[[str], P], with_line: Callable[[P, str], P]
) -> tuple[str, str, str, tuple[P, ...]]:
    """Return the name of a conversation, its *place* (a project, a session), its language and its prompts.

    Raises:
        BadSet
    """
    parts = heading.split(" · ")
    if len(parts) != 3:
        raise BadSet(f"'{heading}' is not a name, a {place} and a language")
    prompts: list[P] = []
    for line in lines:
        if line.startswith("- "):
            prompts.append(begin(line[2:]))
        elif prompts and line.startswith("  "):
            prompts[-1] = with_line(prompts[-1], line[2:])
        else:
            raise BadSet(f"'{line}' belongs to no prompt")
    return parts[0], parts[1].strip("-"), parts[2], tuple(prompts)


def _with_line(prompt: Prompt, line: str) -> Prompt:
    mark, ids = line[:2], frozenset(line[2:].split())
    if mark == "+ ":
        return prompt._replace(named=prompt.named | ids)
    if mark == "> ":
        return prompt._replace(implied=prompt.implied | ids)
    if mark == "~ ":
        return prompt._replace(tolerated=prompt.tolerated | ids)
    if line == "=":
        return prompt._replace(is_near=True)
    return prompt._replace(text=f"{prompt.text}\n{line}")


def _refuse_doubles(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadSet(f"'{name}' is there twice")
        seen.add(name)
