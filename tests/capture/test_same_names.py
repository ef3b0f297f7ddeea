from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from two_machines import TwoMachines

from memtool.capture.captured import Record, read_record, write_record
from memtool.capture.note_place import part_same_names
from memtool.vault.layout import Vault
from memtool.vault.session_names import note_of

REF, OTHER = "sessions/2026-02-10-登录.md", "sessions/2026-02-10-登录-bbbb.md"


def note(session: str) -> str:
    return f'---\ntype: session\nsession: "{session}"\ndate: 2026-02-10\n---\n\n# Login 登录 of {session}\n'


def day(minute: str, topic: str) -> str:
    return f"---\ntype: daily\ndate: 2026-02-10\n---\n\n# Daily\n\n## Sessions\n\n- {minute}: [{topic}](../{REF})\n"


def read(vault: Vault, ref: str) -> str:
    return (vault.root / ref).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_note_that_was_shared_first_keeps_the_name(tmp_path: Path) -> None:
    machines = TwoMachines(tmp_path)
    for vault, session, minute in ((machines.one, "aaaa-1", "09:00"), (machines.two, "bbbb-2", "10:00")):
        machines.write(vault, REF, note(session))
        machines.write(vault, "daily/2026-02-10.md", day(minute, session))
        write_record(vault, session, Record(7, ref=REF))
    machines.sync(machines.one)
    machines.sync(machines.two, before_merge=partial(part_same_names, machines.two))
    machines.sync(machines.one, before_merge=partial(part_same_names, machines.one))
    for vault in (machines.one, machines.two):
        assert (read(vault, REF), read(vault, OTHER)) == (note("aaaa-1"), note("bbbb-2"))
        text = read(vault, "daily/2026-02-10.md")
        assert f"- 09:00: [aaaa-1](../{REF})" in text
        assert f"- 10:00: [bbbb-2](../{OTHER})" in text
    assert read_record(machines.two, "bbbb-2") == Record(7, ref=OTHER)
    assert note_of(machines.two, "bbbb-2") == OTHER


@pytest.mark.slow
def test_the_same_session_on_two_machines_is_one_note(tmp_path: Path) -> None:
    machines = TwoMachines(tmp_path)
    for vault in (machines.one, machines.two):
        machines.write(vault, REF, note("aaaa-1"))
    machines.sync(machines.one)
    machines.sync(machines.two, before_merge=partial(part_same_names, machines.two))
    assert read(machines.two, REF) == note("aaaa-1")
    assert [path.name for path in (machines.two.root / "sessions").glob("*.md")] == [Path(REF).name]
