from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from memtool import resources
from memtool.errors import MemtoolError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where memtool is installed."""
    folder = tmp_path / "memtool"
    folder.mkdir()
    module = shutil.copy(resources.__file__, folder / "resources.py")
    monkeypatch.setattr(resources, "__file__", str(module))
    return folder


def test_a_wheel_has_them_below_it(package: Path) -> None:
    (package / "_shipped" / "vault_template").mkdir(parents=True)
    assert resources.shipped("vault_template") == package / "_shipped" / "vault_template"


def test_a_folder_that_only_happens_to_lie_beside_the_package_is_not_ours(package: Path) -> None:
    (package.parent / "vault_template").mkdir()
    with pytest.raises(MemtoolError, match="lacks its folder 'vault_template'"):
        resources.shipped("vault_template")


def test_the_texts_of_agents_are_in_the_language_of_the_vault() -> None:
    folder = resources.shipped("rules")
    english, chinese = ({path.stem for path in (folder / code).glob("*.md")} for code in ("en", "zh"))
    assert english == chinese
    for name in english:
        in_english, in_chinese = (resources.agent_text(name, code) for code in ("en", "zh"))
        assert not in_chinese.isascii()
        assert set(re.findall(r"\{\w+\}", in_english)) == set(re.findall(r"\{\w+\}", in_chinese))
        assert resources.agent_text(name, "de") == resources.agent_text(name, "../zh") == in_english


def test_a_text_that_is_missing_is_damage() -> None:
    with pytest.raises(MemtoolError, match="lacks its text 'nothing'"):
        resources.agent_text("nothing", "zh")
