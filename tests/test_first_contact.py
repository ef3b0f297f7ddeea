"""A stranger's first hour: quickstart.py, then each block of both READMEs, run from inside a clone.

`MEMTOOL_REWRITE_SESSIONS=1 pytest tests/test_first_contact.py` writes what the commands print into the READMEs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from closed_home import close

from scripts.virtual_environment import STAMP_FILE, script_of, stamp

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.zh-CN.md")
NOT_RUN = {
    "pipx ": "installs or removes a program",
    "python3 quickstart.py": "has run before all others",
    "python3 check.py": "runs these tests",
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
REWRITE = bool(os.environ.get("MEMTOOL_REWRITE_SESSIONS"))  # read before the guard forgets it
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="the blocks are for a shell of Unix")]


class Clone(NamedTuple):
    """A clone of memtool after `python3 quickstart.py`, whose virtual environment is that of the tests."""

    root: Path
    environ: dict[str, str]  # the guard moves the home folder for each test
    printed: str = ""  # by the quickstart

    def run(self, command: str, **variables: str) -> str:
        """Run a line of shell in the clone as somebody who has not installed memtool yet; return its output."""
        ran = subprocess.run(
            ["bash", "-c", command], cwd=self.root, env=self.environ | variables, stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
        return ran.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    place = tmp_path_factory.mktemp("a stranger's folder")
    root = place / "memtool"  # searches in a project's folder know the project by this name
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines() if line]
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".git", *ignored))
    environment = root / ".venv"
    (environment / "bin").mkdir(parents=True)
    for name in ("memtool", "memtool-hook"):
        (environment / "bin" / name).symlink_to(script_of(Path(sys.prefix), name))
    (environment / STAMP_FILE).write_text(stamp(environment, root))
    (place / "home").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        close(patch, place / "home")
        patch.setenv(
            "MEMTOOL_EMBEDDINGS_PROVIDER", "none"
        )  # else it would download a model where vectors are installed
        patch.delenv("MEMTOOL_SESSIONS_NAMES", raising=False)  # notes have the names that a stranger's have
        patch.setenv("COLUMNS", "80")
        patch.setenv("PATH", f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}")
        clone = Clone(root, {**os.environ})
        clone.run("git init -q && git add . && git -c user.name=x -c user.email=x@example.com commit -qm all")
        yield clone._replace(printed=clone.run(f"'{sys.executable}' quickstart.py"))


def test_the_quickstart_ends_with_hits_of_the_sample(clone: Clone) -> None:
    documents = {path.name for path in (ROOT / "docs").rglob("*.md")}
    searches = re.findall(r"^\$ (.* search .* --limit 3)$", clone.printed, re.MULTILINE)
    assert [name in documents for name in map(first_hit, map(clone.run, searches))] == [False] * 3
    assert "--all-projects" not in clone.printed


def test_what_the_quickstart_offers_works_on_an_empty_machine(clone: Clone) -> None:
    offered = re.findall(r"^  (\S.*)$", clone.printed.partition("Try next:\n")[2], re.MULTILINE)
    assert "python3 quickstart.py FOLDER_OF_YOUR_NOTES" in offered
    for command in offered:
        if not command.startswith(tuple(NOT_RUN)):
            assert "Nothing found" not in (printed := clone.run(command))
            assert printed


def test_doctor_has_no_complaint_about_the_vault_of_the_quickstart(clone: Clone) -> None:
    lines = clone.run(".venv/bin/memtool --vault sample-memory doctor --deep").splitlines()
    complaints = [line for line in lines if not line.startswith(("    ok  ", "        "))]
    assert [line for line in complaints if not line.startswith("  note  claude-code: no session is captured")] == []
    assert "thing to look at" not in "".join(lines)


@pytest.mark.parametrize("name", READMES)
def test_what_the_readme_shows_is_what_is_printed(clone: Clone, name: str) -> None:
    shown = (ROOT / name).read_text(encoding="utf-8")
    printed = BLOCK.sub(lambda block: with_output(clone, block[0]) if block[1] == "text" else block[0], shown)
    if REWRITE:
        (ROOT / name).write_text(printed, encoding="utf-8")
    assert printed == shown or REWRITE
    assert "$ .venv/bin/memtool" in printed


def with_output(clone: Clone, block: str) -> str:
    """Return a block of commands behind `$`, each with what it prints over the sample vault."""
    commands = re.findall(r"^\$ (.+)", block, re.MULTILINE)
    outputs = [clone.run(command, MEMTOOL_VAULT="sample-memory").rstrip("\n") for command in commands]
    return (
        "```text\n" + "\n\n".join(f"$ {pair[0]}\n{pair[1]}" for pair in zip(commands, outputs, strict=True)) + "\n```"
    )


def test_the_commands_of_the_readme_work_from_the_first_to_the_last(clone: Clone) -> None:
    # README.zh-CN.md has the same commands, says tests/test_readme.py.
    clone.run("git init -q --bare ../remote.git && git -C sample-memory remote add origin ../../remote.git")
    blocks = [text for kind, text in BLOCK.findall((ROOT / "README.md").read_text("utf-8")) if kind == "bash"]
    assert len(blocks) == 6
    for block in blocks:
        of_sample = {"MEMTOOL_VAULT": "sample-memory"} if "memtool search" in block else {}
        for command in block.splitlines():
            if not command.startswith(tuple(NOT_RUN)):
                assert "Nothing found" not in clone.run(command, **of_sample)


def first_hit(hits: str) -> str:
    """The name of the first file among hits as `memtool search` prints them."""
    place = re.search(r"^  (\S+):\d+", hits, re.MULTILINE)
    assert place, hits
    return place[1].rpartition("/")[2]
