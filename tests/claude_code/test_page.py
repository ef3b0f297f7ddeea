"""The page while the real client works: a session appears on it as it is written."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest
from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.script import use
from web.chromium import chromium, needs_chromium, opened
from web.service import Service

from memtool.vault.layout import open_vault

pytestmark = [*needs_chromium, pytest.mark.skipif(sys.platform != "linux", reason="lists processes by /proc")]

WITHIN = 5.0  # seconds: it takes a third of one where nothing else waits for the processor
WATCH = """() => {
  const look = () => {
    if (!window.appeared && [...document.querySelectorAll(".card.session")].some(each => each.textContent.includes("access tokens")))
      window.appeared = Date.now() / 1000;
  };
  new MutationObserver(look).observe(document.querySelector("#feed"), { childList: true, subtree: true });
}"""  # noqa: E501


class Written(threading.Thread):
    """Notes the time at which the first session's note was there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self._folder = folder
        self.at = 0.0

    def run(self) -> None:
        while not self.at:
            if any(self._folder.glob("*.md")):
                self.at = time.time()
            time.sleep(0.005)


def test_a_session_appears_on_the_open_page_soon_after_its_note_is_written(
    box: Box, api: ScriptedApi, owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    service = Service(open_vault(owner.vault), **box.environ())
    try:
        with chromium() as browser, opened(browser, service) as page:
            page.evaluate(WATCH)
            time.sleep(1.5)  # the service has begun to follow
            written = Written(owner.vault / "sessions")
            written.start()
            api.answers([
                use("Write", file_path=str(box.project / "auth.ts"), content="const hours = 24;\n"),
                "We decided to let access tokens live 24 hours, because the refresh token is rotated.",
            ])  # fmt: skip
            box.run(api.url, "Make login tokens live longer", "--allowedTools", "Write")
            page.wait_for_selector(".card.session:has-text('access tokens')")
            took = page.evaluate("window.appeared") - written.at
            assert took <= WITHIN, took
    finally:
        service.end()
