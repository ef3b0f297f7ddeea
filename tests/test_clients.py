from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from scripts import clients

# To the shell the second line starts Python, wherever it lies; to Python it is a text.
NPM = f"""#!/bin/sh
"exec" "{sys.executable}" "$0" "$@"
import pathlib, sys
words = sys.argv[1:]
folder = pathlib.Path(words[words.index("--prefix") + 1]) / "node_modules" / ".bin"
folder.mkdir(parents=True)
(folder / "claude").touch()
pathlib.Path(__file__).with_name("asked").open("a").write(words[-1] + "\\n")
"""


@pytest.fixture(autouse=True)
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone without a client, on a machine without npm."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(clients, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def put_npm(folder: Path, text: str = NPM) -> None:
    if os.name == "nt":
        pytest.skip("npm is another kind of file there")
    (folder / "bin" / "npm").write_text(text)
    (folder / "bin" / "npm").chmod(0o755)


def test_without_npm_it_says_so_in_one_line() -> None:
    assert clients.find_client() is None
    said = clients.install()
    assert said.endswith("so its tests will be skipped: there is no npm")
    assert "\n" not in said
    assert clients.find_client() is None


def test_the_pinned_version_is_installed_once(tmp_path: Path) -> None:
    put_npm(tmp_path)
    assert clients.install().endswith("is installed in .claude-client.")
    client = clients.find_client()
    assert client is not None
    assert client.is_file()
    assert str(client) in clients.install()
    assert (
        tmp_path / "bin" / "asked"
    ).read_text() == f"@anthropic-ai/claude-code@{clients.PACKAGES['claude-code'].version}\n"


@pytest.mark.slow
def test_an_installation_that_fails_leaves_no_client_and_is_tried_again(tmp_path: Path) -> None:
    failing = NPM + "sys.exit('npm error network\\nand a log of a hundred lines')\n"
    put_npm(tmp_path, failing)
    assert clients.install().endswith("so its tests will be skipped: npm error network")
    assert clients.find_client() is None
    put_npm(tmp_path)
    clients.install()
    assert clients.find_client()


def test_another_client_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTOOL_TEST_CLIENT", str(tmp_path / "later" / "claude"))
    assert clients.find_client() == tmp_path / "later" / "claude"
    assert "later" in clients.install()
