"""Generated sections of hand-written notes, and the areas that need a look.

    <!-- memtool: generated; write above or below -->
    ...
    <!-- memtool: end -->

What stands outside of the two comments is not touched.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from memtool.consolidate.proposals import COMMAND, STACK
from memtool.consolidate.session_views import SessionView
from memtool.errors import MemtoolError
from memtool.memory.fact_book import FactBook, StoredFact, stands
from memtool.recall.remembering.near_duplicates import Claim, is_same, statement
from memtool.text.frontmatter import split_front_matter
from memtool.text.languages import labels
from memtool.text.similarity import words
from memtool.vault.authors import USER
from memtool.vault.files import read_text
from memtool.vault.layout import Vault
from memtool.vault.marks import GENERATED as BEGIN, GENERATED_END as END
from memtool.workspace import Workspace

_STALE = 90  # days without a change of a summary, while sessions go on
_LARGEST_SHARED, _LARGEST_SUMMARY = 1_500, 1_000  # characters of a generated section
_MOST_MODULES, _LEAST_EDITS = 5, 3
_SECTION = re.compile(rf"(?:\r?\n)?{re.escape(BEGIN)}\r?\n.*?{re.escape(END)}[ \t]*(?:\r?\n|$)", re.DOTALL)


def generated(text: str) -> str:
    """Return the text between the two comments of *text*, without them; empty if there are none."""
    match = _SECTION.search(text)
    return match[0].strip().removeprefix(BEGIN).removesuffix(END).strip() if match else ""


def with_generated(text: str, body: str) -> str:
    """Return *text* with *body* between its two comments, which are put at its end if it has none.

    Without a *body* they go. A text with only one of them, in another order, or with several pairs, has been edited: it
    stays as it is.
    """
    if text.count(BEGIN) > 1 or text.count(BEGIN) != text.count(END):
        return text
    match = _SECTION.search(text)
    if match is None and BEGIN in text:  # the second comment stands before the first
        return text
    body = body.replace(BEGIN, "").replace(END, "")
    newline = "\r\n" if (f"{BEGIN}\r\n" if BEGIN in text else "\r\n") in text else "\n"
    section = newline.join([BEGIN, *body.strip().splitlines(), END]) + newline if body.strip() else ""
    if match:
        lead = newline if match[0].startswith(("\n", "\r\n")) and section else ""
        return text[: match.start()] + lead + section + text[match.end() :]
    if not section:
        return text
    gap = "" if not text else newline if text.endswith("\n") else 2 * newline
    return f"{text}{gap}{section}"


def within(lines: Sequence[str], room: int) -> list[str]:
    """Return as many of *lines*, from the first on, as have *room* characters."""
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def areas_to_look_at(work: Workspace, book: FactBook, sessions: Sequence[SessionView]) -> list[str]:
    """Return a sentence for each area without a summary or with a stale one, and for each fact to look at again."""
    words = labels("facts", work.language)
    today = work.now().date()
    last = {view.project: view.date[:10] for view in sessions if view.project}
    found = []
    for project, date in sorted(last.items()):
        path = work.vault.root / f"areas/projects/{project}/summary.md"
        if not _says_something(work.vault, project):
            found.append(words["empty"].format(project))
        elif date > (today - dt.timedelta(days=30)).isoformat():
            with suppress(OSError):
                changed = dt.datetime.fromtimestamp(path.stat().st_mtime, tz=work.now().tzinfo).date()
                if (today - changed).days > _STALE:
                    found.append(words["stale"].format(project, changed.isoformat()))
    due = [stored for stored in book if stored.fact.status == "active" and stored.fact.review]
    found += [words["review"].format(stored.fact.fact, stored.fact.id, stored.fact.review) for stored in due]
    over = sum(stored.fact.status == "active" and not stands(stored, work) for stored in book)
    return [*found, words["expired"].format(over)] if over else found


def _says_something(vault: Vault, project: str) -> bool:
    with suppress(MemtoolError, OSError):
        text = read_text(vault.path(f"areas/projects/{project}/summary.md"))[0]
        body = text.split("\n")[split_front_matter(text)[1] - 1 :]
        own = "\n".join(body).partition(BEGIN)[0].splitlines()
        return any(line.strip() and not line.startswith("#") for line in own)
    return False


def shared_section(book: FactBook, work: Workspace) -> str:
    """Return the section of preferences and decisions that two projects or more share."""
    held = [stored for stored in book if stands(stored, work) and stored.fact.category in ("preference", "decision")]
    lines = list(_shared(held))
    if not lines:
        return ""
    return f"## {labels('facts', work.language)['ways']}\n\n" + "\n".join(within(lines, _LARGEST_SHARED))


def _shared(held: Sequence[StoredFact]) -> Iterator[str]:
    told: list[tuple[StoredFact, Claim, frozenset[str], set[str]]] = []
    for stored in sorted(held, key=lambda stored: (stored.fact.author != USER, stored.fact.timestamp, stored.fact.id)):
        claim, said = statement(stored.fact.fact), words(stored.fact.fact)
        like = (each for each in told if 2 * len(said & each[2]) >= max(len(said), len(each[2])))
        twin = next((each for each in like if is_same(claim, each[1])), None)
        if twin:
            twin[3].add(stored.project)
        else:
            told.append((stored, claim, said, {stored.project}))
    for stored, _, _, projects in told:
        if len(projects - {""}) > 1:
            yield f"- {stored.fact.fact} ({', '.join(sorted(projects - {''}))})"


def project_section(book: FactBook, project: str, sessions: Sequence[SessionView], language: str) -> str:
    """Return the stack, the commands and the files that were edited most in *project*, as far as they were seen."""
    words = labels("facts", language)
    own = [stored.fact for stored in book if stored.project == project and stored.fact.status == "active"]
    lines = []
    if stack := [fact.fact for fact in own if STACK in fact.tags]:
        lines.append(f"- **{words['stack']}**: {' '.join(sorted(stack))}")
    if commands := [fact.fact for fact in own if COMMAND in fact.tags]:
        lines.append(f"- **{words['commands']}**: {' '.join(sorted(commands))}")
    counts = Counter(file for view in sessions for file in view.note.files)
    modules = [
        file for file, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count >= _LEAST_EDITS
    ]
    if modules:
        lines.append(f"- **{words['modules']}**: {', '.join(f'`{file}`' for file in modules[:_MOST_MODULES])}")
    return "\n".join(within(lines, _LARGEST_SUMMARY))
