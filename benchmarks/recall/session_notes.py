"""A vault into which real transcripts were imported, and conversations that are held on it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from benchmarks.recall.session_prompts import Conversation, Turn
from benchmarks.recall.sessions import Hook
from memtool.history.template import make_vault


@contextlib.contextmanager
def imported(transcripts: Path) -> Iterator[tuple[Hook, dict[str, str]]]:
    """Open the hook of a user who has imported *transcripts*; and the folder in which each session ran, by its id."""
    with tempfile.TemporaryDirectory(prefix="memtool-recall-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        make_vault(folder / "vault")
        hook = Hook(folder, folder / "vault")
        places = lay(transcripts, folder / "home")
        hook.memtool("import", "claude-code", "-y")
        hook.memtool("index")
        yield hook, places


def lay(transcripts: Path, home: Path) -> dict[str, str]:
    """Copy *transcripts* to where the client keeps them; return the folder in which each session ran, by its id."""
    places = {}
    for transcript in sorted(transcripts.glob("*.jsonl")):
        records = [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()]
        cwd = next(str(record["cwd"]) for record in records if record.get("cwd"))
        last = max(record["timestamp"] for record in records if isinstance(record.get("timestamp"), str))
        folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", cwd)
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(shutil.copy(transcript, folder), (datetime.fromisoformat(last).timestamp(),) * 2)
        places[transcript.stem] = cwd
    return places


def hold(conversation: Conversation, hook: Hook, places: dict[str, str]) -> Sequence[Turn]:
    """Return the turns of *conversation*, held in the folder in which its session ran."""
    cwd = next((cwd for session, cwd in places.items() if session.startswith(conversation.session)), "")
    place = Path(cwd) if conversation.session else hook.place(f"scratch-{conversation.name}")
    return [Turn(prompt, hook.ask_in(place, conversation.name, prompt.text)) for prompt in conversation.prompts]
