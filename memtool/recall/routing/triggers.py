"""The triggers of areas (`triggers`, `aliases`, `paths` in their front matter), and which of them occur in a text.

That takes linear time, however many there are and whatever the text holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from memtool.errors import OutsideVault
from memtool.recall import limits
from memtool.text.lines import cut
from memtool.text.tokens import fold, unspaced_runs
from memtool.vault.files import read_head
from memtool.vault.layout import Vault

Trie: TypeAlias = dict[str, Any]  # atom -> what may follow it; "" -> the trigger that ends here


_CHUNK = re.compile(r"\w+|\W")
_FIELDS = ("triggers", "aliases", "paths")
_FOLDERS = ("projects", "patterns", "tools")
_INNERMOST_BRACES = re.compile(r"\{([^{}]*)\}")


def normal(text: str) -> str:
    """Return *text* on one line, without differences of case, width and accent and without unseen characters."""
    folded = fold(text)
    if not folded.isprintable():
        folded = "".join(char for char in folded if char.isprintable() or char.isspace())
    return " ".join(folded.split())


def atoms(text: str) -> list[str]:
    """Return *text*, which is `normal`, cut where a trigger may begin or end.

    A word of a script with spaces is one atom, so that a trigger is never found in the middle of it. Any other
    character is an atom of its own: 支付 is found inside 支付失败, and `c++` is not found in `c`.
    """
    parts: list[str] = []
    for chunk in _CHUNK.findall(text):
        if chunk.isascii():
            parts.append(chunk)
        else:
            for unspaced, run in groupby(chunk, key=_is_unspaced):
                letters = list(run)
                parts += letters if unspaced else ["".join(letters)]
    return parts


def trie_of(triggers: Iterable[str]) -> Trie:
    """Return the tree for `find_triggers`, of triggers that are `normal`."""
    root: Trie = {}
    for trigger in triggers:
        node = root
        for atom in atoms(trigger):
            node = node.setdefault(atom, {})
        node[""] = trigger
    root.pop("", None)  # of an empty trigger
    return root


def find_triggers(trie: Trie, text: str) -> list[str]:
    """Return the distinct triggers of *trie* that occur in *text*, which is `normal`, in the order of their places."""
    there = atoms(text)
    found: dict[str, None] = {}
    for at, first in enumerate(there):
        if first in trie:
            _follow(trie, there, at, found)
    return list(found)


def _follow(trie: Trie, there: list[str], at: int, found: dict[str, None]) -> None:
    node = trie
    while at < len(there) and there[at] in node:
        node = node[there[at]]
        at += 1
        if "" in node:
            found[node[""]] = None


@lru_cache(maxsize=4096)
def _is_unspaced(char: str) -> bool:
    return bool(unspaced_runs(char))


def fault_in_glob(glob: str) -> str:
    """Return the fault of *glob* as the end of a sentence, or an empty string."""
    if not glob.strip("/* "):
        return "is empty" if not glob.strip() else "matches every file"
    if len(glob) > limits.LONGEST_GLOB:
        return f"has more than {limits.LONGEST_GLOB} characters"
    if not glob.isprintable() or "\\" in glob:
        return "holds a character that no glob may hold"
    if glob.startswith(("!", "~")) or re.match("[A-Za-z]:", glob) or ".." in glob.split("/"):
        return "does not begin and stay in a project"
    return "" if _alternatives(glob) else f"means more than {limits.MOST_ALTERNATIVES} globs"


def matches_glob(glob: str, path: str) -> bool:
    """Return whether *glob* matches *path*, which is relative to the root of its project, with `/`."""
    if len(path) > limits.LONGEST_PATH:
        return False
    parts = [part for part in path.casefold().split("/") if part]
    return any(_matches(one, parts) for one in _alternatives(glob.casefold()))


def _matches(glob: str, parts: list[str]) -> bool:
    glob = glob.removesuffix("/**").rstrip("/")
    steps = [step for step in glob.split("/") if step]
    starts = {0} if "/" in glob else set(range(len(parts)))
    for step in steps:
        starts = _beyond(step, starts, parts)
    return bool(steps) and any(starts)


def _beyond(step: str, starts: set[int], parts: list[str]) -> set[int]:
    """Return where in *parts* one may be after *step*, from any of *starts*."""
    if step == "**":
        return set(range(min(starts), len(parts))) if starts else starts
    return {at + 1 for at in starts if at < len(parts) and fnmatchcase(parts[at], step)}


def _alternatives(glob: str) -> list[str]:
    """Return the globs that the braces in *glob* stand for; none if they are too many."""
    waiting, done = [glob], list[str]()
    while waiting and len(waiting) + len(done) <= limits.MOST_ALTERNATIVES:
        one = waiting.pop()
        braces = _INNERMOST_BRACES.search(one)
        if braces is None:
            done.append(one)
        else:
            start, end = braces.span()
            waiting += [one[:start] + choice + one[end:] for choice in dict.fromkeys(braces[1].split(","))]
    return [] if waiting else done


class TriggerProblem(NamedTuple):
    """A fault at a line of a file; a warning leads somewhere all the same."""

    path: str
    line: int
    sentence: str
    is_warning: bool = False


class Trigger(NamedTuple):
    """A word, a phrase or a glob as its owner wrote it, and the line of the file on which it stands."""

    text: str
    line: int


class Area(NamedTuple):
    """A project, pattern or tool with its triggers. *refs* are the files to read, its summary first."""

    refs: tuple[str, ...]
    words: tuple[Trigger, ...] = ()
    globs: tuple[Trigger, ...] = ()
    identities: tuple[str, ...] = ()
    findings: tuple[TriggerProblem, ...] = ()

    @property
    def ref(self) -> str:
        """The path of its summary."""
        return self.refs[0]

    @property
    def kind(self) -> str:
        """`project`, `pattern` or `tool`."""
        return self.ref.split("/")[1].removesuffix("s")

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.ref.split("/")[2]


def read_areas(vault: Vault) -> list[Area]:
    """Return the areas that have triggers, or something wrong with them, in stable order."""
    return [area for ref in _summaries(vault) if (area := _read(vault, ref))]


def parse_area(ref: str, text: str, *, others: tuple[str, ...] = ()) -> Area | None:
    """Return the area whose summary *text* lies at *ref*, None if it says nothing of triggers.

    *others* are the files to read with it.
    """
    from memtool.text.frontmatter import LONGEST_FRONT_MATTER, parse_fields, split_front_matter

    matter = split_front_matter(text)[0]
    if matter is None and text.startswith(("---\n", "---\r\n")) and len(text) > LONGEST_FRONT_MATTER:
        matter = text  # its end is so far away that it was not read
    if not matter or not any(field in matter for field in _FIELDS):
        return None
    fields = parse_fields(matter) if len(matter) <= LONGEST_FRONT_MATTER else "too much front matter"
    if isinstance(fields, str):
        return Area((ref,), findings=(TriggerProblem(ref, 1, fields),))
    if fields is None or fields.get("status") in ("superseded", "archived"):
        return None
    findings: list[TriggerProblem] = []
    lines = matter.split("\n")
    words = [*_taken(ref, fields, "triggers", lines, findings), *_taken(ref, fields, "aliases", lines, findings)]
    globs = _taken(ref, fields, "paths", lines, findings)
    identities = tuple(one for one in _listed(fields.get("identities")) if one)
    if not words and not globs and not findings:
        return None
    return Area((ref, *others), tuple(words), tuple(globs), identities, tuple(findings))


def fault_in_word(text: str) -> str:
    """Return the fault of the word or phrase *text* as a trigger, as the end of a sentence."""
    if not normal(text):
        return "is empty"
    return f"has more than {limits.LONGEST_TRIGGER} characters" if len(text) > limits.LONGEST_TRIGGER else ""


def _summaries(vault: Vault) -> Iterator[str]:
    for folder in _FOLDERS:
        with suppress(OSError):
            names = sorted(path.name for path in (vault.root / "areas" / folder).iterdir())
            yield from (f"areas/{folder}/{name}/summary.md" for name in names if name[0] != "." and name.isprintable())


def _read(vault: Vault, ref: str) -> Area | None:
    try:
        text = read_head(vault.path(ref), limits.LARGEST_TABLE).decode("utf-8-sig", "replace")
    except OutsideVault as error:
        return Area((ref,), findings=(TriggerProblem(ref, 1, str(error)),))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Area((ref,), findings=(TriggerProblem(ref, 1, f"it cannot be read: {error.strerror}"),))
    rules = f"{ref.rpartition('/')[0]}/rules.md"
    try:
        others = (rules,) if "/projects/" in ref and vault.path(rules).is_file() else ()
    except OutsideVault as error:  # the area's own note is read all the same
        area = parse_area(ref, text)
        return area._replace(findings=(*area.findings, TriggerProblem(rules, 1, str(error)))) if area else None
    return parse_area(ref, text, others=others)


def _taken(
    ref: str, fields: Mapping[str, Any], field: str, lines: list[str], findings: list[TriggerProblem]
) -> list[Trigger]:
    """Return the usable items of the list *field*, and add to *findings* what is wrong with the others."""
    taken: dict[str, Trigger] = {}
    items = _listed(fields.get(field))
    for item in items[: limits.MOST_TRIGGERS]:
        trigger = Trigger(" ".join(item.split()), _line(lines, field, item))
        fault = (fault_in_glob if field == "paths" else fault_in_word)(trigger.text)
        if fault:
            sentence = f"'{cut(trigger.text, limits.LONGEST_TRIGGER)}' in '{field}' {fault}"
            findings.append(TriggerProblem(ref, trigger.line, sentence))
        else:
            taken.setdefault(normal(trigger.text), trigger)
    if len(items) > limits.MOST_TRIGGERS:
        line = _line(lines, field, "")
        findings.append(
            TriggerProblem(ref, line, f"'{field}' lists more than {limits.MOST_TRIGGERS}: the rest is not read")
        )
    return list(taken.values())


def _listed(value: object) -> list[str]:
    """Return the texts of a front matter field; `a, b` is a list of two as well."""
    items = (value.split(",") if value.strip() else []) if isinstance(value, str) else value
    return [item for item in items if isinstance(item, str)] if isinstance(items, list) else []


def _line(lines: list[str], field: str, item: str) -> int:
    """Return the line of the file on which *item* of *field* stands, or the field where nobody can say."""
    is_field = re.compile(rf"[\"']?{field}[\"']?\s*:").match
    start = next((at for at, line in enumerate(lines) if is_field(line)), 0)
    return 2 + next((at for at in range(start, len(lines)) if item and item in lines[at]), start)
