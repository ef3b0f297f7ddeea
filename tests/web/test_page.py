from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
from desk import SHOP, Desk
from fastapi.testclient import TestClient
from trees import write

from memtool.consolidate.proposals import Judged, Proposal
from memtool.consolidate.review import store_proposals, stored_proposals
from memtool.consolidate.week import week_of
from memtool.recall.given import PROMPT, GivenLine, Giving, keep_giving
from memtool.recall.ledger import ledger_folder
from memtool.resources import shipped
from memtool.settings.sections import ABOUT
from memtool.vault.memory import CATEGORIES, KINDS
from memtool.web.rendering import as_html, words_in

PART = {"x-part": "1"}


def texts(html: str) -> list[str]:
    """Return the text of each card of *html*."""
    found = re.findall(r'<p class="text"><a [^>]*>(.*?)</a>', html, re.DOTALL)
    return [unescape(re.sub(r"</?mark>", "", each)) for each in found]


@pytest.mark.slow
def test_the_page_shows_what_is_remembered_and_asks_nobody_else(client: TestClient, desk: Desk) -> None:
    desk.remember("令牌有效期 24 小时。")
    html = client.get("/").text
    assert texts(html) == ["令牌有效期 24 小时。"]
    assert not re.search(r'(?:src|href|action)="(?:https?:)?//', html)
    assert "<script>" not in html
    assert "style=" not in html
    for path in re.findall(r'(?:src|href)="(/static/[^"]+)"', html):
        assert client.get(path).status_code == 200


@pytest.mark.slow
def test_the_first_page_is_small(client: TestClient, desk: Desk) -> None:
    for number in range(40):
        write(desk, f"areas/global/knowledge/2026-02-{number % 28 + 1:02d}-n{number}.md", f"# Note {number}\n\nText.\n")
    html = client.get("/").text
    files = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', html))
    assert len(html.encode()) + sum(len(client.get(path).content) for path in files) < 60 * 1024


@pytest.mark.slow
def test_it_speaks_chinese_to_who_reads_it_and_remembers_the_choice(client: TestClient) -> None:
    assert "搜索记忆" in client.get("/", headers={"accept-language": "zh-CN,zh"}).text
    assert "Search the memory" in client.get("/", headers={"accept-language": "fr"}).text
    assert "搜索记忆" in client.get("/?lang=zh").text
    assert 'lang="zh"' in client.get("/").text  # by the cookie


def test_both_languages_have_the_same_words() -> None:
    def names(table: Mapping[str, Any]) -> set[str]:
        inner = {f"{name}.{each}" for name, value in table.items() if isinstance(value, dict) for each in value}
        return table.keys() | {name for name in inner if not name.startswith("setting_help.")}

    files = (shipped("rules") / code / "page.toml" for code in ("en", "zh"))
    english, chinese = (tomllib.loads(file.read_text(encoding="utf-8")) for file in files)
    assert {name for name in names(english) if not name.startswith("kind_names.")} == {
        name for name in names(chinese) if not name.startswith(("category_names.", "kind_names."))
    }
    assert all(chinese.values())
    assert words_in("zh")["kind_names"].keys() == {"prompt", "edit", *KINDS}
    assert chinese["category_names"].keys() == set(CATEGORIES)
    assert chinese["setting_help"].keys() <= {key for key, about in ABOUT.items() if not about.user_only}


@pytest.mark.slow
def test_parts_of_the_feed_follow_each_other_without_loss(client: TestClient, desk: Desk) -> None:
    minutes = [f"- {at // 60 % 24:02d}:{at % 60:02d} **shop**: `f{at}.ts`" for at in range(100)]
    write(
        desk,
        "daily/2026-02-09.md",
        "---\ntype: daily\ndate: 2026-02-09\n---\n\n# Daily: 2026-02-09\n\n" + "\n".join(minutes),
    )
    same = [f"- 10:00 **shop**: `g{at}.ts`" for at in range(70)]  # more in one minute than on one part
    write(
        desk,
        "daily/2026-02-08.md",
        "---\ntype: daily\ndate: 2026-02-08\n---\n\n# Daily: 2026-02-08\n\n" + "\n".join(same),
    )
    for number in range(70):  # and without any minute
        write(desk, f"areas/global/knowledge/2026-02-07-n{number}.md", f"# Note {number}\n\nText {number}.\n")
    seen: list[str] = []
    address = "/feed?"
    for _ in range(20):
        html = client.get(address).text
        seen += texts(html)
        more = re.search(r'data-next="(/feed\?cursor=[^"]+)"', html)
        if not more:
            break
        address = unescape(more[1])
    assert len(seen) == len(set(seen)) == 240
    assert seen[0] == "f99.ts"
    edits = texts(client.get("/feed?kind=edit").text)
    assert edits[:2] == ["f99.ts", "f98.ts"]
    assert texts(client.get("/feed?since=2026-02-10").text) == []
    assert texts(client.get("/feed?project=shop").text)[0] == "f99.ts"
    assert texts(client.get("/feed?project=teahouse").text) == []


@pytest.mark.slow
def test_a_search_marks_what_matches_and_filters_narrow_it(client: TestClient, desk: Desk) -> None:
    desk.remember("Tokens of the shop live 24 hours.", category="decision")
    desk.remember("Tokens of the teahouse live 1 hour.", project="teahouse")
    html = client.get("/feed?q=tokens").text
    assert html.count("<mark>Tokens</mark>") == 2
    for address in ("/feed?q=tokens&project=shop", "/feed?category=decision"):
        found = texts(client.get(address).text)
        assert len(found) == 1
        assert found[0].startswith("Tokens of the shop live 24 hours.")
    assert "no word" in client.get("/feed?q=%3F%3F").text
    assert "not a date" in client.get("/feed?q=x&since=someday").text  # the page stands


@pytest.mark.slow
def test_a_note_is_read_with_its_history_and_what_links_to_it(client: TestClient, desk: Desk) -> None:
    path = desk.remember("Why JWT: 服务之间必须互相认证。", kind="decision").memory.path
    stem = path.rsplit("/", 1)[-1].removesuffix(".md")
    write(desk, "areas/projects/shop/knowledge/2026-02-11-more.md", f"# More on tokens\n\nSee [[{stem}]].\n")
    html = client.get(f"/read/{path}").text
    assert "服务之间必须互相认证" in html
    assert "remember: shop" in html
    assert "More on tokens" in html
    assert "<html" not in client.get(f"/read/{path}", headers=PART).text
    linked = client.get("/read/areas/projects/shop/knowledge/2026-02-11-more.md", headers=PART).text
    assert f'href="/read/{quote(stem)}"' in linked
    assert client.get("/read/../../etc/passwd").status_code == 404


@pytest.mark.slow
def test_a_fact_is_changed_archived_and_brought_back(client: TestClient, desk: Desk) -> None:
    old = desk.remember("Tokens live 24 hours.").memory.id
    html = client.get(f"/read/{old}").text
    version = re.search(r'name="version" value="(\w+)"', html)
    assert version
    form = {"version": version[1], "content": "Tokens live 12 hours.", "category": "decision", "tags": "auth, 登录"}
    changed = client.post(f"/fact/{old}/change", data=form)
    assert changed.status_code == 200
    new = desk.facts()[-1]
    assert (new.fact, new.category, new.tags, new.author, new.supersedes) == (
        "Tokens live 12 hours.", "decision", ("auth", "登录"), "user", old,
    )  # fmt: skip
    late = client.post(f"/fact/{old}/change", data=form)
    assert (late.status_code, 'role="alert"' in late.text) == (409, True)
    client.post(f"/fact/{new.id}/archive").raise_for_status()
    assert desk.facts()[-1].status == "archived"
    client.post(f"/fact/{new.id}/restore").raise_for_status()
    assert desk.facts()[-1].status == "active"
    undo = re.findall(r'action="(/undo/\w+)"', client.get(f"/read/{new.id}").text)
    client.post(undo[0], data={"name": new.id}).raise_for_status()  # the newest first: bringing it back
    assert desk.facts()[-1].status == "archived"
    assert client.post(f"/fact/{new.id}/change", data={"content": "x"}, headers=PART).status_code == 200


HOSTILE = """# <script>alert(1)</script>

<script>alert(1)</script><svg onload=alert(1)><iframe src=//evil.example></iframe>
[a](javascript:alert(1)) [b](data:text/html,x) [c](vbscript:x) [d](//evil.example) [e](/service/stop)
![pixel](https://evil.example/x.png) <img src=x onerror=alert(1)> [ok](https://example.org "x")
[up](../../../etc/passwd)
[[note" onclick="alert(1)|x"><b>]] `<b>` **粗体**

| a | b |
| - | - |
| <i>x</i> | y |
"""


@pytest.mark.slow
def test_nothing_that_a_note_says_can_run(client: TestClient, desk: Desk) -> None:
    write(desk, "areas/global/knowledge/2026-02-09-hostile.md", HOSTILE)
    html = client.get("/read/areas/global/knowledge/2026-02-09-hostile.md").text
    note = html[html.index('<div class="note">') :]
    tags = {tag.lower() for tag in re.findall(r"<(\w+)", note)}
    assert not tags & {"script", "svg", "iframe", "img", "i", "style", "object"}
    assert not re.search(r"<[^>]*\son\w+\s*=", note)
    links = re.findall(r'<a href="([^"]*)"', note[: note.index("</article>")])
    assert all(link.startswith(("https://", "/read/")) for link in links), links
    assert "https://evil.example/x.png" in links  # to be followed, not loaded
    assert 'rel="noopener noreferrer"' in note
    assert "<strong>粗体</strong>" in note
    assert texts(client.get("/feed?q=alert").text)


@pytest.mark.parametrize(
    ("note", "html"),
    [
        ("See [[Ann's notes]].", 'See <a href="/read/Ann%27s%20notes">Ann\'s notes</a>.'),
        ("<b> [[A & B]] & c", '&lt;b&gt; <a href="/read/A%20%26%20B">A &amp; B</a> &amp; c'),
        ("[[A's|a > b]]", '<a href="/read/A%27s">a &gt; b</a>'),
        ("见[[支付&限流]]", '见<a href="/read/%E6%94%AF%E4%BB%98%26%E9%99%90%E6%B5%81">支付&amp;限流</a>'),
        ('[["><script>|<script>]]', '<a href="/read/%22%3E%3Cscript%3E">&lt;script&gt;</a>'),
    ],
)  # fmt: skip
def test_a_wiki_link_leads_to_the_note_that_it_names(note: str, html: str) -> None:
    assert as_html(note, "a.md") == f"<p>{html}</p>\n".replace('">', '" rel="noopener noreferrer">')


def test_a_wiki_link_leads_nowhere_outside_the_vault() -> None:
    assert "href" not in as_html("[[../x]] [[a/../../x|y]] [[/etc/passwd]]", "a.md")


@pytest.mark.slow
def test_a_feed_that_fails_leaves_the_page(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from memtool.errors import Busy

    def fail(*_: object) -> None:
        raise Busy("the index cannot be used now")

    monkeypatch.setattr("memtool.web.page.read_feed", fail)
    html = client.get("/").text
    assert "the index cannot be used now" in html
    assert 'id="filters"' in html


@pytest.mark.slow
def test_prompts_show_what_each_was_given_and_why(client: TestClient, desk: Desk) -> None:
    fact = desk.remember("登录令牌有效期为 24 小时。")
    given = GivenLine("k3f9", SHOP, fact.memory.place.start_line, fact.memory.id, relevance=0.8, evidence={"lead": 1.0})
    other = GivenLine("", SHOP, 0, fact.memory.id, relevance=0.1, left_out="floor")
    giving = Giving(desk.now.isoformat(), PROMPT, "shop", 3, "令牌 有效期", (given,), (other,))
    keep_giving(ledger_folder(desk.work), "3f2a9c", giving)
    for html in (client.get("/prompts").text, client.get("/given/3f2a9c/3").text):
        assert "令牌 有效期" in html
        assert f'href="/read/{fact.memory.id}"' in html
        assert "begins with it" in html
        assert "too unlikely" in html
    assert "可能性太低" in client.get("/given/3f2a9c/3?lang=zh").text
    assert client.get("/given/../3").status_code == 404
    feed = client.get("/feed").text
    assert 'href="/given/3f2a9c/3"' in feed
    assert texts(client.get("/feed?kind=prompt&lang=en").text) == ["令牌 有效期"]
    assert texts(client.get("/feed?kind=prompt&project=teahouse").text) == []


@pytest.mark.slow
def test_proposals_of_a_week_are_kept_changed_dropped_or_left(client: TestClient, desk: Desk) -> None:
    texts_of = (
        "Deploys happen on Tuesdays.",
        "令牌有效期 24 小时。",
        "Nobody likes mondays here.",
        "Ports begin at 8000.",
    )
    proposals = [
        Proposal(text, "decision", "agent", "shop", evidence="said so", at="2026-02-09T10:00:00+08:00")
        for text in texts_of
    ]
    week = week_of(desk.now.date())
    store_proposals(desk.vault, week, [Judged(each, "new") for each in proposals])
    html = client.get("/review").text
    assert all(text in html for text in texts_of)
    keep, change, drop, _ = (each.id for each in proposals)
    form = {
        f"choice-{keep}": "keep", f"text-{keep}": texts_of[0],
        f"choice-{change}": "keep", f"text-{change}": "令牌有效期 12 小时。",
        f"choice-{drop}": "drop", f"text-{drop}": texts_of[2],
        f"choice-{proposals[3].id}": "later", f"text-{proposals[3].id}": texts_of[3],
    }  # fmt: skip
    done = client.post(f"/review/{week}", data=form)
    assert done.status_code == 200
    assert [each.proposal.text for each in stored_proposals(desk.vault, week)] == [texts_of[3]]
    told = {(fact.fact, fact.status, fact.author) for fact in desk.facts()}
    assert told == {
        ("Deploys happen on Tuesdays.", "active", "agent"),
        ("令牌有效期 12 小时。", "active", "user"),
        ("Nobody likes mondays here.", "archived", "agent"),
    }
    assert client.post("/review/2026-W99", data={f"choice-{keep}": "keep", f"text-{keep}": "x"}).status_code == 400
