"""The interactive client at a pseudo-terminal.

The screen is drawn with cursor moves and changes with each version, so a test waits for hooks and requests instead.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from typing import Self

import pexpect
from claude_code.box import Box, wait_until

_CONTROL = re.compile(r"\x1b(?:\[[0-9;?<>=]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])|\s")

_READS_KEYS = "\x1b[?2004h"  # asks the terminal to mark what is pasted; what is typed before that may be lost


class Tui:
    """`with Tui(box, api.url) as tui: tui.say("hello")`; leaving the block kills a client that still runs."""

    def __init__(self, box: Box, url: str, *flags: str) -> None:
        _answer_first_questions(box)
        self._shown: list[str] = []
        # Without arguments pexpect would cut the client's path at its spaces.
        self._child = pexpect.spawn(
            "/usr/bin/env", [str(box.client), *flags], cwd=box.project, env=box.environ(url), dimensions=(40, 140),
            encoding="utf-8", codec_errors="replace", timeout=None,
        )  # fmt: skip
        # A client whose output nobody reads stands still.
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        wait_until(lambda: _READS_KEYS in "".join(self._shown), lambda: f"no prompt in: {self._screen(0)}")

    def say(self, text: str) -> None:
        """Type a prompt or a command, and Enter once it shows: sent together they would be a paste."""
        before = len(self._shown)
        self._child.send(text)
        wanted = _CONTROL.sub("", text)
        wait_until(lambda: wanted in self._screen(before), lambda: f"'{text}' does not show in: {self._screen(before)}")
        self._child.send("\r")

    def wait(self) -> int | None:
        """Wait until the client has ended, and return its exit code."""
        self._reader.join()
        self._child.wait()
        return self._child.exitstatus

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill(9)
        self._reader.join()
        self._child.close(force=True)

    def _read(self) -> None:
        with contextlib.suppress(pexpect.EOF):
            while True:
                self._shown.append(self._child.read_nonblocking(65_536, timeout=None))

    def _screen(self, since: int) -> str:
        return _CONTROL.sub("", "".join(self._shown[since:]))


def _answer_first_questions(box: Box) -> None:
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    answers = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy-key"], "rejected": []},
        "projects": {str(box.project): trusted},
    }
    state = box.home / ".claude.json"
    known = json.loads(state.read_text()) if state.exists() else {}
    state.write_text(json.dumps(known | answers))
