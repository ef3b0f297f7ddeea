"""The prompts over real session notes, and what a given line is worth to each of them.

`transcripts/held_out.md` is Markdown that a person writes and reads:

    # resume · b00b80af · en                               a conversation: name, folder (that in which this session ran;
                                                           `-` for none), language
    - what if my local log is newer?                       a prompt; it goes on in lines that are indented
      + b00b80af · newer & (ask|confirm)                   a line with both is worth reading; the prompt says
                                                           what it is about
      > b00b80af · --force                                 the same, but the prompt only implies it
      ~ b00b80af · overwr                                  neither missed if it is not given nor wrong if it is
      ! b00b80af · never overwr                            a line with this misleads
      =                                                    about the project, of which nothing is remembered

Before the patterns stand the sessions that hold what they look for, by the beginning of their ids. They are Python's,
are searched without regard to case, and say less than a reader would: a line that matches none may be worth reading.

A prompt without any of these marks has nothing to do with the sessions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.recall.labelled import BadSet, read_conversation, sections
from benchmarks.recall.measures import WINDOW, mean
from benchmarks.recall.vaults import REF

SET = Path(__file__).parent / "transcripts" / "held_out.md"
MEANINGS = {
    "served": "prompts with something worth knowing that got a line of it",
    "served_named": "of those that name what it is about",
    "relevant_lines": "given lines that match a label of their prompt",
    "misleading_lines": "given lines that mislead",
    "disturbed": "unrelated prompts that got anything",
    "disturbed_near": "prompts about the project, without a memory, that got anything",
}


class Label(NamedTuple):
    """What a line says that is worth reading: all of *patterns*. One of *sessions*, beginnings of ids, holds it."""

    sessions: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]

    def fits(self, line: str) -> bool:
        """Whether *line* says it."""
        return all(pattern.search(line) for pattern in self.patterns)


class Prompt(NamedTuple):
    """What a user says, and the labels of the lines that belong to it."""

    text: str
    named: tuple[Label, ...] = ()
    implied: tuple[Label, ...] = ()
    tolerated: tuple[Label, ...] = ()
    misleading: tuple[Label, ...] = ()
    is_near: bool = False

    @property
    def wanted(self) -> tuple[Label, ...]:
        """What it should be given."""
        return self.named + self.implied

    @property
    def is_unrelated(self) -> bool:
        """Whether it has nothing to do with the sessions."""
        return not self.wanted and not self.tolerated and not self.is_near

    def is_misled_by(self, line: str) -> bool:
        """Whether *line* says what was refuted."""
        return any(label.fits(line) for label in self.misleading)

    def is_helped_by(self, line: str) -> bool:
        """Whether *line* has one of its labels and does not mislead."""
        return any(label.fits(line) for label in self.wanted + self.tolerated) and not self.is_misled_by(line)


class Conversation(NamedTuple):
    """The prompts of one session, held in the folder in which *session* ran; in none that is known if it is empty."""

    name: str
    session: str
    language: str
    prompts: tuple[Prompt, ...]


class Turn(NamedTuple):
    """One prompt and the *block* that the agent is given with it."""

    prompt: Prompt
    block: str

    @property
    def lines(self) -> list[str]:
        """The memories of the block, each without the place where it stands, which is the last file that it names."""
        named = ((line, list(REF.finditer(line))) for line in self.block.splitlines())
        return [line[: found[-1].start()] + line[found[-1].end() :] for line, found in named if found]


def read_conversations(path: Path = SET) -> list[Conversation]:
    """Return the conversations of the set.

    Raises:
        BadSet
    """
    return parse_conversations(path.read_text(encoding="utf-8"))


def parse_conversations(text: str) -> list[Conversation]:
    """Return the conversations in *text*.

    Raises:
        BadSet
    """
    return [Conversation(*read_conversation(*section, "session", Prompt, _with_line)) for section in sections(text)]


def measure(talks: Sequence[Sequence[Turn]]) -> dict[str, float | None]:
    """Return each of MEANINGS as a share of the turns or lines of *talks*; None where there is nothing to measure by.

    A label that a line of the last five turns fits is not owed again.
    """
    turns = [turn for talk in talks for turn in talk]
    owed = [step for talk in talks for step in _owed(talk)]
    lines = [(turn.prompt, line) for turn in turns for line in turn.lines]
    return {
        "served": mean([_is_served(turn, labels) for turn, labels in owed]),
        "served_named": mean([_is_served(turn, labels) for turn, labels in owed if {*labels} & {*turn.prompt.named}]),
        "relevant_lines": mean([prompt.is_helped_by(line) for prompt, line in lines]),
        "misleading_lines": mean([prompt.is_misled_by(line) for prompt, line in lines]),
        "disturbed": mean([bool(turn.block.strip()) for turn in turns if turn.prompt.is_unrelated]),
        "disturbed_near": mean([bool(turn.block.strip()) for turn in turns if turn.prompt.is_near]),
    }


def counts(talks: Sequence[Sequence[Turn]]) -> dict[str, int]:
    """Return how much was measured."""
    turns = [turn for talk in talks for turn in talk]
    return {
        "conversations": len(talks),
        "prompts": len(turns),
        "owed": sum(1 for talk in talks for _ in _owed(talk)),
        "near": sum(turn.prompt.is_near for turn in turns),
        "unrelated": sum(turn.prompt.is_unrelated for turn in turns),
        "lines": sum(len(turn.lines) for turn in turns),
    }


def table(talks: Sequence[Sequence[Turn]]) -> str:
    """Return the measures as a Markdown table, and below it how much was measured."""
    shares = measure(talks)
    rows = [f"| {meaning} | {_shown(shares[name])} |" for name, meaning in MEANINGS.items()]
    counted = ", ".join(f"{number} {what}" for what, number in counts(talks).items())
    return "\n".join(["| what | held-out sessions |", "| --- | --- |", *rows, "", f"{counted}."])


def as_json(talks: Sequence[Sequence[Turn]]) -> dict[str, Any]:
    """Return all measures for a program."""
    return {"format": 1, "counts": counts(talks), "measures": measure(talks)}


def to_read(conversations: Sequence[Conversation], talks: Sequence[Sequence[Turn]]) -> str:
    """Return Markdown with each prompt and the lines that it got, for a person to judge.

    Before a line stands `+` if it matches a label of its prompt, `!` if it misleads, and `?` if a reader must say.
    """
    return "\n".join(
        f"# {conversation.name}\n\n" + "\n".join(map(_turn_to_read, turns))
        for conversation, turns in zip(conversations, talks, strict=True)
    )


def _with_line(prompt: Prompt, line: str) -> Prompt:
    match line[:2]:
        case "+ ":
            return prompt._replace(named=(*prompt.named, _label(line[2:])))
        case "> ":
            return prompt._replace(implied=(*prompt.implied, _label(line[2:])))
        case "~ ":
            return prompt._replace(tolerated=(*prompt.tolerated, _label(line[2:])))
        case "! ":
            return prompt._replace(misleading=(*prompt.misleading, _label(line[2:])))
        case "=":
            return prompt._replace(is_near=True)
    return prompt._replace(text=f"{prompt.text}\n{line}")


def _label(text: str) -> Label:
    ids, separator, patterns = text.partition(" · ")
    if not separator:
        raise BadSet(f"'{text}' does not say which session holds it")
    try:
        return Label(tuple(ids.split()), tuple(re.compile(part, re.IGNORECASE) for part in patterns.split(" & ")))
    except re.error as error:
        raise BadSet(f"'{text}' has no pattern of Python's: {error}") from None


def _owed(turns: Sequence[Turn]) -> Iterator[tuple[Turn, list[Label]]]:
    """Give each turn with labels that no line of the last turns fits, and these labels."""
    for number, turn in enumerate(turns):
        recent = [line for before in turns[max(0, number - WINDOW) : number] for line in before.lines]
        labels = [label for label in turn.prompt.wanted if not any(map(label.fits, recent))]
        if labels:
            yield turn, labels


def _is_served(turn: Turn, labels: list[Label]) -> bool:
    return any(label.fits(line) for label in labels for line in turn.lines if not turn.prompt.is_misled_by(line))


def _turn_to_read(turn: Turn) -> str:
    prompt = turn.prompt
    kind = "unrelated" if prompt.is_unrelated else "nothing is remembered" if prompt.is_near else "owed"
    quoted = "\n".join(f"> {line}" for line in prompt.text.splitlines())
    given = [f"{_verdict(prompt, line)} {line.strip()}" for line in turn.lines] or ["(nothing)"]
    return f"{quoted}\n\n({kind})\n\n" + "\n".join(f"    {line}" for line in given) + "\n"


def _verdict(prompt: Prompt, line: str) -> str:
    if prompt.is_misled_by(line):
        return "!"
    return "+" if prompt.is_helped_by(line) else "?"


def _shown(value: float | None) -> str:
    return "nothing to measure" if value is None else f"{value:.1%}"
