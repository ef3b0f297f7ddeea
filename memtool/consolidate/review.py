"""The verdict on proposals: by the program, beside the facts that hold; and by a person, in a note that they edit.

A proposal must be one claim that is understood without its session, say nothing of the moment, hold no secret, and
rest on words that are found again. A newer fact replaces an older one only on the same named subject; where two merely
seem to contradict each other, a person decides. The note of a review has an item for each proposal:

    - keep 9f3a1c04: always write table-driven tests
      - shop, preference, user: "always write table-driven tests" (3f2a9c)

*keep*, *drop* or *change* is before each; with *change*, the text is what the fact will say. A dropped proposal is kept
as an archived fact, so that it is not proposed again.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtool.consolidate.proposals import ARROW, HALF, NEARLY_ALL, Fate, Judged, Proposal, fact_of, quotation
from memtool.consolidate.week import Week
from memtool.errors import MemtoolError
from memtool.memory.fact_book import FactBook, Span, hashes_by_session, missing_spans, root_of
from memtool.memory.limits import LONGEST_CLAIM
from memtool.text.languages import labels, mentioned, pattern_of, starts_with
from memtool.text.lines import one_line, width
from memtool.text.near_duplicates import Claim, contradicts, is_same, letters, statement
from memtool.text.scripts import is_unspaced
from memtool.text.similarity import is_said, words
from memtool.vault.facts import Fact
from memtool.vault.layout import Vault, facts_ref
from memtool.vault.marks import with_generated
from memtool.vault.memory import STANDING, TOOL, USER, trust
from memtool.vault.state import make_state_folder, read_state, write_state
from memtool.workspace import Workspace

FOLDER = "reports"
KEEP, DROP, CHANGE = "keep", "drop", "change"
TO_DECIDE = ("new", "supersedes", "review")  # fates that a person may decide on
_NAMING = 2  # words that name a subject; a Chinese character is half of one
_REFERENCE = re.compile(
    r"(?i)^\W*(?:options?|variant|方案|选项)\s*\d|\bthe (?:first|second|third|last) (?:one|option)\b"
    r"|第[一二三]个?(?:方案|选项)"
)
_CUT = re.compile(r"(?:…|\.\.\.)[”\"]?\s*(?:→|$)")
_ITEM = re.compile(rf"- \[?({KEEP}|{DROP}|{CHANGE})\]? ([0-9a-f]{{8}}): *(.*\S)", re.IGNORECASE)
_WEEK = re.compile(r"[0-9]{4}-W[0-9]{2}")


def fault_of(proposal: Proposal, redact: Callable[[str], str]) -> str:
    """Return why *proposal* cannot be a fact, in words; empty if it can."""
    return next(_faults(proposal, redact), "")


def _faults(proposal: Proposal, redact: Callable[[str], str]) -> Iterator[str]:
    text = proposal.text
    if text != one_line(text) or len(text) > LONGEST_CLAIM:
        yield f"it is not one claim of at most {LONGEST_CLAIM} characters"
    if width(text) < 12:
        yield "it says too little"
    asked, arrow, _ = text.partition(ARROW)
    if _names(frozenset(statement(asked).words)) < (_NAMING if arrow else 1):  # of an answer, the question before it
        yield "it does not say what it is about"
    if text.endswith(("?", "？", ":", "：")) or _CUT.search(text) or _REFERENCE.search(text):
        yield "it is a question, an option or a fragment"
    if starts_with("deictic", text):
        yield "it refers to something that was said before"
    is_status = proposal.author != USER and re.match(pattern_of("status_line"), text, re.IGNORECASE)
    if is_status or mentioned("moment", text):
        yield "it is true for the moment only"
    if redact(text) != text or "[redacted" in text.casefold():
        yield "it holds a secret, or a part of it was redacted"
    if proposal.author == TOOL and proposal.category in STANDING:
        yield "a tool printed it, so it is neither a decision nor a preference"
    if not proposal.spans:
        yield "no words of a session support it"


class _Known(NamedTuple):
    """A fact as proposals are compared with it."""

    fact: Fact
    claim: Claim
    words: frozenset[str]


class Judge:
    """The verdicts on one proposal after the other, beside the facts that hold and the proposals before it.

    Args:
        facts: all facts of the proposals' area and of no project, whatever their status.
        read: the words of each line of CLAUDE.md, MEMORY.md and the rules, which agents read anyway.
        redact: removes secrets.
    """

    def __init__(self, facts: Iterable[Fact], read: Sequence[frozenset[str]], redact: Callable[[str], str]) -> None:
        self._known = [_Known(fact, statement(fact.fact), words(fact.fact)) for fact in facts]
        self._read = read
        self._redact = redact

    def judge(self, proposal: Proposal) -> Judged:
        """Return the verdict on *proposal*."""
        if fault := fault_of(proposal, self._redact):
            return Judged(proposal, "rejected", fault)
        claim = statement(proposal.text)
        same = [known.fact for known in self._known if _says_same(proposal, claim, known)]
        if same:
            return self._again(proposal, min(same, key=lambda fact: fact.status != "active"))
        if is_said(words(proposal.text), self._read, NEARLY_ALL):
            return Judged(proposal, "rejected", "CLAUDE.md, MEMORY.md or a rule says so already")
        active = [known for known in self._known if known.fact.status == "active"]
        if old := next((known.fact for known in active if _is_about_same(proposal, claim, known)), None):
            return _in_place_of(proposal, old)
        said = words(proposal.text)
        near = (known for known in active if len(said & known.words) >= max(2, min(len(said), len(known.words)) / 2))
        if rival := next((each.fact for each in near if contradicts(claim, each.claim, in_one_place=True)), None):
            return Judged(proposal, "review", f"it seems to contradict '{rival.fact}'", rival.id)
        return Judged(proposal, "new")

    def heed(self, fact: Fact) -> None:
        """Compare later proposals with *fact*, too; the one that it supersedes holds no longer."""
        self._known = [
            known._replace(fact=known.fact._replace(status="superseded", superseded_by=fact.id))
            if known.fact.id == fact.supersedes
            else known
            for known in self._known
        ]
        self._known.append(_Known(fact, statement(fact.fact), words(fact.fact)))

    def _again(self, proposal: Proposal, twin: Fact) -> Judged:
        """Return the verdict on a *proposal* that *twin* says: a superseded fact may be said again, and later."""
        successor = twin
        while successor.status == "superseded":
            after = (known.fact for known in self._known if known.fact.id == successor.superseded_by)
            successor = next(after, successor._replace(status="archived"))
        if successor is not twin and successor.status == "active" and _outweighs(proposal, successor):
            return _in_place_of(proposal, successor)
        return Judged(proposal, *_FATES[twin.status], twin.id)


_FATES: dict[str, tuple[Fate, str]] = {
    "active": ("known", "a fact says so"),
    "archived": ("rejected", "it was rejected or archived before"),
    "superseded": ("rejected", "it was superseded"),
}


def _in_place_of(proposal: Proposal, old: Fact) -> Judged:
    said = f"'{old.fact}' ({old.timestamp[:10]})"
    if _outweighs(proposal, old):
        return Judged(proposal, "supersedes", f"it was said later than {said}", old.id)
    return Judged(proposal, "review", f"it says something else than {said}", old.id)


def _outweighs(proposal: Proposal, old: Fact) -> bool:
    """Return whether *proposal* was said later than *old*, by an author as trusted."""
    return proposal.at[:10] >= old.timestamp[:10] and trust(proposal.author) >= trust(old.author)


def _says_same(proposal: Proposal, claim: Claim, known: _Known) -> bool:
    said = words(proposal.text)
    if known.fact.source.partition("#")[0] in {span.session for span in proposal.spans} - {""} and not known.fact.spans:
        return is_said(said, [known.words], HALF) or is_said(known.words, [said], HALF)
    return is_same(claim, known.claim)


def _is_about_same(proposal: Proposal, claim: Claim, known: _Known) -> bool:
    """Return whether *proposal* says something else of the subject that the fact names.

    Both name it, or before an arrow ask the same; or only a number differs; or the user's words name all that the fact
    names, and more.
    """
    if proposal.subject and known.fact.subject:
        return _key(proposal.subject) == _key(known.fact.subject)
    asked, answered = _question(proposal.text), _question(known.fact.fact)
    if asked or answered:
        return asked == answered
    new, old = frozenset(claim.words), frozenset(known.claim.words)
    if _names(old) < _NAMING:
        return False
    if claim.values and known.claim.values and claim.values != known.claim.values:
        return _without_values(new) == _without_values(old) and claim.negated == known.claim.negated
    return proposal.author == USER and old < new


def _question(text: str) -> str:
    """Return the question, or the error, that *text* has before its arrow."""
    asked, arrow, _ = text.partition(ARROW)
    return letters(asked) if arrow else ""


def _key(subject: str) -> frozenset[str]:
    return frozenset(statement(subject.casefold()).words) or frozenset([letters(subject)])


def _names(said: frozenset[str]) -> float:
    return sum(0.5 if is_unspaced(word[0]) else 1 for word in _without_values(said))


def _without_values(said: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in said if not any(map(str.isdigit, word)))


def judge_all(work: Workspace, book: FactBook, proposals: Sequence[Proposal]) -> list[Judged]:
    """Return the verdict on each of *proposals*, oldest first in each project, beside the facts of *book*."""
    by_project: dict[str, list[Proposal]] = defaultdict(list)
    for proposal in proposals:
        by_project[proposal.project].append(proposal)
    found = []
    for project, own in sorted(by_project.items()):
        known = [stored.fact for stored in book if stored.project in (project, "") or stored.ref == facts_ref(project)]
        judge = Judge(known, _read_anyway(work, project), work.redact)
        for proposal in sorted(own, key=lambda proposal: (proposal.at, -proposal.confidence)):
            found.append(judged := judge.judge(proposal))
            if judged.fate in ("new", "supersedes"):
                judge.heed(fact_of(proposal, f"new-{proposal.id}", work.language)._replace(supersedes=judged.other))
    return found


def _read_anyway(work: Workspace, project: str) -> list[frozenset[str]]:
    """Return the words of each line that an agent of *project* reads anyway: CLAUDE.md, MEMORY.md and the rules."""
    from memtool.recall.start.session_start import said_to_client  # which the page of the proposals does without

    root = root_of(work.vault, project) if project else ""
    found = said_to_client(Path(root) if root else None, work.claude_folder, work.home)
    for ref in ("MEMORY.md", f"areas/projects/{project}/rules.md"):
        with suppress(MemtoolError):
            lines = with_generated(work.vault.read(ref)[0], "").splitlines()
            found += [said for line in lines if (said := words(line))]
    return found


class Choice(NamedTuple):
    """The decision of a person on a proposal; *text* is what the fact will say."""

    decision: str
    text: str


def review_ref(week: Week) -> str:
    """Return the path of the review of *week*."""
    return f"{FOLDER}/{week}-proposals.md"


def render_review(week: Week, judged: Sequence[Judged], language: str) -> str:
    """Return the note in which a person decides on *judged*."""
    texts = labels("report", language)
    lines = [line for one in judged if one.fate in TO_DECIDE for line in _item(one)]
    head = f"---\ntype: note\nsearch: no\n---\n\n# {texts['proposals'].format(week)}"
    return "\n\n".join([head, texts["how_to_decide"].format(week), "\n".join(lines)]) + "\n"


def _item(judged: Judged) -> Iterator[str]:
    proposal = judged.proposal
    yield f"- {DROP if judged.fate == 'review' else KEEP} {proposal.id}: {proposal.text}"
    about = f"{proposal.project or '–'}, {proposal.category}, {proposal.author}"
    evidence = proposal.evidence or (quotation(proposal.spans) if proposal.spans else "")
    places = dict.fromkeys(span.place or span.source for span in proposal.spans[:-1])
    yield f"  - {about}: {', '.join([evidence, *places])}"
    if judged.reason:
        yield f"  - {one_line(judged.reason)}"


def read_choices(text: str) -> dict[str, Choice]:
    """Return the choice of the review *text* for each proposal, by its id; one that is not there is not decided."""
    matches = filter(None, (_ITEM.fullmatch(line.strip()) for line in text.splitlines()))
    return {match[2]: Choice(match[1].casefold(), one_line(match[3])) for match in matches}


def decided(judged: Iterable[Judged], choices: Mapping[str, Choice]) -> tuple[list[Judged], list[Judged]]:
    """Return the proposals of *judged* to be written, by *choices*, and those that were dropped."""
    kept, dropped = list[Judged](), list[Judged]()
    for one in judged:
        choice, proposal = choices.get(one.proposal.id), one.proposal
        if choice is None or one.fate not in TO_DECIDE:
            continue
        if choice.decision == DROP:
            dropped.append(one)
            continue
        if choice.text != proposal.text:
            proposal = proposal._replace(text=choice.text, author=USER)
        kept.append(one._replace(proposal=proposal, fate="supersedes" if one.other else "new"))
    return kept, dropped


def to_ask(vault: Vault, week: Week, judged: Iterable[Judged]) -> list[Judged]:
    """Return those of *judged* that a person may decide on, without what waits in the review of another week."""
    others = (other for other in _weeks(vault) if other != week)
    asked = {one.proposal.id for other in others for one in _stored(vault, other)}
    found = [one for one in judged if one.fate in TO_DECIDE and one.proposal.id not in asked]
    return sorted(found, key=lambda one: (one.proposal.project, one.proposal.at, one.proposal.text))


def store_proposals(vault: Vault, week: Week, judged: Iterable[Judged]) -> None:
    """Keep *judged* for `memtool consolidate --apply`."""
    fields = [[one.proposal._asdict(), one.fate, one.reason, one.other] for one in judged if one.fate in TO_DECIDE]
    make_state_folder(vault.state_path)
    write_state(_stored_path(vault, week), json.dumps(fields, ensure_ascii=False).encode("utf-8"))


def stored_proposals(vault: Vault, week: Week) -> list[Judged]:
    """Return the proposals that `store_proposals` kept, without those whose words were forgotten since."""
    found = _stored(vault, week)
    notes = hashes_by_session(vault, {span.session for one in found for span in one.proposal.spans})
    return [one for one in found if not missing_spans([span.as_field() for span in one.proposal.spans], notes)]


def weeks_to_review(vault: Vault) -> list[Week]:
    """Return the weeks with open proposals, the newest first."""
    return sorted((week for week in _weeks(vault) if stored_proposals(vault, week)), reverse=True)


def _stored(vault: Vault, week: Week) -> list[Judged]:
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        rows = json.loads(read_state(_stored_path(vault, week), largest=4 << 20))
        return [
            Judged(
                Proposal(**fields | {"spans": tuple(Span(*map(str, span)) for span in fields["spans"])}),
                fate, str(reason), str(other),
            )
            for fields, fate, reason, other in rows
        ]  # fmt: skip
    return []


def _stored_path(vault: Vault, week: Week) -> Path:
    return vault.state_path / f"proposals-{week}.json"


def _weeks(vault: Vault) -> list[Week]:
    names = (path.stem.removeprefix("proposals-") for path in vault.state_path.glob("proposals-*.json"))
    return [Week(int(name[:4]), int(name[6:])) for name in names if _WEEK.fullmatch(name)]
