"""What a terminal shows: through a terminal of its own, as a person sees it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hook.agent import Agent
from rich.cells import cell_len
from terminal import on_a_terminal, with_pipes

from memtool.capture.queue import TRIES, Job, Queue
from memtool.llm import Request
from memtool.llm.call_log import CallLog
from memtool.vault.layout import Vault

if TYPE_CHECKING:
    from terminal import Memtool

OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[!-~]*\x1b\\")
ENVIRON = {"MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
HOSTILE = """---
type: knowledge
title: "t\\e]0;owned\\a[red]x[/red] \\u202e解密"
---

# 标题 [bold]b[/bold] \x1b]0;owned\x07 `code\x9b31m`

List<String> and <b>bold</b>, &#8238;turned&#x9b;31m, [text](http://evil\u202e/\x1b[2J), ![alt](x.png)

| 列 | b |
| --- | --- |
| [red]解密[/red] | `x` |

```python
print("\x1b[2J")  # \u2066
```
"""


def seen(*arguments: str, columns: int = 80, **environ: str) -> str:
    """Return the letters that a person sees."""
    return OURS.sub("", on_a_terminal(*arguments, columns=columns, environ=ENVIRON | environ).out)


@pytest.fixture
def hostile(notes: Path) -> Path:
    (notes / "evil.md").write_text(HOSTILE, encoding="utf-8")
    return notes


@pytest.mark.slow
def test_a_note_reads_as_markdown_and_loses_no_word(sample: Path) -> None:
    ref = next((sample / "areas/projects/shop/knowledge").glob("*-getuserbyid-in-loops.md"))
    shown = seen("show", ref.relative_to(sample).as_posix())
    assert "# getUserById" not in shown
    assert "type: knowledge\n" in shown
    words = set(re.findall(r"\w+", ref.read_text("utf-8")))
    assert words <= set(re.findall(r"\w+", shown))
    assert with_pipes("show", ref.relative_to(sample).as_posix()).out == ref.read_text("utf-8")


@pytest.mark.slow
def test_what_a_renderer_makes_of_a_note_does_not_steer_the_terminal_either(hostile: Path) -> None:
    for arguments in (["show", "evil"], ["show", "evil", "--level", "1"], ["search", "解密"], ["search"]):
        shown = seen(*arguments)
        assert shown.replace("\n", "").isprintable(), arguments
        assert "[red]" in shown, arguments
    shown = seen("show", "evil")
    assert "List<String> and <b>bold</b>" in shown
    assert "http://evil" in shown
    assert "turned" in shown
    assert hostile.is_dir()


@pytest.mark.slow
def test_without_colours_and_on_a_dumb_terminal_the_words_are_the_same(sample: Path) -> None:
    plain = on_a_terminal("search", "getUserById", environ={**ENVIRON, "TERM": "dumb"}).out
    assert "\x1b" not in plain
    assert plain == seen("search", "getUserById")
    without = on_a_terminal("search", "getUserById", environ={**ENVIRON, "NO_COLOR": "1"}).out
    assert not re.search(r"\x1b\[(?:[0-9]+;)*3[0-7]", without)
    assert OURS.sub("", without) == plain
    assert sample.is_dir()


@pytest.mark.slow
def test_doctor_has_a_panel_for_each_state_with_the_worst_last(sample: Path) -> None:
    (sample / "gbk.md").write_bytes("解密".encode("gbk"))
    shown = seen("doctor")
    assert (
        shown.index("─ ok ─") < shown.index("─ note ─") < shown.index("─ broken ─") < shown.index("gbk.md: not UTF-8")
    )
    assert "Run `memtool init` in the vault." in shown


@pytest.mark.slow
def test_what_a_session_was_given_is_a_tree(agent: Agent, memtool: Memtool) -> None:
    agent.start()
    agent.ask("How long do access tokens live now? 解密")
    shown = seen("given")
    assert re.search(r"^├── .* at the start$", shown, re.MULTILINE)
    assert re.search(r"^└── .* prompt 1: How long do access tokens live now\?", shown, re.MULTILINE)
    for record in memtool("given", "--json").answer["given"]:
        assert all(f"[{line['id']}]" in shown for line in record["lines"])


@pytest.mark.slow
def test_what_waits_and_what_was_asked_of_models_are_tables(notes: Path) -> None:
    vault = Vault(notes)
    Queue(vault).put(Job("one", "/t.jsonl", cwd="/src/商店[red]", event="Stop", queued_at=1.0))
    for _ in range(TRIES):
        begun = Queue(vault).begin(Queue(vault).waiting()[0], 0.0)
        assert begun
        Queue(vault).fail(begun, "the model \x1b[2Jis down", 0.0)
    shown = seen("capture", "--status")
    assert "0 sessions pending, 1 failed.\nSession " in shown
    assert "a session in /src/商店[red]  failed after 3 tries" in shown
    CallLog(vault, 0).begin("claude", Request("s", "p" * 400, 100), "summary", datetime(2026, 2, 10, tzinfo=UTC))
    assert re.search(r"2026-02-10  claude +1 ", seen("capture", "--usage"))


@pytest.mark.slow
def test_the_lines_of_a_note_stand_beside_what_brought_them(memtool: Memtool, notes: Path) -> None:
    memtool("init", str(notes))
    memtool("remember", "解密失败是因为密钥轮换，每季度一次，见 tools/keys 的说明。", "--kind", "decision")
    (note,) = notes.rglob("decisions/*.md")
    shown = seen("blame", note.relative_to(notes).as_posix(), columns=60)
    assert "Brought by" in shown
    assert re.search(r"1-8  \d{4}-\d\d-\d\d \d\d:\d\d  [0-9a-f]{10}  remember: ", shown)
    assert "… and 4 more" in shown
    assert all(cell_len(line) <= 60 for line in shown.splitlines()[1:])
