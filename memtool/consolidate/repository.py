"""What a repository shows of how it is worked on: package manager, tests, versions. Each is anchored to its file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtool.consolidate.proposals import STACK, Proposal
from memtool.consolidate.verification import blob_of
from memtool.text.languages import labels
from memtool.text.lines import one_line
from memtool.vault.authors import TOOL

_LARGEST = 1 << 20  # bytes of a file that is looked into
_LOCKS = {
    "pnpm-lock.yaml": "pnpm", "yarn.lock": "Yarn", "package-lock.json": "npm", "bun.lock": "Bun", "bun.lockb": "Bun",
    "uv.lock": "uv", "poetry.lock": "Poetry", "Pipfile.lock": "Pipenv", "pdm.lock": "PDM", "Cargo.lock": "Cargo",
    "go.sum": "Go modules", "Gemfile.lock": "Bundler", "composer.lock": "Composer", "gradlew": "Gradle",
    "mvnw": "Maven",
}  # fmt: skip
_VERSIONS = {".nvmrc": "Node.js", ".node-version": "Node.js", ".python-version": "Python", ".ruby-version": "Ruby"}


def configuration_of(root: Path, project: str, seen: str, language: str = "en") -> list[Proposal]:
    """Return what the files at the top of the repository *root* say, as of *seen*. Nothing is run."""
    words = labels("facts", language)
    found = []
    for name, form, value in _shown(root):
        if blob := blob_of(root / name):
            text = words[form].format(value)
            evidence = words["seen"].format(name)
            found.append(
                Proposal(text, "configuration", TOOL, project, (), evidence, seen, 0.9, (STACK,), ((name, blob),))
            )
    return found


def _shown(root: Path) -> Iterator[tuple[str, str, str]]:
    for name, manager in _LOCKS.items():
        if (root / name).is_file():
            yield name, "packages", manager
    for name, what in _VERSIONS.items():
        if match := re.fullmatch(r"\s*v?([\w.-]{1,20})\s*", _text(root / name)):
            yield name, "version", f"{what} {match[1]}"
    package = _json(root / "package.json")
    scripts = package.get("scripts")
    if (
        isinstance(scripts, dict)
        and isinstance(scripts.get("test"), str)
        and "no test specified" not in scripts["test"]
    ):
        yield "package.json", "test_script", one_line(scripts["test"])[:80]
    if match := re.search(r"(?m)^go (\d[\w.]{0,10})$", _text(root / "go.mod")):
        yield "go.mod", "version", f"Go {match[1]}"
    pyproject = _toml(root / "pyproject.toml")
    project = pyproject.get("project")
    if isinstance(project, dict) and isinstance(wanted := project.get("requires-python"), str):
        yield "pyproject.toml", "version", f"Python {one_line(wanted)[:30]}"
    tool = pyproject.get("tool")
    if isinstance(tool, dict) and isinstance(tool.get("pytest"), dict):
        yield "pyproject.toml", "test_script", "pytest"


def _text(path: Path) -> str:
    with suppress(OSError):
        if path.is_file() and path.stat().st_size <= _LARGEST:
            return path.read_text(encoding="utf-8", errors="replace")
    return ""


def _json(path: Path) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        found = json.loads(_text(path) or "{}")
        return found if isinstance(found, dict) else {}
    return {}


def _toml(path: Path) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        return tomllib.loads(_text(path))
    return {}
