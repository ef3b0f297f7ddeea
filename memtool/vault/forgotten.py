"""Forgetting a part of a session: `memtool forget` takes it out of the note, and its mark keeps it away. Pure.

The note lists the marks in its field `forgotten`, so that a forgotten statement stays away however often, in whatever
section and in whichever words it is made again. A mark holds hashes only, and no words.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Sequence

from memtool.text.lines import one_line, shortened
from memtool.text.similarity import is_said, words
from memtool.text.statements import sentences
from memtool.vault.memory import ASKED, SUMMARY, TITLE, signed_by
from memtool.vault.session_text import (
    NoteBlock,
    NoteItem,
    items_in,
    read_line,
    read_statement,
    split_session,
    with_items,
    with_parts,
)
from memtool.vault.sessions import in_form_of_today, lines_of

_MOST_HASHES, _LEAST_HASHES = 12, 4  # of the words of what was forgotten; by fewer it is not known in other words
_NEARLY = 0.65  # of the words that are compared
_LEAST_STATEMENT = 6  # letters of a statement that is looked for in a sentence
_LEAST_PART = 12  # letters of a statement that is looked for in a longer one
HIDDEN = "[forgotten]"  # in place of what was forgotten
NAMELESS = "…"  # the title of a session whose own was forgotten
FORGOTTEN = "forgotten"  # the field of the front matter

_MARK = r"\b[0-9a-f]{8}(?:-[0-9a-f]+)?\b"


def statement_of(item: str) -> str:
    """Return the statement of an item of a session note, without its kind, its tags and its author."""
    return re.sub(r"^\[[a-z]+\] +|(?: +#[^\s#]+)+$", "", signed_by(item.strip())[0])


def mark_of(item: str) -> str:
    """Return the mark by which an item is recognised after it was forgotten.

    That is a checksum of its letters, and behind a dash one of its numbers and the least hashes of its words.
    """
    statement = statement_of(item)
    numbers = " ".join(sorted(re.findall(r"\d+", statement)))
    least = sorted({f"{_checksum(word) % 4_096:03x}" for word in words(statement)})[:_MOST_HASHES]
    return f"{_checksum(_letters(statement)):08x}-{_checksum(numbers) % 256:02x}{''.join(least)}"


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


def is_forgotten(item: str, marks: Iterable[str]) -> bool:
    """Return whether *item* has one of *marks*, or says nearly the same with the same numbers."""
    exact, _, rest = mark_of(item).partition("-")
    for known, _, other in (mark.partition("-") for mark in marks):
        if known == exact or (other and other[:2] == rest[:2] and _likeness(rest[2:], other[2:]) >= _NEARLY):
            return True
    return False


def _likeness(one: str, other: str) -> float:
    """Return the share of words that two texts have in common, by the least hashes of both (bottom-k sketches)."""
    first, second = ({each[at : at + 3] for at in range(0, len(each), 3)} for each in (one, other))
    if min(len(first), len(second)) < _LEAST_HASHES:
        return 0.0
    least = sorted(first | second)[:_MOST_HASHES]
    return sum(each in first and each in second for each in least) / len(least)


def without_forgotten(text: str, marks: Iterable[str]) -> str:
    """Return *text* without the sentences that have one of *marks*; empty if all of it has, or each of them."""
    said = sentences(text)
    kept = [each for each in said if not is_forgotten(each, marks)]
    if len(kept) < len(said):
        return " ".join(kept)
    return "" if is_forgotten(text, marks) else text


def said_again(text: str, gone: Sequence[str]) -> list[str]:
    """Return the parts of a title or a summary that repeat *gone*: some of its sentences, or all of it."""
    said = sentences(text)
    found = [each for each in said if _says_again(each, gone)]
    return found if found and len(found) < len(said) else [text] if _says_again(text, gone) else []


def _says_again(title: str, gone: Sequence[str]) -> bool:
    """Return whether a title, or a sentence of it that may be cut, repeats one of *gone*."""
    said = [_letters(text) for text in gone]
    cut = [piece for piece in map(_letters, title.split("…")) if piece]
    return any(text and (text in _letters(title) or all(piece in text for piece in cut)) for text in said) or is_said(
        words(title), map(words, filter(is_telling, gone)), _NEARLY
    )


def holds_one(text: str, gone: Iterable[str]) -> bool:
    """Return whether *text* is a part of one of *gone*, or the other way round."""
    one, others = _letters(text), map(_letters, gone)
    return any(min(len(one), len(other)) >= _LEAST_PART and (one in other or other in one) for other in others)


class ForgottenTexts:
    """The forgotten parts of a session: their *marks*, and those *statements* that are known in words."""

    def __init__(self, marks: Iterable[str], statements: Iterable[str]) -> None:
        self._marks = tuple(marks)
        statements = dict.fromkeys(filter(None, statements))
        self._letters = [each for each in map(_letters, statements) if len(each) >= _LEAST_STATEMENT]
        self._words = [words(each) for each in statements if is_telling(each)]

    def is_in(self, text: str) -> bool:
        """Return whether a sentence or a line of *text* repeats any of it."""
        if not (self._marks or self._letters):
            return False
        by_line = (each for line in text.splitlines() for each in sentences(line))
        return any(map(self._is, dict.fromkeys([*sentences(one_line(text)), *by_line])))

    def hidden_in(self, text: str) -> str:
        """Return *text* with `HIDDEN` for each sentence that repeats any; for a paragraph, where lines cut one."""
        if not self.is_in(text):
            return text
        shown = []
        for paragraph in text.split("\n\n"):
            lines = [[HIDDEN if self._is(one) else one for one in sentences(line)] for line in paragraph.split("\n")]
            shown.append("\n".join(map(" ".join, lines)))
        return "\n\n".join(HIDDEN if self.is_in(one.replace(HIDDEN, "")) else one for one in shown)

    def _is(self, said: str) -> bool:
        own = _letters(said)
        held = (one in own or (len(own) >= _LEAST_PART and own in one) for one in self._letters)
        in_other_words = is_telling(said) and is_said(words(said), self._words, _NEARLY)
        return any(held) or in_other_words or is_forgotten(said, self._marks)


def held_parts(text: str, gone: Sequence[str], *, whole: bool) -> list[str]:
    """Return the sentences of *text* that `holds_one` of *gone* finds, else all of it; only that if it goes *whole*."""
    found = [] if whole else [each for each in sentences(text) if holds_one(each, gone)]
    return found or ([text] if holds_one(text, gone) else [])


def is_telling(text: str) -> bool:
    """Return whether *text* has enough words to be known in other words."""
    return len(words(text)) >= _LEAST_HASHES


def forget_item(text: str, is_meant: Callable[[str], bool]) -> str:
    """Return the session note *text* without the lines that are meant, and with their marks among the forgotten.

    Unchanged if none is. *is_meant* is given the text of each line, of the title and of the summary; of these two and
    of the prompts, the sentences go that say the same.
    """
    from memtool.text.frontmatter import set_list  # a hook does without

    lines = lines_of(text)
    gone = [line.text for line in lines if is_meant(line.text)]
    if not gone:
        return text
    titles = [line.text for line in lines if line.role in (TITLE, SUMMARY)]
    others = [line for line in lines if line.text not in (*gone, *titles)]
    gone += [part for line in others for part in held_parts(line.text, gone, whole=line.role != ASKED)]
    gone += [said for title in titles for said in said_again(title, gone)]
    marks = dict.fromkeys([*forgotten_in(text), *map(mark_of, gone)])
    return set_list(without_marked(in_form_of_today(text), marks), FORGOTTEN, marks)


def title_as_known(title: str, note: str | None) -> str:
    """Return the *title* of a session without what was forgotten of its *note*; `…` if nothing is left."""
    if note is None:
        return title
    is_archived = any(
        block.key == "matter:status" and "archived" in block.lines[0].casefold() for block in split_session(note).matter
    )
    return NAMELESS if is_archived else title and (without_forgotten(title, forgotten_in(note)) or NAMELESS)


def forgotten_in(text: str) -> list[str]:
    """Return the marks of what was forgotten of the session note *text*."""
    matter = next((block for block in split_session(text).matter if block.key == f"matter:{FORGOTTEN}"), None)
    return re.findall(_MARK, " ".join(matter.lines)) if matter else []


def without_marked(text: str, marks: Iterable[str]) -> str:
    """Return the session note *text* without the lines and sentences that have one of *marks*, or say nearly that."""
    gone = set(marks)
    return _named(with_parts(text, lambda block: _kept_of(block, gone))) if gone else text


def _named(text: str) -> str:
    """Return the session note *text* with the first prompt as its title where its own was forgotten."""
    blocks = {block.key: block for block in split_session(text).body}
    title, asked = blocks.get("title"), blocks.get("asked")
    if not (title and asked and read_line(title.lines[0].rstrip())[2] == NAMELESS):
        return text
    named = f"# {shortened(read_line(asked.lines[0].rstrip())[2], 70)}"
    return with_parts(text, lambda block: block._replace(lines=(named,)) if block.key == "title" else block)


def _kept_of(block: NoteBlock, gone: set[str]) -> NoteBlock | None:
    if block.kind == "section":
        items = items_in(block)
        kept = [left for item in items for left in _left_of(block.name, item, gone)]
        return block if kept == items else with_items(block, kept) if kept else None
    if block.key not in ("title", "summary", "asked"):
        return block
    said = read_line(block.lines[0].rstrip())[2]
    kept_text = without_forgotten(said, gone)
    if kept_text == said:
        return block
    if block.key == "title":
        return block._replace(lines=(f"# {kept_text or NAMELESS}",))
    return block._replace(lines=(block.lines[0].replace(said, kept_text),)) if kept_text else None


def _left_of(section: str, item: NoteItem, gone: set[str]) -> list[NoteItem]:
    """Return the rest of *item*: the other sentences of a prompt; below a forgotten one, its results."""
    below = tuple(each for each in item.below if not _is_gone(section, each, gone))
    said = read_statement(section, item.says) if item.is_bullet else None
    if said and said.role == ASKED and (kept := without_forgotten(said.text, gone)) != said.text:
        if kept and said.text in item.lines[0]:
            first = item.lines[0].replace(said.text, kept)
            return [NoteItem(item.says.replace(said.text, kept), (first, *item.lines[1:]), below)]
    elif not _is_gone(section, item, gone):
        return [item if below == item.below else item._replace(below=below)]
    return [each._replace(lines=(each.lines[0].lstrip(), *each.lines[1:])) for each in below]


def _is_gone(section: str, item: NoteItem, gone: set[str]) -> bool:
    return item.is_bullet and is_forgotten(read_statement(section, item.says).text, gone)
