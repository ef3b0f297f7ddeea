from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from memtool import installation
from memtool.installation import how_to_add, how_to_remove

CHECKOUT = Path(__file__).parent.parent
AS_IT_WAS = 364  # characters of the hint that named three ways


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of packages of an environment in which memtool is installed."""
    packages = tmp_path / "site-packages"
    (packages / "memtool").mkdir(parents=True)
    monkeypatch.setattr(installation, "__file__", str(packages / "memtool" / "installation.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/env/bin/python")
    return packages


def came_from(site: Path, folder: Path) -> None:
    record = site / "memtool_vault-0.1.0.dist-info"
    record.mkdir()
    (record / "direct_url.json").write_text(json.dumps({"url": folder.as_uri(), "dir_info": {}}))


def test_the_extras_are_those_of_the_package() -> None:
    declared = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = declared["optional-dependencies"].items()
    wanted = {name: tuple(packages) for name, packages in extras if not name.startswith("dev")}
    assert wanted == installation._EXTRAS


def test_pipx_injects(site: Path) -> None:
    (site.parent / "pipx_metadata.json").touch()
    assert how_to_add("llm") == '`pipx inject memtool-vault "anthropic>=2,<3"` adds it.'
    assert how_to_remove() == "pipx uninstall memtool-vault"


def test_uv_installs_from_the_same_place_with_what_is_there(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site.parent / "uv-receipt.toml").touch()
    monkeypatch.setattr(installation, "find_spec", lambda name: name in {"fastapi", "schedule"} or None)
    assert how_to_add("serve") == '`uv tool install "memtool-vault[schedule,serve]"` adds it.'
    clone = site.parent / "克隆 memtool"
    clone.mkdir()
    came_from(site, clone)
    assert how_to_add("llm") == f'`uv tool install "{clone}[llm,schedule]"` adds it.'
    assert how_to_remove() == "uv tool uninstall memtool-vault"


def test_a_clone_adds_to_its_own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/clone/.venv/bin/python")
    assert how_to_add("serve") == f'`/clone/.venv/bin/python -m pip install -e "{CHECKOUT}[serve]"` adds it.'


def test_a_clone_that_has_been_removed_is_not_named(site: Path) -> None:
    came_from(site, site / "removed")
    assert '"memtool-vault[llm]"' in how_to_add("llm")


@pytest.mark.parametrize("mark", ["pipx_metadata.json", "uv-receipt.toml", "pyvenv.cfg"])
def test_the_hint_for_the_service_is_one_command_of_a_third_of_the_length(
    site: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.parent / mark).touch()
    there = {"pip", "uvicorn"}  # which `mcp` brings
    monkeypatch.setattr(installation, "find_spec", lambda name: name in there or None)
    hint = how_to_add("serve")
    assert hint.count("`") == 2
    assert len(hint) <= AS_IT_WAS / 3
