"""An import that is killed at any of its writes is completed by the next: nothing is missing, or there twice."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.capture.captured import read_record
from memtool.capture.importing import ImportedSessions, find_sources, import_sessions
from memtool.vault.daily import listed_sessions

WRITES = ("os.rename", "os.link", "os.remove", "subprocess.Popen")  # a file takes its place, goes, or git runs
IDS = ["eins", "one", "gone"]
TALK = [
    prompt("Why does the refund charge twice? 退款为什么重复?"),
    *edit("/src/shop/api/gateway.ts"),
    answer("Fixed in `gateway.ts`."),
]
PROMPT = '{"display": "给登录接口加限流", "timestamp": 1770000000000, "project": "/src/shop", "sessionId": "gone"}\n'

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]


@pytest.fixture
def client(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude"
    write_transcript(folder / "projects" / "-src-shop" / "one.jsonl", TALK)
    write_transcript(folder / "projects" / "-src-mail" / "eins.jsonl", TALK, cwd="/src/邮件")
    (folder / "history.jsonl").write_text(PROMPT, encoding="utf-8")
    return folder


def test_an_import_that_is_killed_at_any_write_is_completed_by_the_next(
    desk: Desk, client: Path, tmp_path: Path
) -> None:
    work = desk.work.of_client(client)

    def do_import() -> ImportedSessions:
        return import_sessions(work, find_sources(work), lambda _done, _all: None)

    assert work.index_folder.is_dir()  # the name of the machine is drawn once
    copytree(desk.vault.root, tmp_path / "before", symlinks=True)
    writes = _in_a_child(do_import, tmp_path / "writes", kill_at=0)
    whole = _texts(desk.vault.root)
    assert writes > 20
    for at in range(1, writes + 1):
        rmtree(desk.vault.root)
        copytree(tmp_path / "before", desk.vault.root, symlinks=True)
        assert _in_a_child(do_import, tmp_path / "writes", kill_at=at) == at
        do_import()
        assert _texts(desk.vault.root) == whole, f"killed at write {at} of {writes}"
        assert all(read_record(desk.vault, name).size for name in IDS[:2])
        listed = [
            session.session_id
            for day in (desk.vault.root / "daily").glob("*.md")
            for session in listed_sessions(day.read_text("utf-8"))
        ]
        assert sorted(listed) == sorted(IDS)
        assert do_import() == ImportedSessions()
        assert desk.git("status", "--porcelain", "--", "sessions", "daily") == ""


def _in_a_child(do: Callable[[], object], counter: Path, *, kill_at: int) -> int:
    """Call *do* in a process that dies before its write number *kill_at* (0: none); return how many it came to."""
    counter.write_bytes(b"")
    if not (child := os.fork()):
        count = open(counter, "ab", buffering=0)  # noqa: SIM115  (it dies with the process)

        def note(event: str, _: object) -> None:
            if event in WRITES:
                count.write(b".")
                if counter.stat().st_size == kill_at:
                    os._exit(9)

        sys.addaudithook(note)
        try:
            do()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return counter.stat().st_size


def _texts(root: Path) -> dict[str, str]:
    folders = (root / "sessions", root / "daily")
    return {path.name: path.read_text("utf-8") for folder in folders for path in folder.glob("*.md")}
