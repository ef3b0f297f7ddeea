from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from terminal import with_pipes

if TYPE_CHECKING:
    from terminal import Memtool

FACT = "fact-20260302-8812fd95ac"
JWT = "areas/projects/shop/decisions/2026-01-19-jwt-rather-than-server-sessions.md"


@pytest.mark.slow
def test_a_note_is_shown_byte_for_byte(memtool: Memtool, notes: Path) -> None:
    for content in ("# 解密\r\n\r\ntext\r\n", "no line end", "\x1b[31mred\x1b[0m\ttab\x9b\n", "two ends\n\n"):
        (notes / "n.md").write_bytes(content.encode("utf-8"))
        out = with_pipes("show", "n.md").out
        assert out == (content if content.endswith("\n") else content + "\n")
    assert memtool("show", "n").out == "two ends\n\n"


def test_a_note_is_shown_at_three_levels(memtool: Memtool, sample: Path) -> None:
    whole = (sample / JWT).read_text("utf-8")
    assert memtool("show", JWT) == memtool("show", JWT, "--level", "2") == (0, whole, "")
    overview = memtool("show", JWT, "--level", "1").out
    assert overview.startswith("# JWT rather than server sessions\n")
    assert 0 < len(memtool("show", JWT, "--level", "0").out) < len(overview) < len(whole)


def test_json_says_what_was_read(memtool: Memtool, sample: Path) -> None:
    ran = memtool("show", f"{JWT}:1-2", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.answer == {
        "format": 1, "level": 2, "path": JWT, "start_line": 1, "end_line": 2, "kind": "decision", "project": "shop",
        "title": "JWT rather than server sessions", "text": "---\ntype: decision", "fields": ran.answer["fields"],
        "problem": "", "uses": 0,
    }  # fmt: skip
    assert ran.answer["fields"]["type"] == "decision"
    assert sample.is_dir()


@pytest.mark.slow
def test_what_stands_behind_a_short_id_is_shown_wherever_one_is(memtool: Memtool, sample: Path) -> None:
    given = memtool("context", "--project", "shop").out
    for beginning, text in (
        ("- 退款接口也要支持幂等键", "幂等键"),
        ("- JWT rather than", "# JWT"),
        ("- 支付回调", '"bug"'),
    ):
        line = next(line for line in given.split("\n") if line.startswith(beginning))
        assert text in memtool("show", line.rpartition(" [")[2][:4]).out
    assert memtool("show", "z9zz").code == 20
    assert sample.is_dir()


@pytest.mark.parametrize(
    "ref",
    ["MEMORY.md", "memory", "./MEMORY.md", "areas/../MEMORY.md", "MEMORY.md:1-26", "MEMORY.md#L1-L26", "/MEMORY.md/"],
)
def test_a_note_has_many_names(memtool: Memtool, sample: Path, ref: str) -> None:
    if ref.startswith("/"):
        ref = f"{sample}/MEMORY.md"
    answer = memtool("show", ref, "--json").answer
    assert (answer["path"], answer["kind"]) == ("MEMORY.md", "memory")


@pytest.mark.slow
def test_a_fact_is_shown_by_its_id(memtool: Memtool, sample: Path) -> None:
    whole = memtool("show", FACT).out
    assert json.loads(whole.strip().rstrip(","))["id"] == FACT
    statement = memtool("show", FACT, "--level", "0").out
    assert statement.startswith("getUserById returns null for a deleted account")
    assert statement.count("\n") == 1
    assert memtool("show", FACT, "--level", "1").out == f"{statement}apps/api/src/users/repository.ts\n"
    answer = memtool("show", FACT, "--json", "--level", "1").answer
    assert (answer["path"], answer["kind"], answer["project"]) == ("areas/projects/shop/facts.json", "fact", "shop")
    assert answer["fields"] == {
        "id": FACT,
        "date": "2026-03-02",
        "category": "code",
        "status": "active",
        "author": "imported",
    }
    lines = (sample / answer["path"]).read_text("utf-8").splitlines()[answer["start_line"] - 1 : answer["end_line"]]
    assert "\n".join(lines) + "\n" == whole


def test_the_lines_of_a_session_name_their_authors(memtool: Memtool, sample: Path) -> None:
    path = "sessions/said.md"
    told = "- [decision] ULIDs, because they sort by time (user)\n   - 令牌 15 分钟 (imported) #auth\n"
    (sample / path).write_text(f"# Session: said\n\n1. **Key points**:\n   {told}", encoding="utf-8")
    lines = memtool("show", path, "--json").answer["lines"]
    assert [(line["text"], line["role"], line["author"], line["number"]) for line in lines] == [
        ("ULIDs, because they sort by time", "decision", "user", 4), ("令牌 15 分钟 #auth", "", "imported", 5),
    ]  # fmt: skip
    assert "lines" not in memtool("show", FACT, "--json").answer
    hits = memtool("search", "ULIDs sort by time", "--explain", "--json").answer["hits"]
    assert next(hit["why"]["author"] for hit in hits if hit["path"] == path) == "imported, user"


def fact_file(*ids: str) -> str:
    fact = {"fact": "f", "evidence": "e", "timestamp": "2026-01-01", "status": "active", "category": "fact"}
    return json.dumps({"facts": [{"id": fact_id, **fact} for fact_id in ids]})


def test_an_id_of_several_facts_names_their_places(memtool: Memtool, notes: Path) -> None:
    (notes / "a").mkdir()
    (notes / "facts.json").write_text(fact_file("fact-001"))
    (notes / "a" / "facts.json").write_text(fact_file("fact-001"))
    code, out, err = memtool("show", "fact-001")
    assert (code, out) == (2, "")
    assert err.startswith("memtool: 'fact-001' is the id of 2 facts: a/facts.json:1-1, facts.json:1-1\n")


@pytest.mark.parametrize("ref", ["../secret.md", "/etc/passwd", "areas/../../secret.md", "out.md"])
def test_nothing_outside_the_vault_is_shown(memtool: Memtool, sample: Path, ref: str) -> None:
    (sample.parent / "secret.md").write_text("secret")
    (sample / "out.md").symlink_to("../secret.md")
    assert memtool("show", ref) == (
        25, "", f"memtool: '{ref}' lies outside the vault\nName a file inside the vault.\n"
    )  # fmt: skip


def test_a_broken_note_is_shown_with_what_is_wrong(memtool: Memtool, notes: Path) -> None:
    (notes / "gbk.md").write_bytes("解密".encode("gbk"))
    assert memtool("show", "gbk") == (0, "解密\n", "gbk.md: not UTF-8 (byte 0), read as GB18030\n")
    (notes / "nul.md").write_bytes(b"a\0b")
    assert memtool("show", "nul.md").err == "nul.md: holds NUL bytes, so it is hardly Markdown\n"


def test_a_huge_note_is_refused(memtool: Memtool, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTOOL_INDEX_MAX_NOTE_KB", "1")
    (notes / "n.md").write_text("x" * 1025)
    assert memtool("show", "n.md") == memtool("show", "n")
    assert memtool("show", "n") == (
        24, "", "memtool: 'n.md' is too large to show\nRaise `[index] max_note_kb`.\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    "matter",
    [
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
        "a: &a [*a]\n",
        "a: " + "[" * 30_000 + "]" * 30_000 + "\n",
    ],
    ids=["laughs", "circle", "deep"],
)
def test_a_bomb_of_yaml_is_shown_as_text(memtool: Memtool, notes: Path, matter: str) -> None:
    (notes / "bomb.md").write_text(f"---\n{matter}---\nneedle\n")
    answer = memtool("show", "bomb.md", "--json").answer
    assert (all(isinstance(value, str) for value in answer["fields"].values()), answer["problem"]) == (True, "")
    assert memtool("search", "needle", "--json").answer["hits"][0]["path"] == "bomb.md"


def test_each_reading_counts_as_a_use(memtool: Memtool, sample: Path) -> None:
    memtool("show", FACT)
    memtool("show", FACT, "--level", "0")
    assert memtool("show", FACT, "--json").answer["uses"] == 2
    assert memtool("show", JWT, "--json").answer["uses"] == 0
    assert sample.is_dir()


def test_a_note_is_known_by_its_file_name_and_its_aliases(memtool: Memtool, notes: Path) -> None:
    (notes / "Zanzibar caching.md").write_text("## Why\n\nBecause 解密 is slow.\n")
    (notes / "空.md").write_text("---\naliases: [Kühlschrank, cold store]\n---\n")
    (notes / "空箱.md").write_text("")
    for words, path in (("zanzibar", "Zanzibar caching.md"), ("cold store", "空.md"), ("空箱", "空箱.md")):
        assert memtool("search", words, "--json").answer["hits"][0]["path"] == path
    assert memtool("search", "zanzibar", "--json").answer["hits"][0]["title"] == "Zanzibar caching"
    for name, path in (
        ("zanzibar caching", "Zanzibar caching.md"),
        ("[[Zanzibar caching#Why|why]]", "Zanzibar caching.md"),
        ("KÜHLSCHRANK", "空.md"),
        ("[[cold store]]", "空.md"),
    ):
        assert memtool("show", name, "--json").answer["path"] == path
    assert memtool("show", "cold").code == 20


def test_a_session_and_a_project_are_named_in_short(memtool: Memtool, notes: Path) -> None:
    for name in ("3f2a9c11-9d9f-4f0e-8a21-6a1c2b3d4e5f", "3f2b0000-9d9f-4f0e-8a21-6a1c2b3d4e5f"):
        path = notes / "sessions" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f"---\ntype: session\ndate: 2026-02-10\n---\n\n# Session: {name}\n\n1. **Topic**: 登录 {name[:4]}\n"
        )
    (notes / "areas/projects/shop").mkdir(parents=True)
    (notes / "areas/projects/shop/summary.md").write_text("# The shop\n")
    answer = memtool("show", "3f2a", "--json").answer
    assert (answer["path"], answer["title"]) == ("sessions/3f2a9c11-9d9f-4f0e-8a21-6a1c2b3d4e5f.md", "登录 3f2a")
    assert memtool("show", "shop", "--json").answer["path"] == "areas/projects/shop/summary.md"
    assert [hit["title"] for hit in memtool("search", "登录", "--json").answer["hits"]][:1] != ["Session"]
    assert "Session: " not in memtool("search", "登录").out


LINKED = "---\ntitle: Über die Schlüssel\n---\n# Keys\n\n## 轮换\n\nRotate each quarter. ^轮\n\n## Old\n\nnone\n"


@pytest.mark.parametrize(
    "ref",
    [
        "[[rotation#轮换]]", "[[Rotation#轮换|keys]]", "[[rotation#^轮]]", "uber die schlussel#轮换", "rotation#^轮",
        "[[Über die Schlüssel#Keys#轮换]]", "notes/ROTATION.md#轮换", "U\u0308BER DIE SCHLU\u0308SSEL#轮换",
    ],
)  # fmt: skip
def test_a_link_of_obsidian_shows_the_part_that_it_names(memtool: Memtool, notes: Path, ref: str) -> None:
    (notes / "notes").mkdir()
    (notes / "notes/rotation.md").write_text(LINKED, encoding="utf-8")
    code, out, err = memtool("show", ref)
    assert (code, err) == (0, "")
    assert "Rotate each quarter." in out
    assert "none" not in out
    assert memtool("show", ref.split("#", maxsplit=1)[0].strip("[]")).out == LINKED


def test_a_part_that_is_not_there_is_named(memtool: Memtool, notes: Path) -> None:
    (notes / "C#.md").write_text("# C#\n", encoding="utf-8")
    (notes / "n.md").write_text("text\n", encoding="utf-8")
    assert memtool("show", "C#").out == "# C#\n"
    code, _, err = memtool("show", "[[n#Nowhere]]")
    assert (code, err.split("\n")[0]) == (20, "memtool: no note matches 'n.md#Nowhere'")


SESSION = "sessions/ef299174-4970-4a1b-9c1d-2f7b8c9d0e1f.md"


@pytest.mark.parametrize("ref", ["sessions/ef299174…", "ef299174", "sessions/ef299174…:4-6", "登录 改用 jwt"])
@pytest.mark.parametrize("folder", ["", "archive/"])
def test_a_place_as_search_shows_it_is_understood_by_every_command_that_reads(
    memtool: Memtool, notes: Path, folder: str, ref: str
) -> None:
    path = notes / folder / SESSION
    path.parent.mkdir(parents=True)
    path.write_text("---\ntype: session\ntitle: 登录 改用 JWT\ndate: 2026-02-10\n---\nzebra\n", encoding="utf-8")
    assert memtool("show", ref).out.endswith("zebra\n")
    assert f"{folder}{SESSION}" in memtool("timeline", ref.partition(":")[0], "--json").out
    if not folder and ":" not in ref:
        assert SESSION in memtool("forget", ref, "--json").out


def test_log_takes_a_place_as_search_shows_it(
    memtool: Memtool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "v" / SESSION
    path.parent.mkdir(parents=True)
    path.write_text("---\ntype: session\n---\n# 登录\n", encoding="utf-8")
    memtool("init", str(tmp_path / "v"))
    monkeypatch.chdir(tmp_path / "v")
    for ref in (SESSION, "sessions/ef299174…", "ef299174", "sessions"):
        assert memtool("log", ref, "--json").answer["total"] == 1
    path.unlink()
    assert memtool("log", SESSION, "--json").answer["total"] == 1
    assert memtool("log", "nowhere", "--json").answer["total"] == 0
