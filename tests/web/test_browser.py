"""The page in a real browser: Debian's Chromium, driven by Playwright. Skipped with a reason where one is missing."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from web.service import PATIENCE, Service

from memtool.cli.main import cli

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium; `apt-get install chromium` brings one"),
    pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="playwright is not installed"),
    pytest.mark.skipif(sys.platform == "win32", reason="only tried on Linux"),
]

WAIT = 15_000  # milliseconds


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, service: Service) -> Iterator[Any]:
    """The page of the service, open; no request leaves the machine, and no script fails."""
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    page.set_default_timeout(WAIT)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    page.on(
        "request", lambda asked: faults.append(asked.url) if not asked.url.startswith(service.runtime.url) else None
    )
    page.goto(link(service))
    page.wait_for_selector("#feed")
    yield page
    context.close()
    assert not faults


def link(service: Service) -> str:
    ran = CliRunner().invoke(cli, ["--vault", str(service.vault.root), "serve", "--open", "--json"])
    return str(json.loads(ran.output)["link"])


def remember(service: Service, text: str, *options: str) -> None:
    """Run `memtool remember` as a person or an agent does, in a process of its own."""
    command = [sys.executable, "-m", "memtool", "--vault", str(service.vault.root), "remember", text, *options]
    subprocess.run(command, env=service.environ, check=True, capture_output=True, timeout=PATIENCE)


def test_what_is_written_comes_by_itself_and_is_found_changed_and_taken_back(page: Any, service: Service) -> None:
    time.sleep(1.5)  # the service has begun to follow
    remember(service, "登录令牌有效期为 24 小时", "--project", "shop")
    page.wait_for_selector("text=登录令牌有效期为 24 小时")
    remember(service, "Deploys happen on Tuesdays.", "--project", "shop")
    page.wait_for_selector("text=Deploys happen on Tuesdays.")

    page.keyboard.press("/")
    page.keyboard.type("令牌")
    page.wait_for_selector("mark:has-text('令牌')")
    assert page.locator(".card").count() == 1
    assert "q=" in page.url
    page.keyboard.press("Tab")
    page.locator("#q").fill("")
    page.wait_for_selector("text=Deploys happen")

    page.locator("#feed").focus()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pane .statement")
    page.keyboard.press("Escape")
    assert page.locator("#pane").is_hidden()

    page.click("text=Deploys happen on Tuesdays.")
    page.click("#pane summary")
    page.fill("#pane textarea", "Deploys happen on Wednesdays.")
    page.click("#pane details button")
    page.wait_for_selector("#pane .statement:has-text('Wednesdays')")
    assert page.locator("#pane [role=status]").count() == 1
    page.click("#pane .history button >> nth=0")
    page.wait_for_selector("#pane em:has-text('taken back'), #pane .fault")
    facts = service.get("/memories?kind=fact")["memories"]
    assert "Deploys happen on Tuesdays." in [each["summary"].split(" entered")[0] for each in facts]


def test_theme_and_language_are_chosen_and_kept(page: Any) -> None:
    page.select_option("#theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.click("text=中文")
    page.wait_for_selector("input[placeholder='搜索记忆']")
    page.goto(page.url.split("?")[0])
    assert page.get_attribute("html", "lang") == "zh"


def test_it_fits_a_small_screen(page: Any, service: Service) -> None:
    remember(service, "x" * 300 + " and a very long word", "--project", "shop")
    page.set_viewport_size({"width": 360, "height": 640})
    page.reload()
    page.wait_for_selector(".card")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_connection_that_is_gone_is_told_and_what_was_missed_is_shown(page: Any, service: Service) -> None:
    port, token = service.runtime.port, service.token
    time.sleep(1.5)
    service.end()
    page.wait_for_selector("#gone:visible")
    remember(service, "Written while nobody served.")
    again = Service(service.vault, "--port", str(port))
    try:
        assert again.token == token
        page.wait_for_selector("#gone", state="hidden")
        page.wait_for_selector("text=Written while nobody served.")
    finally:
        again.end()


def test_ten_thousand_entries_scroll(page: Any, service: Service) -> None:
    lines = [f"- {at // 60:02d}:{at % 60:02d} **shop**: `f{at}.ts`" for at in range(1_000)]
    for day in range(1, 11):
        head = f"---\ntype: daily\ndate: 2026-01-{day:02d}\n---\n\n# Daily: 2026-01-{day:02d}\n\n"
        path = service.vault.root / f"daily/2026-01-{day:02d}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    page.goto(f"{service.runtime.url}/?kind=edit")
    for _ in range(12):
        before = page.locator(".card").count()
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait_for_function("count => document.querySelectorAll('.card').length > count", arg=before)
    assert page.locator(".card").count() > 300
    assert len(set(page.locator(".card .text").all_text_contents())) >= 300


def test_a_screen_reader_finds_its_way(page: Any, service: Service) -> None:
    remember(service, "Tokens live 24 hours.")
    page.reload()
    page.wait_for_selector(".card")
    tree = page.locator("body").aria_snapshot()
    for landmark in (
        "banner",
        "main",
        "search",
        'searchbox "Search the memory"',
        'region "What is remembered"',
        "article",
    ):
        assert landmark in tree, tree
    unnamed = page.evaluate(
        "[...document.querySelectorAll('input:not([type=hidden]), select, button, textarea')]"
        ".filter(each => !each.labels?.length && !each.ariaLabel && !each.textContent.trim()).length"
    )
    assert unnamed == 0


def test_a_note_cannot_run_anything(page: Any, service: Service) -> None:
    path = service.vault.root / "areas/global/knowledge/2026-02-09-hostile.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# Hostile\n\n<script>window.hit=1</script>\n[x](javascript:window.hit=1)\n", encoding="utf-8")
    page.goto(f"{service.runtime.url}/read/areas/global/knowledge/2026-02-09-hostile.md")
    page.click("text=x >> nth=0", force=True, no_wait_after=True)
    assert page.evaluate("window.hit") is None
