"""The page in a real browser. Skipped with a reason where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from closed_home import close
from web.chromium import chromium, needs_chromium, opened
from web.service import PATIENCE, Service

from memtool.recall.given import PROMPT, GivenLine, Giving, keep_giving
from memtool.recall.ledger import ledger_folder
from memtool.vault.layout import Vault, open_vault
from scripts.clients import find_client

pytestmark = needs_chromium

AXE = find_client("axe")
PICTURES = os.environ.get("MEMTOOL_SCREENSHOTS", "")
SAMPLE = Path(__file__).parents[2] / "sample_vault"
PAGES = ("/", "/timeline", "/overview", "/prompts", "/review", "/settings", "/log")
SCRIPTING = 0.06  # seconds for a screenful


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium, of which each test opens a context of its own."""
    home = tmp_path_factory.mktemp("browser")
    with pytest.MonkeyPatch.context() as patch:
        close(patch, home)
        patch.setenv("TMPDIR", str(home))
        with chromium() as browser:
            yield browser


@pytest.fixture
def page(browser: Any, service: Service) -> Iterator[Any]:
    """The page of a new vault, open."""
    with opened(browser, service) as page:
        yield page


@pytest.fixture
def sample(tmp_path: Path) -> Iterator[Service]:
    """A service of the sample vault, with prompts that received memories."""
    root = tmp_path / "memory"
    shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".memtool"))
    service = Service(open_vault(root), HOME=str(tmp_path))  # the page names it `~/memory`
    fact = GivenLine("k3f9", "areas/projects/shop/facts.json", 3, "fact-20260304-b07e5521dd", relevance=0.82)
    facts = {each["summary"]: each for each in service.get("/memories?kind=fact&project=shop&limit=50")["memories"]}
    token = next(each for text, each in facts.items() if text.startswith("Access tokens"))
    fact = fact._replace(fact_id=token["id"], evidence={"cosine": 0.71, "share": 0.6, "is_here": 1.0})
    other = fact._replace(id="", fact_id=next(each["id"] for text, each in facts.items() if "PgBouncer" in text))
    left = other._replace(relevance=0.12, evidence={"share": 0.1}, left_out="floor")
    asked = (
        ("2026-03-03T16:20", "how long do access tokens live"),
        ("2026-03-05T11:15", "access tokens 有效多久"),
    )
    for turn, (at, prompt) in enumerate(asked, 1):
        giving = Giving(at, PROMPT, "shop", turn, prompt, (fact,), (left,))
        keep_giving(ledger_folder(service.work), "3f2a9c", giving)
    keep_giving(
        ledger_folder(service.work), "3f2a9c", Giving("2026-03-04T09:40", PROMPT, "shop", 3, "rename the button")
    )
    yield service
    service.end()


def remember(service: Service, text: str, *options: str) -> None:
    """Run `memtool remember` as a person or an agent does, in a process of its own."""
    command = [sys.executable, "-m", "memtool", "--vault", str(service.vault.root), "remember", text, *options]
    subprocess.run(command, env=service.environ, check=True, capture_output=True, timeout=PATIENCE)


def write_edits(vault: Vault, days: int, each: int) -> None:
    lines = "\n".join(f"- {at // 60:02d}:{at % 60:02d} **shop**: `f{at}.ts`" for at in range(each))
    for day in range(1, days + 1):
        path = vault.root / f"daily/2026-01-{day:02d}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f"---\ntype: daily\ndate: {path.stem}\n---\n\n# Daily: {path.stem}\n\n{lines}\n", encoding="utf-8"
        )


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
    page.locator("#q").fill("")
    page.wait_for_selector("text=Deploys happen")
    page.select_option("select[name=kind]", "decision")
    page.wait_for_selector(".empty")
    page.select_option("select[name=kind]", "")
    page.wait_for_selector("text=Deploys happen")

    page.keyboard.press("/")
    page.keyboard.press("Escape")  # out of the search field, where keys are letters
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pane .statement")
    page.keyboard.press("Escape")
    page.wait_for_selector("#pane", state="hidden")
    assert page.evaluate("document.activeElement.closest('.card') !== null")  # where the reader was

    page.click("text=Deploys happen on Tuesdays.")
    page.click("#pane .actions summary")
    page.fill("#pane textarea", "Deploys happen on Wednesdays.")
    page.click("#pane .actions details button")
    page.wait_for_selector("#pane .statement:has-text('Wednesdays')")
    assert page.locator("#pane [role=status]").count() == 1
    page.click("#pane .history button >> nth=0")
    page.wait_for_selector("#pane em:has-text('reverted'), #pane .fault")
    facts = service.get("/memories?kind=fact")["memories"]
    assert "Deploys happen on Tuesdays." in [each["summary"].split(" entered")[0] for each in facts]


def test_the_keyboard_alone_finds_changes_and_returns(page: Any, service: Service) -> None:
    remember(service, "登录令牌有效期为 24 小时", "--project", "shop")
    page.reload()
    page.wait_for_selector(".card.fact")
    page.keyboard.press("/")
    page.keyboard.type("令牌")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.closest('.card')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pane .statement")
    focused = "document.activeElement.matches('#pane {}')"
    for target in ("summary", "textarea"):
        while not page.evaluate(focused.format(target)):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter" if target == "summary" else "Control+A")
    page.keyboard.type("登录令牌有效期为 12 小时")
    while not page.evaluate(focused.format("button.first")):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pane [role=status]")
    page.wait_for_selector(".card:has-text('12 小时')")  # what one has done oneself is no news, and is there
    page.keyboard.press("Escape")
    page.wait_for_selector("#pane", state="hidden")
    page.wait_for_function("() => document.activeElement.closest('#feed')")


def test_only_what_the_filters_let_in_is_announced(page: Any, service: Service) -> None:
    time.sleep(1.5)  # the service has begun to follow
    remember(service, "Deploys happen on Tuesdays.", "--project", "shop")
    page.wait_for_selector("text=Deploys happen")
    page.fill("#q", "deploys")
    page.wait_for_selector("mark")
    remember(service, "支付回调要验签", "--project", "shop")
    remember(service, "Deploys never happen on Fridays.", "--project", "shop")
    page.wait_for_selector("#news:visible")
    assert page.locator(".card").count() == 1  # nothing moves under the eyes
    page.click("#news")
    page.wait_for_selector("text=never happen")
    assert page.locator("#news").is_hidden()


def test_theme_and_language_are_chosen_and_kept(page: Any) -> None:
    page.select_option("#theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 27)"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.click("text=中文")
    page.wait_for_selector("input[placeholder='搜索记忆']")
    page.goto(page.url.split("?")[0])
    assert page.get_attribute("html", "lang") == "zh"


def test_every_page_fits_a_small_screen(page: Any, service: Service) -> None:
    remember(service, "x" * 300 + " and a very long word", "--project", "shop")
    remember(service, "苍鹭 nest here", "--project", "a-project-whose-name-takes-forty-letters")
    page.set_viewport_size({"width": 360, "height": 640})
    for path in PAGES:
        page.goto(service.runtime.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    page.goto(service.runtime.url)
    page.click(".card .text a")
    page.wait_for_selector("#pane .statement")
    assert page.evaluate("document.querySelector('#pane').scrollWidth") <= 360
    page.go_back()  # closes the pane, and does not leave the page
    page.wait_for_selector("#pane", state="hidden")


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


def test_a_card_that_cannot_be_fetched_leaves_the_page(page: Any, service: Service) -> None:
    remember(service, "Tokens live 24 hours.")
    page.wait_for_selector("text=Tokens live")
    page.route("**/read/**", lambda route: route.abort())
    page.click("text=Tokens live")
    page.wait_for_selector("#pane .fault")
    page.unroute("**/read/**")
    page.click("text=Tokens live >> nth=0")
    page.wait_for_selector("#pane .statement")


def test_ten_thousand_entries_scroll_smoothly(page: Any, service: Service) -> None:
    write_edits(service.vault, days=10, each=1_000)
    page.goto(f"{service.runtime.url}/?kind=edit")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # whatever else the machine does

    def scripting() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "ScriptDuration"))

    took = []
    for _ in range(120):
        before = scripting()
        page.evaluate("scrollBy({top: innerHeight, behavior: 'instant'})")
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 30)))")
        took.append(scripting() - before)
    assert max(took) <= SCRIPTING, max(took)
    assert page.locator(".part").count() > 15
    assert page.locator(".card").count() < 1_000  # what is far away gave up its cards
    first = page.locator(".part").first
    assert first.locator(".card").count() == 0
    page.keyboard.press("t")
    page.wait_for_function("() => scrollY === 0 && document.querySelectorAll('.part:first-child .card').length === 30")


@pytest.mark.skipif(AXE is None, reason="there is no axe-core: `python3 scripts/clients.py axe` installs it")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, sample: Service, scheme: str) -> None:
    assert AXE is not None
    with opened(browser, sample, color_scheme=scheme) as page:
        for path in PAGES:
            page.goto(sample.runtime.url + path)
            if path == "/":
                page.click(".card.fact .text a >> nth=0")
                page.wait_for_selector("#pane .statement")
            if path == "/overview":
                page.wait_for_selector("[data-load] td")
            page.evaluate(AXE.read_text(encoding="utf-8"))
            found = page.evaluate("axe.run()")["violations"]
            grave = [each for each in found if each["impact"] in ("serious", "critical")]
            assert not grave, (path, [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in grave])


HOSTILE = """# Hostile <script>window.hit=1</script>

<script>window.hit=1</script><svg onload="window.hit=1"><script>window.hit=1</script></svg>
<img src=x onerror=window.hit=1>

[x](javascript:window.hit=1) ![p](https://evil.example/pixel.png)

<iframe srcdoc="<script>parent.hit=1</script>"></iframe>
<style>body{display:none}</style><form action=/service/stop method=post><button>b</button></form>
"""


def test_a_note_cannot_run_anything(page: Any, service: Service) -> None:
    path = service.vault.root / "areas/global/knowledge/2026-02-09-hostile.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HOSTILE}\n| a | b |\n| - | - |\n" + "| x | <b onclick=hit=1>y</b> |\n" * 3_000, encoding="utf-8")
    page.goto(f"{service.runtime.url}/?q=hostile")
    page.click(".card .text a")
    page.wait_for_selector("#pane table")
    page.click("#pane .note >> text=x >> nth=0", force=True, no_wait_after=True)
    assert page.evaluate("window.hit") is None
    assert page.locator("#pane .note :is(script, svg, img, iframe, style, form)").count() == 0
    assert page.locator("#pane .note tr").count() == 3_001


def test_pictures(browser: Any, sample: Service, tmp_path: Path) -> None:
    """Each page is looked at in both languages and schemes; with MEMTOOL_SCREENSHOTS the documents get theirs."""
    folder = Path(PICTURES) if PICTURES else tmp_path
    folder.mkdir(exist_ok=True)
    wide, small = {"width": 1280, "height": 800}, {"width": 360, "height": 720}
    for language, scheme in (("en", "light"), ("zh", "dark")):
        with opened(browser, sample, color_scheme=scheme, viewport=wide, reduced_motion="reduce") as page:
            page.goto(f"{sample.runtime.url}/?lang={language}")
            page.click(".card.session .text a >> nth=0")
            page.wait_for_selector("#pane .note")
            page.mouse.move(0, 0)
            page.screenshot(path=folder / f"feed-{language}-{scheme}.png")
            page.goto(f"{sample.runtime.url}/overview?week=2026-W10")
            page.wait_for_selector("[data-load] td")
            page.screenshot(path=folder / f"overview-{language}-{scheme}.png")
            page.set_viewport_size(small)
            page.goto(sample.runtime.url)
            page.click(".card.prompt .text a >> nth=0")
            page.wait_for_selector("#pane .why")
            page.screenshot(path=folder / f"prompt-{language}-small.png")
    assert len(list(folder.glob("*.png"))) >= 6
