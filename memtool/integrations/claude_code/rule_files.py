"""The rule files that tell Claude Code which note to read when a word comes up or a file is opened.

They are brought into the user's folder of rules, up to date, and out of it again. Each has a mark with a checksum, in a
comment that the client leaves out. So files of ours are known, and one that somebody has edited or written is left
alone. Whatever a vault says stands in code spans: there the client follows no `@path`, and nothing reads as a heading
or a tag.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from memtool import settings
from memtool.errors import BadSetting, BrokenVaultFile, NoteChanged, NotWritable
from memtool.integrations.claude_code import hooks, places
from memtool.integrations.claude_code.install import Change
from memtool.recall.framing import inline
from memtool.recall.routing.area_triggers import Area
from memtool.recall.routing.loader_table import LOADER, code
from memtool.recall.routing.routes import GLOB, PREFIX, WORD, Route, Routing, read_routing
from memtool.resources import agent_text
from memtool.text.languages import labels
from memtool.vault import files
from memtool.vault.frontmatter import quoted
from memtool.vault.layout import Vault
from memtool.vault.project_area import area_name

MAIN = "memtool.md"
PATTERN = "memtool*.md"

_LONGEST_TABLE = 6_000  # characters; the client sends it with every session
_MOST_WORDS = 20  # of one row
_MOST_FILES = 100
_MARK = re.compile(r"<!-- memtool rule ([0-9a-f]{8}): [^\n]*-->\n")
_MARKED = "<!-- memtool rule {}: written by `memtool install claude-code`, removed by `uninstall` -->\n"
_LARGEST = 65_536  # bytes; what we write is smaller


def rule_texts(root: Path, routing: Routing, language: str = "en") -> dict[str, str]:
    """Return the rule files for the vault at *root* by name: none where it has neither triggers nor paths."""
    texts = {MAIN: _main(root, routing, language)}
    for area in [area for area in routing.areas if area.globs][:_MOST_FILES]:
        texts[_free_name(area, texts)] = _scoped(root, area, language)
    return {name: _marked(text) for name, text in texts.items() if text}


def is_ours(text: str) -> bool:
    """Return whether memtool wrote *text*, and nobody has changed it since."""
    mark = _MARK.search(text)
    return mark is not None and _checksum(text) == mark[1]


def is_marked(text: str) -> bool:
    """Return whether memtool wrote *text*, as it is or in another form."""
    return bool(_MARK.search(text))


def _main(root: Path, routing: Routing, language: str) -> str:
    """Return the rule that holds everywhere; empty without any row."""
    rows = list(_rows(root, routing, labels("rule_files", language)["prefix"]))
    if not rows:
        return ""
    shown: list[str] = []
    for row in rows:
        if sum(map(len, shown)) + len(row) > _LONGEST_TABLE:
            break
        shown.append(row)
    more = len(rows) - len(shown)
    rest = labels("rule_files", language)["more_rows" if more > 1 else "one_more_row"]
    about = agent_text("memory-rule", language).replace("{vault}", code(str(root)))
    return f"{about}\n{''.join(shown)}" + (f"\n{rest.format(more, _path(root, LOADER))}\n" if more else "")


def _rows(root: Path, routing: Routing, prefix: str) -> Iterator[str]:
    """Give a row for each group of files, with all words that lead there."""
    words: dict[tuple[str, ...], list[str]] = {}
    for route in routing.routes:
        # The globs of an area have a rule of their own.
        if route.kind in (WORD, PREFIX) or (route.kind == GLOB and route.source == LOADER):
            words.setdefault(route.refs, []).append(_word(route, prefix))
    for refs, triggers in words.items():
        files = [path for ref in refs if (path := _path(root, ref))]
        if files:
            yield f"| {', '.join(list(dict.fromkeys(triggers))[:_MOST_WORDS])} | {', '.join(files)} |\n"


def _word(route: Route, prefix: str) -> str:
    text = code(inline(route.trigger).replace("`", "'"))
    return prefix.format(text) if route.kind == PREFIX else text


def _scoped(root: Path, area: Area, language: str) -> str:
    files = [f"- {path}" for ref in area.refs if (path := _path(root, ref))]
    if not files:
        return ""
    name = code(inline(area.name).replace("`", "'"))
    words = labels("rule_files", language)
    elsewhere = words["elsewhere"].format(name) if area.kind == "project" else ""
    globs = "".join(f"  - {quoted(glob.text)}\n" for glob in area.globs)
    about = f"{words[area.kind]} {name}"
    text = agent_text("area-rule", language).format(area=about, elsewhere=elsewhere, files="\n".join(files))
    return f"---\npaths:\n{globs}---\n{text}\n"


def _path(root: Path, ref: str) -> str:
    """Return the path of a file in a code span; empty for one whose name could be more than a name."""
    path = str(root / ref)
    return code(path) if inline(ref) == ref and "`" not in path and path.isprintable() else ""


def _free_name(area: Area, taken: Iterable[str]) -> str:
    """Return the name of an area's rule file. Two areas of one name differ by their kind, or by a checksum."""
    plain = area_name(area.name) or area.kind
    names = (plain, f"{plain}-{area.kind}", f"{plain}-{crc32(area.ref.encode('utf-8', 'replace')):08x}")
    used = {name.casefold() for name in taken}
    return next(file for name in names if (file := f"memtool-{name}.md").casefold() not in used)


def _marked(text: str) -> str:
    matter, fence, body = text.partition("\n---\n") if text.startswith("---\n") else ("", "", text)
    return matter + fence + _MARKED.format(_checksum(text)) + body


def _checksum(text: str) -> str:
    return f"{crc32(_MARK.sub('', text, count=1).encode('utf-8', 'replace')):08x}"


class RuleChanges(NamedTuple):
    """Changes to rule files, and a sentence for each file that could not be changed."""

    changes: tuple[Change, ...] = ()
    notices: tuple[str, ...] = ()


def install_rules(environ: Mapping[str, str], vault: Vault, *, dry_run: bool = False) -> RuleChanges:
    """Let the rules in the user's folder be those of *vault*. The second time it changes nothing.

    Raises:
        BadSetting: the home folder is unknown, or a setting is none.
        NotWritable, NoteChanged
    """
    language = settings.load(vault.settings_path, environ).general.language
    texts = rule_texts(vault.root, read_routing(vault), language)
    return _bring_about(rules_folder(environ), texts, dry_run=dry_run)


def uninstall_rules(environ: Mapping[str, str], *, dry_run: bool = False) -> RuleChanges:
    """Take all rules of ours out of the user's folder, whichever vault they are for.

    Raises:
        BadSetting, NotWritable, NoteChanged
    """
    return _bring_about(rules_folder(environ), {}, dry_run=dry_run)


def are_for(environ: Mapping[str, str], vault: Vault) -> bool:
    """Return whether the hooks in the user's settings write to *vault*, so that the rules are to be for it."""
    with contextlib.suppress(ValueError, BadSetting):  # then there are no hooks that run
        content = places.read(places.user_settings_path(environ))
        named = {handler.program.vault for handler in hooks.find_handlers(content.text if content else "")}
        return any(_vault_of(name, environ).resolve() == vault.root for name in named)
    return False


def written_rules(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the rule files that memtool wrote, also of those that were edited since, by their names.

    Raises:
        BadSetting, NotWritable
    """
    texts = {path.name: read_ours(path) or "" for path in sorted(rules_folder(environ).glob(PATTERN))}
    return {name: text for name, text in texts.items() if is_marked(text)}


def rules_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the rules that the client reads in every project."""
    return places.user_settings_path(environ).parent / "rules"


def _vault_of(name: str, environ: Mapping[str, str]) -> Path:
    """Return the vault of hooks that name *name*, or none."""
    if name:
        return Path(name)
    # MEMTOOL_VAULT may be there for one session only. The rules are for all.
    lasting = {key: value for key, value in environ.items() if key != "MEMTOOL_VAULT"}
    return settings.find_vault_path(None, lasting, Path(os.sep))[0]


def _bring_about(folder: Path, wanted: Mapping[str, str], *, dry_run: bool) -> RuleChanges:
    changes: list[Change] = []
    notices: list[str] = []
    for name in sorted({*wanted, *(path.name for path in folder.glob(PATTERN))}):
        path = folder / name
        before = read_ours(path)
        if before is None or is_ours(before):
            changes.append(Change(path, before, wanted.get(name), None))
        elif is_marked(before):
            notices.append(f"'{path}' stays as you have edited it")
        elif name in wanted:
            notices.append(f"'{path}' is a file of your own, so memtool's rule was not written")
    changes = [change for change in changes if change.is_change]
    if not dry_run:
        for change in changes:
            apply_change(change)
        if any(change.after is None for change in changes):
            _remove_if_empty(folder)
    return RuleChanges(tuple(changes), tuple(notices))


def read_ours(path: Path) -> str | None:
    """Return the text at *path*, None where there is nothing, empty for whatever memtool does not write."""
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
            return ""
        return files.read_text(path)[0]
    except FileNotFoundError:
        return None
    except BrokenVaultFile:
        return ""
    except OSError as error:
        raise NotWritable(f"cannot read '{path}': {error.strerror}") from None


def apply_change(change: Change) -> None:
    """Write or remove the file of *change*, if it is still what it was.

    Raises:
        NotWritable, NoteChanged
    """
    expected = None if change.before is None else files.content_hash(change.before.encode("utf-8"))
    if change.after is not None:
        files.replace(change.path, change.after, expected=expected)
        return
    if files.hash_of(change.path) != expected:
        raise NoteChanged(f"'{change.path.name}' was changed by someone else")
    try:
        change.path.unlink()
    except OSError as error:
        raise NotWritable(f"cannot remove '{change.path}': {error.strerror}") from None


def _remove_if_empty(folder: Path) -> None:
    """Remove the folder of rules, and the client's own, once they hold nothing."""
    with contextlib.suppress(OSError):
        folder.rmdir()
        if folder.parent.name == ".claude":
            folder.parent.rmdir()
