"""A review of proposals: a note that a person edits, and what becomes of the proposals then.

    - keep 9f3a1c04: always write table-driven tests
      - shop, preference, user: "always write table-driven tests" (3f2a9c)

*keep*, *drop* or *change* stands before each; with *change*, the text is what it shall be. What was dropped is kept as
an archived fact, so that it is not proposed again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from memtool.consolidate.proposals import Judged, Proposal
from memtool.consolidate.report import FOLDER
from memtool.consolidate.session_views import quotation
from memtool.consolidate.week import Week
from memtool.memory.spans import Span, hashes_by_session, missing_spans
from memtool.text.languages import labels
from memtool.text.lines import one_line
from memtool.vault.authors import USER
from memtool.vault.layout import Vault
from memtool.vault.state import make_state_folder, read_state, write_state

KEEP, DROP, CHANGE = "keep", "drop", "change"
TO_DECIDE = ("new", "supersedes", "review")  # fates that a person may decide on
_ITEM = re.compile(rf"- \[?({KEEP}|{DROP}|{CHANGE})\]? ([0-9a-f]{{8}}): *(.*\S)", re.IGNORECASE)
_WEEK = re.compile(r"[0-9]{4}-W[0-9]{2}")
_LARGEST = 4 << 20  # bytes of what is stored


class Choice(NamedTuple):
    """The decision of a person on a proposal; *text* is what it shall say."""

    deed: str
    text: str


def review_ref(week: Week) -> str:
    """Return the path of the review of *week*."""
    return f"{FOLDER}/{week}-proposals.md"


def render_review(week: Week, judged: Sequence[Judged], language: str) -> str:
    """Return the note in which a person decides on *judged*."""
    words = labels("report", language)
    lines = [line for one in judged if one.fate in TO_DECIDE for line in _item(one)]
    head = f"---\ntype: note\nsearch: no\n---\n\n# {words['proposals'].format(week)}"
    return "\n\n".join([head, words["how_to_decide"].format(week), "\n".join(lines)]) + "\n"


def _item(judged: Judged) -> Iterator[str]:
    proposal = judged.proposal
    yield f"- {DROP if judged.fate == 'review' else KEEP} {proposal.id}: {proposal.text}"
    told = f"{proposal.project or '–'}, {proposal.category}, {proposal.author}"
    said = proposal.evidence or (quotation(proposal.spans) if proposal.spans else "")
    older = ", ".join(dict.fromkeys(span.place or span.source for span in proposal.spans[:-1]))
    yield f"  - {told}: {said}" + (f", {older}" if older else "")
    if judged.reason:
        yield f"  - {one_line(judged.reason)}"


def read_choices(text: str) -> dict[str, Choice]:
    """Return the choice of the review *text* for each proposal, by its id; one that is not there is not decided."""
    found = {}
    for line in text.splitlines():
        if match := _ITEM.fullmatch(line.strip()):
            found[match[2]] = Choice(match[1].casefold(), one_line(match[3]))
    return found


def decided(judged: Sequence[Judged], choices: Mapping[str, Choice]) -> tuple[list[Judged], list[Judged]]:
    """Return the proposals of *judged* to be written, by *choices*, and those that were dropped."""
    kept, dropped = [], []
    for one in judged:
        choice = choices.get(one.proposal.id)
        if choice is None or one.fate not in TO_DECIDE:
            continue
        if choice.deed == DROP:
            dropped.append(one)
            continue
        proposal = one.proposal
        if choice.text != proposal.text:
            proposal = proposal._replace(text=choice.text, author=USER)
        kept.append(one._replace(proposal=proposal, fate="supersedes" if one.other else "new"))
    return kept, dropped


def to_ask(vault: Vault, week: Week, judged: Sequence[Judged]) -> list[Judged]:
    """Return those of *judged* that a person may decide on, without what waits in the review of another week."""
    others = (other for other in _weeks(vault) if other != week)
    asked = {one.proposal.id for other in others for one in _stored(vault, other)}
    return [one for one in judged if one.fate in TO_DECIDE and one.proposal.id not in asked]


def store_proposals(vault: Vault, week: Week, judged: Sequence[Judged]) -> None:
    """Keep *judged* for `memtool consolidate --apply`."""
    fields = [[one.proposal._asdict(), one.fate, one.reason, one.other] for one in judged if one.fate in TO_DECIDE]
    make_state_folder(vault.state_path)
    write_state(vault.state_path / f"proposals-{week}.json", json.dumps(fields, ensure_ascii=False).encode("utf-8"))


def stored_proposals(vault: Vault, week: Week) -> list[Judged]:
    """Return the proposals that `store_proposals` kept, without those whose words were forgotten since."""
    found = _stored(vault, week)
    notes = hashes_by_session(vault, {span.session for one in found for span in one.proposal.spans})
    return [one for one in found if not missing_spans([span.as_field() for span in one.proposal.spans], notes)]


def _stored(vault: Vault, week: Week) -> list[Judged]:
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        rows = json.loads(read_state(vault.state_path / f"proposals-{week}.json", largest=_LARGEST))
        return [Judged(_proposal(fields), fate, str(reason), str(other)) for fields, fate, reason, other in rows]
    return []


def weeks_to_review(vault: Vault) -> list[Week]:
    """Return the weeks with open proposals, the newest first."""
    return sorted((week for week in _weeks(vault) if stored_proposals(vault, week)), reverse=True)


def _weeks(vault: Vault) -> list[Week]:
    names = (path.stem.removeprefix("proposals-") for path in vault.state_path.glob("proposals-*.json"))
    return [Week(int(name[:4]), int(name[6:])) for name in names if _WEEK.fullmatch(name)]


def _proposal(fields: dict[str, object]) -> Proposal:
    spans = tuple(Span(*map(str, span)) for span in fields.pop("spans"))  # type: ignore[attr-defined]
    return Proposal(**fields, spans=spans)  # type: ignore[arg-type]
