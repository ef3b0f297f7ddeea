from __future__ import annotations

from pathlib import Path

import pytest
from index.notebook import TODAY, Notebook, fill

from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.recall.answers.found import answers_of, in_words, memories
from memtool.recall.answers.statements import Budget
from memtool.vault.memory import Found

ROOM = Budget(characters=2_000, notes=5, statements=9, first=0.5)


@pytest.fixture
def sessions(tmp_path: Path) -> Notebook:
    """Two sessions about one thing, a decision, a daily page, and much else."""
    notebook = Notebook(tmp_path / "vault")
    notebook.write(
        "sessions/2026-02-09-login.md",
        "---\ntype: session\ndate: 2026-02-09\n---\n# Login uses JWT\n\nAsked: “how long shall tokens live?”\n\n"
        "## Decisions\n- Tokens of the login live 24 hours, 令牌有效期为24小时 (user)\n- The parser stays.\n\n"
        "## Done\n- *how long shall tokens live?*\n  - All tests pass.\n  - Tokens are signed in jwt.ts.\n\n"
        "## Open\n- [ ] Rate limiting of the login route\n\nMy own line on tokens 令牌.\n\n**Files**: jwt.ts\n",
    )
    notebook.write("sessions/2026-02-08-other.md", "---\ntype: session\n---\n# Tokens of the parser\n\n- tokens\n")
    notebook.write("daily/2026-02-09.md", "# Daily\n\n- 10:01 **a**: `tokens.ts`\n- 10:02 **a**: `tokens.py`\n" * 3)
    fill(notebook, 9)
    return notebook


def answered(notebook: Notebook, text: str, budget: Budget = ROOM) -> list[Found]:
    def look(index: Index) -> list[Found]:
        return answers_of(
            index.place.vault, index.db, text, memories(search(index, text, Filter(TODAY), limit=30).hits), budget
        )

    return notebook.use(look)


@pytest.mark.parametrize("question", ["how long do tokens of the login live", "登录的令牌有效期多久"])
def test_each_memory_is_there_once_with_the_statements_that_answer(sessions: Notebook, question: str) -> None:
    first, *others = answered(sessions, question)

    assert (first.memory.path, first.memory.title, first.memory.date) == (
        "sessions/2026-02-09-login.md",
        "Login uses JWT",
        "2026-02-09",
    )
    said = [line.text for line in first.statements]
    assert said[0] == "Tokens of the login live 24 hours, 令牌有效期为24小时"
    assert "My own line on tokens 令牌." in said
    assert not {"All tests pass.", "how long shall tokens live?", "Login uses JWT"} & set(said)
    assert (first.statements[0].author, first.statements[0].number) == ("user", 10)
    assert first.memory.path not in {other.memory.path for other in others}


def test_most_room_is_for_the_first_and_nothing_is_cut(sessions: Notebook) -> None:
    small = answered(sessions, "tokens", Budget(characters=120, notes=5, statements=9, first=0.5))

    assert sum(len(line.text) for line in small[0].statements) <= 60
    text = (sessions.root / small[0].memory.path).read_text(encoding="utf-8")
    assert all(line.text in text for line in small[0].statements)


def test_of_a_daily_page_little_is_given(sessions: Notebook) -> None:
    (page,) = (one for one in answered(sessions, "tokens.ts tokens.py") if one.memory.path.startswith("daily"))

    assert len(page.statements) <= 2


def test_nothing_fits_where_no_note_holds_enough_of_the_question(sessions: Notebook) -> None:
    assert answered(sessions, "which helm chart deploys the web console with a zeppelin") == []
    assert answered(sessions, "支付回调的签名算法是哪种") == []
    assert answered(sessions, "helm") == []


def test_a_likelihood_grows_with_the_share_of_the_question_and_has_a_word(sessions: Notebook) -> None:
    most = answered(sessions, "Tokens of the login live 24 hours")[0].likelihood
    some = answered(sessions, "do tokens live in a zeppelin of Rust")[0].likelihood

    assert most > some
    assert [in_words(each) for each in (most, 0.1, 0.01)] == ["likely", "maybe", ""]


def test_a_note_without_a_statement_gives_what_was_found(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path / "vault")
    notebook.write("log.md", f"# Log\n\n{'无标点 zebra ' * 90}\n")
    fill(notebook, 5)

    (answer,) = answered(notebook, "zebra")

    assert "zebra" in answer.statements[0].text


def test_a_short_note_is_given_whole_and_a_sentence_goes_on_in_the_next_line(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path / "vault")
    notebook.write(
        "areas/projects/shop/decisions/jwt.md",
        "# JWT 登录\n\nA session table would\nmake each service ask.\n\n- Keys rotate,\n  every 90 days.\n",
    )
    fill(notebook, 5)

    (answer,) = answered(notebook, "why JWT 登录")

    assert [line.text for line in answer.statements] == [
        "A session table would make each service ask.",
        "Keys rotate, every 90 days.",
    ]
