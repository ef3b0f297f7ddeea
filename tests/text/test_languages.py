from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from memtool.settings import choices_of
from memtool.text import languages
from memtool.text.languages import (
    all_labels,
    begins_with,
    label_languages,
    labels,
    languages as codes,
    listed,
    mentioned,
    name_of,
    pattern_of,
    starts_with,
    text_of,
    words,
)

FOLDER = Path(languages.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "languages.md").read_text(encoding="utf-8")
VERDICTS = ("citing",)
CUES = (
    "contradiction", "consent", "announcement", "standing", *VERDICTS, "urgent", "function",
    "admission", "moment", "deictic", "opening",
)  # fmt: skip
NAMES_OF_SECRETS = ("password_names", "key_names", "token_names")  # English ones are read word by word
BETWEEN = ("is_value", "is_now", "clause")  # beside a secret in a sentence
TAKEN_BACK = ("pending", "retracting", "proposing", "plea")
DECIDING = ("deciding", "demanding", "aside", *TAKEN_BACK)
SIGNS = ("asking", "going_on", "willing", "status_line", "closed_item", "negation", "instruction")
PATTERNS = (*SIGNS, *DECIDING)
TABLES = ("daily", "evidence", "facts", "report", "rule_files", "session", "start", "summary", "todos")
# What each language lacks of what English has, by the kinds of keys. A new one may begin with little.
LACKING = {
    "en": "",
    "de": "tables name asking going_on willing negation closed_item common everyday linking months opposites overview"
    " short_months stop_words instruction before_months acts taken_back",
    "es": "tables name signs taken_back common everyday linking months opposites overview short_months stop_words"
    " verdicts before_months acts",
    "fr": "tables name signs taken_back abbreviations common everyday linking months opposites overview short_months"
    " verdicts stop_words before_months acts",
    "zh": "between abbreviations common everyday linking months short_months stop_words before_months",
    "ja": "between tables name asking going_on willing abbreviations common everyday linking months opposites overview"
    " taken_back verdicts short_months stop_words instruction before_months acts",
    "ko": "tables name asking going_on willing status_line closed_item abbreviations common everyday linking months"
    " opposites before_months verdicts overview instruction short_months stop_words"
    " between acts decided",
    **dict.fromkeys(
        ("it", "nl", "pl", "pt", "ru", "sv"),
        "tables name patterns cues abbreviations common everyday linking months opposites overview short_months"
        " stop_words before_months acts",
    ),
    "tr": "between tables name patterns cues abbreviations common everyday linking months opposites overview"
    " short_months stop_words before_months acts",
}
MADE_UP = """
import sys
from memtool.text import languages
languages._FOLDER = sys.argv[1]

import datetime as dt
from pathlib import Path
from memtool import settings
from memtool.capture.view import request
from memtool.index.times import asked_dates
from memtool.text.tokens import query_terms
from memtool.recall.answers.statements import passages
from memtool.text.languages import begins_with
from memtool.vault.daily import DailySession, add_sessions, render_daily
from memtool.vault.sessions import Draft, Line, SessionNote, parse_session, render_session
from memtool.vault.todos import find_todos, new_todos, todo_line

assert query_terms("kio estas la kuketo") == ["kuketo"], query_terms("kio estas la kuketo")
assert begins_with("contradiction", "Sed atendu, ne tion")
assert not passages("- ĉio preta", "todo")
assert [found.pattern for found in asked_dates("3 julio 2026")] == ["2026-07-03"]
lines = (Line("JWT, ĉar 解密失败", "decision", "user"),)
note = SessionNote("s1", draft=Draft("Kuketo", lines=lines, files=("a.py",), more_files=2))
text = render_session(note, language="eo")
assert "## Decidoj\\n- JWT" in text and "kaj 2 pliaj" in text and "**Files**" in text, text  # English where it lacks
read = parse_session(text).draft
assert [line.text for line in read.lines] == ["JWT, ĉar 解密失败"] and read.more_files == 2
daily = render_daily(dt.date(2026, 2, 10), sessions=[DailySession("14:30", "p", "s1", "Kuketo")], language="eo")
assert "# Tagnoto: 2026-02-10" in daily and "## Sesioj" in daily, daily
assert add_sessions(daily, [(DailySession("14:31", "p", "s2", "x"), True)], language="en").count("## ") == 1
assert [item.task for item in find_todos(new_todos("p", "eo") + "- [ ] " + todo_line("x", source="s1", language="eo"))]
assert settings.load(None, {"MEMTOOL_LANGUAGE": "eo", "HOME": "/"}).general.language == "eo"
assert "here Esperanto;" in request([], language="eo", code="c").prompt
"""
ESPERANTO = """# Esperanto.
name = "Esperanto"
stop_words = "kio estas la"
contradiction = ["sed", "ne"]
closed_item = 'preta$'
months = ["januaro", "februaro", "marto", "aprilo", "majo", "junio", "julio"]

[session]
decisions = "Decidoj"
more_files = "kaj N pliaj"

[daily]
daily = "Tagnoto"
sessions = "Sesioj"

[todos]
session = " (el sesio {})"
"""


def parsed(code: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{code}.toml").read_text(encoding="utf-8"))


def without_tables(code: str) -> dict[str, Any]:
    return {key: value for key, value in parsed(code).items() if not isinstance(value, dict)}


@pytest.mark.parametrize("code", codes())
def test_a_file_is_read_as_toml_reads_it(code: str) -> None:
    for key, value in parsed(code).items():
        assert (languages._table if isinstance(value, dict) else languages._value)(code, key) == value
    assert languages._value(code, "nothing") == ""
    assert languages._table(code, "nothing") == {}


@pytest.mark.slow
def test_what_a_language_lacks_is_known() -> None:
    groups = {
        "between": BETWEEN,
        "verdicts": VERDICTS,
        "cues": CUES,
        "patterns": PATTERNS,
        "signs": SIGNS,
        "taken_back": TAKEN_BACK,
        "decided": DECIDING,
        "tables": TABLES,
    }
    assert LACKING.keys() == set(codes())
    for code, said in LACKING.items():
        lacking = {key for name in said.split() for key in groups.get(name, (name,))}
        # The rest is of scripts and languages that have no such words in English.
        own = {"grammar", "question_words", "common_pairs", "numerals", "counters", "particles", *NAMES_OF_SECRETS}
        own.add("no_secret")
        assert parsed("en").keys() - parsed(code).keys() == lacking, code
        assert parsed(code).keys() - parsed("en").keys() <= own, code
    for table in TABLES:
        assert all(labels(table, code).keys() == parsed(code)[table].keys() for code in label_languages())


def test_the_page_says_what_each_key_is_for() -> None:
    keys = {key for code in codes() for key, value in parsed(code).items()}
    assert set(re.findall(r"^\| `\[?(\w+)\]?` \|", PAGE, re.MULTILINE)) == keys


@pytest.mark.slow
def test_one_file_adds_a_language(tmp_path: Path) -> None:
    folder = copytree(Path(languages.__file__).parents[1], tmp_path / "text", ignore=lambda *_: ["__pycache__"])
    (folder / "languages" / "eo.toml").write_text(ESPERANTO, encoding="utf-8")
    command = [sys.executable, "-c", MADE_UP, str(folder)]
    ran = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, ran.stderr


def test_notes_are_written_in_languages_that_have_labels() -> None:
    assert label_languages() == choices_of("language") == ("en", "zh")
    assert labels("session", "zh")["topic"] == "主题"
    assert labels("session", "de") == labels("session", "../../x") == labels("session", "en")
    assert all_labels("session")["topic"] == ("Topic", "主题")
    assert name_of("xx") == name_of("de") == "English"


def test_lists_of_all_languages_are_one() -> None:
    assert {"weil", "чтобы", "porque"} <= set(text_of("grammar").split())
    assert listed("months", "en")[6] == "july"
    assert re.search(pattern_of("negation"), "这个不行")


@pytest.mark.parametrize("code", codes())
def test_words_are_written_as_they_are_looked_for(code: str) -> None:
    for kind, value in without_tables(code).items():
        found = value.split() if isinstance(value, str) else value
        assert len(found) == len(set(found)) or kind in (*PATTERNS, "times"), kind
        if kind in CUES:
            assert all(word == word.casefold().strip() and word for word in found)
            assert all(begins_with(kind, word) or word in mentioned(kind, word) for word in found)
        if kind in PATTERNS:
            assert re.compile(value).match("") is None


def test_the_longest_word_comes_first() -> None:
    lengths = [len(word) for word in words("contradiction")]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("contradiction", "No, keep the old cookie"),
        ("contradiction", "ok. But wait, the tests"),
        ("contradiction", "不对，旧的也要保留"),
        ("contradiction", "hm: that's not what I meant"),
        ("consent", "Yes, go on"),
        ("consent", "好的，继续"),
        ("standing", "Always run the linter first"),
        ("standing", "以后都用 pnpm"),
        ("announcement", "Let me look at jwt.ts"),
        ("admission", "You're right, it was the synonym file."),
        ("admission", "确实，代码没有引用它"),
    ],
)
def test_a_text_begins_with_words_of_a_kind(kind: str, text: str) -> None:
    assert begins_with(kind, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("contradiction", "Nobody knows the node version"),
        ("contradiction", "Notes go to docs/"),
        ("consent", "Yesterday it worked"),
        ("standing", "The parser always returns a list"),
        ("consent", ""),
        ("standing", "x" * 500 + ". Always do it"),
    ],
)
def test_the_middle_of_a_sentence_and_parts_of_words_are_no_beginning(kind: str, text: str) -> None:
    assert not begins_with(kind, text)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("Alright, every test has literals.", "every test has literals."),
        ("lol - reentrant sessions go to IDLE", "reentrant sessions go to IDLE"),
        ("OK, so, we use Python 3.12", "we use Python 3.12"),
        ("All right! Never push to main", "Never push to main"),
        ("Sure — use uv", "use uv"),
        ("好的，嗯，以后一律用 pnpm", "以后一律用 pnpm"),
        ("当然，两个列表要分开展示", "两个列表要分开展示"),
        ("OK，改用 UUIDv7", "改用 UUIDv7"),
        ("hm... 用 tabs", "用 tabs"),
    ],
)
def test_what_opens_a_typed_sentence_and_says_nothing_goes(typed: str, said: str) -> None:
    assert languages.without_openings(typed) == said


@pytest.mark.parametrize(
    "typed",
    [
        "ok.yaml must stay", "`so.x` is linked", "right-click opens it", "well-known ports only",
        "好用的库优先", "对象存储一律用 S3", "no, use tabs", "all rights reserved", "ok", "嗯，", "",
    ],
)  # fmt: skip
def test_a_word_that_belongs_to_the_sentence_stays(typed: str) -> None:
    assert languages.without_openings(typed) == typed


def test_a_list_that_no_language_has_matches_nothing_and_fails_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="no language has the list 'no such list'"):
        words("no such list")
    monkeypatch.setattr(languages, "_values", lambda _: [])
    for text in ("", "always: 以后都用 pnpm", "没有"):
        assert not any(test("no list of any", text) for test in (begins_with, starts_with, languages.leads, mentioned))
        assert not re.search(pattern_of("no list of any"), text)
