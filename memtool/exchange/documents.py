"""The content of a vault as one file, in JSON, Markdown or tar: taken out, written and read.

JSON and Markdown hold the facts and the notes, tar holds every file. The same content always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from memtool.errors import BrokenVaultFile, NoteNotFound
from memtool.vault.facts import parse_facts
from memtool.vault.files import read_content
from memtool.vault.layout import Vault, is_facts_file, project_of
from memtool.vault.marks import UNSOLVED, is_unsolved
from memtool.vault.memory import IMPORTED
from memtool.vault.note import Note, parse_note
from memtool.vault.scan import is_note_name

JSON, MARKDOWN, TAR = "json", "markdown", "tar"
FORMS = (JSON, MARKDOWN, TAR)
FORMAT = 1  # raised when a reader of the present one would be wrong

# Files by their paths in the vault: text of notes and facts, bytes of anything else.
Bundle: TypeAlias = Mapping[str, str | bytes]

LARGEST_FILE = 64 << 20  # bytes of one file of an archive

_KIND = "memtool export"
_HEAD = re.compile(rf"<!-- {_KIND} (\d+), mark ([0-9a-f]{{8}}) -->\n")
_TAR_MAGIC = slice(257, 262)


class Exported(NamedTuple):
    """The bytes of an export, its numbers of files and facts, and a sentence for each one that it lacks."""

    content: bytes
    files: int
    facts: int
    problems: tuple[str, ...]


def export(vault: Vault, form: str, project: str = "") -> Exported:
    """Return all facts and notes of the vault, in *form*; with a *project*, only those that belong to it.

    Raises:
        NoteNotFound: nothing belongs to that project.
    """
    bundle: dict[str, str | bytes] = {}
    problems: list[str] = []
    facts = 0
    for ref in _files(vault.root):
        is_text = is_note_name(ref.rsplit("/", 1)[-1])
        if not is_text and form != TAR:
            continue
        try:
            content = read_content(vault.root / ref)
            if is_text and form != TAR and is_unsolved(content):
                problems.append(f"'{ref}' was left out: {UNSOLVED}")
                continue
            if project and _project_of(ref, content) != project:
                continue
            bundle[ref] = content.decode("utf-8") if is_text else content
            if is_facts_file(ref):
                facts += _count_of(content.decode("utf-8"), ref, form, problems)
        except (OSError, UnicodeDecodeError, BrokenVaultFile) as error:
            bundle.pop(ref, None)
            reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
            problems.append(f"'{ref}' was left out: {reason}")
    if project and not bundle:
        raise NoteNotFound(project)
    return Exported(rendered(bundle, form), len(bundle), facts, tuple(problems))


def _count_of(text: str, ref: str, form: str, problems: list[str]) -> int:
    """Return how many facts of *text* travel; those that cannot are a problem."""
    if form == TAR:
        with suppress(BrokenVaultFile):
            return len(raw_facts(text, ref))
        return 0
    count = len(facts_in(text, ref))
    if lost := len(raw_facts(text, ref)) - count:
        problems.append(f"{lost} of '{ref}' were left out: they are not facts, or hold half a character")
    return count


def _files(root: Path) -> Iterator[str]:
    """Give the paths of the vault's files, without hidden ones; no symlink is followed."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            ref = path.relative_to(root).as_posix()
            with suppress(OSError):
                if not name.startswith(".") and ref.isprintable() and stat.S_ISREG(path.lstat().st_mode):
                    yield ref


def _project_of(ref: str, content: bytes) -> str:
    """Return the project that a file belongs to: by its place, else by its front matter; empty for none."""
    if (owner := project_of(ref)) or not is_note_name(ref) or is_facts_file(ref):
        return owner
    note = parse_note(ref, content)
    return note.field("project") if isinstance(note, Note) else ""


def rendered(bundle: Bundle, form: str) -> bytes:
    """Return *bundle* in *form*; of JSON and Markdown, files that are no notes and no facts are left out."""
    if form == TAR:
        return _tar(bundle)
    texts = sorted((ref, text) for ref, text in bundle.items() if isinstance(text, str))
    facts = {ref: facts_in(text, ref) for ref, text in texts if is_facts_file(ref)}
    notes = {ref: text for ref, text in texts if not is_facts_file(ref)}
    return (_json(facts, notes) if form == JSON else _markdown(facts, notes)).encode("utf-8")


def parsed(content: bytes) -> tuple[dict[str, str | bytes], list[str]]:
    """Return the bundle in the file *content*, in whichever form, and a sentence for each part that cannot be read.

    Raises:
        BrokenVaultFile: it is no export.
    """
    if content[_TAR_MAGIC] == b"ustar":
        return _of_tar(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BrokenVaultFile(f"it is neither tar nor UTF-8 (byte {error.start})", hint=_WANTED) from None
    return (_of_markdown(text) if _HEAD.match(text) else _of_json(text)), []


_WANTED = "Name a file that `memtool export` wrote."


def facts_in(text: str, ref: str) -> list[dict[str, Any]]:
    """Return the facts in *text* as they travel: objects that can be written, each with an author.

    Raises:
        BrokenVaultFile: it is no list of facts.
    """
    return [with_author(value) for value in raw_facts(text, ref) if isinstance(value, dict) and _is_writable(value)]


def raw_facts(text: str, ref: str) -> list[Any]:
    """Return the values of the list of facts in *text*.

    Raises:
        BrokenVaultFile: it is none.
    """
    return [item.value for item in parse_facts(text, ref).listed.items]


def with_author(fact: dict[str, Any]) -> dict[str, Any]:
    """Return *fact* with the author that one without any counts as."""
    return fact if fact.get("author") else {**fact, "author": IMPORTED}


def facts_text(facts: Iterable[Any]) -> str:
    """Return the text of a `facts.json` with *facts*."""
    return json.dumps({"facts": list(facts)}, ensure_ascii=False, indent=2) + "\n"


def _is_writable(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:  # half a character, which no file can hold
        return False
    return True


def _json(facts: Mapping[str, list[dict[str, Any]]], notes: Mapping[str, str]) -> str:
    document = {
        "format": FORMAT,
        "kind": _KIND,
        "facts": [{"path": ref, "fact": fact} for ref, each in facts.items() for fact in each],
        "notes": [{"path": ref, "text": text} for ref, text in notes.items()],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _of_json(text: str) -> dict[str, str | bytes]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BrokenVaultFile(f"it is not JSON: {error}", hint=_WANTED) from None
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        raise BrokenVaultFile("it is not an export of memtool", hint=_WANTED)
    _check_format(document.get("format"))
    bundle: dict[str, str | bytes] = {}
    facts: dict[str, list[Any]] = {}
    for path, note in _pairs(document.get("notes"), "text"):
        bundle[path] = note if isinstance(note, str) else ""
    for path, fact in _pairs(document.get("facts"), "fact"):
        facts.setdefault(path, []).append(fact)
    return {**bundle, **{ref: facts_text(each) for ref, each in facts.items()}}


def _pairs(listed: object, name: str) -> Iterator[tuple[str, Any]]:
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and isinstance(each.get("path"), str) and name in each:
            yield each["path"], each[name]


def _check_format(number: object) -> None:
    if number != FORMAT:
        raise BrokenVaultFile(f"it has the format {number}; this memtool knows {FORMAT}", hint="Install a newer one.")


def _markdown(facts: Mapping[str, list[dict[str, Any]]], notes: Mapping[str, str]) -> str:
    """Return a page for readers, whose comments let it be imported. Its mark is in no note."""
    everything = _json(facts, notes)
    mark = hashlib.sha256(everything.encode()).hexdigest()[:8]
    while mark in everything:
        mark = hashlib.sha256(mark.encode()).hexdigest()[:8]
    parts = [f"<!-- {_KIND} {FORMAT}, mark {mark} -->\n"]
    for ref in sorted({**facts, **notes}):
        if ref in notes:
            parts.append(f"<!-- {mark} note {_comment(ref)} -->\n{notes[ref]}\n<!-- {mark} end -->\n")
        else:
            lines = "\n".join(map(_line, facts[ref]))
            parts.append(f"<!-- {mark} facts {_comment([ref, facts[ref]])} -->\n# {ref}\n\n{lines}\n")
    return "\n".join(parts)


def _line(fact: Mapping[str, Any]) -> str:
    """Return *fact* for a reader."""
    status = fact.get("status")
    about = [
        fact.get("category"),
        fact.get("author"),
        str(fact.get("timestamp", ""))[:10],
        status != "active" and status,
    ]
    return f"- {' '.join(str(fact.get('fact', '')).split())} ({', '.join(str(each) for each in about if each)})"


def _comment(value: object) -> str:
    """Return *value* as JSON that ends no comment."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")


def _of_markdown(text: str) -> dict[str, str | bytes]:
    head = _HEAD.match(text)
    if head is None:
        raise BrokenVaultFile("it is not an export of memtool", hint=_WANTED)
    _check_format(int(head[1]))
    bundle: dict[str, str | bytes] = {}
    mark = re.escape(head[2])
    notes = re.compile(rf"^<!-- {mark} note (\"[^\n]*\") -->\n(.*?)\n<!-- {mark} end -->$", re.MULTILINE | re.DOTALL)
    facts = re.compile(rf"^<!-- {mark} facts (\[.*\]) -->$", re.MULTILINE)
    try:
        bundle |= {str(json.loads(match[1])): match[2] for match in notes.finditer(text)}
        listed = [json.loads(match[1]) for match in facts.finditer(text)]
        bundle |= {str(ref): facts_text(each) for ref, each in listed}
    except (ValueError, TypeError, RecursionError) as error:
        raise BrokenVaultFile(f"a comment of the export was changed: {error}") from None
    return bundle


def _tar(bundle: Bundle) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for ref, content in sorted(bundle.items()):
            data = content.encode("utf-8") if isinstance(content, str) else content
            member = tarfile.TarInfo(ref)  # without an owner, from 1970: two exports of one content are equal
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _of_tar(content: bytes) -> tuple[dict[str, str | bytes], list[str]]:
    bundle: dict[str, str | bytes] = {}
    problems = []
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in archive:
                if member.isdir():
                    continue
                is_plain = member.isreg() and not member.issparse()
                if not is_plain or member.size > LARGEST_FILE:
                    fault = "it is too large" if is_plain else "it is not a plain file"
                    problems.append(f"'{member.name}' was left out: {fault}")
                    continue
                file = archive.extractfile(member)
                data = file.read() if file else b""
                try:
                    bundle[member.name] = data.decode("utf-8") if is_note_name(member.name.rsplit("/", 1)[-1]) else data
                except UnicodeDecodeError:
                    problems.append(f"'{member.name}' was left out: it is not UTF-8")
    except (tarfile.TarError, OSError, ValueError, OverflowError) as error:
        raise BrokenVaultFile(f"the archive cannot be read: {error}", hint=_WANTED) from None
    return bundle, problems
