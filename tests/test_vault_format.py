"""The examples of docs/vault-format.md are what memtool reads and writes."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date
from pathlib import Path

from memtool.text.languages import labels
from memtool.vault.daily import listed_entries, listed_sessions, render_daily
from memtool.vault.facts import FIELDS, STATUSES, parse_facts
from memtool.vault.layout import FORMAT
from memtool.vault.memory import CATEGORIES, KINDS
from memtool.vault.project_area import match_project
from memtool.vault.sessions import is_as_written, parse_session, render_session

PAGE = (Path(__file__).parents[1] / "docs" / "vault-format.md").read_text(encoding="utf-8")


def examples(language: str, holding: str) -> str:
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if holding in block]
    return str(found)


def test_the_page_is_about_the_format_that_memtool_writes() -> None:
    assert PAGE.startswith(f"# The vault format, version {FORMAT}\n")
    assert tomllib.loads(examples("toml", "format"))["format"] == FORMAT


def test_the_facts_of_the_page_are_valid_and_show_every_field() -> None:
    text = examples("json", '"facts"')
    assert parse_facts(text).problems == ()
    assert {name for fact in json.loads(text)["facts"] for name in fact} == FIELDS.keys()
    for name in (*FIELDS, *STATUSES, *CATEGORIES):
        assert f"`{name}`" in PAGE


def test_every_kind_of_note_has_its_place_on_the_page() -> None:
    assert all(f"`{kind}`" in PAGE for kind in KINDS)


def test_the_daily_note_of_the_page_is_the_one_that_memtool_writes() -> None:
    text = examples("markdown", "# Daily")
    assert render_daily(date(2026, 2, 10), listed_entries(text), listed_sessions(text)) == text


def test_the_session_note_of_the_page_is_the_one_that_memtool_writes() -> None:
    text = examples("markdown", "type: session")
    assert is_as_written(text)
    body = render_session(parse_session(text)).partition("---\n\n")[2]
    assert text.endswith(f"---\n\n{body}")


def test_the_page_lists_every_label() -> None:
    tables = (
        zip(labels(table, "en").values(), labels(table, "zh").values(), strict=True) for table in ("session", "daily")
    )
    for english, chinese in (pair for table in tables for pair in table):
        assert f"| {english.strip()} | {chinese} |" in PAGE


def test_the_identities_of_the_page_match_the_project() -> None:
    listed = re.findall(r"^  - (\S+)$", examples("markdown", "identities:"), re.MULTILINE)
    assert len(listed) == 3
    for identity in listed:
        assert match_project([identity], {"shop": listed}) == "shop"
