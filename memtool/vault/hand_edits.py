"""The owner's edits of a session note, kept when memtool renders the note again.

A merge of three texts: what memtool wrote last (the base), what is in the file now, and what memtool writes now. They
are compared by the parts of a session note: a field of the front matter, the title, an item of a section, a bullet
nested in it.

    a part is ...                                              it becomes ...
    as memtool wrote it                                        what memtool writes now
    changed or added by the owner                              what the owner made of it
    gone                                                       nothing, but an item that is new to the note is added
    no part of the format                                      the same bytes in the same place

Items differ by what they say, so an item that its owner changed is one that is gone and one that is added. A
note of an earlier version is first put into the form of today.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from memtool.vault.forgotten import forgotten_in, without_marked
from memtool.vault.session_parts import (
    NoteBlock,
    NoteItem,
    Parts,
    items_in,
    listed_items,
    says_of,
    split_session,
    with_items,
    without_gaps,
)
from memtool.vault.sessions import in_form_of_today, is_as_written

_LISTS = {
    "matter:tags": re.compile(r"(tags:\s*\[)(.*)(\]\s*)"),
    "files": re.compile(r"(\*\*[^*]+\*\*[:：] *)(.*?)((?: \([^(),]*\))?\s*)"),
    "links": re.compile(r"(\*\*[^*]+\*\*[:：] *)(.*?)(\s*)"),
}
_START, _END = "\n", "\n\n"  # no item says that


# Without a base it is not known who wrote a line. These are memtool's own if they look as memtool writes them: kept as
# the owner's, they would stay what they are for ever.
_OWN_LOOK = {
    "matter:date": r"date: \d{4}-\d{2}-\d{2}",
    "matter:updated": r"updated: \d{4}-\d{2}-\d{2} \d{2}:\d{2}",
    "matter:size": r"size: \d+",
    "matter:writer": r"writer: \S+",
    "matter:checksum": r"checksum: \S+",
}


def keep_hand_edits(base: str | None, current: str, new: str) -> str:
    """Return *new* with all that its owner has changed in *current*, which memtool wrote as *base*.

    Args:
        base: what memtool wrote last, before any merge; None if that is not known. Then a note that is as memtool
            wrote it is replaced; else all that *new* does not say is taken for the owner's.
        current: what is in the file. A note of which nothing is left but the owner's own words stays as it is.
        new: what memtool writes now.
    """
    marks = forgotten_in(current)
    if base is None and is_as_written(current):
        base = current
    before, now = base and without_marked(in_form_of_today(base), marks), in_form_of_today(current)
    new = without_marked(new, marks)
    if now == before or (base is None and not current.strip()):
        return new
    if new in (base, before):
        return current
    bom = "\ufeff" if current.startswith("\ufeff") else ""
    return bom + _merged(before, now.removeprefix(bom), in_form_of_today(new))


def _merged(base: str | None, current: str, new: str) -> str:
    cr = "\r" if current.split("\n", 1)[0].endswith("\r") else ""
    end = "" if current.endswith("\n") else f"{cr}\n"  # a last line end that is missing stays missing
    now, wanted = split_session(current + end), split_session(new.replace("\n", f"{cr}\n"))
    before = _looks_like_ours(now) if base is None else split_session(base)
    if any(block.key for block in now.body):
        body = _merge(before.body, now.body, wanted.body, cr)
    elif base is None:
        body = [*wanted.body, *now.body]
    else:
        return current
    matter = now.matter and _merge(before.matter, now.matter, wanted.matter, cr)
    if not now.matter and not before.matter:
        matter = wanted.matter
        if body[0].lines[0].strip():
            body.insert(0, NoteBlock("", (cr,)))
    return "\n".join(line for block in (*matter, *body) for line in block.lines).removesuffix(end)


def _looks_like_ours(now: Parts) -> Parts:
    """Return the parts of a note without a base that memtool must have written."""

    def select(blocks: Iterable[NoteBlock]) -> list[NoteBlock]:
        looks = ((block, _OWN_LOOK.get(block.key)) for block in blocks)
        return [block for block, look in looks if look and re.fullmatch(look, " ".join(block.lines).rstrip())]

    return Parts(select(now.matter), select(now.body))


def _merge(
    base: Iterable[NoteBlock], current: Iterable[NoteBlock], wanted: Iterable[NoteBlock], cr: str
) -> list[NoteBlock]:
    """Return the *current* blocks, each merged with its namesakes, and the new blocks of *wanted*."""
    before = {block.key: block for block in base if block.key}
    after = {block.key: block for block in wanted if block.key}
    merged = [(now, _merge_block(before.get(now.key), now, after.get(now.key)) if now.key else now) for now in current]
    there = {now.key for now, _ in merged}
    result = without_gaps(merged)
    anchor = ""
    for key, block in after.items():
        fresh = None if key in there else _unseen(before.get(key), block)
        if fresh:
            _insert(result, fresh, anchor, cr)
        if fresh or any(other.key == key for other in result):
            anchor = key
    return result


def _merge_block(base: NoteBlock | None, current: NoteBlock, wanted: NoteBlock | None) -> NoteBlock | None:
    if current.kind == "section":
        return _merge_section(base, current, wanted)
    is_ours = base is not None and says_of(base.lines) == says_of(current.lines)
    if is_ours or wanted is None or says_of(current.lines) == says_of(wanted.lines):
        return wanted if is_ours else current
    return _merge_list(base, current, wanted) if current.key in _LISTS else current


def _unseen(base: NoteBlock | None, wanted: NoteBlock) -> NoteBlock | None:
    """Return the lines of *wanted* that *base* has not: the rest was there, and its owner has taken it out."""
    if base is None:
        return wanted
    if wanted.kind != "section":
        return None
    said = {item.says for item in items_in(base)}
    items = [item for item in items_in(wanted) if item.says not in said]
    return with_items(wanted, items) if items else None


def _insert(blocks: list[NoteBlock], block: NoteBlock, anchor: str, cr: str) -> None:
    """Put *block* behind the one whose key is *anchor*, else before the first that has a key."""
    keys = [other.key for other in blocks]
    first = next((at for at, key in enumerate(keys) if key), min(1, len(keys)))
    at = keys.index(anchor) + 1 if anchor in keys and anchor else first
    gap = [NoteBlock("", (cr,))]
    above = gap if at > 0 and _need_gap(blocks[at - 1], block) else []
    below = gap if at < len(blocks) and _need_gap(block, blocks[at]) else []
    blocks[at:at] = [*above, block, *below]


def _need_gap(above: NoteBlock, below: NoteBlock) -> bool:
    is_apart = "matter" not in (above.kind, below.kind) and {above.key, below.key} != {"files", "links"}
    return is_apart and bool(above.lines[-1].strip() and below.lines[0].strip())


def _merge_list(base: NoteBlock | None, current: NoteBlock, wanted: NoteBlock) -> NoteBlock:
    """Return the list on the line of *current*, merged item by item; *current* where it is no list on one line."""
    now, new = (_LISTS[current.key].fullmatch("\n".join(block.lines)) for block in (current, wanted))
    if now is None or new is None:
        return current
    items = _three_way(_listed(base), _listed(current), _listed(wanted))
    return NoteBlock(current.key, (now[1] + ", ".join(item.lines[0] for item in items) + new[3],))


def _listed(block: NoteBlock | None) -> list[NoteItem]:
    match = _LISTS[block.key].fullmatch("\n".join(block.lines)) if block else None
    return listed_items(match[2]) if match else []


def _merge_section(base: NoteBlock | None, current: NoteBlock, wanted: NoteBlock | None) -> NoteBlock | None:
    now, new = items_in(current), items_in(wanted)
    items = _three_way(items_in(base), now, new)
    if wanted and _texts(items) == _texts(new):
        return wanted
    is_named_so = wanted is None or wanted.lines[0].strip() == current.lines[0].strip()
    if _texts(items) == _texts(now) and is_named_so:
        return current
    return with_items(wanted or current, items) if items else None


def _texts(items: Iterable[NoteItem]) -> list[str]:
    return [says for item in items for says in (item.says, *(f"  {below.says}" for below in item.below))]


def _three_way(base: Iterable[NoteItem], current: Sequence[NoteItem], wanted: Sequence[NoteItem]) -> list[NoteItem]:
    """Return *wanted* without the items that the owner took out of *base*, and with those that they added.

    An added item stays behind the item that it was behind.
    """
    ours = {item.says: item for item in base}
    there = {item.says: item for item in current}
    new = {item.says for item in wanted}
    kept = [_with_below(ours, there, item) for item in wanted if item.says in there or item.says not in ours]
    added: dict[str, list[NoteItem]] = {}
    anchor = _START
    for item in current:
        if item.says in new:
            anchor = item.says
            continue
        own = item if item.says not in ours else _own_below(ours[item.says], item)
        if own:
            added.setdefault(anchor, []).append(own)
        elif anchor == _START:
            anchor = _END
    merged = added.pop(_START, [])
    for item in kept:
        merged += [item, *added.pop(item.says, [])]
    return [*merged, *added.pop(_END, [])]


def _with_below(ours: Mapping[str, NoteItem], there: Mapping[str, NoteItem], wanted: NoteItem) -> NoteItem:
    """Return the *wanted* item as it is *there*, with its nested items merged."""
    now = there.get(wanted.says)
    if now is None:
        return wanted
    base = ours[wanted.says].below if wanted.says in ours else ()
    return now._replace(below=tuple(_three_way(base, now.below, wanted.below)))


def _own_below(base: NoteItem, current: NoteItem) -> NoteItem | None:
    """Return an item that memtool no longer writes, with what its owner nested in it; None if that is nothing."""
    said = {item.says for item in base.below}
    own = tuple(item for item in current.below if item.says not in said)
    return current._replace(below=own) if own else None
