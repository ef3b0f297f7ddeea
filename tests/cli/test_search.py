from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from terminal import MEMTOOL, on_a_terminal, with_pipes
from unprivileged import give_up_for_children

if TYPE_CHECKING:
    from terminal import Memtool

FIELDS = {
    "path", "start_line", "end_line", "kind", "project", "title", "heading", "date", "category", "score", "snippet",
    "text", "why",
}  # fmt: skip
WORDS_ONLY = "search is by words only: "


def test_json_has_the_fields_that_were_promised(memtool: Memtool, sample: Path) -> None:
    code, out, err = ran = memtool("search", "解密失败", "--json")
    assert (code, err) == (0, "")
    answer = ran.answer
    assert list(answer) == ["format", "query", "mode", "hits", "took_ms", "notices"]
    assert (answer["format"], answer["query"], answer["mode"]) == (1, "解密失败", "bm25")
    assert "解密失败" in out
    assert answer["took_ms"] > 0
    assert answer["notices"] == []
    assert 0 < len(answer["hits"]) <= 6
    for hit in answer["hits"]:
        assert hit.keys() == FIELDS | {"fact_id", "author"}
        assert isinstance(hit["why"]["bm25"]["rank"], int)
        assert (sample / hit["path"]).is_file()
        assert 1 <= hit["start_line"] <= hit["end_line"]


def test_a_hit_says_where_it_stands(memtool: Memtool, notes: Path) -> None:
    (notes / "areas/projects/shop/decisions").mkdir(parents=True)
    (notes / "areas/projects/shop/decisions/2026-02-10-jwt.md").write_text(
        "---\ntitle: JWT\ncategory: bug\n---\n\n# JWT\n\n## Why\n\nBecause of zebras.\n"
    )
    (hit,) = memtool("search", "zebra", "--json").answer["hits"]
    assert {name: hit[name] for name in FIELDS - {"score", "why", "text", "snippet"}} == {
        "path": "areas/projects/shop/decisions/2026-02-10-jwt.md", "start_line": 6, "end_line": 10, "kind": "decision",
        "project": "shop", "title": "JWT", "heading": "JWT > Why", "date": "2026-02-10", "category": "bug",
    } | {"heading": hit["heading"]}  # fmt: skip
    assert "zebras" in hit["text"]


@pytest.mark.slow
def test_a_fact_that_a_newer_one_contradicts_is_marked(memtool: Memtool, notes: Path) -> None:
    path = notes / "areas/projects/shop/facts.json"
    path.parent.mkdir(parents=True)
    form = '{{"id": "f-{0}", "fact": "缓存 lives {0} minutes", "evidence": "x", "timestamp": "2026-02-0{1}",'
    facts = (form.format(*values) + ' "category": "general", "status": "active"}' for values in ((15, 1), (20, 2)))
    path.write_text('{"facts": [\n' + ",\n".join(facts) + "\n]}", encoding="utf-8")
    out = memtool("search", "缓存 lives").out
    assert "facts.json:2-2  2026-02-01  shop  fact  contradicted by a fact of 2026-02-02\n" in out
    assert out.count("contradicted") == 1


def session_note(notes: Path, session: str, title: str, *lines: str) -> None:
    path = notes / f"sessions/{session}.md"
    path.parent.mkdir(exist_ok=True)
    rows = "\n".join(lines)
    head = f"type: session\nsession: {session}\nproject: 支付服务\ndate: 2026-02-10"
    path.write_text(f"---\n{head}\n---\n# {title}\n\n{rows}\n", encoding="utf-8")


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_hit_of_a_session_keeps_to_the_width_with_one_line_for_each_line_of_the_note(
    memtool: Memtool, notes: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rows = ("- zebra 第一 `code`", "- **second** zebra", "", "  - 第三 zebra", "- fourth zebra")
    session_note(notes, "ef299174-4970-4a1b-9c1d-2f7b8c9d0e1f", "Login uses JWT, 登录改用 JWT", *rows)
    title, *rest = memtool("search", "zebra").out.splitlines()
    place = ["  sessions/ef299174…:9-13  2026-02-10  支付服务  session"]
    assert title == "Login uses JWT, 登录改用 JWT  (likely)"
    assert rest == [
        *(place if columns == "80" else ["  sessions/ef299174…:9-13", "  2026-02-10  支付服务  session"]),
        "  - zebra 第一 code", "  - second zebra", "  - 第三 zebra", "  - fourth zebra", "",
    ]  # fmt: skip


def test_the_statement_that_matches_is_shown(memtool: Memtool, notes: Path) -> None:
    rows = [f"- 第{number}行 filler" for number in range(9)]
    session_note(notes, "s1", "Session", *rows, "- the 解密 zebra", "- last")
    assert memtool("search", "zebra").out.splitlines()[2:] == ["  - the 解密 zebra", ""]


def test_results_are_on_stdout_and_talk_is_on_stderr(memtool: Memtool, sample: Path) -> None:
    code, out, err = memtool("search", "getUserById")
    assert (code, err) == (0, "")
    assert re.search(
        r"^  areas/projects/shop/knowledge/2026-03-02-getuserbyid-in-loops\.md:\d+-\d+$",
        out,
        re.MULTILINE,
    )
    assert "\x1b" not in out
    assert sample.is_dir()


@pytest.mark.slow
def test_a_missing_embedder_is_said_once_for_each_vault_and_always_in_json(
    memtool: Memtool, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMTOOL_EMBEDDINGS_PROVIDER")
    code, out, err = memtool("search", "token")
    assert (code, err.startswith(WORDS_ONLY), err.count("\n")) == (0, True, 1)
    assert memtool("search", "token") == (0, out, "")
    assert memtool("search", "token", "--mode", "hybrid") == (0, out, "")
    assert [f"{notice}\n" for notice in memtool("search", "token", "--json").answer["notices"]] == [err]
    assert memtool("search", "token", "--mode", "bm25", "--json").answer["notices"] == []
    (tmp_path / "other").mkdir()
    assert err in memtool("search", "token", "--vault", str(tmp_path / "other")).err
    assert sample.is_dir()


def test_the_mode_vector_without_vectors_is_an_error(memtool: Memtool, sample: Path) -> None:
    assert memtool("search", "token", "--mode", "vector") == (
        31, "", "memtool: no embedder is set up\nChoose one with `[embeddings] provider`.\n",
    )  # fmt: skip
    assert sample.is_dir()


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "NEAR(", "NEAR(token, 5)", "AND", "OR NOT", '"token', "token*", "^token", "terms:token", "token AND", "{token}",
        "token\0", "tok\ud800en token", "-token", "token' OR 1=1 --", "%token%", "../token", "[token](x)",
    ],
)  # fmt: skip
def test_no_query_is_syntax(memtool: Memtool, sample: Path, query: str) -> None:
    ran = memtool("search", "--json", "--", query)
    assert (ran.code, ran.err) == (0, "")
    if "token" in query:
        assert any("token" in hit["text"].lower() for hit in ran.answer["hits"])
    assert sample.is_dir()


@pytest.mark.slow
def test_explain_says_in_sentences_why_a_hit_has_its_place(memtool: Memtool, sample: Path) -> None:
    out = memtool("search", "token", "--explain").out
    assert re.search(
        r"^  About \d\d of 100 hits like this one answer the query\.\n  By words it is number 1: \d",
        out,
        re.MULTILINE,
    )
    assert "bm25" not in out
    assert "By words" not in memtool("search", "JWT", "-n", "1").out
    assert sample.is_dir()


@pytest.mark.slow
def test_where_no_note_holds_enough_of_the_question_nothing_fits(memtool: Memtool, sample: Path) -> None:
    ran = memtool("search", "how is the zeppelin 飞艇 fuelled by the token")
    assert (ran.code, ran.out, "Nothing fits.\n" in ran.err) == (0, "", True)
    assert "The nearest is '" in ran.err
    assert len(memtool("search", "helm zeppelin 飞艇 token", "--json").answer["hits"]) > 0
    assert sample.is_dir()


@pytest.mark.slow
def test_the_settings_choose_and_the_command_line_overrules(memtool: Memtool, sample: Path) -> None:
    (sample / "memtool.toml").write_text('[search]\nlimit = 2\nmode = "bm25"\n')
    ran = memtool("search", "token", "--json")
    assert (len(ran.answer["hits"]), ran.answer["notices"]) == (2, [])
    assert len(memtool("search", "token", "--json", "-n", "3").answer["hits"]) == 3


def test_what_a_hostile_vault_asks_for_is_ignored_with_a_notice(memtool: Memtool, notes: Path) -> None:
    (notes / "n.md").write_text("tea")
    (notes / "memtool.toml").write_text(
        '[embeddings]\nbase_url = "http://127.0.0.1:9/v1"\nprovider = "openai"\n[x]\ny = 1\n'
    )
    ignored = [
        f"'embeddings.{name}' in the vault's memtool.toml is ignored: set it in your own config.toml"
        for name in ("base_url", "provider")
    ] + [f"unknown settings in {notes}/memtool.toml: 'x'"]
    assert memtool("search", "tea", "--json").answer["notices"] == ignored
    assert memtool("search", "tea").err == "\n".join([*ignored, ""])
    assert memtool("search", "tea").err == ""
    assert memtool("index", "--json").answer["notices"][:3] == ignored


def test_a_batch_answers_line_by_line(memtool: Memtool, sample: Path) -> None:
    questions = (
        '{"id": 1, "query": "解密失败"}\n\n{"id": ["x"], "query": "xyzzyx"}\r\n{"id": null, "query": "!!", "more": 1}\n'
    )
    code, out, err = memtool("search", "--batch", "-n", "2", stdin=questions.encode())
    assert code == 0
    one, two, three = map(json.loads, out.splitlines())
    assert (one["id"], len(one["results"]), one["results"][0].keys()) == (1, 2, FIELDS | {"fact_id", "author"})
    assert (two, three) == ({"id": ["x"], "results": []}, {"id": None, "results": []})
    assert err == ""
    assert memtool("search", "--batch") == (0, "", "")
    assert sample.is_dir()


@pytest.mark.parametrize(
    "line",
    [
        "token",
        "[1]",
        '{"id": 1}',
        '{"query": "x"}',
        '{"id": 1, "query": 2}',
        '{"id": 1, "query": null}',
        "{",
        "[" * 100_000,
        '"x"',
        "9" * 5_000,
    ],
)
def test_what_is_no_question_is_named_by_its_line(memtool: Memtool, sample: Path, line: str) -> None:
    assert memtool("search", "--batch", stdin=f'{{"id": 1, "query": "x"}}\n{line}\n'.encode()) == (
        2, "",
        'memtool: line 2 of the batch is not a question\nOne JSON object a line: {"id": 1, "query": "deploy key"}\n',
    )  # fmt: skip
    assert sample.is_dir()


HOSTILE = (
    '---\ntitle: "t\\e]0;owned\\a[red]x[/red]\\x9b31m"\nproject: "p\\e[2J"\n---\n'
    "# h \x1b]0;x\x07\n\nzebra \x1b[31m \x9b32m [bold]b[/bold] [link=http://x]y[/link]\n"
)


def hostile_name(folder: Path) -> None:
    (folder / "e\x9bvil \x7f.md").write_text(HOSTILE, encoding="utf-8")


@pytest.mark.slow
def test_no_note_steers_the_terminal(notes: Path) -> None:
    hostile_name(notes)
    (notes / "sub").mkdir()
    hostile_name(notes / "sub")
    (notes / "gbk\x1b[2J.md").write_bytes("解密".encode("gbk"))
    ours = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[12]?[AK]|\x1b\]8;[!-~]*\x1b\\|\r")
    for arguments in (["search", "zebra", "--explain"], ["search", "zebra", "--json"], ["show", "e\x9bvil \x7f"],
                      ["show", "e\x9bvil \x7f.md"], ["index"], ["index", "--status"], ["doctor"]):  # fmt: skip
        shown = on_a_terminal(*arguments, environ={"MEMTOOL_EMBEDDINGS_PROVIDER": "none"}).out
        left = ours.sub("", shown)
        assert left.replace("\n", "").isprintable(), arguments
        assert "owned" in shown or arguments[0] != "search"
    assert "[red]x[/red]" in on_a_terminal("search", "zebra").out


@pytest.mark.slow
def test_on_a_terminal_paths_are_links_and_words_are_marked(sample: Path) -> None:
    shown = on_a_terminal("search", "getUserById", "-n", "1").out
    path = "areas/projects/shop/knowledge/2026-03-02-getuserbyid-in-loops.md"
    uri = f"file://{str(sample).replace(' ', '%20')}/{path}"
    assert re.search(rf"\x1b\]8;id=\d+;{re.escape(uri)}\x1b\\\x1b\[36m{re.escape(path)}:", shown)
    assert "\x1b[1;33mgetUserById\x1b[0m" in shown
    assert "\x1b" not in with_pipes("search", "getUserById", "-n", "1").out


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_vault_that_cannot_be_written_is_searched(notes: Path, tmp_path: Path) -> None:
    (notes / "n.md").write_text("tea")
    notes.chmod(0o500)
    environ = {**os.environ, "MEMTOOL_CACHE": str(tmp_path / "cache"), "MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
    command = [*MEMTOOL, "search", "tea"]
    for _ in range(2):
        ran = subprocess.run(
            command, env=environ, preexec_fn=give_up_for_children, capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "n.md:1-1" in ran.stdout
    assert sorted(path.name for path in notes.iterdir()) == ["memtool.toml", "n.md"]
    notes.chmod(0o700)


@pytest.mark.slow
def test_a_vault_whose_state_folder_leads_elsewhere_is_searched_and_nothing_is_written_there(
    memtool: Memtool, notes: Path, tmp_path: Path
) -> None:
    """A cloned vault may hold `.memtool/index/current.tmp -> ~/.bashrc`."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bashrc").write_text("precious")
    (tmp_path / "mine" / "mine.sqlite").write_text("precious")
    (notes / "n.md").write_text("tea")
    for link, target in ((".memtool/index/current.tmp", "bashrc"), (".memtool/index", "."), (".memtool/locks", "."),
                         (".memtool/said", "."), (".memtool/.gitignore", "new"), (".memtool", ".")):  # fmt: skip
        (notes / link).parent.mkdir(parents=True, exist_ok=True)
        (notes / link).symlink_to(tmp_path / "mine" / target)
        assert memtool("search", "tea", "--json").answer["hits"][0]["path"] == "n.md"
        memtool("search", "tea")
        (notes / link).unlink()
        shutil.rmtree(notes / ".memtool", ignore_errors=True)
    assert {path.name: path.read_text() for path in (tmp_path / "mine").iterdir()} == {
        "bashrc": "precious", "mine.sqlite": "precious",
    }  # fmt: skip


@pytest.mark.slow
def test_explain_shows_how_often_a_hit_was_used(memtool: Memtool, sample: Path) -> None:
    hit = memtool("search", "getUserById", "--json", "--explain").answer["hits"][0]
    assert hit["why"]["uses"] == 0
    memtool("show", hit["fact_id"] or hit["path"])
    assert memtool("search", "getUserById", "--json", "--explain").answer["hits"][0]["why"]["uses"] == 1
    assert "It was used once before." in memtool("search", "getUserById", "--explain").out
    assert "uses" not in memtool("search", "getUserById", "--json").answer["hits"][0]["why"]
    assert sample.is_dir()


SESSION = """---
type: session
date: 2026-02-{day}
project: shop
---

# 登录: sessions replaced by JWT {day}

- **Project**: shop
- **Directory**: ~/src/shop

---

1. **Key points**:
   - "the cookie" → it was the missing domain
2. **Decisions**: {word} rather than 服务器会话, because services authenticate each other (user)
"""


def decided(notes: Path) -> None:
    words = ("JWT", "opaque tokens in Redis", "客户端证书", "passkeys and nothing else at all")
    for day, word in zip(range(10, 14), words, strict=True):
        path = notes / "sessions" / f"{day}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(SESSION.replace("{day}", str(day)).replace("{word}", f"{word} " * 9), encoding="utf-8")
    (notes / "sessions" / "9.md").write_text("---\ntype: session\n---\n\n# 登录\n\n1. **Done**: nothing\n")


@pytest.mark.parametrize("option", ["--kind", "--category"])
def test_a_decision_of_a_session_is_found_as_a_decision(memtool: Memtool, notes: Path, option: str) -> None:
    decided(notes)
    found = memtool("search", "服务器会话", option, "decision", "--json").answer["hits"]
    assert {hit["kind"] for hit in found} == {"session"}
    listed = memtool("search", option, "decision", "--json").answer["hits"]
    assert [hit["path"] for hit in listed] == [f"sessions/{day}.md" for day in range(13, 9, -1)]
    assert listed[3]["snippet"].startswith("JWT JWT")


def test_without_words_there_is_a_list_in_pages(memtool: Memtool, notes: Path) -> None:
    decided(notes)
    first = memtool("search", "--since", "2026-02-11", "-n", "2")
    assert [line.split(":")[0].strip() for line in first.out.splitlines() if "sessions/" in line] == [
        "sessions/13.md",
        "sessions/12.md",
    ]
    assert first.err == "page 1 of 2; `--page 2` shows the next\n"
    second = memtool("search", "--since", "2026-02-11", "-n", "2", "--page", "2", "--json").answer
    assert ([hit["path"] for hit in second["hits"]], second["mode"]) == (["sessions/11.md"], "list")
    assert len(memtool("search", "--json").answer["hits"]) == 5


def test_the_next_page_of_a_search_goes_on(memtool: Memtool, notes: Path) -> None:
    for number, text in enumerate(("green leaves", "红茶 from Yunnan", "a pot of clay", "water at 80 °C", "Teekanne")):
        (notes / f"{number}.md").write_text(f"# tea\n\n{text}\n", encoding="utf-8")
    pages = [memtool("search", "tea", "-n", "2", "--page", str(page), "--json").answer["hits"] for page in (1, 2, 3)]
    assert sorted(hit["path"] for hits in pages for hit in hits) == [f"{number}.md" for number in range(5)]


def test_a_name_that_nothing_bears_is_told_with_its_nearest(memtool: Memtool, notes: Path) -> None:
    decided(notes)
    assert "no note has the project 'shpo'; did you mean 'shop'?" in memtool("search", "jwt", "--project", "shpo").err
    notices = memtool("search", "--category", "conversatoin", "--json").answer["notices"]
    assert notices == ["no note has the category 'conversatoin'; did you mean 'conversation'?"]
    notices = memtool("search", "--category", "identiy", "--json").answer["notices"]
    assert "no note has the category 'identiy'; did you mean 'identity'?" in notices  # one that no note has either
    assert "there are conversation" in memtool("search", "x", "--category", "茶").err


def test_a_list_that_is_empty_speaks_of_filters_and_not_of_words(memtool: Memtool, sample: Path) -> None:
    err = memtool("search", "--kind", "schema", "--project", "shop").err
    assert "Nothing found.\nTry fewer filters, or --all to include archived and superseded notes.\n" in err
    assert sample.is_dir()


# Projects


NARROWED = "searched 'shop' and what belongs to no project; --all-projects searches every project\n"


@pytest.fixture
def two_projects(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault of two projects with a note each, and one of none; the commands are run in the folder of the first."""
    monkeypatch.setenv("MEMTOOL_VAULT", str(notes))
    folder = tmp_path / "src" / "shop"
    folder.mkdir(parents=True)
    for ref, text in {
        "projects/shop/knowledge/a.md": "The zeppelin 飞艇 docks at noon.\n",
        "projects/商店/knowledge/b.md": "Gas for a zeppelin 飞艇 is dear.\n",
        "global/knowledge/c.md": "Whoever steers some zeppelin 飞艇 needs a licence.\n",
    }.items():
        (notes / "areas" / ref).parent.mkdir(parents=True)
        (notes / "areas" / ref).write_text(text, encoding="utf-8")
    (notes / "areas/projects/shop/summary.md").write_text(f'---\nidentities: ["path:{folder}"]\n---\n')
    monkeypatch.chdir(folder)
    return folder


def found_in(answer: dict[str, object]) -> set[str]:
    assert isinstance(answer["hits"], list)
    return {hit["path"][-4] for hit in answer["hits"] if not hit["path"].endswith("summary.md")}


@pytest.mark.parametrize("query", [["飞艇"], []])
def test_in_a_project_what_belongs_to_another_does_not_surface(
    memtool: Memtool, two_projects: Path, query: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = memtool("search", *query)
    assert (ran.code, ran.err) == (0, NARROWED)
    answer = memtool("search", *query, "--json").answer
    assert (found_in(answer), answer["notices"]) == ({"a", "c"}, [NARROWED.rstrip()])
    for wider in (["--all-projects"], ["--project", "商店", "--project", "shop"]):
        answer = memtool("search", *query, *wider, "--json").answer
        assert found_in(answer) >= {"a", "b"}
        assert answer["notices"] == []
    monkeypatch.chdir(two_projects.parent)
    assert found_in(memtool("search", *query, "--json").answer) == {"a", "b", "c"}


def test_in_a_project_a_batch_keeps_to_it_too(memtool: Memtool, two_projects: Path) -> None:
    asked = '{"id": 1, "query": "飞艇"}\n'.encode()
    ran = memtool("search", "--batch", stdin=asked)
    assert (ran.err, "商店" in ran.out, ran.out.count("/knowledge/")) == (NARROWED, False, 2)
    assert memtool("search", "--batch", "--all-projects", stdin=asked).out.count("/knowledge/") == 3
    assert two_projects.is_dir()


def test_in_the_vault_itself_all_of_it_is_searched_but_in_a_project_s_area_that(
    memtool: Memtool, two_projects: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    assert found_in(memtool("search", "zeppelin", "--json").answer) == {"a", "b", "c"}
    monkeypatch.chdir(notes / "areas/projects/商店")
    assert found_in(memtool("search", "zeppelin", "--json").answer) == {"b", "c"}
    assert two_projects.is_dir()


def test_what_the_vault_ignores_is_neither_found_nor_a_problem(memtool: Memtool, notes: Path) -> None:
    (notes / "模板 Templates").mkdir()
    (notes / "模板 Templates/daily.md").write_text("---\ntitle: [\n---\nzebra {{title}}\n", encoding="utf-8")
    (notes / "n.md").write_text("zebra\n")
    assert len(memtool("search", "zebra", "--json").answer["hits"]) == 2
    (notes / "memtool.toml").write_text('[index]\nignore = ["模板 Templates/"]\n', encoding="utf-8")
    assert [hit["path"] for hit in memtool("search", "zebra", "--json").answer["hits"]] == ["n.md"]
    assert memtool("search", "--json").answer["hits"][0]["path"] == "n.md"
    status = memtool("index", "--status", "--json").answer
    assert (status["notes"], status["problems"]) == (1, [])
    (notes / "memtool.toml").write_text("")
    assert len(memtool("search", "zebra", "--json").answer["hits"]) == 2
