"""The note of a session by a model, where one is set up: it is asked, and its answer read with patience.

Each line of the answer stands or falls alone, as the gate decides. The answer is refused only if it is no JSON, if it
has no title that the session bears, or if more than half of its lines fall.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memtool.capture import limits
from memtool.capture.gate import LineGate, foul
from memtool.capture.turns import Turn
from memtool.capture.view import language_of, request
from memtool.errors import ProviderFailed
from memtool.llm import Answer, is_set_up
from memtool.llm.call_log import CallLog
from memtool.llm.chain import Chain, Clock
from memtool.settings import Settings
from memtool.text.identifiers import folded, stands
from memtool.text.languages import labels
from memtool.text.lines import one_line, shortened, width
from memtool.text.scripts import HAN, is_unspaced
from memtool.text.similarity import words
from memtool.text.tokens import is_stop_word
from memtool.vault.layout import Vault
from memtool.vault.memory import AGENT, COMMAND, DECISION, FINDING, FIX, OPEN, REFUTED, RULE, USER
from memtool.vault.session_text import one_of
from memtool.vault.sessions import Draft, Line

PURPOSE = "summary"

_MOST_COMMANDS, _MOST_FILES = 3, 6
_LEAST_QUOTE = 6  # columns; characters
_REPEATED = 0.8  # of the words of a line
_OUTPUT_CUT = re.compile(r"(?:\s*2>&1)?(?:\s*\|\s*(?:head|tail)\b[^|;&]*)?\Z")  # what only shortens the output
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_BULLET = re.compile(r"(?:[-*•]\s+|\d{1,2}[.)]\s+|\[[ xX]\]\s+)+")
_AUTHOR = re.compile(rf"\s*[(（](?:{AGENT}|{USER})[)）]\Z")
_BECAUSE = re.compile(r"(?i)\A(?:because|since|因为|由于)\s*")
_QUOTES = "\"'“”‘’「」『』« »"
_LISTS = {
    "decisions": (DECISION, "text"), "rules": (RULE, "quote"), "fixes": (FIX, "error"), "findings": (FINDING, "text"),
    "open": (OPEN, "text"), "commands": (COMMAND, "run"),
}  # fmt: skip


class NoJsonObject(ProviderFailed):
    """The answer is not the JSON object that was asked for: the model may give one if it is asked again."""


class LineRejected(ProviderFailed):
    """A line of the answer is not let in."""


class ModelNote(NamedTuple):
    """The content of a note with the answer that it was read from; or None, and why.

    *retry_may_help* says whether a later try may give one. *reasons* are also those of providers that failed before
    another one answered.
    """

    draft: Draft | None = None
    answer: Answer | None = None
    reasons: tuple[str, ...] = ()
    retry_may_help: bool = False

    @property
    def provider(self) -> str:
        """The provider that wrote it; empty if none did."""
        return self.answer.provider if self.answer else ""

    @property
    def reason(self) -> str:
        """Why there is none; empty also where no model is set up."""
        return "" if self.draft else "; ".join(self.reasons)


class AnswerLine(NamedTuple):
    """One line of an answer as the model gave it: the *turn* that it names, 0 for none, and its texts by name."""

    role: str
    turn: int
    texts: dict[str, str]

    @property
    def text(self) -> str:
        """The text that the line is made of."""
        return next(iter(self.texts.values()), "")


def note_with_model(
    turns: Sequence[Turn], settings: Settings, vault: Vault, now: datetime, *, redact: Callable[[str], str]
) -> ModelNote:
    """Return what the first model that answers well makes of *turns*.

    *turns* are redacted already; each line of the answer is once more, by *redact*. A model whose answer is no JSON is
    asked once more.
    """
    if not is_set_up(settings.llm):
        return ModelNote()
    code = secrets.token_hex(8)  # marks where the turns end, so that no text of theirs can
    missed: list[NoJsonObject] = []

    def accept(text: str) -> Draft:
        try:
            return draft_from_answer(text, turns, code=code, redact=redact)
        except NoJsonObject as error:
            missed.append(error)
            raise

    chain = Chain(settings.llm, settings.keys, CallLog(vault, settings.llm.daily_tokens), Clock(lambda: now))
    asked = request(turns, language=language_of(turns), code=code)
    outcome = chain.complete(asked, accept, purpose=PURPOSE)
    if outcome.value is None and missed:
        outcome = chain.complete(asked, accept, purpose=PURPOSE)
    return ModelNote(outcome.value, outcome.answer, outcome.reasons, outcome.retry_may_help)


def draft_from_answer(text: str, turns: Sequence[Turn], *, code: str = "", redact: Callable[[str], str] = str) -> Draft:
    """Return the content of a note in *text*, the answer to `request(turns, …)`: what of it the turns bear.

    Raises:
        ProviderFailed: it is none, or none that can be let in.
    """
    answer, gate = _object(text), LineGate(turns, code)
    language = language_of(turns)
    writing = _NoteOfAnswer(gate, labels("session", language or "en"), redact)
    summary, claims = _text(answer.get("summary")), list(_claims(answer))
    lines, faults = writing.lines(claims)
    title = _title(answer, [line.text for line in lines], gate, language)
    if 2 * len(faults) > len(claims):
        raise ProviderFailed(f"{len(faults)} of {len(claims)} lines of the answer fall: {faults[0]}")
    files, more = _files(answer.get("files"), turns, gate)
    return Draft(
        title=writing.short(title.replace("`", ""), limits.MODEL_TITLE),
        summary="" if gate.fault(summary) else writing.short(summary.replace("`", "")),
        lines=tuple(_once(lines)),
        files=tuple(map(redact, files)),
        more_files=more,
    )


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in *text*, whatever stands around it."""
    text = text.rpartition("</think>")[2]
    if len(text) > limits.ANSWER:
        raise ProviderFailed("the answer is far too long")
    for candidate in (text, _TRAILING_COMMA.sub(r"\1", text)):
        starts = (match.start() for match in re.finditer(r"\{", candidate))
        for _, start in zip(range(limits.FIRST), starts, strict=False):
            try:
                value, _ = json.JSONDecoder().raw_decode(candidate, start)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict) and "title" in value:
                return value
    raise NoJsonObject("the answer is not the JSON object that was asked for")


def _title(answer: dict[str, Any], kept: Iterable[str], gate: LineGate, language: str) -> str:
    """Return the title, the summary, or the first of the *kept* lines: the first of these that the session bears.

    Raises:
        ProviderFailed: it bears none of them.
    """
    faults = []
    for text in (_text(answer["title"]), _text(answer.get("summary")), *kept):
        fault = gate.fault(text) if text else "there is none"
        if not fault and language == "zh" and not re.search(f"[{HAN}]", text):
            fault = "it is not in Chinese"
        if not fault:
            return text
        faults.append(fault)
    raise ProviderFailed(f"no title of the answer stands: {faults[0]}")


def _claims(answer: dict[str, Any]) -> Iterator[AnswerLine]:
    """Give the lines of *answer* that have their main text, which comes first; whatever else is in its lists."""
    for name, (role, key) in _LISTS.items():
        items = answer.get(name)
        for item in items[: limits.ANSWER_LINES] if isinstance(items, list) else []:
            fields = item if isinstance(item, dict) else {key: item}
            texts = {each: text for each in (key, *fields) if each != "turn" and (text := _text(fields.get(each)))}
            turn = re.search(r"\d{1,6}", str(fields.get("turn", "")))
            if key in texts:  # without its main text a line says nothing
                yield AnswerLine(role, int(turn[0]) if turn else 0, texts)


def _text(item: object) -> str:
    """Return a text of the answer on one line, without the marks that models put around things."""
    line = " ".join(item[: limits.ANSWER_TEXT].split()).replace("**", "") if isinstance(item, str) else ""
    line = line.replace("`", "") if line.count("`") % 2 else line
    return _AUTHOR.sub("", _BULLET.sub("", line, count=1) if _BULLET.match(line) else line)


class _NoteOfAnswer(NamedTuple):
    """What makes lines of claims: the *gate*, the labels of the note by name, and what takes secrets out."""

    gate: LineGate
    labels: dict[str, str]
    redact: Callable[[str], str]

    def lines(self, claims: Iterable[AnswerLine]) -> tuple[list[Line], list[str]]:
        """Return the lines that stand, and why the others do not."""
        lines, faults = [], []
        for claim in claims:
            try:
                lines.append(self.line(claim))
            except LineRejected as fault:
                faults.append(str(fault))
        return lines, faults

    def line(self, claim: AnswerLine) -> Line:
        """Return the line that *claim* makes.

        Raises:
            LineRejected: the turns do not bear it.
        """
        of_role = {COMMAND: self._command, RULE: self._rule, FIX: self._fix, DECISION: self._decision}
        if write := of_role.get(claim.role):
            return write(claim)
        self._check(claim)
        role, text = claim.role, claim.text
        if role == FINDING and (label := re.match(rf"(?:{one_of('refuted')})[:：]\s*(?=\S)", text)):
            role, text = REFUTED, text[label.end() :]
        return Line(self.short(text), role, AGENT, claim.turn)

    def short(self, text: str, widest: int = limits.MODEL_PART) -> str:
        """Return *text* without secrets in at most *widest* columns."""
        return shortened(one_line(self.redact(text)), widest)

    def _check(self, claim: AnswerLine) -> None:
        leaves = claim.role == OPEN  # what a session leaves to be done may be spread over all of its turns
        fault = self.gate.fault(claim.text, claim.turn, by_all=leaves) if claim.turn else "it names no turn"
        if fault:
            raise LineRejected(fault)

    def _command(self, claim: AnswerLine) -> Line:
        command, turn = self.gate.passed(claim.text)
        if not command or foul(command):
            raise LineRejected(f"no '{claim.text[:60]}' was run that passed")
        return Line(self.redact(_OUTPUT_CUT.sub("", command) or command), COMMAND, AGENT, turn)

    def _rule(self, claim: AnswerLine) -> Line:
        quote = claim.text.strip(_QUOTES)
        turn = self.gate.quoted(quote, claim.turn) if width(quote) >= _LEAST_QUOTE else 0
        if not turn or foul(quote):
            raise LineRejected(f"the user did not type '{quote[:60]}'")
        return Line(self.short(quote), RULE, USER, turn)

    def _fix(self, claim: AnswerLine) -> Line:
        """Return error → cause → change ✓ proof; what of that does not stand is left out, but for the error."""
        parts = {name: _unstopped(self._part(claim, name)) for name in ("error", "cause", "change", "proof")}
        chain = [parts[name] for name in ("error", "cause", "change") if parts[name]]
        if not parts["error"] or len(chain) == 1:
            raise LineRejected(f"turn {claim.turn} does not say what failed and what mended it")
        proof = f" ✓ {parts['proof']}" if parts["proof"] else ""
        return Line(f"{' → '.join(chain)}{proof}", FIX, AGENT, claim.turn)

    def _decision(self, claim: AnswerLine) -> Line:
        """Return what was chosen, with the reason and what was rejected, where these stand.

        What the user neither typed nor said yes to is the agent's, and a finding if no work followed.
        """
        self._check(claim)
        author = USER if self.gate.is_the_users(claim.text, claim.turn) else AGENT
        if author == AGENT and not self.gate.is_the_agents(claim.text, claim.turn):
            raise LineRejected(f"in turn {claim.turn} neither the user nor the agent says so")
        if author == AGENT and not self.gate.worked(claim.turn):
            return Line(self.short(claim.text), FINDING, AGENT, claim.turn)
        parts = [self.short(claim.text)]
        for name, label in (("why", "because"), ("not", "rejected")):
            if part := self._part(claim, name):
                parts.append(self.labels[label].format(_going_on(_BECAUSE.sub("", part))))
        stop = "。" if is_unspaced(self.labels["because"][0]) else ". "
        return Line(stop.join(map(_unstopped, parts)), DECISION, author, claim.turn)

    def _part(self, claim: AnswerLine, name: str) -> str:
        """Return the part *name* of a claim if it stands, else nothing."""
        text = claim.texts.get(name, "")
        number = 0 if name == "error" else claim.turn  # it may have come up long before it was mended
        is_there = text and claim.turn and not self.gate.fault(text, number, is_part=True)
        return self.short(text) if is_there else ""


def _unstopped(text: str) -> str:
    """Return *text* without the stop that ends its sentence; `./...` ends with none."""
    return text if text.endswith("..") else text.removesuffix(".").removesuffix("。")


def _going_on(text: str) -> str:
    """Return *text* as it goes on within a sentence: "the ids sort", but "ULIDs sort"."""
    first = re.split(r"\W", text, maxsplit=1)[0]
    return text[:1].lower() + text[1:] if first != "I" and is_stop_word(first.casefold()) else text


def _once(lines: Iterable[Line]) -> Iterator[Line]:
    """Give *lines* without those most of whose words another one before it has, and at most three commands."""
    said: list[frozenset[str]] = []
    commands = 0
    for line in lines:
        commands += line.role == COMMAND
        found = words(line.text)
        is_repeated = any(len(found & each) >= _REPEATED * len(found) for each in said if found)
        if line.role == COMMAND and commands <= _MOST_COMMANDS:
            yield line
        elif line.role != COMMAND and not is_repeated:
            said.append(found)
            yield line


def _files(items: object, turns: Sequence[Turn], gate: LineGate) -> tuple[list[str], int]:
    """Return the edited files that matter, as the model named them or else the last ones, and how many more there are.

    Where none was edited they are those that the session is about.
    """
    edited = list(dict.fromkeys(file.replace("\\", "/") for turn in turns for file in turn.files))
    named = [one_line(item).strip("`") for item in items if isinstance(item, str)] if isinstance(items, list) else []
    named = [name for name in named if 0 < len(name) <= limits.NAME and not foul(name)]
    known = {file.rsplit("/", 1)[-1] for file in edited}
    matter = (name for name in named if not known or name.rsplit("/", 1)[-1] in known)
    last = [file.rsplit("/", 1)[-1] for file in edited[-_MOST_FILES:]]
    files = [name for name in matter if stands(folded(name), gate.whole.said)] or last
    files = list(dict.fromkeys(files))[:_MOST_FILES]
    ends = tuple(file.rsplit("/", 1)[-1] for file in files)
    return files, sum(file.rsplit("/", 1)[-1] not in ends for file in edited)
