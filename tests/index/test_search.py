from __future__ import annotations

import datetime as dt
import sqlite3
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from index.notebook import TODAY, Notebook, fill

from memtool.index import limits, search as search_module
from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.search import Snippet, search, snippet, snippet_of

ON_BOTH_ENGINES = True
NOTES = {
    "rust.md": "The compiler stops with error[E0308]: mismatched types.",
    "issue.md": "Fixed in #4573, see the thread.",
    "release.md": "Since v2.1.210 hooks may be asynchronous.",
    "users.py.md": "Call getUserById(7) to load one.",
    "pool.md": "Set max_connections = 5 for the pool.",
    "path.md": "Look at src/auth/jwt_middleware.ts:12 first.",
    "url.md": "It is described at https://example.com/guides/deploy-keys?page=2#top.",
    "cpp.md": "那个模块是用C++写的。",
    "panic.md": "Rust中的panic怎么处理：解密失败时返回错误。",
    "ja.md": "トークンの有効期限は２４時間です。",
    "ko.md": "배포 키는 금고에 보관한다.",
    "th.md": "ฐานข้อมูลสำรองทุกคืน",
    "french.md": "La clé de déploiement est périmée.",
}


@pytest.fixture
def many(notebook: Notebook) -> Notebook:
    """Notes of every sort."""
    for ref, text in NOTES.items():
        notebook.write(ref, text)
    fill(notebook, 5)
    return notebook


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "ref"),
    [
        ("E0308", "rust.md"),
        ("e0308 mismatched", "rust.md"),
        ("#4573", "issue.md"),
        ("4573", "issue.md"),
        ("v2.1.210", "release.md"),
        ("2.1.210", "release.md"),
        ("user", "users.py.md"),
        ("getuserbyid", "users.py.md"),
        ("connections", "pool.md"),
        ("max_connections", "pool.md"),
        ("src/auth/jwt_middleware.ts", "path.md"),
        ("jwt_middleware.ts", "path.md"),
        ("middleware", "path.md"),
        ("https://example.com/guides/deploy-keys?page=2", "url.md"),
        ("example.com deploy keys", "url.md"),
        ("C++", "cpp.md"),
        ("panic", "panic.md"),
        ("怎么处理panic", "panic.md"),
        ("败时", "panic.md"),
        ("误", "panic.md"),
        ("有効期限", "ja.md"),
        ("24時間", "ja.md"),
        ("금고", "ko.md"),
        ("ข้อมูล", "th.md"),
        ("deploiement", "french.md"),
        ("CLÉ", "french.md"),
    ],
)
def test_it_is_found_by_whole_and_by_part_in_any_language(many: Notebook, query: str, ref: str) -> None:
    assert many.find(query)[:1] == [ref]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(exclude_categories=()))
    | st.lists(
        st.sampled_from(
            ['"', "*", "NEAR(", "AND", "OR NOT", "^", "{a b}:", "terms:", "-", "\x00", "\ud800", "word1", "失败"]
        )
    ).map(" ".join),
    st.sampled_from([{}, {"projects": ("shop",)}, {"tags": ("x",)}]),
)
def test_no_query_is_syntax_or_damages_the_index(notebook: Notebook, query: str, wanted: dict[str, Any]) -> None:
    fill(notebook, 3)
    notebook.opened()
    before = notebook.use(lambda index: index.address)  # which a file that is built anew changes

    notebook.search(query, **wanted)

    assert notebook.use(lambda index: index.address) == before
    assert notebook.find("word1")[:1] == ["n1.md"]


def test_a_word_beside_fts_syntax_is_found(many: Notebook) -> None:
    for query in ('"panic', "panic*", "NEAR(panic", "panic AND", "-panic", "terms:panic", "pa\x00nic panic"):
        assert many.find(query)[:1] == ["panic.md"], query


def test_a_query_of_function_words_finds_them(notebook: Notebook) -> None:
    notebook.write("a.md", "什么都没有")
    notebook.write("b.md", "to be or not to be")

    assert notebook.find("什么") == ["a.md"]
    assert notebook.find("to be or not to be") == ["b.md"]


def test_a_long_query_is_cut_and_says_so(many: Notebook) -> None:
    found = many.search("panic " + "x" * limits.LONGEST_QUERY)

    assert found.hits[0].memory.path == "panic.md"
    assert found.notices[0] == "the query is long: only its first 20,000 characters were used"


def test_of_many_words_the_rarest_are_asked_for(notebook: Notebook) -> None:
    common = " ".join(f"common{number}" for number in range(60))
    for number in range(5):
        notebook.write(f"{number}.md", common)
    notebook.write("rare.md", "needle " + common)

    found = notebook.search(f"{common} needle")

    assert found.hits[0].memory.path == "rare.md"
    assert found.notices == ("the query is long: only its rarest words were used",)


# ------------------------------------------------------------------------------------------------------------- filters


@pytest.fixture
def filed(notebook: Notebook) -> Notebook:
    """Notes of several kinds, projects, dates and states, all about keys."""
    for ref, front in {
        "areas/projects/shop/decisions/2026-01-15-keys.md": "tags: [auth, web/login]",
        "areas/projects/shop/rules.md": "date: 2026-02-28",
        "areas/projects/cart/knowledge/keys.md": "category: bug\ntags: machine learning",
        "areas/projects/Ärger/summary.md": "tags: Größe",
        "sessions/2025-12-31-a.md": "project: shop",
        "expired.md": "expires: 2026-02-09",
        "expiring.md": "expires: 2026-02-10",
        "superseded.md": "status: Superseded",
        "archived.md": "status: archived",
        "archive/sessions/old.md": "type: session",
    }.items():
        notebook.write(ref, f"---\n{front}\n---\nkey of {ref.replace('/', ' ')}")
    return notebook


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"kinds": ("decision",)}, "2026-01-15-keys"),
        ({"kinds": ("decision", "RULES")}, "2026-01-15-keys rules"),
        ({"projects": ("shop",)}, "2026-01-15-keys rules 2025-12-31-a"),
        ({"projects": ("Shop",), "kinds": ("session",)}, "2025-12-31-a"),
        ({"projects": ("Ärger",)}, "summary"),
        ({"projects": ("\udcff",)}, ""),
        ({"categories": ("bug",)}, "keys"),
        ({"tags": ("auth",)}, "2026-01-15-keys"),
        ({"tags": ("#Web",)}, "2026-01-15-keys"),
        ({"tags": ("web/login", "auth")}, "2026-01-15-keys"),
        ({"tags": ("login",)}, ""),
        ({"tags": ("auth", "nothing")}, ""),
        ({"tags": ("Machine Learning",)}, "keys"),
        ({"tags": ("GRÖSSE",)}, "summary"),
        ({"tags": ("%",)}, ""),
        ({"tags": ("\udcff",)}, ""),
        ({"since": "2026-01-15"}, "2026-01-15-keys rules"),
        ({"until": "2026-01-15"}, "2026-01-15-keys 2025-12-31-a"),
        ({"since": "2026-01-01", "until": "2026-01-31"}, "2026-01-15-keys"),
        ({"since": "2026-02-01", "projects": ("cart",)}, ""),
        ({}, "2026-01-15-keys rules keys summary 2025-12-31-a expiring"),
        ({"archived": True, "kinds": ("session", "note")}, "2025-12-31-a expiring archived old"),
        ({"everything": True, "kinds": ("note",)}, "expired expiring superseded archived"),
    ],
)
def test_filters_say_what_is_searched(filed: Notebook, wanted: dict[str, Any], names: str) -> None:
    found = filed.find("key", limit=50, **wanted)

    assert sorted(ref.rsplit("/", 1)[-1].removesuffix(".md") for ref in found) == sorted(names.split())


def test_the_state_of_a_fact_is_that_of_its_chunk(notebook: Notebook) -> None:
    states = ("active", "superseded", "archived")
    facts = ",\n".join(
        f'{{"id": "{state}", "fact": "key {state} {index * 77}", "evidence": "x", "status": "{state}",'
        f' "category": "bug", "timestamp": "2026-01-0{index}T00:00:00Z"}}'
        for index, state in enumerate(states, 1)
    )
    notebook.write("areas/global/facts.json", f'{{"facts": [\n{facts}\n]}}')

    def ids(**wanted: Any) -> set[str]:
        return {hit.memory.fact_id for hit in notebook.search("key", **wanted).hits}

    assert ids() == {"active"}
    assert ids(archived=True) == {"active", "archived"}
    assert ids(everything=True) == set(states)


@pytest.mark.slow
def test_a_narrow_filter_still_fills_the_page(notebook: Notebook) -> None:
    for number in range(400):
        project = "shop" if number % 40 == 0 else "cart"
        notebook.write(
            f"{number:03}.md",
            f"---\nproject: {project}\n---\nkey {number * 7919} {number * 104729}" + " key" * (number % 40),
        )

    assert len(notebook.find("key", limit=10, projects=("shop",))) == 10


# --------------------------------------------------------------------------------------------------------------- order


@pytest.mark.slow
def test_of_near_duplicates_one_is_shown_and_the_page_is_full(notebook: Notebook) -> None:
    for number in range(40):
        notebook.write(
            f"copy{number:02}.md", "---\ntitle: Keys\n---\n" + "the deploy key is kept in the vault of the team " * 3
        )
    for number in range(10):
        notebook.write(
            f"other{number}.md", f"key {number * 7919} filler words make this one longer and weaker {number * 104729}"
        )

    found = notebook.find("deploy key", limit=6)

    assert len(found) == 6
    assert sum(ref.startswith("copy") for ref in found) == 1


@pytest.mark.slow
def test_equal_scores_are_ordered_the_same_way_each_time(notebook: Notebook) -> None:
    for number in range(30):
        notebook.write(f"{number:02}.md", f"key{chr(97 + number % 26)}{number} same")

    first = notebook.find("same", limit=30)

    assert first == notebook.find("same", limit=30) == sorted(first)
    notebook.use(lambda index: index, rebuild=True)
    assert notebook.find("same", limit=30) == first


def test_a_note_of_the_day_that_is_asked_for_comes_first(notebook: Notebook) -> None:
    for day in range(1, 9):
        notebook.write(f"daily/2023-05-0{day}.md", f"met Caroline, talked about the project {day * 7919}")

    assert notebook.find("what did Caroline talk about on 8 May 2023")[:1] == ["daily/2023-05-08.md"]
    assert notebook.find("5月3日Caroline说了什么")[:1] == ["daily/2023-05-03.md"]


def test_a_daily_page_yields_to_the_sessions_that_it_links_to(notebook: Notebook) -> None:
    edits = "".join(f"- 10:{minute} **shop**: `src/jwt.ts`\n" for minute in range(10, 20))
    link = "- 11:00 **shop**: [登录改用 JWT](../sessions/2026-01-14-login.md)"
    notebook.write("daily/2026-01-14.md", f"# Daily\n\n{edits}\n## Sessions\n\n{link}\n")
    notebook.write("sessions/2026-01-14-login.md", "# 登录改用 JWT\n\n- src/jwt.ts 的过期时间 leeway " + "其他 " * 60)
    fill(notebook, 5)

    hits = notebook.search("src/jwt.ts").hits

    assert [hit.memory.path[:5] for hit in hits][:2] == ["sessi", "daily"]
    assert hits[0].score == hits[1].score  # its own is higher
    assert notebook.find("src/jwt.ts", kinds=("daily",)) == ["daily/2026-01-14.md"]


def test_a_hit_says_where_it_is_and_why(notebook: Notebook) -> None:
    notebook.write(
        "areas/projects/shop/decisions/2026-01-15-keys.md",
        "---\ntitle: Keys\n---\n\n# Where\n\nThe deploy key is 解密。\n",
    )

    fill(notebook, 5)

    hit = notebook.search("解密 deploy").hits[0]

    assert (hit.memory.path, hit.memory.place.start_line, hit.memory.place.end_line) == (
        "areas/projects/shop/decisions/2026-01-15-keys.md",
        5,
        7,
    )
    assert (hit.memory.kind, hit.memory.project, hit.memory.title, hit.memory.heading) == (
        "decision",
        "shop",
        "Keys",
        "Where",
    )
    assert (hit.memory.date, hit.memory.category, hit.memory.fact_id) == ("2026-01-15", "decision", "")
    line, marks = snippet_of(hit)
    assert [line[start:end] for start, end in marks] == ["deploy", "解密"]
    assert hit.why["bm25"]["rank"] == 1
    assert hit.why["bm25"]["characters"] == 1.0
    assert hit.score > hit.why["bm25"]["score"]


# ---------------------------------------------------------------------------------------------------------- completion


def test_a_half_typed_word_finds_the_whole_one_and_says_so(notebook: Notebook) -> None:
    notebook.write("a.md", "authentication with tokens")
    notebook.write("b.md", "reauthorization of the rest")

    found = notebook.search("authen")

    assert [hit.memory.path for hit in found.hits] == ["a.md"]
    assert found.notices == ("'authen' occurs nowhere; searched for authentication",)
    assert notebook.find("uthoriz") == ["b.md"]
    assert notebook.find("zzz") == []


def test_a_word_that_occurs_is_not_completed(notebook: Notebook) -> None:
    notebook.write("a.md", "auth")
    notebook.write("b.md", "authentication")

    found = notebook.search("auth")

    assert ([hit.memory.path for hit in found.hits], found.notices) == (["a.md"], ())


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("deploiment", "deployment"),  # a wrong letter
        ("deplyoment", "deployment"),  # two swapped
        ("deplyment", "deployment"),  # one missing
        ("deplooyment", "deployment"),  # one too many
        ("部署deploiment失败", "deployment"),
        ("развертывпние", "развертывание"),
        ("max_conections", "connections"),
    ],
)
def test_one_typing_error_in_a_word_that_occurs_nowhere_is_forgiven(notebook: Notebook, query: str, meant: str) -> None:
    notebook.write("a.md", "deployment of max_connections, 部署; развертывание")
    fill(notebook, 5)

    found = notebook.search(query)

    assert [hit.memory.path for hit in found.hits][:1] == ["a.md"]
    assert any(notice.endswith(f"occurs nowhere; searched for {meant}") for notice in found.notices)


@pytest.mark.parametrize("query", [*"depl rust e0309 v2.1.211 #4574 deploimentt 部暑 fangling".split(), "a" * 5000])
def test_what_is_short_a_code_or_quite_another_word_is_no_typing_error(notebook: Notebook, query: str) -> None:
    notebook.write("a.md", "employment, dust, dangling, E0308, v2.1.210, #4573, 部队; " + "a" * 24)

    assert not [notice for notice in notebook.search(query).notices if "部" not in notice]


def test_words_that_occur_nowhere_any_more_are_not_offered(notebook: Notebook) -> None:
    for number in range(30):
        notebook.write(f"old{number}.md", f"authen{number:02}")
    notebook.write("new.md", "authentication")
    notebook.opened()
    for number in range(30):
        (notebook.root / f"old{number}.md").unlink()

    found = notebook.search("authen")

    assert [hit.memory.path for hit in found.hits] == ["new.md"]
    assert found.notices == ("'authen' occurs nowhere; searched for authentication",)


def test_a_run_that_occurs_nowhere_is_tried_by_its_characters(notebook: Notebook) -> None:
    notebook.write("a.md", "解开密码")

    assert notebook.find("解密") == ["a.md"]
    assert notebook.search("解密").notices == ("'解密' occurs nowhere; searched for 解, 密",)


# ----------------------------------------------------------------------------------------------------------- spellings


@pytest.fixture
def spelt(notebook: Notebook) -> Notebook:
    """Notes that write the same words together and apart."""
    for ref, text in {
        "apart.md": "You log in on the first page. 请先log in",
        "together.md": "The login takes long. 登录",
        "file.md": "The log file grows in the night. 日志",
        "job.md": "Things to do, in short: RetryFailedInvoiceJob每小时运行一次. " + "More of it elsewhere. " * 20,
        "scattered.md": "Retry, retry! The invoice job failed; a failed invoice is a failed job. 重试",
    }.items():
        notebook.write(ref, text)
    fill(notebook, 20)
    return notebook


@pytest.mark.parametrize("query", ["log in", "login", "怎么log in", "login失败了吗"])
def test_words_written_together_and_apart_find_each_other(spelt: Notebook, query: str) -> None:
    found = spelt.find(query, limit=30)

    assert {"apart.md", "together.md"} <= set(found)
    assert "file.md" not in found[:2]


def test_a_phrase_apart_is_marked_without_its_function_words(spelt: Notebook) -> None:
    hit = next(hit for hit in spelt.search("login").hits if hit.memory.path == "apart.md")

    line, marks = snippet_of(hit)
    assert {line[start:end] for start, end in marks} == {"log"}


@pytest.mark.parametrize(
    "query",
    [
        "RetryFailedInvoiceJob",
        "retryfailedinvoicejob",
        "retry_failed_invoice_job",
        "RETRY-FAILED-INVOICE-JOB",
        "RetryFailedInvoice",
        "FailedInvoiceJob",
        "retry_failed_invoice",
        "RetryFailedInvoiceJob失败",
    ],
)
def test_an_identifier_comes_before_its_scattered_parts(spelt: Notebook, query: str) -> None:
    assert spelt.find(query)[:1] == ["job.md"]


@pytest.fixture
def named(notebook: Notebook) -> Notebook:
    """For each name a note that holds it, long and in passing, and a short one that says its words apart."""
    more = " More of it elsewhere, and other things to say. 还有别的。" * 15
    for ref, text in {
        "job.md": "In short: `RetryFailedInvoiceJob` runs each hour." + more,
        "job-words.md": "Retry, retry! The invoice was failed by that job; failed, retry the invoice, then the job.",
        "pool.md": "The pool: max_connections is 20." + more,
        "pool-words.md": "Connections, connections: at max ten. Max says: a max of ten connections.",
        "user.md": "In the end it calls getUserById." + more,
        "user-words.md": "Get the user. The id is that of the user; user ids are kept by id. To get, user, to get!",
        "path.md": "see src/auth/jwt_middleware.ts for that" + more,
        "path-words.md": "The middleware reads a JWT. A jwt and a middleware, a middleware and a jwt.",
        "中文.md": "定时任务里RefundOrderJob重试退款。" + more,
        "中文-words.md": "先order后job：下单之后才能重试。The job waits for that order.",
        "areas/tools/ci/2026-01-02-rotate-signing-certs.md": "---\ntitle: Something else\n---\n\ntext 文字" + more,
        "certs-words.md": "Certs for signing; to rotate certs, signing! Signing of the certs, rotate them.",
    }.items():
        notebook.write(ref, text)
    fill(notebook, 20)
    return notebook


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "ref"),
    [
        ("retry failed invoice job", "job.md"),
        ("failed invoice job", "job.md"),
        ("Retry Failed Invoice", "job.md"),
        ("retry failed invoice job 怎么运行", "job.md"),
        ("max connections", "pool.md"),
        ("MAX-CONNECTIONS", "pool.md"),
        ("what is max connections set to?", "pool.md"),
        ("max connections是多少", "pool.md"),
        ("get user by id", "user.md"),
        ("user by id", "user.md"),
        ("where do we get user by id?", "user.md"),
        ("auth jwt middleware", "path.md"),
        ("jwt middleware", "path.md"),
        ("重试 order job", "中文.md"),
        ("order job 为什么重试", "中文.md"),
        ("rotate signing certs", "areas/tools/ci/2026-01-02-rotate-signing-certs.md"),
        ("signing certs", "areas/tools/ci/2026-01-02-rotate-signing-certs.md"),
    ],
)
def test_a_name_typed_as_words_comes_before_its_scattered_words(named: Notebook, query: str, ref: str) -> None:
    assert named.find(query)[:1] == [ref]


@pytest.mark.parametrize(
    ("query", "ref"),
    [("the fast lane is closed again", "said.md"), ("fast lane 为什么关闭", "said.md"), ("the of a", None)],
)
def test_two_words_side_by_side_count_for_more_than_apart(notebook: Notebook, query: str, ref: str | None) -> None:
    more = " Other things to say, 还有别的." * 5
    notebook.write("said.md", "Here the fast lane ends 关闭." + more)
    notebook.write("apart.md", "The lane here is fast 关闭." + more)
    fill(notebook, 5)

    first, *_ = notebook.search(query).hits

    assert (first.memory.path if "pairs" in first.why["bm25"] else None) == ref


@pytest.mark.parametrize(
    ("ref", "query"),
    [
        ("areas/tools/ci/deploy-keys.md", "deploy keys"),
        ("areas/tools/ci/deploy-keys.md", "deploy-keys.md"),
        ("areas/tools/ci/2026-02-05-解密失败排查.md", "解密失败排查"),
        ("areas/tools/ci/2026-02-05-解密失败排查.md", "失败排查"),
    ],
)
def test_a_note_is_found_by_its_file_name(notebook: Notebook, ref: str, query: str) -> None:
    notebook.write(ref, "---\ntitle: Something else\n---\n\ntext 文字")
    fill(notebook, 5)

    assert notebook.find(query)[:1] == [ref]


def test_the_whole_note_supports_its_chunks(notebook: Notebook) -> None:
    filler = "\n".join(f"Line {number} of what else there is to say. 其他内容" for number in range(40))
    notebook.write(
        "about.md", f"# Keys\n\ndeploy key\n\n{filler}\n\n## More\n\nthe deploy key again, 部署 key\n\n{filler}"
    )
    notebook.write("aside.md", f"# Other\n\ndeploy key\n\n{filler}\n\n## More\n\nquite another matter\n\n{filler}")
    fill(notebook, 20)

    hits = notebook.search("deploy key", limit=3).hits

    assert [hit.memory.path for hit in hits][:2] == ["about.md", "about.md"]
    assert hits[0].why["bm25"]["note"] > hits[2].why["bm25"]["note"]


def test_a_fact_is_a_note_of_its_own(notebook: Notebook) -> None:
    facts = ",\n".join(
        f'{{"id": "f{number}", "fact": "deploy key {number}", "evidence": "解密", "category": "bug"}}'
        for number in range(20, 50)
    )
    notebook.write("areas/global/facts.json", f'{{"facts": [\n{facts}\n]}}')
    notebook.write("a.md", "deploy key 解密 " + "and other things " * 5)

    hits = notebook.search("deploy key", limit=40).hits

    assert len([hit for hit in hits if hit.memory.fact_id]) == 30
    assert (
        len({hit.why["bm25"]["note"] for hit in hits if hit.memory.fact_id}) == 1
    )  # the others of its file add nothing


# ------------------------------------------------------------------------------------------------------------- at once


@pytest.mark.of_sqlite
@pytest.mark.slow
@pytest.mark.parametrize("query", ["word3", "解密失败3", "word3 on 2026-02-10", "wor"])
def test_a_search_sees_one_state_while_another_process_deletes_everything(notebook: Notebook, query: str) -> None:
    fill(notebook, 12)
    expected = notebook.find(query)

    def overtaken(index: Index, at: int) -> list[str]:
        seen: list[str] = []

        def delete(statement: str) -> None:
            if statement.startswith("--"):
                return  # a statement of FTS5's own
            seen.append(statement)
            if len(seen) == at:
                for path in notebook.root.glob("*.md"):
                    path.unlink()
                assert notebook.opened().applied.removed

        assert isinstance(index.db, sqlite3.Connection)
        index.db.set_trace_callback(delete)
        try:
            return [hit.memory.path for hit in search(index, query, Filter(TODAY), limit=6).hits]
        finally:
            index.db.set_trace_callback(None)
            steps.append(len(seen))

    steps: list[int] = []
    for at in range(3, 40):  # 1 begins, 2 is the first to read
        fill(notebook, 12)
        assert notebook.use(lambda index, at=at: overtaken(index, at)) == expected  # type: ignore[misc]
        if steps[-1] < at:
            break
    assert len(steps) > 3


def test_the_day_of_the_search_decides_what_has_expired(notebook: Notebook) -> None:
    notebook.write("a.md", "---\nexpires: 2026-02-10\n---\nkey")

    def find(today: dt.date) -> int:
        return notebook.use(lambda index: len(search(index, "key", Filter(today), limit=6).hits))

    assert (find(dt.date(2026, 2, 10)), find(dt.date(2026, 2, 11))) == (1, 0)


def test_no_snippet_is_made_before_a_hit_is_shown(many: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(text: str, terms: frozenset[str], width: int) -> Snippet:
        made.append(text)
        return snippet(text, terms, width)

    monkeypatch.setattr(search_module, "snippet", counted)

    hits = many.search("解密失败 common", limit=20).hits

    assert (len(hits) > 5, made) == (True, [])
    assert "解密失败" in snippet_of(hits[0]).text
    assert made == [hits[0].memory.text]


@pytest.mark.parametrize("asked", ["when was the dog adopted by Ann?", "how did Ann and Bob find the 狗 dog?"])
def test_a_chunk_with_the_people_of_the_query_is_worth_more(notebook: Notebook, asked: str) -> None:
    notebook.write("talk.md", "Ann: we adopted a dog, 一只狗. Bob: nice!")
    notebook.write("other.md", "Eve: the dog was adopted, 一只狗.")
    people = {hit.memory.path: hit.why["bm25"].get("people", 0.0) for hit in notebook.search(asked).hits}
    assert people == {"talk.md": 1.0, "other.md": 0.0}
    plain = {hit.memory.path: hit.score for hit in notebook.search(asked.lower()).hits}
    hits = {hit.memory.path: hit.score for hit in notebook.search(asked).hits}
    assert hits["talk.md"] / hits["other.md"] > plain["talk.md"] / plain["other.md"]
