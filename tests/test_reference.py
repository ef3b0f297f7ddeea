"""docs/reference/ is generated from the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memtool import errors
from scripts import generate_reference
from scripts.generate_reference import HOW_TO_MEND, REFERENCE_PATH

CLONE = REFERENCE_PATH.parent.parent


def test_the_reference_says_what_the_code_says() -> None:
    stale = generate_reference.stale_pages(REFERENCE_PATH)
    assert not stale, f"{', '.join(stale)} in docs/reference: {HOW_TO_MEND}"


def test_a_changed_page_is_noticed_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate_reference, "REFERENCE_PATH", tmp_path)
    assert generate_reference.main([]) == 0
    assert generate_reference.main(["--check"]) == 0
    (tmp_path / "settings.md").write_text("stale", encoding="utf-8")
    assert generate_reference.main(["--check"]) == 1
    assert f"Stale: settings.md. {HOW_TO_MEND}" in capsys.readouterr().out


def test_every_error_has_a_row_with_its_code() -> None:
    page = generate_reference.exit_codes_page()
    assert f"| {errors.NoteChanged.exit_code} | `NoteChanged` |" in page
    assert [int(code) for code in re.findall(r"^\| (\d+)", page, re.MULTILINE)] == sorted(
        int(code) for code in re.findall(r"^\| (\d+)", page, re.MULTILINE)
    )


def markdown_pages() -> list[Path]:
    return [*CLONE.glob("*.md"), *(CLONE / "docs").rglob("*.md")]


def test_links_between_pages_lead_somewhere() -> None:
    assert {page.name: missing for page in markdown_pages() if (missing := missing_links(page))} == {}


def missing_links(page: Path) -> list[str]:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)", prose)
    return [link for link in links if "://" not in link and not (page.parent / link).exists()]


def test_every_decision_is_listed() -> None:
    folder = CLONE / "docs" / "decisions"
    listed = set(re.findall(r"\]\((\d{4}-[^)]+)\)", (folder / "README.md").read_text(encoding="utf-8")))
    assert listed == {page.name for page in folder.glob("[0-9]*.md")}
