"""The parts of a summary: sentences, Markdown made plain, cues, failures, topics."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from memtool.capture.conversation import Step
from memtool.capture.extractive.compaction import sections_of
from memtool.capture.extractive.cue_words import PHRASES, TRADITIONAL
from memtool.capture.extractive.cues import cues_of, heading_cue, is_small_talk, phrases_in
from memtool.capture.extractive.failures import failures_of, telling_line
from memtool.capture.extractive.passages import bounded, is_machine_text, passages, plain
from memtool.capture.extractive.salience import alike, trigrams
from memtool.capture.extractive.sentences import sentences, shortened, width
from memtool.capture.extractive.statements import cleaned, is_sentence
from memtool.capture.extractive.tags import tags_of
from memtool.capture.extractive.topic import as_request
from memtool.vault.prose import one_line

anything = st.text(st.characters(exclude_categories=()), max_size=400)
mixed = st.text(st.sampled_from("ab.,;:!? -_/…修复。！？；，、（e\u0301👩\u200d💻\ufe0f"), max_size=300)


# sentences


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("It works. The cache was stale.", ["It works.", "The cache was stale."]),
        (
            "Upgrade to v2.1.210 in auth.ts, e.g. with 3.5 s. Done",
            ["Upgrade to v2.1.210 in auth.ts, e.g. with 3.5 s.", "Done"],
        ),
        ("原因找到了！缓存没有失效。已修复；请重启", ["原因找到了！", "缓存没有失效。", "已修复；", "请重启"]),
        ("他说“可以。”然后走了", ["他说“可以。”", "然后走了"]),
        ("Use Redis (see docs.) Then restart.", ["Use Redis (see docs.)", "Then restart."]),
        ("Let's take option B. Tokens live 15 minutes.", ["Let's take option B.", "Tokens live 15 minutes."]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, cut: list[str]) -> None:
    assert sentences(text) == cut


@given(st.one_of(anything, mixed).map(one_line))
def test_sentences_lose_nothing_but_spaces(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(st.one_of(anything, mixed).map(one_line), st.integers(2, 200))
def test_a_shortened_text_fits_and_is_a_beginning(text: str, limit: int) -> None:
    short = shortened(text, limit)

    assert width(short) <= limit
    if short != text:
        assert not short or (short.endswith("…") and text.startswith(short[:-1]))
    if short and short != text:
        following = text[len(short) - 1 :]
        assert not following or not unicodedata.combining(following[0])


def test_a_text_is_cut_after_a_clause_or_a_word() -> None:
    assert shortened("The cache was never cleared, because the key had no prefix", 40) == "The cache was never cleared…"
    assert shortened("The configuration is loaded twice", 24) == "The configuration is…"
    assert shortened("see src/very/long/path/to/the/module.py", 20) == "see…"
    assert shortened("缓存没有失效，因为键没有前缀也没有版本号", 20) == "缓存没有失效…"
    assert shortened("x" * 50, 20) == ""


# Markdown made plain


def test_markdown_is_made_plain() -> None:
    text = "**Fixed** the [login](https://a.b/c) in `auth_client.ts` with *care* ✅ <br> and ~~old~~ `**/*.py` 🎉"

    assert plain(text) == ("Fixed the login in auth_client.ts with care and old **/*.py", 2)
    assert plain("keep __init__.py and snake_case_name") == ("keep __init__.py and snake_case_name", 0)


def test_code_tables_and_logs_are_no_prose() -> None:
    text = """Intro text here.

| a | b |
|---|---|
```py
x = 1  # not said
```
~~~
nor this
~~~
2026-03-09T17:42:15Z INFO starting
Traceback (most recent call last):
  File "/app/main.py", line 12, in <module>
    at foo (bar.js:1:2)
ann@build-01:~/app$ docker compose up
<system-reminder>
hidden
</system-reminder>
const x = call({
Last text here."""

    assert [passage.text for passage in passages(text)] == ["Intro text here.", "Last text here."]


def test_wrapped_lines_are_one_sentence_and_lead_ins_are_headings() -> None:
    text = """## Result

The cache was not cleared
when the user logged out.

**Next steps:**
- [ ] add a *test*
- [x] remove the flag
  - nested thing here

After the list."""
    found = list(passages(text))

    assert found[0].text == "The cache was not cleared when the user logged out."
    assert [(each.text, each.checked, each.nested) for each in found[1:4]] == [
        ("add a test", False, False),
        ("remove the flag", True, False),
        ("nested thing here", None, True),
    ]
    assert {each.heading for each in found[1:4]} == {"Result\nNext steps"}
    assert found[4].heading == "Result\n"


@given(anything)
def test_passages_are_single_clean_lines(text: str) -> None:
    assert all(each.text == one_line(each.text) and each.text for each in passages(text))


@given(anything, st.integers(3, 100))
def test_a_bounded_text_is_not_much_longer(text: str, longest: int) -> None:
    assert len(bounded(text, longest)) <= longest + 2


@pytest.mark.parametrize(
    "line", ["npm install --save-dev jest", "    at run (index.js:10:5)", "| a | b |", "{", "$ ls -l"]
)
def test_machine_text_is_known(line: str) -> None:
    assert is_machine_text(line)


@pytest.mark.parametrize(
    "line", ["npm is used everywhere, never yarn", "At the end we return 404", "修复了 `auth.ts` 的问题"]
)
def test_prose_is_no_machine_text(line: str) -> None:
    assert not is_machine_text(line)


# cues


@pytest.mark.parametrize(
    ("sentence", "cue"),
    [
        ("We'll use Postgres because it has row locks", "decision"),
        ("JWT rather than sessions, because services must use it", "decision"),
        ("改用 Redis，因为内存不够", "decision"),
        ("セッションではなく JWT を採用しました", "decision"),
        ("It turns out that the clock is wrong", "discovery"),
        ("根本原因是缓存没有失效", "discovery"),
        ("原來是快取的問題", "discovery"),
        ("원인은 캐시였습니다", "discovery"),
        ("La causa era la caché", "discovery"),
        ("I've added a limiter", "feature"),
        ("新增了三个接口", "feature"),
        ("Fixed the race in the token refresh", "fix"),
        ("Renamed build() to make()", "refactor"),
        ("All 14 tests pass", "success"),
        ("The limiter is not yet tested", "open"),
        ("还没有处理超时", "open"),
        ("先不做国际化，以后再说，待办", "later"),
    ],
)
def test_a_cue_is_seen(sentence: str, cue: str) -> None:
    assert cue in cues_of(sentence)


@pytest.mark.parametrize(
    ("sentence", "cue"),
    [
        ("There is nothing left to do", "open"),
        ("There are no TODOs in the code", "open"),
        ("没有遗留问题", "open"),
        ("残タスクはありません", "open"),
        ("It will be added later", "feature"),
        ("The bug has not been fixed", "fix"),
        ("The tests didn't pass", "success"),
        ("待修复了再说", "fix"),
        ("The value is undecided", "decision"),
        ("It returns null instead of an error", "decision"),
        ("要不要加缓存", "rule"),
    ],
)
def test_a_cue_that_is_denied_is_none(sentence: str, cue: str) -> None:
    assert cue not in cues_of(sentence)


def test_every_phrase_of_the_tables_is_found_by_itself() -> None:
    for columns in PHRASES.values():
        for cue, cell in columns.items():
            if cue not in {"maybe decision", "grounds", "open", "success", "decision", "rule"}:  # these can be denied
                assert all(cue in cues_of(phrase.removeprefix("^")) for phrase in phrases_in(cell))


def test_the_traditional_script_is_read_by_the_same_table() -> None:
    assert TRADITIONAL.keys().isdisjoint(TRADITIONAL.values())
    assert cues_of("決定採用 Redis") == cues_of("决定采用 Redis")


def test_headings_announce() -> None:
    assert heading_cue("Summary\nNext steps") == "open"
    assert heading_cue("Root cause\n") == "discovery"
    assert heading_cue("问题根因") == "discovery"
    assert heading_cue("The telemetry fix is committed to the dev branch now") == ""


@pytest.mark.parametrize("text", ["continue", "ok, go on", "thanks!", "继续", "好的，谢谢", "続けて", "네", "!!!", ""])
def test_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize("text", ["fix the login", "继续修复登录", "docker?"])
def test_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


# statements


def test_a_sentence_stands_alone() -> None:
    assert cleaned("However, the cache is stale.") == "The cache is stale"
    assert cleaned("Done: the export is faster") == "The export is faster"
    assert cleaned("另外，缓存已清理。") == "缓存已清理"
    assert cleaned("[bugfix] Fixed it all #auth #db") == "Fixed it all"
    assert not is_sentence("(see above)")
    assert not is_sentence("ok go on")
    assert not is_sentence("x" * 200)


def test_what_says_the_same_is_alike() -> None:
    one, other = "The cache key had no tenant prefix", "Cache key had no tenant prefix."
    assert alike(trigrams(one), trigrams(other))
    assert alike(trigrams("缓存键没有租户前缀"), trigrams("缓存键没有租户前缀！"))
    assert not alike(trigrams(one), trigrams("All 27 tests pass"))


def test_tags_are_few_and_sure() -> None:
    assert tags_of("The JWT is checked in the Docker image, cached in Redis") == ("auth", "cache")
    assert tags_of("登录接口改用数据库锁") == ("auth", "database")
    assert tags_of("The parser returns a list") == ()


# failures


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "Exit code 1\n/app/src/a.ts(3,1): error TS2345: Argument of type 'string'",
            "a.ts(3,1): error TS2345: Argument of type 'string'",
        ),
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'", "KeyError: 'x'"),
        ("error[E0308]: mismatched types\n --> src/main.rs:4:5", "error[E0308]: mismatched types"),
        ("\x1b[31mfatal: not a git repository\x1b[0m", "fatal: not a git repository"),
        ("2026-03-09T17:42:15.113Z Error: connect ECONNREFUSED", "Error: connect ECONNREFUSED"),
        ("Exit code 1", ""),
        ("", ""),
    ],
)
def test_the_telling_line_of_an_error(output: str, line: str) -> None:
    assert telling_line(output) == line


def run(command: str, error: str = "") -> Step:
    return Step("tool", command, tool="Bash", error=error)


def edit(file: str) -> Step:
    return Step("tool", tool="Edit", file=file)


def test_a_failure_is_solved_by_the_edits_before_the_same_command_succeeds() -> None:
    steps = (
        run("npm test", "TypeError: x is null"),
        edit("/a/b.ts"),
        edit("C:\\a\\c.ts"),
        run("cd /a && npm test"),
        edit("/d.ts"),
    )
    [failure] = failures_of(steps)

    assert (failure.error, failure.files, failure.open) == ("TypeError: x is null", ("b.ts", "c.ts"), False)


def test_a_command_that_only_had_to_be_repeated_is_no_failure() -> None:
    assert failures_of((run("npm test", "Error: connect ETIMEDOUT"), run("npm test"))) == []


def test_an_error_in_whose_place_another_stays_is_not_solved() -> None:
    steps = (
        run("make", "Error: first"),
        edit("/a.c"),
        run("make", "Error: second"),
        edit("/b.c"),
        run("make", "Error: second"),
    )

    assert [(failure.error, failure.open) for failure in failures_of(steps)] == [("Error: second", True)]
    assert [failure.files for failure in failures_of((*steps, edit("/c.c"), run("make")))] == [("a.c",), ("b.c", "c.c")]


def test_a_failure_to_the_end_is_open() -> None:
    [failure] = failures_of((run("make", "fatal: no rule"), edit("/Makefile"), run("make", "fatal: no rule")))

    assert failure.open


def test_a_probe_that_found_nothing_is_no_failure() -> None:
    assert failures_of((run("grep -r foo src", "Exit code 1"), run("which rg", "rg not found"))) == []


# topics, and the client's summary


@pytest.mark.parametrize(
    ("sentence", "task"),
    [
        ("Can you please help me to fix the login?", "Fix the login"),
        ("hi, I would like to add a flag to cli.py.", "Add a flag to cli.py"),
        ("请帮我修复登录", "修复登录"),
        ("ok now let's upgrade to Next.js 15", "Upgrade to Next.js 15"),
        ("Next.js is slow", "Next.js is slow"),
    ],
)
def test_a_request_without_its_politeness(sentence: str, task: str) -> None:
    assert as_request(sentence) == task


def test_the_sections_of_a_clients_summary() -> None:
    summary = """<analysis>
1. Pending Tasks: none
</analysis>
<summary>
1. Primary Request and Intent:
   Port the service
## Errors and fixes
- **E1**: fixed
**Pending Tasks:** write docs
4. 当前工作：
   porting
</summary>"""
    found = [(section.kind, section.text.strip()) for section in sections_of(summary)]

    assert found == [
        ("request", "Port the service"),
        ("fix", "- **E1**: fixed"),
        ("open", "write docs"),
        ("work", "porting"),
    ]
