"""The owner's edits of a session note, kept when memtool renders the note again.

A three-way merge of what memtool wrote last (*base*), what is in the file (*edited*) and what memtool writes now
(*rendered*), part by part: a field of the front matter, the title, an item of a section, a bullet nested in it.

    a part of *edited* is ...              it becomes ...
    as in *base*                           what *rendered* has
    changed or added by the owner          what the owner made of it
    deleted by the owner                   stays deleted; items that *base* did not have are added
    no part of the format                  the same bytes in the same place

Items are identified by their text: a changed item counts as one deleted and one added. A note of an earlier version is
first put into the form of today. The keys of the parts are those of `session_text.NoteBlock`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memtool.vault.forgotten import forgotten_in, without_marked
from memtool.vault.session_text import (
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

# Parts that are a list on one line: what is before the items, the items, and what is behind them.
_LISTS = {
    "matter:tags": r"(tags:\s*\[)(.*)(\]\s*)",
    "files": r"(\*\*[^*]+\*\*[:：] *)(.*?)((?: \([^(),]*\))?\s*)",
    "links": r"(\*\*[^*]+\*\*[:：] *)(.*?)(\s*)",
}
_START, _END = "\n", "\n\n"  # places in a section; no item has such a text

# Without a base it is not known who wrote a line. A field that looks as memtool writes it is memtool's: if it were
# taken for the owner's, it would never be updated again.
_LOOKS_WRITTEN = {
    "matter:date": r"date: \d{4}-\d{2}-\d{2}",
    "matter:updated": r"updated: \d{4}-\d{2}-\d{2} \d{2}:\d{2}",
    "matter:size": r"size: \d+",
    "matter:writer": r"writer: \S+",
    "matter:checksum": r"checksum: \S+",
}


def keep_hand_edits(base: str | None, edited: str, rendered: str) -> str:
    """Return *rendered* with all that the owner has changed in *edited*, which memtool wrote as *base*.

    Args:
        base: what memtool wrote last, before any merge; None if that is not known. Then a note that is as memtool
            wrote it is replaced; else all that *rendered* does not say is taken for the owner's.
        edited: what is in the file. With a base, a note without any known part is not changed.
        rendered: what memtool writes now.
    """
    marks = forgotten_in(edited)
    if base is None and is_as_written(edited):
        base = edited
    before = None if base is None else without_marked(in_form_of_today(base), marks)
    now, rendered = in_form_of_today(edited), without_marked(rendered, marks)
    if now == before or (base is None and not edited.strip()):
        return rendered
    if rendered in (base, before):
        return edited
    bom = "\ufeff" if edited.startswith("\ufeff") else ""
    return bom + _merged(before, now.removeprefix(bom), in_form_of_today(rendered))


def _merged(base: str | None, edited: str, rendered: str) -> str:
    cr = "\r" if edited.split("\n", 1)[0].endswith("\r") else ""
    end = "" if edited.endswith("\n") else f"{cr}\n"  # a final newline that is missing stays missing
    now, wanted = split_session(edited + end), split_session(rendered.replace("\n", f"{cr}\n"))
    if base is not None:
        before = split_session(base)
    else:
        looks = ((block, _LOOKS_WRITTEN.get(block.key, "(?!)")) for block in now.matter)
        before = Parts([block for block, look in looks if re.fullmatch(look, " ".join(block.lines).rstrip())], [])
    if any(block.key for block in now.body):
        body = _merge(before.body, now.body, wanted.body, cr)
    elif base is None:
        body = [*wanted.body, *now.body]
    else:
        return edited
    matter = now.matter and _merge(before.matter, now.matter, wanted.matter, cr)
    if not now.matter and not before.matter:
        matter = wanted.matter
        if body[0].lines[0].strip():
            body.insert(0, NoteBlock("", (cr,)))
    return "\n".join(line for block in (*matter, *body) for line in block.lines).removesuffix(end)


def _merge(
    base: Iterable[NoteBlock], edited: Iterable[NoteBlock], rendered: Iterable[NoteBlock], cr: str
) -> list[NoteBlock]:
    """Return the *edited* blocks, each merged with its namesakes, and the new blocks of *rendered*."""
    before = {block.key: block for block in base if block.key}
    wanted = {block.key: block for block in rendered if block.key}
    merged = [(now, _merge_block(before.get(now.key), now, wanted.get(now.key)) if now.key else now) for now in edited]
    there = {now.key for now, _ in merged}
    result = without_gaps(merged)
    anchor = ""
    for key, block in wanted.items():
        fresh = None if key in there else _fresh(before.get(key), block)
        if fresh:
            _insert(result, fresh, anchor, cr)
        if fresh or any(other.key == key for other in result):
            anchor = key
    return result


def _fresh(base: NoteBlock | None, rendered: NoteBlock) -> NoteBlock | None:
    """Return the items of *rendered* that *base* does not have: its owner has deleted the others with the block."""
    if base is None:
        return rendered
    known = {item.says for item in items_in(base)}
    items = [item for item in items_in(rendered) if item.says not in known] if rendered.kind == "section" else []
    return with_items(rendered, items) if items else None


def _insert(blocks: list[NoteBlock], block: NoteBlock, anchor: str, cr: str) -> None:
    """Put *block* behind the one whose key is *anchor*, else before the first that has a key."""
    keys = [other.key for other in blocks]
    first = next((at for at, key in enumerate(keys) if key), min(1, len(keys)))  # behind the fence of front matter
    at = keys.index(anchor) + 1 if anchor in keys and anchor else first
    gap = [NoteBlock("", (cr,))]
    above = gap if at > 0 and _need_gap(blocks[at - 1], block) else []
    below = gap if at < len(blocks) and _need_gap(block, blocks[at]) else []
    blocks[at:at] = [*above, block, *below]


def _need_gap(above: NoteBlock, below: NoteBlock) -> bool:
    is_apart = "matter" not in (above.kind, below.kind) and {above.key, below.key} != {"files", "links"}
    return is_apart and bool(above.lines[-1].strip() and below.lines[0].strip())


def _merge_block(base: NoteBlock | None, edited: NoteBlock, rendered: NoteBlock | None) -> NoteBlock | None:
    if edited.kind == "section":
        return _merge_section(base, edited, rendered)
    is_unchanged = base is not None and says_of(base.lines) == says_of(edited.lines)
    if is_unchanged or rendered is None or says_of(edited.lines) == says_of(rendered.lines):
        return rendered if is_unchanged else edited
    found = [_list_in(edited.key, block) for block in (base, edited, rendered)]
    if found[1] is None or found[2] is None:
        return edited
    lists = [listed_items(match[2]) if match else [] for match in found]
    items = ", ".join(item.lines[0] for item in _merge_items(*lists))
    return NoteBlock(edited.key, (found[1][1] + items + found[2][3],))


def _list_in(key: str, block: NoteBlock | None) -> re.Match[str] | None:
    return re.fullmatch(_LISTS[key], "\n".join(block.lines)) if block and key in _LISTS else None


def _merge_section(base: NoteBlock | None, edited: NoteBlock, rendered: NoteBlock | None) -> NoteBlock | None:
    now, wanted = items_in(edited), items_in(rendered)
    items = _merge_items(items_in(base), now, wanted)
    if rendered and _texts(items) == _texts(wanted):
        return rendered
    is_named_so = rendered is None or rendered.lines[0].strip() == edited.lines[0].strip()
    if _texts(items) == _texts(now) and is_named_so:
        return edited
    return with_items(rendered or edited, items) if items else None


def _texts(items: Iterable[NoteItem]) -> list[str]:
    return [says for item in items for says in (item.says, *(f"  {below.says}" for below in item.below))]


def _merge_items(base: Iterable[NoteItem], edited: Sequence[NoteItem], rendered: Sequence[NoteItem]) -> list[NoteItem]:
    """Return *rendered* without the items of *base* that the owner deleted, and with those that they added.

    An added item stays behind the item that it was behind.
    """
    of_base = {item.says: item for item in base}
    there = {item.says: item for item in edited}
    wanted = {item.says for item in rendered}
    added: dict[str, list[NoteItem]] = {}
    anchor = _START
    for item in edited:
        if item.says in wanted:
            anchor = item.says
            continue
        own, known = item, of_base.get(item.says)
        if known:  # memtool no longer writes it, and the owner may have nested something in it
            nested = {below.says for below in known.below}
            own = item._replace(below=tuple(below for below in item.below if below.says not in nested))
        if not known or own.below:
            added.setdefault(anchor, []).append(own)
        elif anchor == _START:
            anchor = _END  # what the owner added behind an item that goes is not the first thing of the section
    merged = added.pop(_START, [])
    for item in rendered:
        now, known = there.get(item.says), of_base.get(item.says)
        if now:
            below = _merge_items(known.below if known else (), now.below, item.below)
            merged.append(now._replace(below=tuple(below)))
        elif not known:
            merged.append(item)
        if now or not known:
            merged += added.pop(item.says, [])
    return [*merged, *added.pop(_END, [])]
