"""Purging: a text, or what a reference names, is removed from everything that the vault keeps.

mask it in every encoding        files, archive, transcripts; then what `.memtool` remembers: records, ledgers, queue
commit                           once, with a message that does not repeat it
rewrite git's history            if that is wanted
make the index anew
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple

from memtool.capture.captured import Record, read_record, write_record
from memtool.capture.queue import only_worker
from memtool.errors import Busy, MemtoolError, NoteNotFound, UsageError
from memtool.history.one_commit import Kept, alone, commit
from memtool.history.rewriting import KIND, PURGE, Rewritten, refuse_unsafe, rewrite_history
from memtool.history.template import template_text
from memtool.index.engine import place_of, use_index
from memtool.memory.forget import LINE, find_target, sort_of, take_out
from memtool.redaction.known import KnownSecrets
from memtool.redaction.views import merge, replace
from memtool.text.scripts import HAN
from memtool.vault.layout import kind_of
from memtool.vault.masking import all_refs, drop_indexes, keep_purged, mask_files, mask_state, texts_of
from memtool.vault.memory import NOTE, Memory
from memtool.vault.session_names import session_at
from memtool.vault.sources import remove_source
from memtool.workspace import Workspace


class Extent(NamedTuple):
    """How many *places* of how many *files* hold a text, and the files that cannot be looked into."""

    places: int
    files: int
    unread: tuple[str, ...]


class Purged(NamedTuple):
    """The result.

    Args:
        refs: the files of the vault that were changed or removed.
        state: how many files in `.memtool` were.
        named: files whose names hold the text still.
        rewritten: what became of git's history; None where that was not wanted.
    """

    refs: tuple[str, ...]
    state: int
    named: tuple[str, ...] = ()
    kept: Kept = Kept()
    rewritten: Rewritten | None = None


def find_purge_target(work: Workspace, asked: str) -> Memory | None:
    """Return what *asked* names; None if it is a text.

    Raises:
        UsageError: it is too short a text, or names several things.
    """
    with suppress(NoteNotFound):
        target = find_target(work, asked) if asked.strip() else None
        if target and (len(asked.strip()) >= 4 or asked in {target.path, target.id}):
            return target
    refuse_short(asked)
    return None


def refuse_short(asked: str) -> None:
    """Raise if *asked* is too short for a text that is to go everywhere.

    Raises:
        UsageError: it is.
    """
    text = asked.strip()
    if len(text) < (2 if re.search(f"[{HAN}]", text) else 4):
        sentence = "a text of less than 4 characters (Chinese: 2) is in too many places"
        raise UsageError(sentence, hint="Write more of it.")


def extent_of(work: Workspace, asked: str) -> Extent:
    """Return where the vault's files hold the text *asked*; nothing is changed.

    Raises:
        UsageError: it is too short, or memtool's own files or front matter need it.
    """
    refuse_short(asked)
    known, places, refs, unread = KnownSecrets(), 0, 0, []
    known.add(asked.strip(), KIND)
    for ref, text in texts_of(work.vault):
        if text is None:
            unread.append(ref)
            continue
        if not (found := merge(list(known.find_wrapped(text)))):
            continue
        masked, own = replace(text, found), template_text(ref)
        if (own and list(known.find(own))) or _structure(ref, text) != _structure(ref, masked):
            hint = "Write more of it, or change that file by hand."
            raise UsageError(f"the text is a part of how '{ref}' is written, which memtool needs", hint=hint)
        places, refs = places + len(found), refs + 1
    return Extent(places, refs, tuple(unread))


def _structure(ref: str, text: str) -> list[str]:
    """Return what a file is read by: its keys, and its `type`."""
    if ref.endswith(".md"):
        text = text.partition("\n---")[0] if text.startswith("---") else ""
        return re.findall(r"^(?:type:.*|[\w-]+(?=:))", text, re.MULTILINE)
    return re.findall(r'"\w+"(?=\s*:)', text) if ref.endswith("facts.json") else []


def purge(work: Workspace, asked: str, target: Memory | None, *, history: bool = False) -> Purged:
    """Remove the text *asked*, or the *target* that it names, from all that the vault keeps; in one commit.

    Raises:
        UsageError: `extent_of` says why the text cannot go.
        Busy: sessions are being captured.
        HistoryFailed: the *history* cannot be rewritten; then nothing was changed.
    """
    if target is None:
        extent_of(work, asked)
    if history:
        refuse_unsafe(work.vault.root)
    with only_worker(work.vault) as is_alone:
        if not is_alone:
            raise Busy("sessions are being captured; try again in a minute")
        with alone(work.vault):
            return _purge(work, asked.strip(), target, history=history)


def _purge(work: Workspace, asked: str, target: Memory | None, *, history: bool) -> Purged:
    known, gone, state = KnownSecrets(), [], 0
    everywhere = KnownSecrets()  # of a note, its lines go from what is derived only: others may quote it
    if target is None:
        everywhere.add(asked, KIND)
    elif sort_of(target) != NOTE:
        everywhere.add(target.text, KIND)
    else:
        gone = [target.path]
        for line in work.vault.read(target.path)[0].splitlines():
            if len(line.strip("-*#> ")) >= 20:
                known.add(line.strip("-*#> "), KIND)

    def mask(text: str) -> str:
        return replace(text, merge(list(everywhere.find_wrapped(text))))

    def mask_derived(text: str) -> str:
        return replace(text, merge([*everywhere.find_wrapped(text), *known.find(text)]))

    session = session_at(work.vault, target.path) if target else ""
    refs = take_out(work, target, for_good=True) if target else []
    if target and sort_of(target) == NOTE and kind_of(target.path) == "session":
        state += _drop_source(work, session)
    refs += mask_files(work.vault, all_refs(work.vault), mask)
    refs = list(dict.fromkeys(refs))
    for folder in {work.vault.state_path, work.index_folder}:
        state += len(mask_state(folder, mask_derived))
    named = tuple(ref for ref in all_refs(work.vault) if mask(ref) != ref)
    kept = commit(work.vault, refs, PURGE, "a text" if target is None else f"a {sort_of(target)}") if refs else Kept()
    rewritten = rewrite_history(work.vault.root, mask, gone) if history else None
    if target is None or sort_of(target) == LINE:  # the client's transcript may bring it back
        with suppress(OSError):
            keep_purged(work.vault, target.text if target else asked, work.random(16))
    drop_indexes(work.vault)
    with suppress(MemtoolError):  # the next search makes it
        use_index(place_of(work), lambda _: None, rebuild=True)
    return Purged(tuple(refs), state, named, kept if not rewritten else Kept(), rewritten)


def _drop_source(work: Workspace, session: str) -> int:
    """Remove what is kept of the *session* besides its note, and never capture it again; return how many files."""
    record = read_record(work.vault, session)
    write_record(work.vault, session, Record(record.size, off=True))
    heard = work.vault.state_path / "heard" / f"{session}.jsonl"
    was_heard = heard.exists()
    heard.unlink(missing_ok=True)
    return 1 + was_heard + remove_source(work.vault, session)
