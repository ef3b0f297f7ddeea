"""What else says what was forgotten: facts, the sessions that they rest on, and the lines that list these sessions.

A row of a session may be the evidence of a fact, part of the session's title, and so of its line in the daily note and
in the report of its week. What is forgotten goes from all of them, in one commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath

from memtool.errors import MemtoolError
from memtool.history.one_commit import keep_edits
from memtool.memory import limits
from memtool.memory.fact_book import StoredFact, read_facts
from memtool.text.markdown import LINK_TEXT, link
from memtool.text.near_duplicates import letters
from memtool.vault import files
from memtool.vault.facts import Fact, archive, purge, update_facts
from memtool.vault.forgotten import forget_item
from memtool.vault.layout import Vault, project_of
from memtool.vault.marks import GENERATED, GENERATED_END
from memtool.vault.sessions import SessionNote, hash_of_words, lines_of, parse_session


def spans_of(fact: Fact) -> set[tuple[str, str]]:
    """Return the sessions that *fact* rests on, each with the hash of its words there."""
    return {(str(span["source"]).partition("#")[0], str(span.get("hash"))) for span in fact.spans}


def statements_of(note: str) -> set[str]:
    """Return all that the session note *note* says, a statement each."""
    return {text for line in lines_of(note) for text in (line.text, line.asked) if text}


def forget_echoes(
    vault: Vault, gone: Collection[str], *, session: str = "", fact: Fact | None = None, for_good: bool = False
) -> list[str]:
    """Forget what else says one of the statements *gone*, and return the paths of what was changed.

    Args:
        vault: what is forgotten there stays away when its sessions are captured or consolidated again.
        gone: what was forgotten.
        session: the path of the session note that said it; with nothing *gone*, all of that note was forgotten.
        fact: the one that was forgotten.
        for_good: facts are removed rather than archived.
    """
    name = PurePosixPath(session).stem
    wanted, hashes = {letters(text) for text in gone}, {hash_of_words(text) for text in gone}
    project = _session(vault, session).project if session else ""

    def repeats(stored: StoredFact) -> bool:
        spans = spans_of(stored.fact)
        if name and spans and {each for each, _ in spans} == {name} and not gone:
            return True
        if any(each == name and mark in hashes for each, mark in spans):
            return True
        return bool(session) and project_of(stored.ref) == project and letters(stored.fact.fact) in wanted

    known = fact.id if fact else ""
    active = (stored for stored in read_facts(vault) if stored.fact.id not in ("", known))
    echoes = [stored for stored in active if stored.fact.status == "active" and repeats(stored)]
    spans = set().union(*(spans_of(echo.fact) for echo in echoes), spans_of(fact) if fact else ())
    others = {f"{folder}sessions/{each}.md" for each, _ in spans for folder in ("", "archive/")}
    marks = {mark for _, mark in spans}
    said = [*gone, *(echo.fact.fact for echo in echoes)]

    def is_meant(text: str) -> bool:
        return hash_of_words(text) in marks or letters(text) in wanted

    refs = sorted({echo.ref for echo in echoes})
    keep_edits(vault, refs)
    for ref, fact_id in ((echo.ref, echo.fact.id) for echo in echoes):
        if for_good:
            purge(vault, ref, fact_id)
        else:
            update_facts(vault, ref, lambda facts, fact_id=fact_id: archive(facts, fact_id))  # type: ignore[misc]
    notes = {ref: partial(forget_item, is_meant=is_meant) for ref in sorted(others - {session})} if gone else {}
    changed = [*refs, *_rewrite(vault, notes)]
    titles = {ref: _session(vault, ref).draft.title for ref in ({*others, session} if gone else {session}) if ref}
    relisted, unsaid = partial(_relisted, titles=titles, drop=not gone), partial(_without_lines, gone=said)
    daily = [ref for folder in (vault.daily, f"archive/{vault.daily}") for ref in _refs(vault, f"{folder}/*.md")]
    lists: dict[str, Callable[[str], str]] = dict.fromkeys(daily, relisted)
    lists |= {ref: lambda text: unsaid(relisted(text)) for ref in _refs(vault, "reports/*.md")}
    pages = ["MEMORY.md", *_refs(vault, "areas/projects/*/summary.md")]
    return [*changed, *_rewrite(vault, lists | dict.fromkeys(pages, partial(_without_generated, gone=said)))]


def _session(vault: Vault, ref: str) -> SessionNote:
    with suppress(MemtoolError):
        return parse_session(vault.read(ref)[0])
    return SessionNote()


def _refs(vault: Vault, pattern: str) -> list[str]:
    return sorted(path.relative_to(vault.root).as_posix() for path in vault.root.glob(pattern))


def _rewrite(vault: Vault, changes: Mapping[str, Callable[[str], str]]) -> list[str]:
    """Change files, after what their owner wrote is committed, and return those that changed."""
    changing = []
    for ref, change in changes.items():
        with suppress(MemtoolError):
            text = vault.read(ref)[0]
            changing += [ref] if change(text) != text else []
    keep_edits(vault, changing)
    for ref in changing:
        change = changes[ref]
        with vault.lock():
            files.change(vault.path(ref), lambda text, change=change: None if text is None else change(text))  # type: ignore[misc]
    return changing


def _relisted(text: str, *, titles: Mapping[str, str], drop: bool) -> str:
    """Return a list of sessions with their *titles* as they are now; *drop* takes the lines of these sessions out."""
    for ref, title in titles.items():
        name = re.escape(PurePosixPath(ref).stem)
        pattern = rf"\[{LINK_TEXT}\]\((?P<to>(?:\.\./)+(?:archive/)?sessions/{name}\.md)\)"
        if drop:
            text = re.sub(rf"(?m)^[^\n]*{pattern}[^\n]*\n?", "", text)
        elif title:
            text = re.sub(pattern, lambda match, title=title: link(title, match["to"]), text)  # type: ignore[misc]
    return text


def _without_lines(text: str, gone: Sequence[str]) -> str:
    wanted = [plain for plain in map(letters, gone) if len(plain) >= limits.SHORTEST_PART]
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not any(plain in letters(line) for plain in wanted))


def _without_generated(text: str, gone: Sequence[str]) -> str:
    """Return a page without what its generated part says of what is *gone*."""
    before, begin, rest = text.partition(GENERATED)
    inside, end, after = rest.partition(GENERATED_END)
    if not end:
        return text
    for said in filter(None, gone):
        inside = re.sub(rf"(?m)^- {re.escape(said)} \([^\n]*\)\n?", "", inside).replace(f" {said}", "")
    return f"{before}{begin}{inside}{end}{after}"
