"""The hub of a service: it follows changes of the vault and wakes the readers of events."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

from memtool.errors import Busy, MemtoolError
from memtool.memory.event_log import GIVEN, EventLog, Logged
from memtool.memory.timeline import event_fields
from memtool.vault.memory import SESSION
from memtool.vault.state import STATE_FOLDER
from memtool.web.life import Life
from memtool.workspace import OpenWorkspace

_LOOK = 2.0  # seconds between two looks where the system does not tell of changes
_TYPES = {SESSION: "new_summary", GIVEN: "new_prompt"}
_LEDGERS = (STATE_FOLDER, "ledgers")


class Hub:
    """The events of one vault, for any number of readers."""

    def __init__(self, open_workspace: OpenWorkspace, life: Life, *, heartbeat: float = 15.0) -> None:
        self._open_workspace = open_workspace
        self._life = life
        self._heartbeat = heartbeat
        self._changed = asyncio.Event()
        self._readers = 0

    @property
    def log(self) -> EventLog:
        """The log of events of the vault."""
        return EventLog(self._open_workspace(None).index_folder)

    async def follow(self) -> None:
        """Follow the vault until the service ends."""
        try:
            await self._watch()
        except (OSError, RuntimeError, ImportError):  # no watcher, or too few of the system's watches
            while not self._life.ending.is_set():
                await self._look()
                await self._pause()

    def stream(self, last_id: int | None) -> AsyncIterator[bytes]:
        """Return the events after number *last_id*, or from now on, as server-sent events, until the service ends.

        Raises:
            Busy: there are too many readers.
        """
        if self._readers >= 50:
            raise Busy(f"the stream already has {self._readers} readers")
        return self._events(last_id)

    async def _events(self, last_id: int | None) -> AsyncIterator[bytes]:
        self._readers += 1
        try:
            last = await asyncio.to_thread(self.log.last_id) if last_id is None else last_id
            yield b'retry: 1000\nid: %d\ndata: {"type": "connected"}\n\n' % last
            while not self._life.ending.is_set():
                changed = self._changed
                found = await asyncio.to_thread(self.log.since, last, 500)
                for each in found:
                    last = each.id
                if found:
                    yield b"".join(map(_as_event, found))
                elif not await _either(changed, self._life.ending, self._heartbeat):
                    yield b": still here\n\n"
        finally:
            self._readers -= 1

    async def _watch(self) -> None:
        from watchfiles import awatch

        root = self._open_workspace(None).vault.root
        changes = awatch(
            root,
            watch_filter=lambda _change, path: _is_of_interest(root, path),
            debounce=1_000,
            step=150,  # milliseconds without a change end a burst of them
            stop_event=self._life.ending,
        )
        coming = asyncio.ensure_future(anext(changes, None))
        await asyncio.sleep(0)  # the watches are set now: they report what the first look misses
        await self._look()
        while await coming is not None:
            coming = asyncio.ensure_future(anext(changes, None))
            await self._look()

    async def _look(self) -> None:
        """Log what is new; as long as the vault or the log cannot be read, try again."""
        while not self._life.ending.is_set():
            with contextlib.suppress(MemtoolError, OSError):
                if await asyncio.to_thread(lambda: self.log.follow(self._open_workspace(None))):
                    self._changed.set()
                    self._changed = asyncio.Event()
                return
            await self._pause()

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._life.ending.wait(), _LOOK)


def _as_event(logged: Logged) -> bytes:
    """Return an event as server-sent bytes."""
    fields = {"type": _TYPES.get(logged.event.kind, "new_observation"), "at": logged.at, **event_fields(logged.event)}
    return f"id: {logged.id}\ndata: {json.dumps(fields)}\n\n".encode()


async def _either(one: asyncio.Event, other: asyncio.Event, seconds: float) -> bool:
    """Wait until one of two events is set; return whether that was within so many *seconds*."""
    waiting = [asyncio.ensure_future(each.wait()) for each in (one, other)]
    try:
        done, _ = await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for each in waiting:
            each.cancel()


def _is_of_interest(root: Path, path: str) -> bool:
    """Return whether a change at *path* may bring an event: notes, facts, and what prompts were given."""
    try:
        parts = Path(path).relative_to(root).parts
    except ValueError:
        return False
    return parts[:2] == _LEDGERS or not any(part.startswith(".") for part in parts)
