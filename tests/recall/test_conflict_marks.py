"""What stands between the marks of a conflict is given to nobody, on no way."""

from __future__ import annotations

import pytest
from desk import Desk
from trees import write

from memtool.errors import BrokenVaultFile
from memtool.memory.memories import get_memory, list_entries
from memtool.memory.search import search_memories, search_memory
from memtool.recall.start.project_state import project_state
from memtool.recall.start.session_start import session_context

CONFLICT = "<<<<<<< one text\n{0} giraffe 长颈鹿\n=======\n{0} zebra 斑马\n>>>>>>> the other text\n"
SUMMARY = "areas/projects/shop/summary.md"
NOTES = {
    "MEMORY.md": "# Memory\n\n" + CONFLICT.format("- We feed the"),
    SUMMARY: "---\ntype: project\n---\n\n# shop\n\n" + CONFLICT.format("The shop sells a"),
    "areas/projects/shop/rules.md": "# Rules\n\n" + CONFLICT.format("- Never ride the"),
    "areas/projects/shop/todos.md": "# Open\n\n" + CONFLICT.format("- [ ] wash the"),
    "areas/projects/shop/decisions/2026-02-09-a.md": "---\ntype: decision\n---\n\n# A\n\n" + CONFLICT.format("Use the"),
    "sessions/s-1.md": (
        "---\ntype: session\ndate: 2026-02-10\nproject: shop\n---\n\n"
        + CONFLICT.format("# We met the").replace("# We met the zebra", "# We met a zebra")
        + "\n- **Time**: 2026-02-10 14:30\n\n4. **Decisions**: buy a giraffe 长颈鹿\n"
    ),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_with_marks_is_given_to_nobody(desk: Desk, end: str) -> None:
    desk.folder = desk.vault.root / "areas/projects/shop"
    desk.remember("The kitchen is open. 厨房开着。", kind="knowledge")
    for ref, text in NOTES.items():
        path = write(desk, ref, "")
        path.write_bytes(text.replace("\n", end).encode())
    given = [
        session_context(desk.work, "shop").text,
        str(project_state(desk.work)),
        str(search_memory(desk.work, "giraffe zebra 长颈鹿 斑马").found),
        str(search_memory(desk.work, "")),
        str(search_memories(desk.work, "giraffe zebra 长颈鹿 斑马", limit=10).found),
        str(list_entries(desk.work)),
    ]
    assert [text for text in given if "giraffe" in text or "斑马" in text] == []
    assert "kitchen" in given[3]
    with pytest.raises(BrokenVaultFile, match="between marks"):
        get_memory(desk.work, SUMMARY)


def test_a_file_that_is_solved_is_given_again(desk: Desk) -> None:
    path = write(desk, "notes/a.md", CONFLICT.format("Feed the"))
    assert desk.find("giraffe") == []
    path.write_text("Feed the giraffe 长颈鹿\n", encoding="utf-8")
    assert desk.find("长颈鹿") == ["notes/a.md"]
