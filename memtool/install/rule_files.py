"""The rule files that tell Claude Code which note to read when a word is mentioned or a file is opened.

Text from a vault is put into code spans: there the client follows no `@path`, and nothing reads as a heading or a
tag.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from zlib import crc32

from memtool import settings
from memtool.errors import BadSetting
from memtool.install import client_files, hooks, own_texts
from memtool.install.own_texts import OwnFile
from memtool.recall.framing import inline
from memtool.recall.routing.loader_table import LOADER, code
from memtool.recall.routing.routes import GLOB, PREFIX, WORD, Routing, read_routing
from memtool.recall.routing.triggers import Area
from memtool.resources import agent_text
from memtool.text.frontmatter import quoted
from memtool.text.languages import labels
from memtool.vault.layout import Vault
from memtool.vault.project_area import area_name

MAIN = "memtool.md"
PATTERN = "memtool*.md"


def rule_texts(root: Path, routing: Routing, language: str = "en") -> dict[str, str]:
    """Return the rule files for the vault at *root* by name: none if it has neither triggers nor paths."""
    texts = {MAIN: _main(root, routing, language)}
    for area in [area for area in routing.areas if area.globs][:100]:
        texts[_free_name(area, texts)] = _scoped(root, area, language)
    return {name: _marked(text) for name, text in texts.items() if text}


def _main(root: Path, routing: Routing, language: str) -> str:
    """Return the rule that holds everywhere; empty without any row."""
    rows = list(_rows(root, routing, labels("rule_files", language)["prefix"]))
    if not rows:
        return ""
    shown: list[str] = []
    for row in rows:
        if sum(map(len, shown)) + len(row) > 6_000:  # the client sends the table with every session
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
            word = code(inline(route.trigger).replace("`", "'"))
            words.setdefault(route.refs, []).append(prefix.format(word) if route.kind == PREFIX else word)
    for refs, triggers in words.items():
        files = [path for ref in refs if (path := _path(root, ref))]
        if files:
            yield f"| {', '.join(list(dict.fromkeys(triggers))[:20])} | {', '.join(files)} |\n"


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
    matter, fence, _ = text.partition("\n---\n") if text.startswith("---\n") else ("", "", "")
    return own_texts.marked(text, "rule", "claude-code", at=len(matter + fence))


def rule_shares(environ: Mapping[str, str], vault: Vault | None) -> list[OwnFile]:
    """Return the shares by which the rules in the user's folder are those of *vault*; without one, there are none.

    Raises:
        BadSetting: the home folder is unknown, or a setting is none.
    """
    folder, texts = rules_folder(environ), {}
    if vault:
        language = settings.load(vault.settings_path, environ).general.language
        texts = rule_texts(vault.root, read_routing(vault), language)
    wanted = {folder / name: text for name, text in texts.items()}
    return own_texts.own_files("rules", wanted, folder.glob(PATTERN))


def are_for(environ: Mapping[str, str], vault: Vault) -> bool:
    """Return whether the hooks in the user's settings write to *vault*, so that the rules are to be for it."""
    with contextlib.suppress(ValueError, BadSetting):  # then there are no hooks that run
        content = client_files.read(client_files.user_settings_path(environ))
        named = {handler.program.vault for handler in hooks.find_handlers(content.text if content else "")}
        # MEMTOOL_VAULT may be there for one session only. The rules are for all.
        lasting = {key: value for key, value in environ.items() if key != "MEMTOOL_VAULT"}
        vaults = (Path(name) if name else settings.find_vault_path(None, lasting, Path(os.sep))[0] for name in named)
        return any(each.resolve() == vault.root for each in vaults)
    return False


def written_rules(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the rule files that memtool wrote, also of those that were edited since, by their names.

    Raises:
        BadSetting, NotWritable
    """
    texts = {path.name: own_texts.read_own(path) or "" for path in sorted(rules_folder(environ).glob(PATTERN))}
    return {name: text for name, text in texts.items() if own_texts.is_marked(text)}


def rules_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the rules that the client reads in every project."""
    return client_files.user_settings_path(environ).parent / "rules"
