"""Bringing our skills into the user's folder of skills, up to date, and out of it again.

Each ends with a mark that holds a checksum: a skill that somebody has edited or written is left alone.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

from memtool.integrations.claude_code import places
from memtool.integrations.claude_code.install import Change
from memtool.integrations.claude_code.rule_files import RuleChanges, apply_change, read_ours
from memtool.resources import shipped

SKILL_FILE = "SKILL.md"
_PREFIX = "memtool-"  # a user may have a skill called `recall`
_MARK = re.compile(r"\n<!-- memtool skill ([0-9a-f]{8}): [^\n]*-->\n\Z")
_MARKED = "\n<!-- memtool skill {}: written by `memtool install claude-code`, removed by `uninstall` -->\n"


def install_skills(environ: Mapping[str, str], *, dry_run: bool = False) -> RuleChanges:
    """Let the skills in the user's folder be those of this memtool. The second time it changes nothing.

    Raises:
        BadSetting: the home folder is unknown.
        NotWritable, NoteChanged
    """
    return _bring_about(skills_folder(environ), skill_texts(), dry_run=dry_run)


def uninstall_skills(environ: Mapping[str, str], *, dry_run: bool = False) -> RuleChanges:
    """Take all skills of ours out of the user's folder.

    Raises:
        BadSetting, NotWritable, NoteChanged
    """
    return _bring_about(skills_folder(environ), {}, dry_run=dry_run)


def skills_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the skills that the client knows in every project."""
    return places.user_settings_path(environ).parent / "skills"


def skill_texts() -> dict[str, str]:
    """Return the text of each skill as it is installed, by the name of its folder: the plugin's, with a mark."""
    texts = {}
    for path in sorted((shipped("hooks") / "claude-code" / "skills").glob(f"*/{SKILL_FILE}")):
        name = _PREFIX + path.parent.name
        text = re.sub(r"(?m)^name: .*$", f"name: {name}", path.read_text(encoding="utf-8"), count=1)
        texts[name] = text + _MARKED.format(_checksum(text))
    return texts


def _bring_about(folder: Path, wanted: Mapping[str, str], *, dry_run: bool) -> RuleChanges:
    changes: list[Change] = []
    notices: list[str] = []
    for name in sorted({*wanted, *(path.parent.name for path in folder.glob(f"{_PREFIX}*/{SKILL_FILE}"))}):
        path = folder / name / SKILL_FILE
        before = read_ours(path)
        if before is None or _is_ours(before):
            changes.append(Change(path, before, wanted.get(name), None))
        elif name in wanted or _MARK.search(before):
            notices.append(f"'{path}' stays as you have written it")
    changes = [change for change in changes if change.is_change]
    if not dry_run:
        for change in changes:
            apply_change(change)
            if change.after is None:
                for place in (change.path.parent, folder, folder.parent):
                    with contextlib.suppress(OSError):  # it holds something else
                        if place != folder.parent or place.name == ".claude":
                            place.rmdir()
    return RuleChanges(tuple(changes), tuple(notices))


def _is_ours(text: str) -> bool:
    mark = _MARK.search(text)
    return mark is not None and mark[1] == _checksum(text[: mark.start()])


def _checksum(text: str) -> str:
    return f"{crc32(text.encode('utf-8')):08x}"
