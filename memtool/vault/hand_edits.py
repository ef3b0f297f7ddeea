"""The owner's edits of a session note, kept when memtool renders the note again.

A merge of three texts: what memtool wrote last (the base), what is in the file now, and what memtool writes now. They
are compared by the parts of a session note: a field of the front matter, a line of the header, an item of a section.

    a part is ...                                              it becomes ...
    as memtool wrote it                                        what memtool writes now
    changed or added by the owner                              what the owner made of it
    gone                                                       nothing, but an item that is new to the note is added
    no part of the format                                      the same bytes in the same place

What was forgotten with `memtool forget`, an item or one statement of a row, is gone for good: the note lists its mark
in the field `forgotten`, so that it stays away however often, in whatever section and in whichever words it is made
again. A mark holds hashes and tells nothing of what was said.

Items are told apart by what they say, so an item that its owner changed is one that is gone and one that is added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from memtool.vault.forgotten import (
    NAMELESS,
    holds_one,
    is_forgotten,
    is_telling,
    mark_of,
    said_again,
    statement_of,
    topic_without,
)
from memtool.vault.old_sessions import is_as_written, one_of, parse_session
from memtool.vault.session_parts import (
    BULLET,
    NoteBlock,
    NoteItem,
    Parts,
    items_in,
    label_of,
    listed_items,
    numbered,
    says_of,
    split_session,
    with_items,
)
from memtool.vault.session_rows import ARROW, parse_row, render_row, texts_of

FORGOTTEN = "forgotten"  # the field of the front matter

_MARK = r"\b[0-9a-f]{8}(?:-[0-9a-f]+)?\b"

_LISTS = {
    "matter:tags": re.compile(r"(tags:\s*\[)(.*)(\]\s*)"),
    "header:links": re.compile(r"(- \*\*[^*]+\*\*[:：] *)(.*?)(\s*)"),
}
_START, _END = "\n", "\n\n"  # no item says that


# Without a base it is not known who wrote a line. These are memtool's own if they look as memtool writes them: kept as
# the owner's, they would stay what they are for ever.
_OWN_LOOK = {
    "matter:date": r"date: \d{4}-\d{2}-\d{2}",
    "matter:checksum": r"checksum: \S+",
    "header:updated": rf"- \*\*[^*]+\*\*: \d{{4}}-\d{{2}}-\d{{2}} \d{{2}}:\d{{2}}(?:{one_of('last_update')})?",
    "header:transcript": rf"- \*\*[^*]+\*\*: \d+ KB, \d+ (?:{one_of('lines')})",
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
    new, base = _without_forgotten(new, marks), base and _without_forgotten(base, marks)
    if base is None and is_as_written(current):
        base = current
    if current == base or (base is None and not current.strip()):
        return new
    if new == base:
        return current
    bom = "\ufeff" if current.startswith("\ufeff") else ""
    return bom + _merged(base, current.removeprefix(bom), new)


def forget_item(text: str, is_meant: Callable[[str], bool], *, whole: bool = False) -> str:
    """Return the session note *text* without what is meant, and with its marks among the forgotten.

    Unchanged if nothing is. *is_meant* is given the statement of an item, without its kind, tags and author, and unless
    *whole* rows are meant, first each statement of a row: then that goes, and the others stay.
    """
    from memtool.text.frontmatter import set_list  # a hook does without

    gone: list[str] = []
    sections = [block for block in split_session(text).body if _holds_statements(block)]
    items = [item.says for block in sections for item in items_in(block)]
    for says in items:
        pieces = [] if whole else [each for each in _pieces(says) if is_meant(each)]
        gone += pieces or ([says, *filter(is_telling, _pieces(says))] if is_meant(statement_of(says)) else [])
    if not gone:
        return text
    meant = list(map(statement_of, gone))
    said = [each for says in items for each in (_pieces(says) or [statement_of(says)])]
    gone += [each for each in said if each not in gone and holds_one(each, gone)]
    gone += [each for part in parse_session(text).topic.split(ARROW) for each in said_again(part, meant)]
    marks = dict.fromkeys([*forgotten_in(text), *map(mark_of, gone)])
    return set_list(_without_forgotten(text, marks), FORGOTTEN, marks)


def topic_as_known(topic: str, note: str | None) -> str:
    """Return the *topic* of a session without what was forgotten of its *note*, as it stands; `…` for all of it."""
    if note is None:
        return topic
    is_archived = any(
        block.key == "matter:status" and "archived" in block.lines[0].casefold() for block in split_session(note).matter
    )
    return NAMELESS if is_archived else topic_without(topic, forgotten_in(note)) if topic else topic


def forgotten_in(text: str) -> list[str]:
    """Return the marks of what was forgotten of the session note *text*."""
    matter = next((block for block in split_session(text).matter if block.key == f"matter:{FORGOTTEN}"), None)
    return re.findall(_MARK, " ".join(matter.lines)) if matter else []


def _pieces(says: str) -> list[str]:
    """Return the statements of a row, those that were typed without quotes; none of an item that is one statement."""
    row = parse_row(says)
    texts = [text.strip('"') for text in texts_of([row])]
    return texts if len(texts) > 1 else []


def _without_forgotten(text: str, marks: Iterable[str]) -> str:
    """Return the session note *text* without the items and the statements that have one of *marks*, or nearly."""
    gone = set(marks)
    if not gone:
        return text
    parts = split_session(text)
    body = [kept for each in parts.body if (kept := _kept_of(_titled(each, gone), gone))]
    blocks = [*parts.matter, *numbered(body)]
    return ("\ufeff" if text.startswith("\ufeff") else "") + "\n".join(line for each in blocks for line in each.lines)


def _titled(block: NoteBlock, gone: set[str]) -> NoteBlock:
    """Return a title without what is *gone*; any other block as it is."""
    if block.key != "title:":
        return block
    topic = block.lines[0].removeprefix("# ").strip()
    kept = topic_without(topic, gone)
    return block if kept == topic else block._replace(lines=(f"# {kept}",))


def _kept_of(block: NoteBlock, gone: set[str]) -> NoteBlock | None:
    if not _holds_statements(block):
        return block
    items = items_in(block)
    kept = [left for item in items if (left := _left_of(item, gone))]
    if kept == items:
        return block
    return with_items(block, kept) if kept else None


def _holds_statements(block: NoteBlock) -> bool:
    return block.kind == "section" and block.key != "section:files"


def _left_of(item: NoteItem, gone: set[str]) -> NoteItem | None:
    """Return *item* without the statements that are *gone*; None if it is gone as a whole."""
    if is_forgotten(item.says, gone):
        return None
    lost = [piece for piece in _pieces(item.says) if is_forgotten(piece, gone)]
    if not lost:
        return item
    row = parse_row(item.says)
    asked = "" if row.asked in lost else row.asked
    row = row._replace(asked=asked, pieces=tuple(each for each in row.pieces if each.text.strip('"') not in lost))
    says = render_row(row)
    bullet = BULLET.match(item.lines[0])
    return NoteItem(says, (f"{bullet[0] if bullet else ''}{says}",), item.is_inline) if says else None


def _merged(base: str | None, current: str, new: str) -> str:
    cr = "\r" if current.split("\n", 1)[0].endswith("\r") else ""
    end = "" if current.endswith("\n") else f"{cr}\n"  # a last line end that is missing stays missing
    now, wanted = split_session(current + end), split_session(new.replace("\n", f"{cr}\n"))
    before = _looks_like_ours(now) if base is None else split_session(base)
    if any(block.key for block in now.body):
        body = numbered(_merge(before.body, now.body, wanted.body, cr))
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
    """Return the *current* blocks, each merged with its namesakes, and what *wanted* has besides."""
    before = {block.key: block for block in base if block.key}
    after = {block.key: block for block in wanted if block.key}
    merged = [(_merge_block(before.get(now.key), now, after.get(now.key)) if now.key else now) for now in current]
    there = {now.key for now in current}
    result = [block for block in merged if block is not None]
    anchor = ""
    for key, block in after.items():
        fresh = None if key in there else _unseen(before.get(key), block)
        if fresh:
            _insert(result, fresh, anchor, cr)
        if fresh or any(other.key == key for other in result):
            anchor = key
    return result


def _merge_block(base: NoteBlock | None, current: NoteBlock, wanted: NoteBlock | None) -> NoteBlock | None:
    if current.kind == "section" and current.key != "section:topic":
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
    is_apart = above.kind != below.kind and "matter" not in (above.kind, below.kind)
    return is_apart and bool(above.lines[-1].strip() and below.lines[0].strip())


def _merge_list(base: NoteBlock | None, current: NoteBlock, wanted: NoteBlock) -> NoteBlock:
    """Return the list on the line of *current*, merged item by item; *current* where it is no list on one line."""
    match = _LISTS[current.key].fullmatch("\n".join(current.lines))
    if match is None:
        return current
    items = _three_way(_listed(base), _listed(current), _listed(wanted))
    return NoteBlock(current.key, (match[1] + ", ".join(item.lines[0] for item in items) + match[3],))


def _listed(block: NoteBlock | None) -> list[NoteItem]:
    match = _LISTS[block.key].fullmatch("\n".join(block.lines)) if block else None
    return listed_items(match[2]) if match else []


def _merge_section(base: NoteBlock | None, current: NoteBlock, wanted: NoteBlock | None) -> NoteBlock | None:
    now, new = items_in(current), items_in(wanted)
    items = _three_way(items_in(base), now, new)
    said = [item.says for item in items]
    if wanted and said == [item.says for item in new]:
        return wanted
    if said == [item.says for item in now] and (wanted is None or label_of(wanted) == label_of(current)):
        return current
    return with_items(wanted or current, items) if items else None


def _three_way(base: Iterable[NoteItem], current: Sequence[NoteItem], wanted: Sequence[NoteItem]) -> list[NoteItem]:
    """Return *wanted* without what the owner has taken out of *base*, and with what they have added to it.

    What was added stands behind the item that it stood behind.
    """
    ours = {item.says for item in base}
    there = {item.says: item for item in current}
    kept = [there.get(item.says, item) for item in wanted if item.says in there or item.says not in ours]
    said = {item.says for item in kept}
    added: dict[str, list[NoteItem]] = {}
    anchor = _START
    for item in current:
        if item.says in said:
            anchor = item.says
        elif item.says not in ours:
            added.setdefault(anchor, []).append(item)
        elif anchor == _START:
            anchor = _END
    merged = added.pop(_START, [])
    for item in kept:
        merged += [item, *added.pop(item.says, [])]
    return [*merged, *added.pop(_END, [])]
