"""The expectations of a vault's owner: which memories a prompt, or the start of a session, is given. A file in TOML.

    [[expect]]
    project = "shop"
    prompt = "how long do tokens live?"
    gives = ["24 hours", "fact-20260210-9f3a1c04be"]
    gives_not = ["15 minutes"]

    [[expect]]
    prompt = "what is for lunch?"
    gives_nothing = true

Without a prompt it is about what a session of the project is given at its start. Nothing is written: no ledger, no use.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.errors import UsageError
from memtool.index.engine import Index
from memtool.recall.answers.question import question_of
from memtool.recall.ledger import Ledger
from memtool.recall.prompts.prompt import Asked, memories_for_prompt
from memtool.recall.start.session_start import session_context
from memtool.vault.layout import projects_of
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.index.tables import Tables

_TEXTS, _LISTS = ("project", "prompt"), ("gives", "gives_not")
_HINT = "docs/history.md shows one."
_SESSION = "memtool-test"  # as whose first prompt each is asked


class Expectation(NamedTuple):
    """One expectation, with its place in the file, from 1.

    Args:
        project: the area of the project at hand; empty for none.
        prompt: what is typed; empty for the start of a session.
        gives: words, ids of facts or paths that are given.
        gives_not: those that are not.
        nothing: whether nothing at all is given.
    """

    number: int
    project: str = ""
    prompt: str = ""
    gives: tuple[str, ...] = ()
    gives_not: tuple[str, ...] = ()
    nothing: bool = False


class Verdict(NamedTuple):
    """Whether an expectation holds: its *faults* in sentences, and what was given."""

    expectation: Expectation
    faults: tuple[str, ...]
    given: str


def parse_expectations(text: str) -> list[Expectation]:
    """Return the expectations in *text*.

    Raises:
        UsageError: it is no TOML, or says something that is no expectation.
    """
    try:
        listed = tomllib.loads(text.removeprefix("\ufeff")).get("expect")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the file of expectations is no TOML: {error}", hint=_HINT) from None
    if not isinstance(listed, list) or not listed:
        raise UsageError("the file holds no expectation", hint=_HINT)
    return [_expectation(number, fields) for number, fields in enumerate(listed, 1)]


def try_expectations(work: Workspace, index: Index, expectations: Sequence[Expectation]) -> Iterator[Verdict]:
    """Give the outcome of each of *expectations*, as an agent would be given now, by words.

    Raises:
        UsageError: one names a project that the vault does not know.
    """
    known = projects_of(work.vault)
    for one in expectations:
        if one.project and one.project not in known:
            raise UsageError(f"expectation {one.number}: there is no project '{one.project}' in the vault", hint="")
        given = _given(work, index.db, one)
        yield Verdict(one, tuple(_faults(one, given)), given)


def _given(work: Workspace, db: Tables, one: Expectation) -> str:
    if not one.prompt:
        return session_context(work, one.project).text
    question = question_of(one.prompt)
    if not question.terms():
        return ""
    asked = Asked(question, one.project, _SESSION)
    given = memories_for_prompt(work, db, asked, Ledger().next_turn(), lambda _: {})
    return "\n".join(filter(None, [given.text, *given.said]))


def _faults(one: Expectation, given: str) -> Iterator[str]:
    plain = _plain(given)
    yield from (f"it is not given '{wanted}'" for wanted in one.gives if _plain(wanted) not in plain)
    yield from (f"it is given '{unwanted}'" for unwanted in one.gives_not if _plain(unwanted) in plain)
    if one.nothing and given:
        yield "it is given something"


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _expectation(number: int, fields: Any) -> Expectation:  # noqa: ANN401  (anything may stand in the file)
    def refuse(what: str) -> UsageError:
        return UsageError(f"expectation {number}: {what}", hint=_HINT)

    if not isinstance(fields, dict):
        raise refuse("it should be a table, [[expect]]")
    for name, value in fields.items():
        fits = {
            **dict.fromkeys(_TEXTS, isinstance(value, str)),
            **dict.fromkeys(_LISTS, isinstance(value, list) and all(isinstance(each, str) and each for each in value)),
            "gives_nothing": isinstance(value, bool),
        }
        if name not in fits:
            raise refuse(f"'{name}' is not known; there are {', '.join(fits)}")
        if not fits[name]:
            wanted = "text" if name in _TEXTS else "a list of text" if name in _LISTS else "true or false"
            raise refuse(f"'{name}' should be {wanted}")
    project, prompt = (fields.get(name, "") for name in _TEXTS)
    gives, gives_not = (tuple(fields.get(name, ())) for name in _LISTS)
    made = Expectation(number, project, prompt, gives, gives_not, fields.get("gives_nothing", False))
    if not (made.gives or made.gives_not or made.nothing):
        raise refuse("it expects nothing: say `gives`, `gives_not` or `gives_nothing`")
    if made.gives and made.nothing:
        raise refuse("`gives` and `gives_nothing` contradict each other")
    return made
