from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import example, given, strategies as st

from memtool.index.rows import ChunkRow, NoteRow, context, note_row
from memtool.recall.routing.loader_table import LOADER, TableRow, with_rows
from memtool.resources import shipped
from memtool.text.tokens import WordTerms, index_terms

FACT = '{"id": "f1", "fact": "tokens live 24 hours", "evidence": "jwt.ts", "timestamp": "2026-02-10T14:30:00Z"'


def row(text: str, ref: str = "notes/a.md") -> NoteRow:
    return note_row(ref, text.encode())


def chunk(text: str, ref: str = "notes/a.md") -> ChunkRow:
    (only,) = row(text, ref).chunks
    return only


def test_the_front_matter_says_what_the_path_does_not() -> None:
    matter = "type: decision\nproject: cart\ncategory: bug\nstatus: Superseded\ndate: 2025-12-24\nexpires: 2026-12-24"

    note = chunk(f"---\n{matter}\n---\ntext", "areas/projects/shop/knowledge/2026-01-31-keys.md")

    assert note[4:9] == ("decision", "cart", "bug", "superseded", "2025-12-24")
    assert (note.start_line, note.expires) == (9, "2026-12-24")


def test_tags_come_from_the_front_matter_the_text_and_bracketed_kinds() -> None:
    note = chunk("---\ntags: [Auth, '#web/Login', machine learning]\n---\n- [bugfix] fixed it #JWT #解密 c#1 #12\n")

    assert note.tags == " auth web/login machine-learning jwt 解密 bugfix "


def test_a_note_is_found_by_what_stands_about_it() -> None:
    matter = "title: Anmeldung\naliases: [login]\nsummary: wie man hineinkommt\ndate: 2026-02-10"

    note = chunk(f"---\n{matter}\n---\n## Sitzung\n\ntext")

    known = WordTerms()
    terms = note.terms(known).split(" ")

    assert {"anmeldung", "login", "hineinkommt", "sitzung", "2026-02-10", "februari"} <= set(terms)
    assert {"anmeldung", "login", "februari", "february"} & known.words == {"anmeldung", "login", "february"}


@pytest.mark.parametrize(
    ("evidence", "indexed"),
    [
        ("entered by 安娜 through the team's service", "f"),
        ("a talk; entered by Ben Li through the team's service", "f\na talk"),
        ("由 Ben 经团队服务记入", "f"),
        ("会话 3f2a; 由 安娜 经团队服务记入", "f\n会话 3f2a"),
        ("it was entered by Ben through the team's service", "f\nit was entered by Ben through the team's service"),
        ("a; b; ", "f\na; b; "),
    ],
)
def test_who_entered_a_fact_by_a_service_is_no_word_of_it(evidence: str, indexed: str) -> None:
    fact = {"id": "f1", "fact": "f", "evidence": evidence, "status": "active", "timestamp": "2026-02-10T14:30:00Z"}

    assert chunk(json.dumps({"facts": [fact]}), "areas/projects/shop/facts.json").text == indexed


@pytest.mark.parametrize("word", ["false", "no", "Off", "'false'"])
def test_a_note_can_keep_out_of_the_search(word: str) -> None:
    assert row(f"---\nsearch: {word}\ntitle: Private\n---\nsecret") == NoteRow("Private", "", ())


@pytest.mark.parametrize(
    ("content", "problem", "searchable"),
    [
        (b"---\ntitle: [\n---\n\ndeploy key", "", True),
        (b"deploy key \xff\xfe", "not UTF-8", True),
        ("部署密钥 deploy key".encode("gb18030"), "read as GB18030", True),
        ("deploy key".encode("utf-16"), "read as UTF-16", True),
        (b"---\n- a\n---\ndeploy key", "", True),
        (b"deploy\x00key", "NUL", False),
    ],
)
def test_a_broken_note_is_searched_as_far_as_it_can_be_read(content: bytes, problem: str, searchable: bool) -> None:
    broken = note_row("a.md", content)

    assert problem in broken.problem
    assert any("deploi" in chunk.terms(WordTerms()).split() for chunk in broken.chunks) is searchable


def test_each_fact_is_a_chunk_of_its_own() -> None:
    first = f'{FACT}, "category": "decision", "tags": ["Auth"], "expires": "2027-01-01"}}'
    facts = f'{{"facts": [\n{first},\n{FACT}, "status": "archived"}}\n]}}'

    rows = row(facts, "areas/projects/shop/facts.json").chunks

    assert [(each.start_line, each.end_line, each.status) for each in rows] == [(2, 2, "active"), (3, 3, "archived")]
    assert rows[0].text == "tokens live 24 hours\njwt.ts"
    assert rows[0][4:13] == (
        "fact", "shop", "decision", "active", "2026-02-10", " auth ", "2027-01-01", False, "f1",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"{", "not a list of facts"), (b"\xff", "not UTF-8"), (b"[" * 100_000, "nested"), (b'{"facts": 7}', "list")],
)
def test_a_broken_list_of_facts_is_a_problem_and_no_error(content: bytes, problem: str) -> None:
    broken = note_row("facts.json", content)

    assert problem in broken.problem
    assert broken.chunks == ()


def test_what_lies_in_the_archive_is_archived() -> None:
    assert chunk("text", "archive/sessions/a.md").archived
    assert chunk("text", "archive/sessions/a.md").kind == "session"
    assert not chunk("text", "sessions/archive/a.md").archived


YAML = st.lists(
    st.sampled_from(
        [
            "title: ",
            "tags: ",
            "- a",
            "[",
            "]",
            "{",
            "}",
            "&a ",
            "*a",
            "!!python/name:os.system ",
            "? ",
            ": ",
            "|\n ",
            '"\\ud800"',
        ]
    )
    | st.sampled_from(
        ["date: ", "2026-02-30", "0o17", "no", "\t", "\n", "\n  ", "#", "'", "%YAML 9.9", "---", "...", "\\0", "\x85"]
    ),
    max_size=20,
).map("".join)


@pytest.mark.slow
@given(
    st.binary() | st.text().map(str.encode),
    st.sampled_from(["a.md", "facts.json", "archive/x/facts.json", "b.markdown"]),
)
@example(b'{"facts": [{"fact": "x", "confidence": ' + b"1" * 5000 + b"}]}", "facts.json")
@example(b'{"facts": [{"fact": "\\ud800", "id": "\\udfff"}]}', "facts.json")
@example(b'{"facts": [{"fact": NaN}]}', "facts.json")
def test_no_file_is_too_strange_for_the_index(content: bytes, ref: str) -> None:
    storable(note_row(ref, content))


def storable(row: NoteRow) -> None:
    for text in (
        row.title,
        row.problem,
        *(str(value) for chunk in row.chunks for value in (*chunk, chunk.terms(WordTerms()))),
    ):
        text.encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "matter", ["'a: ' + '[' * 60000", "'- ' * 30000", "'? ' * 30000", "'[{a: ' * 10000", "'{a: ' * 15000 + '}' * 5000"]
)
def test_front_matter_that_is_nested_deeply_does_not_end_the_process(matter: str) -> None:
    code = (
        "from memtool.index.rows import note_row\n"
        f"print(note_row('a.md', ('---\\n' + {matter} + '\\n---\\nhello').encode()).chunks[-1].text[-5:])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    [
        "# " + "word " * 60_000 + "\n\n" + "paragraph\n\n" * 10_000,
        "---\nsummary: " + "word " * 12_000 + "\n---\n" + "paragraph\n\n" * 10_000,
        "---\ntags: ["
        + ", ".join(f"tag{number}" for number in range(6000))
        + "]\nproject: "
        + "p" * 4000
        + "\n---\n"
        + "paragraph\n\n" * 10_000,
        "".join(f"{'#' * level} {'h' * 1400}\n" for level in range(1, 7)) + "paragraph\n\n" * 10_000,
    ],
    ids=["title", "summary", "tags", "headings"],
)
def test_what_goes_with_every_chunk_stays_short(hostile: str) -> None:
    chunks = row(hostile).chunks

    assert sum(
        len(each.context) + len(each.tags) + len(each.heading) + len(each.project) for each in chunks
    ) < 6000 * len(chunks)


def test_the_context_of_a_chunk_names_everything_once() -> None:
    assert context("Shop", "Shop > Login", "2026-02-03") == (
        "Shop\nLogin\n2026-02-03 3 February 2026 2026-02 2月3日 2026年2月"
    )
    assert context("Shop", "", "soon") == "Shop"


OURS = ["CLAUDE.md", "MEMORY.md", "rules/memory-loader.md"]


def shipped_note(ref: str) -> str:
    return (shipped("vault_template") / ref).read_text(encoding="utf-8")


@pytest.mark.parametrize("ref", OURS)
def test_a_note_as_init_wrote_it_is_found_by_its_whole_name_only(ref: str) -> None:
    terms = set(chunk(shipped_note(ref), ref).terms(WordTerms()).split())

    assert terms <= set(index_terms(ref.rsplit("/", 1)[-1]))
    assert terms.isdisjoint(index_terms("what does the memory of claude say about each project loader rules 记忆"))


@pytest.mark.parametrize("ref", OURS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_the_user_wrote_into_a_note_of_init_is_found_and_nothing_else_of_it(ref: str, newline: str) -> None:
    text = shipped_note(ref).replace("\n", newline)
    note = chunk(f"{text}{newline}- redis 缓存 lives in the cellar{newline}", ref)

    terms = note.terms(WordTerms()).split()

    assert {"redi", "缓存", "cellar"} <= set(terms)
    assert {"project", "everi", "memtool"}.isdisjoint(terms)  # but of its title
    assert note.text == "- redis 缓存 lives in the cellar"
    assert note.start_line == text.count("\n") + 2


def test_rows_for_triggers_are_not_found_and_rows_by_hand_are() -> None:
    text = with_rows(shipped_note(LOADER) + "| by hand, 手写 | a.md |\n", [TableRow(("zanzibar",), ("b.md",))])

    assert [each.text for each in row(text, LOADER).chunks] == ["| by hand, 手写 | a.md |"]
