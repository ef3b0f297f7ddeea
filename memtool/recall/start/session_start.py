"""The context of a session that begins: the memory of the project at hand, within a budget.

And, before a session is compacted, what the client's own summariser must keep of it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.recall.budget import JOINED, MOST_TOKENS, BlockLine, BlockPart, fit, render
from memtool.recall.framing import defused, framed, line_id
from memtool.recall.start.remembered import EVERYTHING, MEMORY, remembered
from memtool.resources import agent_text
from memtool.text.languages import labels
from memtool.text.lines import tokens_in
from memtool.text.markdown import without_code
from memtool.text.similarity import words
from memtool.vault.memory import DECISION, FINDING, FIX, OPEN, RULE
from memtool.vault.session_names import note_of
from memtool.vault.sessions import SessionNote
from memtool.workspace import Workspace

START, COMPACTION = "session-start", "pre-compact"  # the events, as the blocks name them
RESUMING = ("resume", "fork")  # the conversation goes on, with the block that it was given before

_SHARE_OF_NEWS = 4  # a resumed session gets at most one part in so many of the budget

_PROJECTS_OWN = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md")
_MOST_FOLDERS, _LEAST_WORDS = 8, 3
_NOT_IN_A_SLUG = re.compile(r"[^A-Za-z0-9]")
_CODE = "`[^`\n]*`"
_IMPORT = r"(?:^|(?<=\s))@(\S+)"
_CONDITIONAL = r"---[ \t]*\n(?:[^\n]+\n)*?paths:"


class ContextBlock(NamedTuple):
    """The context of a session, as it is given.

    Args:
        text: the block; empty if there is nothing to say.
        refs: the paths of what it shows, such as `MEMORY.md` and `areas/projects/shop/facts.json:22-35`.
        tokens: about how many it has.
        lines: what it shows, each with its short id.
        ids: those of the session, with these.
        known: what there is to know now, shown or not, for `given` at the next resume: digests by title of the part.
    """

    text: str
    refs: tuple[str, ...]
    tokens: int
    known: Mapping[str, str]
    lines: tuple[BlockLine, ...] = ()
    ids: Mapping[str, int] = {}


def session_context(
    work: Workspace,
    project: str,
    *,
    session_id: str = "",
    source: str = "startup",
    given: Mapping[str, str] | None = None,
    ids: Mapping[str, int] | None = None,
    whole: bool = False,
) -> ContextBlock:
    """Return the block for the start of a session of *project* (empty: none), as long as the settings want it.

    The order does not change from session to session, so that the client's prompt cache holds. A session that is
    resumed gets only what it does not know: lines that are not in *given*, the `known` of the block that it had last.
    Where nobody knows what it had (*given* is empty), a resumed session gets everything, and a fork, which begins with
    a copy of its parent's context, gets nothing. *ids* are the short ids of the session so far. The *whole* of it has
    no budget. The note of *session_id* is left out: it is about the session itself.
    """
    wanted = work.settings.recall
    if not (wanted.session_tokens or whole):
        return ContextBlock("", (), 0, {})
    if whole:
        wanted = wanted._replace(lines_in_full=EVERYTHING)
    with_memory = not reads_by_itself(work.vault.root / MEMORY, work.claude_folder, work.home)
    said = said_to_client(work.folder, work.claude_folder, work.home)
    besides = note_of(work.vault, session_id) if session_id else ""
    parts = remembered(work, project, wanted, said=said, besides=besides, with_memory=with_memory)
    known = {part.title: " ".join(dict.fromkeys(map(_digest, part.lines))) for part in parts}
    named = dict(ids or {})
    parts = [_with_ids(part, named) for part in parts]
    budget = EVERYTHING if whole else min(wanted.session_tokens, MOST_TOKENS)
    if source in RESUMING and (given or source == "fork"):
        parts = list(_news(parts, given or known))
        text, lines = _block(parts, budget // _SHARE_OF_NEWS, work, agent_text("news", work.language), "")
    else:
        more = agent_text("more", work.language).replace("{vault}", defused(work.shown_vault))
        text, lines = _block(parts, budget, work, "", more)
    refs = tuple(dict.fromkeys(line.ref for line in lines))
    shown = {line.id for line in lines}
    named = {name: mark for name, mark in named.items() if name in shown or name in (ids or {})}
    return ContextBlock(text, refs, tokens_in(text), known, tuple(lines), named)


def _with_ids(part: BlockPart, ids: dict[str, int]) -> BlockPart:
    def named(lines: Iterable[BlockLine]) -> tuple[BlockLine, ...]:
        return tuple(line._replace(id=_id(line, ids)) for line in lines)

    made_for = part.made_for
    sized = (lambda tokens: named(made_for(tokens))) if made_for else None
    return part._replace(levels=tuple(map(named, part.levels)), made_for=sized)


def _id(line: BlockLine, ids: dict[str, int]) -> str:
    """Return the short id of *line*; none for a heading, a rule, what goes on from the line above, and a prompt."""
    if re.match(r"> (?:#|[-=*_| ]*$|\||\s)|(?:  -|·) \*.*\*$", line.text):
        return ""
    return line_id(ids, line.key) if line.key else line_id(ids, line.ref.partition(":")[0], line.said or line.text)


def _block(parts: list[BlockPart], budget: int, work: Workspace, above: str, below: str) -> tuple[str, list[BlockLine]]:
    around = tokens_in(_framed([above, "…", below], work))
    chosen = fit(parts, budget - around)
    if not chosen:
        return "", []
    return _framed([above, *map(render, chosen), below], work), [line for part in chosen for line in part.lines]


def _framed(pieces: Iterable[str], work: Workspace) -> str:
    return framed("\n\n".join(filter(None, pieces)), event=START, vault=work.shown_vault, language=work.language)


def _news(parts: Iterable[BlockPart], given: Mapping[str, str]) -> Iterable[BlockPart]:
    """Give the lines of *parts* that are not in *given*."""
    for part in parts:
        seen = set(given.get(part.title, "").split())
        new = tuple(line for line in part.lines if _digest(line) not in seen)
        if new:
            new = tuple(line._replace(text=re.sub(f"^{JOINED}", "  - ", line.text)) for line in new)
            yield part._replace(levels=(new,), made_for=None)


def _digest(line: BlockLine) -> str:
    """Return a checksum of *line*, wherever in its file it is."""
    return f"{zlib.crc32(line.text.encode('utf-8', 'replace')):08x}"


def reads_by_itself(file: Path, claude_folder: Path, home: Path) -> bool:
    """Return whether the user's own instructions import *file*: `@~/memory/MEMORY.md` in CLAUDE.md or in a rule.

    Only the user's instructions are looked at, and one step deep: a project's may not import from elsewhere without
    being asked, and a file that is given twice does less harm than one that is not given at all.
    """
    wanted, own = _resolved(file), [claude_folder / "CLAUDE.md", *_rules(claude_folder / "rules")]
    return wanted is not None and any(_resolved(path) == wanted for path in _imported(own, home))


def said_to_client(folder: Path | None, claude_folder: Path, home: Path) -> list[frozenset[str]]:
    """Return the words of each line that the client reads in *folder*: the user's CLAUDE.md, the project's, its memory.

    The project's are those in *folder* and above it, up to *home*; the memory is what the client noted itself. Rules
    that hold everywhere and files that all these import count as well.
    """
    paths = [claude_folder / "CLAUDE.md", *_rules(claude_folder / "rules")]
    for place in (folder, *folder.parents)[:_MOST_FOLDERS] if folder else ():
        if place not in home.parents:
            paths += [*(place / name for name in _PROJECTS_OWN), *_rules(place / ".claude" / "rules")]
            slug = _NOT_IN_A_SLUG.sub("-", str(place))
            paths.append(claude_folder / "projects" / slug / "memory" / "MEMORY.md")
    read = dict.fromkeys([*paths, *_imported(paths, home)])
    found = dict.fromkeys(words(line) for path in read for line in _text(path).splitlines()[: limits.MOST_LINES])
    return [told for told in found if len(told) >= _LEAST_WORDS]


def _imported(paths: Iterable[Path], home: Path) -> Iterator[Path]:
    """Give the files that those at *paths* import."""
    for path in paths:
        text = _text(path)
        if "@" in text:
            for name in re.findall(_IMPORT, re.sub(_CODE, "", without_code(text))):
                yield home / name[2:] if name.startswith("~/") else path.parent / name


def _rules(folder: Path) -> list[Path]:
    """Return the rules in *folder* that hold everywhere."""
    with suppress(OSError):
        return [
            path
            for path in sorted(folder.glob("*.md"))[: limits.MOST_RULE_FILES]
            if not re.match(_CONDITIONAL, _text(path))
        ]
    return []


def _text(path: Path) -> str:
    with suppress(OSError, ValueError):
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                return file.read(limits.LARGEST_NOTE)
    return ""


def _resolved(path: Path) -> Path | None:
    with suppress(OSError, ValueError, RuntimeError):  # too long, a NUL, a loop of symlinks
        return path.resolve()
    return None


def what_must_survive(note: SessionNote, language: str = "en") -> str:
    """Return the topic, decisions, rules, constraints, open items and files of a session as a block; empty if none."""
    draft = note.draft

    def said(*roles: str) -> list[str]:
        return [line.text for line in draft.lines if line.role in roles]

    label = labels("session", language)
    lines = [
        *_list(label["topic"], [draft.title]),
        *_list(label["asked"], [draft.asked]),
        *_list(label["decisions"], said(DECISION)),
        *_list(label["rules"], said(RULE)),
        *_list(label["open"], said(OPEN)),
        *_list(labels("start", language)["findings"], said(FIX, FINDING, "")),
        *_list(label["files"], [", ".join(draft.files)] if draft.files else []),
    ]
    ends = accumulate(len(line) + 1 for line in lines)
    kept = [line for line, end in zip(lines, ends, strict=True) if end <= limits.ROOM_TO_KEEP]
    if not kept:
        return ""
    return framed("\n".join([agent_text("compaction", language), *kept]), event=COMPACTION, language=language)


def _list(label: str, items: Iterable[str]) -> list[str]:
    return [f"- {label}: {text[: limits.LONGEST_LINE]}" for item in items if (text := defused(item))]
