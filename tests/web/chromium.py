"""Debian's Chromium, driven by Playwright: what tests of the page start from."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from web.service import Service

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
WAIT = 15_000  # milliseconds

needs_chromium = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium; `apt-get install chromium` brings one"),
    pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="playwright is not installed"),
    pytest.mark.skipif(sys.platform == "win32", reason="only tried on Linux"),
]


@contextmanager
def chromium() -> Iterator[Any]:
    """Give a headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
            env={**os.environ, "TMPDIR": "/tmp"},  # for a socket, whose path may have a hundred characters
        )
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, service: Service, **options: Any) -> Iterator[Any]:
    """Give the page of *service*, open. No request leaves the machine, no script fails, the policy holds."""
    context = browser.new_context(**{"locale": "en-US", **options})
    page = context.new_page()
    page.set_default_timeout(WAIT)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("request", lambda asked: None if asked.url.startswith(service.runtime.url) else faults.append(asked.url))
    page.goto(service.runtime.url + service.post("/service/link")["path"])
    page.wait_for_selector("#feed")
    yield page
    context.close()
    assert faults == []
