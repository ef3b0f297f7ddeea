"""The notes without a model of labelled sessions, measured as they are and without a word list.

The labelled sessions lie in a folder with `labels.jsonl`, `sessions/` and `stated/`, and their own `score.py`. Those of
two projects and every third one of `stated/` were left aside while the lists were made; only a gain there counts.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from memtool.capture.rules_note import write_by_rules
from memtool.capture.transcript.reader import read_transcript
from memtool.capture.turns import Turn, turns_of
from memtool.capture.view import language_of
from memtool.text import languages
from memtool.vault.sessions import SessionNote, render_session

ASIDE = ("cipher-box", "download-manager")


class Material:
    """The labelled sessions of *folder*, read once: the built ones and those left aside."""

    def __init__(self, folder: Path) -> None:
        self.score, self.stated = _module(folder / "score.py"), _module(folder / "stated" / "score.py")
        self.sessions = [
            (label, *_read(folder / "sessions" / f"{label['session']}.jsonl")) for label in self.score.read_labels()
        ]
        lines = (folder / "stated" / "sessions.jsonl").read_text("utf-8").splitlines()
        self.small = [(session, _written(self.stated, session)) for session in map(json.loads, lines)]

    def measured(self) -> dict[str, str]:
        """Return what the notes hold, built and left aside."""
        return {"built": " ".join(self._figures(aside=False)), "aside": " ".join(self._figures(aside=True))}

    def _figures(self, *, aside: bool) -> Iterator[str]:
        judged = [
            self.score.judge(label, _note(turns)) for label, cwd, turns in self.sessions if cwd.endswith(ASIDE) == aside
        ]
        found, missed = (sum(len(row[what]) for row in judged) for what in ("found", "missed"))
        main, wrong = sum(row["main"] for row in judged), sum(len(row["wrong"]) for row in judged)
        yield f"{100 * found / (found + missed):5.1f} {main:3} {wrong:3}"
        small = [
            (session, self.stated.judge(session, _note(turns)))
            for number, (session, turns) in enumerate(self.small)
            if (number % 3 == 2) == aside
        ]
        due = sum(len(session["must"]) for session, _ in small)
        held, rows = sum(len(row["held"]) for _, row in small), sum(row["rows"] for _, row in small)
        right = rows - sum(len(row["bad"]) + len(row["loose"]) for _, row in small)
        yield f"{held:4}/{due} {right:3}/{rows}"


def read_without(kind: str) -> Callable[[str, str], str | list[str]]:
    """Return what reads lists and finds nothing for *kind*."""
    read: Callable[[str, str], str | list[str]] = languages._value  # noqa: SLF001  (the one place that reads a list)
    return lambda code, key: "" if key == kind else read(code, key)


def forget() -> None:
    """Empty what remembers lists, numbers, or patterns that are made of them."""
    for name, module in [*sys.modules.items()]:
        if name.startswith("memtool."):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.parent.name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _read(path: Path) -> tuple[str, list[Turn]]:
    conversation = read_transcript(path, str)
    return conversation.cwd, turns_of(conversation.steps)


def _written(stated: ModuleType, session: dict[str, Any]) -> list[Turn]:
    records = stated.transcript(session, f"/srv/{session['session']}", datetime(2026, 11, 2, 8, tzinfo=UTC))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "session.jsonl")
        path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
        return _read(path)[1]


def _note(turns: list[Turn]) -> str:
    language = language_of(turns) or "en"
    note = SessionNote(id="1f0e", project="shop", date="2026-11-02", draft=write_by_rules(turns, language=language))
    return render_session(note, language=language)
