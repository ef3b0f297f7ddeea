"""Replies of a model to the sessions of a folder, and how good the notes made of them are.

    python3 -m scripts.record_replies TRANSCRIPTS                 score the notes of the replies that are kept
    python3 -m scripts.record_replies TRANSCRIPTS --requests DIR  write what a model would be sent, and ask none
    python3 -m scripts.record_replies TRANSCRIPTS --ask claude    ask a provider by your settings, and keep its replies

TRANSCRIPTS holds `sessions/*.jsonl` and, to score, `score.py`. A reply that is kept is what the model said and no more.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from memtool.capture.model_note import draft_from_answer
from memtool.capture.transcript.reader import read_transcript
from memtool.capture.turns import Turn, turns_of
from memtool.capture.view import language_of, request
from memtool.errors import MemtoolError
from memtool.llm import Request, open_provider
from memtool.redaction import make_redactor
from memtool.settings import load
from memtool.settings.sections import RedactSettings
from memtool.vault.sessions import SessionNote, render_session

REPLIES = Path(__file__).resolve().parents[1] / "tests/capture/recorded"


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", type=Path, metavar="TRANSCRIPTS")
    parser.add_argument("--replies", type=Path, default=REPLIES, help="folder of the replies, one file a session")
    parser.add_argument("--requests", type=Path, metavar="DIR", help="write the requests into this folder")
    parser.add_argument("--ask", metavar="PROVIDER", help="ask this provider for the replies that are not there yet")
    parser.add_argument("--notes", type=Path, metavar="DIR", help="keep the notes in this folder")
    options = parser.parse_args(arguments)
    sessions = read_sessions(options.transcripts)
    if options.requests:
        options.requests.mkdir(parents=True, exist_ok=True)
        for name, turns in sessions.items():
            asked = request_for(name, turns)
            (options.requests / f"{name}.txt").write_text(f"{asked.system}\n\n{asked.prompt}\n", encoding="utf-8")
        return 0
    if options.ask:
        ask(options.ask, sessions, options.replies)
    with tempfile.TemporaryDirectory(prefix="memtool-notes-") as folder:
        notes = options.notes or Path(folder)
        report(sessions, options.replies, notes)
        score = score_of(options.transcripts)
        score.show(score.score(notes))
    return 0


def read_sessions(transcripts: Path) -> dict[str, list[Turn]]:
    """Return the turns of each session in the folder *transcripts*, redacted, by the session's id."""
    found = {}
    for path in sorted((transcripts / "sessions").glob("*.jsonl")):
        redact = make_redactor(RedactSettings()).of_session()
        found[path.stem] = turns_of(read_transcript(path, redact).steps)
    return found


def request_for(name: str, turns: list[Turn]) -> Request:
    """Return the request for the note of the session *name*. Its code is no secret: the session is known."""
    return request(turns, language=language_of(turns), code=hashlib.sha256(name.encode()).hexdigest()[:16])


def ask(provider: str, sessions: Mapping[str, list[Turn]], replies: Path) -> None:
    """Keep the reply of *provider* to each of *sessions* that has none yet."""
    settings = load(None, os.environ)
    model = open_provider(provider, settings.llm, settings.keys)
    replies.mkdir(parents=True, exist_ok=True)
    for name, turns in sessions.items():
        path = replies / f"{name}.json"
        if not path.exists():
            answer = model.complete(request_for(name, turns), settings.llm.timeout)
            path.write_text(f"{answer.text.strip()}\n", encoding="utf-8")
            print(f"{name}: {answer.input_tokens:,} tokens in, {answer.output_tokens:,} out, {answer.seconds:.0f} s")


def report(sessions: Mapping[str, list[Turn]], replies: Path, notes: Path) -> None:
    """Write the notes of the *replies* into the folder *notes* and print which were refused and what they cost."""
    notes.mkdir(parents=True, exist_ok=True)
    sizes = []
    for name, turns in sessions.items():
        reply = (replies / f"{name}.json").read_text(encoding="utf-8")
        sizes.append((request_for(name, turns).tokens, len(reply) // 4))
        try:
            (notes / f"{name}.md").write_text(note_of(name, turns, reply), encoding="utf-8")
        except MemtoolError as error:
            print(f"{name}: {error}")
    sent, received = (median(each) for each in zip(*sizes, strict=True))
    print(f"about {sent:,.0f} tokens in and {received:,.0f} out at the median")


def note_of(name: str, turns: list[Turn], reply: str) -> str:
    """Return the note of the session *name* that is made of a model's *reply*.

    Raises:
        ProviderFailed: the reply is refused.
    """
    draft = draft_from_answer(reply, turns)
    day = next((turn.at.date().isoformat() for turn in reversed(turns) if turn.at), "")
    return render_session(
        SessionNote(id=name, date=day, writer="claude", draft=draft), language=language_of(turns) or "en"
    )


def score_of(transcripts: Path) -> Any:  # noqa: ANN401  (a script of another folder)
    """Return the module `score.py` of the folder *transcripts*."""
    spec = importlib.util.spec_from_file_location("score", transcripts / "score.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(transcripts / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    raise SystemExit(main())
