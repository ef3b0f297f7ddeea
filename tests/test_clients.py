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


APT = """#!/bin/sh
echo "$* as ${DEBIAN_FRONTEND}" >> "$(dirname "$0")/apt-asked"
case "$APT_FAILS" in $1) echo "E: no such mirror, 没有" >&2; exit 100;; esac
"""


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    """The words that the machine's apt-get was called with, one call a line."""
    if os.name == "nt":
        pytest.skip("there is no apt-get")
    program = tmp_path / "bin" / "apt-get"
    program.write_text(APT)
    program.chmod(0o755)
    (tmp_path / "bin" / "dirname").symlink_to("/usr/bin/dirname")
    return tmp_path / "bin" / "apt-asked"


def test_root_gets_the_packages_that_are_missing(tmp_path: Path, apt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_is_root", lambda: True)
    put_npm(tmp_path)
    assert clients.install_programs() == "Debian's chromium fonts-noto-cjk: installed."
    assert apt.read_text().splitlines() == [
        "update as noninteractive",
        "install --yes --quiet --no-install-recommends chromium fonts-noto-cjk as noninteractive",
    ]
    (tmp_path / "bin" / "chromium").symlink_to(sys.executable)
    assert clients.install_programs() == ""


def test_without_root_the_packages_are_named_and_nothing_is_installed(
    apt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "_is_root", lambda: False)
    monkeypatch.delenv("CI", raising=False)
    assert "apt-get install --no-install-recommends chromium fonts-noto-cjk npm`" in clients.install_programs()
    assert not apt.exists()
