"""People who work with a team's service while something happens to it."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Self

from team.team_server import PATIENCE, Answer, TeamServer

OKAPI = "The okapi is striped 斑马."


class People:
    """Three who work with the service at once: one searches, two save; each keeps what was answered."""

    def __init__(self, server: TeamServer) -> None:
        self.answers: list[Answer] = []
        self.saved: list[str] = []  # what was answered with 200
        self.searched = 0  # answers of a search
        self.problems: list[str] = []
        self._server = server
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._search)]
        self._threads += [threading.Thread(target=self._save, args=(name,)) for name in ("ada", "bob")]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def until_more(self, *, saved: int = 0, searched: int = 0, refused: int = 0) -> None:
        """Wait until so many more were saved, found and refused."""
        wanted = [have + more for have, more in zip(self._counts(), (saved, searched, refused), strict=True)]
        deadline = time.monotonic() + PATIENCE
        while any(have < least for have, least in zip(self._counts(), wanted, strict=True)):
            assert time.monotonic() < deadline, (self.problems, self.answers[-3:])
            time.sleep(0.01)

    def _counts(self) -> tuple[int, int, int]:
        return len(self.saved), self.searched, sum(answer.status == 503 for answer in self.answers)

    def _search(self) -> None:
        while not self._ending.is_set():
            answer = self._asked(lambda: self._server.ask("POST", "/search", {"query": "okapi"}))
            if answer and answer.status == 200:
                self.searched += 1
                if not any(each["summary"].startswith(OKAPI) for each in answer.fields["memories"]):
                    self.problems.append(f"a wrong answer: {answer.body!r}")

    def _save(self, name: str) -> None:
        for number in itertools.count():
            if self._ending.is_set():
                return
            word = f"{name}{number:03}x"
            answer = self._asked(partial(self._server.save, f"{word} is the name of a quagga."))
            if answer and answer.status == 200:
                self.saved.append(word)

    def _asked(self, ask: Callable[[], Answer]) -> Answer | None:
        try:
            answer = ask()
        except OSError:  # the service itself is away
            return None
        self.answers.append(answer)
        if answer.status != 200:
            is_clear = answer.status == 503 and answer.headers.get("retry-after") and answer.fields["detail"]
            if not is_clear:
                self.problems.append(f"{answer.status}: {answer.body!r}")
            time.sleep(0.02)
        return answer


def is_found_once(server: TeamServer, word: str) -> bool:
    """Return whether one of the memories that are found says *word*; others are like it."""
    answer = server.ask("POST", "/search", {"query": word})
    memories = answer.fields["memories"] if answer.status == 200 else []
    return sum(word in each["summary"] for each in memories) == 1


def check_all(server: TeamServer, people: People) -> None:
    """Check that nothing wrong was answered, and that each write that was answered is pushed and found, once."""
    assert not people.problems
    assert people.saved
    server.until(lambda: all(word in server.pushed() for word in people.saved))
    for word in people.saved[:3] + people.saved[-3:]:
        server.until(partial(is_found_once, server, word))
    assert server.vaults()[0]["problem"] == ""
