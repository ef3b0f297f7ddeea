"""The real client without a terminal, a prompt at a time: what happens between two prompts is up to the test."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from typing import Self

from claude_code.box import Box
from claude_code.script import Json

_PATIENCE = 60  # seconds


class Talk:
    """`with Talk(box, api.url) as talk: talk.say("hello")`."""

    def __init__(self, box: Box, url: str, *flags: str) -> None:
        told = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-hook-events")
        self._client = subprocess.Popen(
            [str(box.client), "-p", *told, *flags], cwd=box.project, env=box.environ(url), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._watch = threading.Timer(_PATIENCE, self._client.kill)
        self._watch.start()

    def say(self, prompt: str) -> list[Json]:
        """Say *prompt*, and return all that the client tells until it has answered it."""
        assert self._client.stdin is not None
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self._client.stdin.write(json.dumps(message) + "\n")
        self._client.stdin.flush()
        return list(self._until_answer())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the client end by itself."""
        try:
            self._client.communicate()
        finally:
            self._watch.cancel()

    def _until_answer(self) -> Iterator[Json]:
        assert self._client.stdout is not None
        for line in self._client.stdout:
            event = json.loads(line)
            yield event
            if event["type"] == "result":
                return
        raise AssertionError("the client ended without an answer")
