"""`memtool import codex|gemini|opencode`."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture.transcript.client_files import IDS, put, write_lines
from terminal import Memtool

CLIENTS = ("codex", "gemini", "opencode")
FOLDERS = {"codex": ".codex", "gemini": ".gemini", "opencode": ".local/share/opencode"}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_history_becomes_notes_once(memtool: Memtool, notes: Path, tmp_path: Path, client: str) -> None:
    put(tmp_path, client)
    folder = str(tmp_path / FOLDERS[client])
    asked = memtool("import", client, "--from", folder, "--dry-run")
    assert asked.out.startswith(f"1 session in {folder}, 1 new.\n")
    assert "from 2026-11-22 to 2026-11-22" in asked.out
    ran = memtool("import", client, "--from", folder, "--yes")
    assert (ran.code, "1 session became a note" in ran.out) == (0, True)
    (note,) = [text for path in (notes / "sessions").glob("*.md") if "UUIDv7" in (text := path.read_text("utf-8"))]
    assert f"\nclient: {client}\n" in note
    assert "order_model.py" in (notes / "daily" / "2026-11-22.md").read_text("utf-8")
    again = memtool("import", client, "--from", folder, "--yes")
    assert again.out == f"1 session in {folder}, 0 new.\n"


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.usefixtures("notes")
def test_without_a_history_it_says_where_it_looked(memtool: Memtool, tmp_path: Path, client: str) -> None:
    ran = memtool("import", client, "--from", str(tmp_path / "nowhere"))
    assert ran.code == 2
    assert "there is no folder" in ran.err


@pytest.mark.usefixtures("notes")
def test_a_transcript_that_cannot_be_read_does_not_hide_the_others(memtool: Memtool, tmp_path: Path) -> None:
    path = put(tmp_path, "codex")
    broken = path.with_name(path.name.replace(IDS["codex"], "01a2050e-55f3-7080-8610-000000000000") + ".zst")
    broken.write_bytes(b"\x28\xb5\x2f\xfd broken")
    write_lines(path.with_name("rollout-without-an-id.jsonl"), [{}])
    ran = memtool("import", "codex", "--from", str(tmp_path / ".codex"), "--yes")
    assert (ran.code, "1 session became a note; 1 could not be imported.\n" in ran.out) == (1, True)
    assert "01a2050e-55f3-7080-8610-000000000000: " in ran.err
    assert "zstd" in ran.err
