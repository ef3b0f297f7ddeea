"""The two commands that a newcomer meets: quickstart.py and check.py."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import quickstart
from scripts import newer_python, virtual_environment
from scripts.markdown_copy import copy_markdown

CLONE = Path(__file__).resolve().parent.parent
posix_only = pytest.mark.skipif(os.name == "nt", reason="needs symlinks and shell scripts")


def write(path: Path, text: str = "# A note\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Copying Markdown


def test_only_markdown_is_copied_and_the_tree_is_kept(tmp_path: Path) -> None:
    source = tmp_path / "my notes"
    write(source / "a.md")
    write(source / "子目录" / "笔记.MARKDOWN")
    write(source / "photo.png")
    write(source / ".hidden.md")
    for name in (".git", ".obsidian", "node_modules"):
        write(source / name / "x.md")
    before = tree(source)
    copies = copy_markdown(source, tmp_path / "vault")
    assert tree(tmp_path / "vault").keys() == {"a.md", "子目录/笔记.MARKDOWN"}
    assert (copies.new, len(copies.paths)) == (2, 2)
    assert tree(source) == before


def test_a_note_that_was_edited_in_the_vault_is_not_overwritten(tmp_path: Path) -> None:
    write(tmp_path / "source" / "a.md", "old")
    copied = write(tmp_path / "vault" / "a.md", "edited in the vault")
    copies = copy_markdown(tmp_path / "source", tmp_path / "vault")
    assert copied.read_text(encoding="utf-8") == "edited in the vault"
    assert (copies.new, copies.different) == (0, 1)


@posix_only
def test_symlinks_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "secret" / "key.md")
    write(tmp_path / "source" / "a.md")
    (tmp_path / "source" / "link.md").symlink_to(tmp_path / "secret" / "key.md")
    (tmp_path / "source" / "folder").symlink_to(tmp_path / "secret")
    (tmp_path / "source" / "loop").symlink_to(tmp_path / "source")
    copies = copy_markdown(tmp_path / "source", tmp_path / "vault")
    assert tree(tmp_path / "vault").keys() == {"a.md"}
    assert "link.md" in copies.left_out[0]


@posix_only
def test_a_pipe_with_the_name_of_a_note_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(write(tmp_path / "source" / "a.md").with_name("pipe.md"))
    copies = copy_markdown(tmp_path / "source", tmp_path / "vault")
    assert (copies.new, len(copies.left_out)) == (1, 1)


def test_copying_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        write(tmp_path / "source" / f"{number}.md")
    copies = copy_markdown(tmp_path / "source", tmp_path / "few", most_files=3)
    assert (copies.new, len(copies.left_out)) == (3, 1)
    monkeypatch.setattr("scripts.markdown_copy.LARGEST_FILE", 3)
    assert copy_markdown(tmp_path / "source", tmp_path / "none").new == 0


def test_a_vault_inside_the_source_is_not_copied_into_itself(tmp_path: Path) -> None:
    write(tmp_path / "a.md")
    write(tmp_path / "vault" / "b.md")
    copies = copy_markdown(tmp_path, tmp_path / "vault" / "notes", passed_over=[tmp_path / "vault"])
    assert copies.paths == [tmp_path / "vault" / "notes" / "a.md"]


# Queries from the user's own notes


def test_a_query_is_a_heading_in_each_kind_of_script(tmp_path: Path) -> None:
    paths = [
        write(
            tmp_path / "a.md",
            "# Notes\n\n## Rotating the **signing keys** #\n\n```\n# a comment in a long script\n```\n",
        ),
        write(tmp_path / "b.md", "# 密钥轮换之后的检查\n"),
    ]
    assert quickstart.queries_from(paths) == ("Rotating the signing keys", "密钥轮换之后的检查")


def test_a_hostile_note_costs_no_time() -> None:
    assert quickstart.headings_of("# a" + "#" * 100_000 + "b\n" + "```\n" * 1001 + "# " * 100_000) == []


def test_a_heading_never_looks_like_an_option() -> None:
    assert quickstart.headings_of("# --rebuild the index\n# -- \n# [link](x) to **it**\n") == [
        "rebuild the index",
        "link x to it",
    ]


# Old Pythons and missing parts


def test_an_old_python_without_a_newer_one_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setattr(newer_python, "CANDIDATES", ("no-such-python",))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer, and this is Python 3\.9"):
        newer_python.require()


@posix_only
def test_an_old_python_hands_over_to_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "python3.13", "#!/bin/sh\nexit 127\n").chmod(0o700)  # a shim for a Python that is not there
    write(tmp_path / "python3.12", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n').chmod(0o700)
    script = write(tmp_path / "a script.py", "import sys; print('argument:', sys.argv[1]); sys.exit(7)")
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setattr(newer_python, "CANDIDATES", (str(tmp_path / "python3.13"), str(tmp_path / "python3.12")))
    monkeypatch.setattr(sys, "argv", [str(script), "two words"])
    with pytest.raises(SystemExit) as stopped:
        newer_python.require()
    assert stopped.value.code == 7
    assert capfd.readouterr().out == "argument: two words\n"


def test_a_folder_in_the_way_of_the_environment_is_not_cleared(tmp_path: Path) -> None:
    precious = write(tmp_path / ".venv" / "precious.txt")
    with pytest.raises(virtual_environment.SetupFailed, match="in the way"):
        virtual_environment.make_ready(tmp_path / ".venv", CLONE)
    assert precious.exists()


def test_an_environment_is_made_once_and_again_after_a_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[str] = []
    monkeypatch.setattr(virtual_environment, "_pip_of", lambda _: ["pip"])
    monkeypatch.setattr(virtual_environment, "_install", lambda pip, clone, what, name: installed.append(what))
    monkeypatch.setattr(virtual_environment, "_create", lambda path: write(path / "pyvenv.cfg"))
    for _ in range(2):
        virtual_environment.make_ready(tmp_path / "one" / ".venv", CLONE, "dev")
    assert installed == [".[dev]"]
    (tmp_path / "one").rename(tmp_path / "two")
    virtual_environment.make_ready(tmp_path / "two" / ".venv", CLONE, "dev")
    assert installed == [".[dev]", ".[dev]"]


def test_without_pip_and_ensurepip_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual_environment, "_runs", lambda _: False)
    with pytest.raises(virtual_environment.SetupFailed, match=r"apt install python3\.\d+-venv"):
        virtual_environment._pip_of(Path("python"))


# The whole of it, with the memtool that is installed here


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quickstart, "make_ready", lambda *_: None)
    monkeypatch.setattr(quickstart, "ENVIRONMENT", Path(sys.executable).parent.parent)
    monkeypatch.setenv("MEMTOOL_EMBEDDINGS_PROVIDER", "none")  # else it would download a model


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_the_commands_it_suggests_work_when_pasted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    quickstart.main(["--vault", str(tmp_path / "a vault with spaces")])
    lines = capfd.readouterr().out.partition("Try next:\n")[2].splitlines()
    searches = [shlex.split(line) for line in lines if line.startswith("  ") and " search " in line]
    assert len(searches) == 3
    for command in searches:
        found = subprocess.run([*command, "--json"], capture_output=True, encoding="utf-8", check=True).stdout
        assert '"path"' in found


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_the_quickstart_searches_the_users_own_notes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "my notes"
    write(notes / "brewing.md", "# How long to steep green tea\n\nTwo minutes at 75 degrees.\n")
    before = tree(notes)
    assert quickstart.main([str(notes), "--vault", str(tmp_path / "vault")]) == 0
    output = capfd.readouterr().out
    assert "search 'How long to steep green tea'" in output
    assert "brewing.md" in output
    assert tree(notes) == before


@pytest.mark.parametrize("name", ["missing", "file.md", "empty", "vault/inside"])
@pytest.mark.usefixtures("installed")
def test_a_folder_that_cannot_be_used_gets_a_sentence(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "file.md")
    (tmp_path / "empty").mkdir()
    write(tmp_path / "vault" / "inside" / "a.md")
    assert quickstart.main([str(tmp_path / name), "--vault", str(tmp_path / "vault")]) == 1
    assert name in capfd.readouterr().err
