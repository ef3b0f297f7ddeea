"""The health of a vault: its folder, its history, its clones, its notes and facts, its routes."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from memtool.consolidate.review import stored_proposals, weeks_to_review
from memtool.doctor.check import BROKEN, NAMED, NOTE, OK, Check, broken
from memtool.errors import MemtoolError
from memtool.history import repository as history
from memtool.history.driver import driver_problem
from memtool.history.syncing import distance, find_remote
from memtool.memory.fact_book import FAILING, read_facts, verify
from memtool.recall.routing.routes import check, read_routing
from memtool.redaction import Redactor, make_redactor
from memtool.text.lines import counted, some_of
from memtool.vault.files import find_leftovers, read_text, remove_leftovers
from memtool.vault.layout import Vault
from memtool.vault.scan import Scan
from memtool.workspace import Workspace

NOTES_WITH_SECRETS = 200  # the newest notes, which are searched for secrets; all with `--deep`: each takes milliseconds


def folder_checks(vault: Vault, origin: str) -> list[Check]:
    """Return the findings about the folder of *vault*: its permissions, its history, leftovers, triggers."""
    return [_folder_check(vault, origin), *_history_checks(vault), *_leftover_checks(vault), *_routing_checks(vault)]


def content_checks(work: Workspace, found: Scan, *, deep: bool) -> Iterator[Check]:
    """Give the findings about notes and facts; *deep* searches all notes *found* for secrets."""
    yield from _fact_checks(work)
    yield from _orphan_checks(work.vault)
    yield from _secret_checks(work, found, most=0 if deep else NOTES_WITH_SECRETS)


def _folder_check(vault: Vault, origin: str) -> Check:
    for folder in (vault.root, vault.state_path):
        if not can_write(folder):
            sentence = f"{folder} is read-only, so nothing can be captured or remembered (named by {origin})"
            return Check("vault", BROKEN, sentence, "Check its permissions, and whether the disk is read-only.")
    if shutil.disk_usage(vault.root).free < 262_144:  # bytes: less than a note and its commit take
        sentence = f"the disk of {vault.root} is full, so nothing can be captured or remembered (named by {origin})"
        return Check("vault", BROKEN, sentence, "Free some space.")
    return Check("vault", OK, f"{vault.root} (named by {origin})")


def can_write(folder: Path) -> bool:
    """Return whether *folder*, or the one in which it would be made, can be written."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)


def _history_checks(vault: Vault) -> list[Check]:
    try:
        status = history.status(vault.root)
    except MemtoolError as error:
        return [broken("git", error)]
    if status.problem:
        return [Check("git", NOTE, status.problem)]
    if not status.is_own:
        where = (
            f"it is inside the repository {status.repository}" if status.repository else "it is not a git repository"
        )
        sentence = f"memtool keeps no history of this vault: {where}"
        return [Check("git", NOTE, sentence, "Run `memtool init` in the vault.")]
    files = counted(status.uncommitted, "file")
    sentence = f"{files} not committed" if status.uncommitted else "the vault has its own repository"
    return [Check("git", OK, sentence), *_sync_checks(vault)]


def _sync_checks(vault: Vault) -> list[Check]:
    """Return the findings about merging this clone with others."""
    try:
        problem = driver_problem(vault)
    except MemtoolError as error:
        return [broken("sync", error)]
    checks = [Check("sync", NOTE, problem, "Run `memtool sync`, or `memtool init`.")] if problem else []
    with contextlib.suppress(MemtoolError):  # without a remote the vault is on this machine alone
        remote = find_remote(vault)
        ahead, behind = distance(vault, remote)
        waiting = f"{counted(ahead, 'change')} to send, {behind} to receive, as of the last fetch"
        checks.append(Check("sync", OK, f"with '{remote.name}': {waiting}; run `memtool sync`"))
    return checks


def _leftover_checks(vault: Vault) -> list[Check]:
    left = find_leftovers(vault.root, time.time())
    if not left:
        return []
    names = some_of([path.relative_to(vault.root).as_posix() for path in left], NAMED)
    sentence = f"killed runs left {counted(len(left), 'file')}: {names}"

    def mend() -> str:
        gone = remove_leftovers(vault.root, time.time())
        return f"removed {', '.join(path.relative_to(vault.root).as_posix() for path in gone)}"

    return [Check("leftovers", NOTE, sentence, "Run `memtool doctor --fix` to remove them.", mend)]


def _fact_checks(work: Workspace) -> Iterator[Check]:
    book = read_facts(work.vault)
    found = verify(work, book)
    failed = [finding for finding in found if finding.kind in FAILING]
    fix = "Fix the file with an editor, or revert the change: `memtool undo`."
    for finding in failed[:NAMED]:
        place = f"{finding.ref}:{finding.line}" if finding.line else finding.ref
        is_named = finding.ref in finding.sentence
        yield Check("facts", BROKEN, finding.sentence if is_named else f"{place}: {finding.sentence}", fix)
    if len(failed) > NAMED:
        yield Check("facts", BROKEN, f"and {len(failed) - NAMED} more", "`memtool facts verify` lists them all.")
    if not failed:
        others = f", {counted(len(found), 'thing')} to look at: `memtool facts verify`" if found else ""
        yield Check("facts", OK, f"{counted(sum(1 for _ in book), 'fact')} valid{others}")
    if waiting := sum(len(stored_proposals(work.vault, week)) for week in weeks_to_review(work.vault)):
        sentence = f"{counted(waiting, 'proposed fact')} to decide on"
        yield Check("facts", NOTE, sentence, "`memtool facts review` lists them; `--keep all` accepts them.")


def _orphan_checks(vault: Vault) -> Iterator[Check]:
    """Name the areas without a summary, to which no session and no trigger can lead."""
    areas = (path for kind in ("projects", "patterns", "tools") for path in (vault.root / "areas" / kind).glob("*"))
    orphans = [
        path.relative_to(vault.root).as_posix()
        for path in areas
        if path.is_dir() and not (path / "summary.md").exists() and any(path.rglob("*.md"))
    ]
    if orphans:
        areas_have = counted(len(orphans), "area has", "areas have")
        sentence = f"{areas_have} notes but no summary.md: {some_of(sorted(orphans), NAMED)}"
        fix = "Describe the area in its `summary.md`; without it, nothing leads to the notes."
        yield Check("areas", NOTE, sentence, fix)


def _secret_checks(work: Workspace, found: Scan, *, most: int) -> Iterator[Check]:
    """Look for secrets in the newest *most* notes, 0 for all: people write them, and memtool would remove them."""
    newest = sorted(found.stamps, key=lambda ref: -found.stamps[ref][1])
    looked = newest[:most] if most else newest
    try:
        redact = make_redactor(work.settings.redact)
    except MemtoolError:
        return  # the settings' own check says so
    suspects = [ref for ref in looked if _has_secret(work.vault, ref, redact)]
    if suspects:
        sentence = f"possible secrets in {some_of(suspects, NAMED)}"
        fix = "Remove it with an editor, and replace the key: git keeps the old text."
        yield Check("secrets", NOTE, sentence, fix)
    else:
        rest = f" the newest {len(looked)} of {len(newest)}" if len(looked) < len(newest) else f" all {len(newest)}"
        yield Check("secrets", OK, f"none in{rest} notes")


def _has_secret(vault: Vault, ref: str, redact: Redactor) -> bool:
    before = redact.counts.total()
    with contextlib.suppress(OSError, MemtoolError):  # the index names what cannot be read
        redact(read_text(vault.path(ref))[0])
    return redact.counts.total() > before


def _routing_checks(vault: Vault) -> Iterator[Check]:
    routing = read_routing(vault)
    faults = [finding for finding in check(vault, routing) if not finding.is_warning]
    if faults:
        sentence = f"{counted(len(faults), 'trigger leads', 'triggers lead')} nowhere or cannot be read"
        yield Check("routing", NOTE, sentence, "`memtool route --check` lists them.")
    elif routing.routes:
        yield Check("routing", OK, f"{counted(len(routing.routes), 'trigger leads', 'triggers lead')} to a file")
