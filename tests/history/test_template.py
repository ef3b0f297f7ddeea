from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memtool import settings
from memtool.errors import NotWritable, UsageError, VaultTooNew
from memtool.history.repository import status
from memtool.history.template import FOLDERS, make_vault
from memtool.resources import shipped
from memtool.vault.facts import NO_FACTS, parse_facts
from memtool.vault.layout import FORMAT, kind_of
from memtool.vault.note import Note, parse_note
from memtool.vault.state import STATE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = {
    ".gitattributes",
    ".gitignore",
    "CLAUDE.md",
    "MEMORY.md",
    "areas/global/facts.json",
    "memtool.toml",
    "rules/memory-loader.md",
    "rules/prefix-map.json",
}


def git(folder: Path, *args: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", *args]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def committed(folder: Path) -> set[str]:
    return set(git(folder, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")) - {""}


def commits(folder: Path) -> int:
    return int(git(folder, "rev-list", "--count", "HEAD"))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of *folder* that memtool does not keep for itself."""
    files = (path for path in folder.rglob("*") if path.is_file() and not {".git", STATE_FOLDER} & set(path.parts))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder as Obsidian leaves it."""
    folder = tmp_path / "my notes 笔记"
    files = {
        "今天.md": "# 今天\r\n\r\n- 想法\r\n",
        "Projects/Shop/plan.markdown": "\ufeffplan",
        "Projects/facts.json": NO_FACTS,
        "MEMORY.md": "mine\n",
        ".gitignore": "*.tmp\n",
        ".obsidian/app.json": "{}",
        ".trash/gone.md": "gone",
        "attachments/photo.png": "png",
        "code/.git/HEAD": "ref: refs/heads/main\n",
        "code/README.md": "of another repository",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


def test_a_new_vault_has_its_files_its_history_and_nothing_else(tmp_path: Path) -> None:
    made = make_vault(tmp_path / "a b" / "记忆")
    root = made.vault.root
    assert root == tmp_path / "a b" / "记忆"
    assert set(made.created) == FILES | set(FOLDERS)
    assert (made.kept, made.committed, made.notices) == ((), True, ())
    assert set(contents(root)) == committed(root) == FILES
    assert (commits(root), git(root, "status", "--porcelain")) == (1, "")


def test_it_is_for_its_owner_only(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "new" / "vault").vault.root
    for path in (root.parent, root, root / ".git", *(p for p in root.rglob("*") if ".git" not in p.parts)):
        if STATE_FOLDER not in path.parts:
            assert path.stat().st_mode & 0o077 == 0, path
    assert (root / STATE_FOLDER).stat().st_mode & 0o077 == 0


def test_making_it_again_changes_nothing(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault").vault.root
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file() and ".git" not in path.parts}
    again = make_vault(root)
    assert (again.created, again.committed, again.notices) == ((), False, ())
    assert set(again.kept) == FILES | set(FOLDERS)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert commits(root) == 1


def test_a_clone_gets_back_what_git_does_not_keep(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault").vault.root
    git(tmp_path, "clone", "-q", str(root), "clone")
    made = make_vault(tmp_path / "clone")
    assert set(made.created) == set(FOLDERS)
    assert not made.committed


def test_a_folder_of_notes_gets_what_it_lacks_and_keeps_every_byte(notes: Path) -> None:
    before = contents(notes)
    made = make_vault(notes)
    after = contents(notes)
    assert {name: after[name] for name in before} == before
    assert set(made.created) == (FILES | set(FOLDERS)) - {"MEMORY.md", ".gitignore"}
    assert set(made.kept) == {"MEMORY.md", ".gitignore"}
    assert after.keys() - before.keys() == FILES - set(made.kept)


def test_notes_that_were_there_are_in_the_first_commit_and_attachments_are_not(notes: Path) -> None:
    made = make_vault(notes)
    own = {"今天.md", "Projects/Shop/plan.markdown", "Projects/facts.json"}
    assert committed(notes) == FILES | own
    assert made.notices == (
        "the first commit also holds the notes that were here (4), but no attachments",
        "your .gitignore stays as it is; .memtool/ ignores itself",
    )
    assert STATE_FOLDER not in git(notes, "status", "--porcelain", "--ignored=no", "-uall")


def test_notes_that_git_ignores_are_not_committed_and_counted(notes: Path) -> None:
    (notes / ".gitignore").write_text("Projects/\n")
    assert "git ignores or cannot read some notes (2), so changes to them cannot be undone" in make_vault(notes).notices


@pytest.mark.parametrize("with_commit", [True, False])
def test_in_a_repository_of_the_users_own_only_what_was_added_is_committed(notes: Path, with_commit: bool) -> None:
    git(notes, "init", "-q")
    if with_commit:
        git(notes, "add", "今天.md")
        git(notes, "commit", "-q", "-m", "mine")
    git(notes, "add", "attachments")
    made = make_vault(notes)
    assert made.committed
    assert committed(notes) == (FILES - {"MEMORY.md", ".gitignore"}) | ({"今天.md"} if with_commit else set())
    assert git(notes, "diff", "--cached", "--name-only") == "attachments/photo.png\n"
    assert not make_vault(notes).committed


def test_inside_somebody_elses_repository_nothing_is_committed(tmp_path: Path, notes: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "theirs")
    made = make_vault(notes)
    assert (made.committed, commits(tmp_path), (notes / ".git").exists()) == (False, 1, False)
    assert made.notices[0] == f"this folder belongs to the git repository '{tmp_path}', so nothing was committed"
    assert git(tmp_path, "diff", "--cached", "--name-only") == ""
    assert STATE_FOLDER not in git(tmp_path, "status", "--porcelain", "-uall")


def test_a_folder_that_the_outer_repository_ignores_gets_a_history_of_its_own(tmp_path: Path, notes: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text(f"/{notes.name}/\n")
    assert make_vault(notes).committed
    assert commits(notes) == 1
    assert make_vault(notes).created == ()


def test_the_first_commit_of_many_notes_takes_as_long_as_it_takes_and_says_so(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: dict[str, object] = {}
    run = subprocess.run

    def recorded(command: list[str], **options: Any) -> Any:
        limits.update({word: options.get("timeout") for word in command if word in ("add", "commit")})
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", recorded)
    monkeypatch.setattr("memtool.history.limits.MANY_NOTES", 2)
    said: list[str] = []

    assert make_vault(notes, announce=said.append).committed
    assert limits == {"add": None, "commit": None}
    assert len(said) == 1
    assert "notes that are here" in said[0]


def test_without_git_there_is_a_vault_and_later_its_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", "")
        made = make_vault(tmp_path / "vault")
    assert not made.committed
    assert made.notices[0].startswith("no history: git is not installed. Install git")
    again = make_vault(tmp_path / "vault")
    assert (again.created, again.committed) == ((), True)
    assert committed(made.vault.root) == FILES


@pytest.mark.slow
def test_whatever_breaks_off_the_next_run_completes_it(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complete = make_complete_copy(notes)
    steps = 0
    while not interrupted_after(steps, notes, monkeypatch):
        steps += 1
    made = make_vault(notes)
    assert steps >= len(FILES)
    assert made.created == ()
    assert contents(notes) == contents(complete)
    assert committed(notes) == committed(complete)
    assert status(notes).problem == ""


def make_complete_copy(notes: Path) -> Path:
    copy = notes.parent / "complete"
    shutil.copytree(notes, copy)
    make_vault(copy)
    return copy


def interrupted_after(steps: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Make a vault but break off at rename, folder or git command number *steps*; return whether it got through."""
    left = steps

    def breaking(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
            return original(*args, **kwargs)

        return call

    with monkeypatch.context() as patched:
        for owner, name in ((os, "replace"), (os, "mkdir"), (subprocess, "run")):
            patched.setattr(owner, name, breaking(getattr(owner, name)))
        try:
            make_vault(folder)
        except KeyboardInterrupt:
            return False
    return True


def test_changes_made_after_an_interruption_are_not_swept_into_a_commit(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault").vault.root
    (root / STATE_FOLDER / "first-commit").touch()  # broken off between the commit and its last step
    (root / "own.md").write_text("mine")
    assert not make_vault(root).committed
    assert not (root / STATE_FOLDER / "first-commit").exists()


def test_a_newer_vault_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "memtool.toml").write_text("format = 99\n")
    with pytest.raises(VaultTooNew):
        make_vault(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["memtool.toml"]


def test_the_home_folder_and_what_holds_it_is_no_vault() -> None:
    for path in (Path.home(), Path.home().parent, Path("/")):
        with pytest.raises(UsageError, match="your whole home folder"):
            make_vault(path, home=Path.home())
    assert not any(Path.home().iterdir())


@pytest.mark.parametrize("call", ["mkdir", "open"])
def test_a_folder_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(NotWritable, match="Read-only file system"):
        make_vault(tmp_path / "vault")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault").vault
    for name in (".gitignore", "MEMORY.md"):
        (vault.root / name).unlink()
        os.mkfifo(vault.root / name)
    made = make_vault(vault.root)
    assert not made.committed
    assert any("'.gitignore' is a pipe, for which git would wait" in notice for notice in made.notices)


def test_a_file_in_the_place_of_a_folder_is_a_sentence_and_stays(tmp_path: Path) -> None:
    (tmp_path / "areas").write_text("mine")
    with pytest.raises(NotWritable):
        make_vault(tmp_path)
    assert (tmp_path / "areas").read_text() == "mine"


def test_a_symlink_that_leaves_the_vault_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "rules").symlink_to(tmp_path / "elsewhere")
    made = make_vault(tmp_path / "vault")
    assert not any((tmp_path / "elsewhere").iterdir())
    assert "'rules/prefix-map.json' lies outside the vault, so it was left alone" in made.notices
    assert made.committed


MAKER = """import sys; from pathlib import Path; from memtool.history.template import make_vault
make_vault(Path(sys.argv[1]))"""


@pytest.mark.slow
def test_two_processes_that_make_the_same_vault_make_one(tmp_path: Path) -> None:
    path = str(tmp_path / "vault")
    makers = [subprocess.Popen([sys.executable, "-c", MAKER, path]) for _ in range(2)]
    assert [maker.wait(timeout=60) for maker in makers] == [0, 0]
    assert (committed(tmp_path / "vault"), commits(tmp_path / "vault")) == (FILES, 1)


# What the template says


def test_the_template_is_a_vault_of_this_format() -> None:
    template = shipped("vault_template")
    assert tomllib.loads((template / "memtool.toml").read_text())["format"] == FORMAT
    facts = (template / "areas/global/facts.json").read_text()
    assert (facts, parse_facts(facts).problems) == (NO_FACTS, ())
    for ref in ("MEMORY.md", "rules/memory-loader.md"):
        note = parse_note(ref, (template / ref).read_bytes())
        assert isinstance(note, Note)
        assert note.field("type") == kind_of(ref, note.field("type"))
        assert note.field("summary")


def test_every_setting_in_the_template_exists_and_shows_its_default(tmp_path: Path) -> None:
    text = (shipped("vault_template") / "memtool.toml").read_text()
    lines = [line.removeprefix("# ") if " = " in line else line for line in text.split("\n")]
    (tmp_path / "memtool.toml").write_text("\n".join(lines))
    loaded = settings.load(tmp_path / "memtool.toml", {})
    assert loaded.notices == ()
    said = {key for key, origin in loaded.origins.items() if origin != "default"}
    assert said == {
        "language",
        "search.mode",
        "search.fusion",
        "search.limit",
        "index.max_note_kb",
        "index.ignore",
        "consolidate.review",
    }
    plain = settings.load(None, {})
    assert (loaded.general, loaded.search, loaded.index) == (plain.general, plain.search, plain.index)


def test_a_downloaded_folder_does_not_choose_what_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes" / STATE_FOLDER).mkdir(parents=True)
    (tmp_path / "thesis.txt").write_text("years of work")
    (tmp_path / "notes" / STATE_FOLDER / "first-commit").symlink_to(tmp_path / "thesis.txt")
    assert make_vault(tmp_path / "notes").committed
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
