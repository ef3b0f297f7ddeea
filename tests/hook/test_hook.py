from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from unprivileged import unprivileged

from memtool.capture.captured import read_record
from memtool.capture.queue import Queue
from memtool.hook.main import run
from memtool.vault.layout import Vault

HOOK = (sys.executable, "-c", "from memtool.hook.main import main; main()")
KEY = "sk-ant-" + "api03-" + "Zx9" * 30


class Client:
    """What stands in for the client here: a project, a transcript, and a way to fire an event."""

    def __init__(self, folder: Path, vault: Vault) -> None:
        self.vault = vault
        self.home = folder / "home"
        self.project = folder / "home" / "src" / "shop"
        self.project.mkdir(parents=True)
        self.transcript = self.home / ".claude" / "projects" / "-src-shop" / "3f2a9c.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.transcript.write_text("{}\n", encoding="utf-8")
        self.environ = {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "MEMTOOL_VAULT": str(vault.root),
            "MEMTOOL_CONFIG": str(folder / "no-config.toml"),
            "MEMTOOL_CACHE": str(folder / "cache"),
            "MEMTOOL_SESSIONS_NAMES": "id",
        }

    def event(self, name: str, **fields: Any) -> bytes:
        common = {"session_id": "3f2a9c", "transcript_path": str(self.transcript), "cwd": str(self.project)}
        return json.dumps({"hook_event_name": name, **common, **fields}).encode()

    def fire(self, content: bytes, *arguments: str) -> None:
        run(arguments, self.environ, io.BytesIO(content))

    def edit(self, file: str, tool: str = "Edit", field: str = "file_path") -> bytes:
        return self.event("PostToolUse", tool_name=tool, tool_input={field: file, "content": "x"}, tool_response={})

    def lines(self) -> list[str]:
        notes = sorted((self.vault.root / "daily").glob("*.md"))
        return [line for note in notes for line in note.read_text(encoding="utf-8").splitlines() if line[:2] == "- "]

    def log(self) -> list[str]:
        logs = (self.vault.root / ".memtool" / "hook.log", *Path(self.environ["MEMTOOL_CACHE"]).rglob("hook.log"))
        return [line for path in logs if path.exists() for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def client(tmp_path: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Client:
    made = Client(tmp_path, vault)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, made.environ[name])
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "field"),
    [("Write", "file_path"), ("Edit", "file_path"), ("MultiEdit", "file_path"), ("NotebookEdit", "notebook_path")],
)
def test_an_edit_becomes_a_line_of_the_daily_note(client: Client, tool: str, field: str) -> None:
    client.fire(client.edit(str(client.project / "middleware" / "鉴权.ts"), tool, field))
    (line,) = client.lines()
    assert re.fullmatch(r"- \d\d:\d\d \*\*shop\*\*: `middleware/鉴权\.ts`", line)
    assert client.log() == []


def test_the_same_edit_twice_is_one_line(client: Client) -> None:
    for _ in range(2):
        client.fire(client.edit(str(client.project / "a.ts")))
    files = [name for line in client.lines() for name in re.findall(r"`(.+?)`", line)]
    assert len(client.lines()) <= 2  # the minute may have changed
    assert set(files) == {"a.ts"}


def test_a_file_outside_the_project_is_named_in_full(client: Client) -> None:
    client.fire(client.edit(str(client.home / "notes.md")))
    assert client.lines()[0].endswith("**shop**: `~/notes.md`")


def test_edits_of_the_vault_of_the_client_and_of_machines_are_left_out(client: Client) -> None:
    link = client.home / "link"
    link.symlink_to(client.vault.root)
    left_out = [
        client.vault.root / "MEMORY.md", link / "new.md", client.home / ".claude" / "plans" / "a.md",
        client.project / ".git" / "config", client.project / "node_modules" / "a" / "b.js",
    ]  # fmt: skip
    for path in left_out:
        client.fire(client.edit(str(path)))
    client.environ["MEMTOOL_CAPTURE_IGNORE"] = "*.lock, gen/*"
    client.fire(client.edit(str(client.project / "uv.lock")))
    client.fire(client.edit(str(client.project / "gen" / "api.ts")))
    client.fire(client.edit("relative.ts"))
    client.fire(client.event("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}))
    assert (client.lines(), client.log()) == ([], [])


def test_a_password_in_an_address_in_a_files_name_is_not_written(client: Client) -> None:
    client.fire(client.edit(f"{client.project}/https://bob:hunter@db.example.org/x.md"))
    assert client.lines()[0].endswith("`https:/bob:[redacted: url-password]@db.example.org/x.md`")


def test_a_secret_in_a_files_name_is_not_written(client: Client) -> None:
    client.fire(client.edit(str(client.project / f"{KEY}.txt")))
    assert len(client.lines()) == 1
    assert KEY not in client.lines()[0]


@pytest.mark.slow
@pytest.mark.parametrize("event", ["Stop", "PreCompact", "PostCompact", "SessionEnd"])
def test_the_session_goes_on_the_queue(client: Client, workers: list[Vault], event: str) -> None:
    said = {"last_assistant_message": f"完成: the key is {KEY}", "compact_summary": f"<summary>{KEY}</summary>"}
    client.fire(client.event(event, **said))
    (job,) = Queue(client.vault).waiting()
    assert (job.session_id, job.transcript, job.event) == ("3f2a9c", str(client.transcript), event)
    assert job.cwd == str(client.project)
    assert job.said.startswith("完成: the key is ")
    assert "<summary>" in job.compaction
    assert workers == [client.vault]
    everything = b"".join(path.read_bytes() for path in client.vault.root.rglob("*") if path.is_file())
    assert KEY.encode() not in everything


@pytest.mark.slow
def test_nothing_is_done_inside_our_own_model_calls(client: Client, workers: list[Vault]) -> None:
    client.environ["MEMTOOL_INTERNAL"] = "1"
    client.fire(client.edit(str(client.project / "a.ts")))
    client.fire(client.event("Stop"))
    assert (client.lines(), client.log(), workers, Queue(client.vault).waiting()) == ([], [], [], [])


def test_the_vault_of_the_installation_counts_more_than_that_of_the_environment(client: Client, tmp_path: Path) -> None:
    client.environ["MEMTOOL_VAULT"] = str(tmp_path / "gone")
    client.fire(client.edit(str(client.project / "a.ts")), "--vault", str(client.vault.root), "--of-the-future")
    assert len(client.lines()) == 1


def test_a_repository_does_not_draw_notes_to_itself(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    (client.project / "memtool.toml").write_text("format = 1\n")
    monkeypatch.chdir(client.project)
    del client.environ["MEMTOOL_VAULT"]
    client.fire(client.edit(str(client.project / "a.ts")))
    assert [path.name for path in client.project.iterdir()] == ["memtool.toml"]
    assert len(client.log()) == 1


BAD = {
    "empty": b"",
    "blank": b" \n",
    "half": b'{"hook_event_name": "Stop", "sess',
    "list": b"[1]",
    "number": b"7",
    "not UTF-8": b'{"hook_event_name": "\xff"}',
    "deep": b"[" * 100_000,
    "future": b'{"hook_event_name": "MindRead"}',
    "nameless": b"{}",
    "strange name": b'{"hook_event_name": ["Stop"]}',
}


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_a_secret_that_was_typed_goes_from_the_answer_in_the_queue(client: Client) -> None:
    typed = {"role": "user", "content": "k?7wTpZQmuriGX2! 帮我转义, escape this"}
    client.transcript.write_text(json.dumps({"type": "user", "message": typed}) + "\n", encoding="utf-8")
    client.fire(client.event("Stop", last_assistant_message="好: `k%3F7wTpZQmuriGX2%21`, from k?7wTpZQmuriGX2!."))
    (job,) = Queue(client.vault).waiting()
    assert job.said == "好: `[redacted: password]`, from [redacted: password]."


@pytest.mark.slow
@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_bad_input_is_one_line_in_the_log(
    client: Client, workers: list[Vault], capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    client.fire(content)
    assert len(client.log()) == 1
    assert (client.lines(), workers, capsys.readouterr()) == ([], [], ("", ""))


@pytest.mark.slow
@pytest.mark.parametrize("field", ["session_id", "transcript_path", "cwd", "last_assistant_message", "compact_summary"])
@pytest.mark.parametrize("value", [None, 3, [], {}, "\ud800", "\0", "x" * 100_000])
def test_a_strange_field_never_escapes(client: Client, workers: list[Vault], field: str, value: object) -> None:
    client.fire(client.event("Stop", **{field: value}))
    client.fire(client.event("SessionStart", **{field: value}))
    client.fire(client.event("PostToolUse", tool_name="Edit", tool_input=value, **{field: value}))
    client.fire(client.event("PostToolUse", tool_name="Edit", tool_input={"file_path": value}))
    assert len(workers) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("make", [Path.mkdir, lambda _path: None, os.mkfifo], ids=["folder", "missing", "pipe"])
def test_a_transcript_that_is_no_file_is_one_line_in_the_log(
    client: Client, workers: list[Vault], make: Callable[[Path], None]
) -> None:
    client.transcript.unlink()
    make(client.transcript)
    client.fire(client.event("SessionEnd", reason="other"))
    assert (len(client.log()), workers, Queue(client.vault).waiting()) == (1, [], [])


@pytest.mark.slow
@pytest.mark.parametrize("named", ["gone", "file"])
def test_a_vault_that_is_gone_is_one_line_in_the_users_own_log(client: Client, tmp_path: Path, named: str) -> None:
    (tmp_path / "file").write_text("x")
    client.environ["MEMTOOL_VAULT"] = str(tmp_path / named)
    client.fire(client.edit(str(client.project / "a.ts")))
    assert len(client.log()) == 1
    assert not (tmp_path / "gone").exists()


def test_a_read_only_vault_is_one_line_in_the_users_own_log(client: Client) -> None:
    folders = [client.vault.root, *(path for path in client.vault.root.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        with unprivileged():
            client.fire(client.edit(str(client.project / "a.ts")))
            client.fire(client.event("Stop"))
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert len(client.log()) == 2
    assert client.lines() == []


def test_a_daily_note_that_is_broken_stays_as_it_is(client: Client) -> None:
    client.fire(client.edit(str(client.project / "a.ts")))
    (note,) = (client.vault.root / "daily").glob("*.md")
    note.write_bytes(b"\xff\xfe broken")
    client.fire(client.edit(str(client.project / "b.ts")))
    assert note.read_bytes() == b"\xff\xfe broken"
    assert len(client.log()) == 1


@pytest.mark.slow
def test_twenty_at_once_lose_nothing_and_write_nothing_twice(client: Client) -> None:
    environ = os.environ | client.environ
    names = [f"文件-{number}.ts" for number in range(20)]
    running = [subprocess.Popen(HOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) for _ in names]
    answers = [
        process.communicate(client.edit(str(client.project / name)))[0]
        for process, name in zip(running, names, strict=True)
    ]
    assert answers == [b""] * 20
    assert [process.returncode for process in running] == [0] * 20
    written = [name for line in client.lines() for name in re.findall(r"`(.+?)`", line)]
    assert sorted(written) == sorted(names)
    minutes = [line[2:7] for line in client.lines()]
    assert len(minutes) == len(set(minutes))
    assert client.log() == []


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"{", b'{"hook_event_name": "MindRead"}'])
def test_the_program_ends_with_0_and_prints_nothing(client: Client, content: bytes) -> None:
    done = subprocess.run(HOOK, input=content, capture_output=True, env=os.environ | client.environ, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["off", "folder", "print"])
def test_nothing_is_captured_where_it_is_switched_off(client: Client, way: str) -> None:
    client.environ |= {
        "off": {"MEMTOOL_CAPTURE": "off"},
        "folder": {"MEMTOOL_CAPTURE_EXCLUDE": f"{client.home}/src"},
        "print": {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli", "MEMTOOL_CAPTURE_PRINT_SESSIONS": "no"},
    }[way]
    client.fire(client.edit(str(client.project / "解密.py")))
    for name in ("Stop", "SessionEnd"):
        client.fire(client.event(name))
    assert client.lines() == []
    assert Queue(client.vault).waiting() == []
    assert read_record(client.vault, "3f2a9c").off is (way != "folder")
    assert client.log() == []
