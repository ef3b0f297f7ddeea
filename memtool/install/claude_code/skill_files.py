"""Our skills in the user's folder of skills: the plugin's, each with a mark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from memtool.install import own_texts
from memtool.install.claude_code import places
from memtool.install.own_texts import OwnFile
from memtool.resources import shipped

SKILL_FILE = "SKILL.md"
_PREFIX = "memtool-"  # a user may have a skill called `recall`


def skill_shares(environ: Mapping[str, str]) -> list[OwnFile]:
    """Return the shares by which the skills in the user's folder are those of this memtool.

    Raises:
        BadSetting: the home folder is unknown.
    """
    folder = _skills_folder(environ)
    wanted = {folder / name / SKILL_FILE: text for name, text in skill_texts("claude-code").items()}
    return own_texts.own_files("skills", wanted, folder.glob(f"{_PREFIX}*/{SKILL_FILE}"))


def _skills_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the skills that the client knows in every project."""
    return places.user_settings_path(environ).parent / "skills"


def skill_texts(client: str) -> dict[str, str]:
    """Return the text of each skill as *client* gets it, by the name of its folder."""
    texts = {}
    for path in sorted((shipped("hooks") / "claude-code" / "skills").glob(f"*/{SKILL_FILE}")):
        name = _PREFIX + path.parent.name
        text = re.sub(r"(?m)^name: .*$", f"name: {name}", path.read_text(encoding="utf-8"), count=1)
        texts[name] = own_texts.marked(text, "skill", client, at=len(text))
    return texts
