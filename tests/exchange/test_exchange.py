"""From one vault into another, and back."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from trees import write

from memtool.capture.source import Source, read_source, write_source
from memtool.capture.turns import Turn
from memtool.errors import NoteNotFound
from memtool.exchange import documents
from memtool.exchange.bundle_import import ADDED, KEPT, MERGED, SAME, Imported, import_bundle
from memtool.exchange.documents import FORMS, JSON, MARKDOWN, TAR, export, facts_text, parsed, rendered
from memtool.git import tell
from memtool.history.one_commit import commit_noted
from memtool.history.template import make_vault
from memtool.vault import files
from memtool.vault.layout import Vault, session_ref
from memtool.vault.sessions import SessionNote, render_session

FACTS = "areas/projects/商店/facts.json"
TODOS = "areas/projects/shop/todos.md"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def fact(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name, "fact": text, "evidence": "见过", "timestamp": "2026-02-10", "status": "active",
        "category": "general", **more,
    }  # fmt: skip


def filled(vault: Vault) -> Vault:
    facts = [fact("f1", "令牌的有效期是 24 小时", author="user", own=[1]), fact("f2", "Services use JWT.")]
    write(vault, FACTS, json.dumps({"facts": facts}, ensure_ascii=False))
    write(vault, TODOS, "---\ntype: todo\nproject: shop\n---\n\n# Open items\n\n- [ ] 一件事\r\n")
    write(vault, session_ref("s1"), render_session(SessionNote("s1", project="shop", updated="2026-02-10 10:00")))
    write(vault, "daily/2026-02-10.md", "# Daily: 2026-02-10\n\n- 14:30 **shop**: `a.ts`\n")
    write(vault, "notes/茶.md", "no front matter, no line end")
    (vault.root / "picture.png").write_bytes(b"\x89PNG\xff")
    return vault


def empty(folder: Path) -> Desk:
    folder.mkdir()
    (folder / "memtool.toml").touch()
    return Desk(Vault(folder.resolve()))


def bring(desk: Desk, content: bytes, **more: Any) -> Imported:
    bundle, problems = parsed(content)
    assert problems == []
    return import_bundle(desk.work, bundle, "an export", **more)


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_vault_becomes_the_same(form: str, tmp_path: Path) -> None:
    source, target = empty(tmp_path / "source"), empty(tmp_path / "target")
    content = export(filled(source.vault), form).content
    done = bring(target, content)
    assert [sentence for sentence in done.refused if "memtool.toml" not in sentence] == []
    assert export(target.vault, form).content == content
    again = bring(target, content)
    assert set(again.fates.values()) == {SAME}
    assert bring(source, content).of(MERGED) == []


def test_one_commit_holds_an_import_and_takes_it_back(desk: Desk, tmp_path: Path) -> None:
    write(desk.vault, "MEMORY.md", "mine, not committed\n")
    before = tell(desk.vault.root, "rev-parse", "HEAD").strip()
    done = bring(desk, export(filled(empty(tmp_path / "source").vault), JSON).content)
    assert tell(desk.vault.root, "rev-list", "--count", f"{before}..HEAD").strip() == "1"
    assert tell(desk.vault.root, "log", "-1", "--format=%s").strip() == "import: 5 files of an export"
    assert tell(desk.vault.root, "status", "--porcelain").strip() == "M MEMORY.md"
    assert done.kept.undo(desk.vault)


def test_what_stands_is_merged_and_prose_stays(desk: Desk) -> None:
    write(desk.vault, FACTS, facts_text([fact("f1", "old", author="user"), fact("mine", "我的")]))
    write(desk.vault, TODOS, "# Open items\n\n- [ ] mine\n")
    write(desk.vault, "MEMORY.md", "my own words\n")
    write(desk.vault, session_ref("s1"), render_session(SessionNote("s1", updated="2026-02-11 10:00")))
    write(desk.vault, "daily/2026-02-10.md", "# Daily: 2026-02-10\n\n- 14:31 **shop**: `b.ts`\n")
    theirs = {
        FACTS: facts_text([fact("f1", "new", author="user", timestamp="2026-03-01"), fact("theirs", "它的")]),
        TODOS: "# Open items\n\n- [ ] 他们的\n",
        "MEMORY.md": "their words\n",
        session_ref("s1"): render_session(SessionNote("s1", updated="2026-02-10 10:00")),
        "daily/2026-02-10.md": "# Daily: 2026-02-10\n\n- 14:30 **shop**: `a.ts`\n",
    }
    done = bring(desk, rendered(theirs, JSON))
    assert done.fates == {
        FACTS: MERGED, TODOS: MERGED, "MEMORY.md": KEPT, session_ref("s1"): SAME, "daily/2026-02-10.md": MERGED,
    }  # fmt: skip
    found = {each.id: (each.fact, each.author) for each in desk.facts(FACTS)}
    assert found == {"f1": ("new", "user"), "mine": ("我的", ""), "theirs": ("它的", "imported")}
    assert "- [ ] mine" in desk.read(TODOS)
    assert "- [ ] 他们的" in desk.read(TODOS)
    assert "`a.ts`" in desk.read("daily/2026-02-10.md")
    assert desk.read("MEMORY.md") == "my own words\n"
    assert set(bring(desk, rendered(theirs, JSON)).fates.values()) == {SAME, KEPT}


def test_what_was_edited_and_not_committed_is_a_commit_of_its_own(desk: Desk) -> None:
    write(desk.vault, TODOS, "# Open items\n\n- [ ] mine\n")
    bring(desk, rendered({TODOS: "# Open items\n\n- [ ] theirs\n"}, JSON))
    assert "theirs" in tell(desk.vault.root, "show", "HEAD")
    assert "- [ ] mine" in tell(desk.vault.root, "show", f"HEAD~1:{TODOS}")
    assert "theirs" not in tell(desk.vault.root, "show", f"HEAD~1:{TODOS}")


def test_secrets_stay_outside(desk: Desk) -> None:
    theirs = {
        FACTS: facts_text([fact("f1", f"the token is {SECRET}", tags=[SECRET], own={"x": SECRET})]),
        "notes/a.md": f"密钥 {SECRET}\n",
    }
    done = bring(desk, rendered(theirs, JSON))
    assert sum(done.redacted.values()) == 4
    assert SECRET.encode() not in desk.everything()


HOSTILE = [
    "../out.md", "a/../../out.md", "/tmp/out.md", "C:/out.md", "a\\..\\out.md", ".git/hooks/a.md", "a/.b.md", "",
    "a//b.md", "a\n.md", "n" * 300 + ".md", "a/" * 40 + "b.md", "memtool.toml", "a/run.sh", "leaving/out.md", ".",
]  # fmt: skip


@pytest.mark.parametrize("form", [JSON, MARKDOWN])
def test_hostile_paths_are_refused(form: str, desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (desk.vault.root / "leaving").symlink_to(tmp_path / "outside")
    before = {path for path in tmp_path.rglob("*") if ".git" not in path.parts}
    done = bring(desk, rendered(dict.fromkeys([*HOSTILE, "good.md"], "好"), form))
    assert done.fates == {"good.md": ADDED}
    assert len(done.refused) == len(HOSTILE)
    after = {path for path in tmp_path.rglob("*") if not {".git", ".memtool", "cache"} & set(path.parts)}
    assert after - before == {desk.vault.root / "good.md"}


def test_an_archive_of_links_and_devices_brings_plain_files_only(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind in [("link.md", tarfile.SYMTYPE), ("hard.md", tarfile.LNKTYPE), ("dev.md", tarfile.CHRTYPE),
                           ("pipe.md", tarfile.FIFOTYPE), ("folder", tarfile.DIRTYPE)]:  # fmt: skip
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        huge = tarfile.TarInfo("good.md")
        huge.size = 4
        archive.addfile(huge, io.BytesIO("好\n".encode()))
    bundle, problems = parsed(out.getvalue())
    assert list(bundle) == ["good.md"]
    assert len(problems) == 4
    assert import_bundle(desk.work, bundle, "x").of(ADDED) == ["good.md"]
    monkeypatch.setattr(documents, "LARGEST_FILE", 3)
    assert parsed(out.getvalue())[1][-1] == "'good.md' was left out: it is too large"


def test_a_fact_that_is_none_is_refused_alone(desk: Desk) -> None:
    theirs = [fact("f1", "good"), fact("f2", "bad", status="odd"), {"id": "f3"}, 7, fact("f4", "\ud800")]
    text = json.dumps({"facts": theirs})
    done = import_bundle(desk.work, {FACTS: text, "areas/x/facts.json": "no json"}, "x")
    assert [each.id for each in desk.facts(FACTS)] == ["f1"]
    assert len(done.refused) == 2


def test_an_export_leaves_out_what_it_cannot_hold_and_says_so(desk: Desk) -> None:
    write(desk.vault, "areas/x/facts.json", "no json")
    (desk.vault.root / "latin.md").write_bytes(b"caf\xe9")
    done = export(desk.vault, JSON)
    assert sorted(problem.partition(" was")[0] for problem in done.problems) == ["'areas/x/facts.json'", "'latin.md'"]
    assert export(desk.vault, JSON).content == done.content


def test_a_project_is_what_lies_under_it_or_says_so(desk: Desk) -> None:
    filled(desk.vault)
    bundle, _ = parsed(export(desk.vault, TAR, "shop").content)
    assert sorted(bundle) == [TODOS, session_ref("s1")]
    with pytest.raises(NoteNotFound):
        export(desk.vault, JSON, "nothing")


def test_a_dry_run_writes_nothing(desk: Desk) -> None:
    before = desk.everything()
    assert bring(desk, rendered({"a.md": "x"}, JSON), dry_run=True).of(ADDED) == ["a.md"]
    assert desk.everything() == before


def test_an_import_that_was_cut_off_is_completed_by_the_next(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = rendered({f"notes/{name}.md": name for name in "一二三"}, JSON)
    written: list[Path] = []
    replace = files.replace

    def cut_off(path: Path, text: str, **more: Any) -> str:
        written.append(path)
        if len(written) == 2:
            raise KeyboardInterrupt
        return replace(path, text, **more)

    monkeypatch.setattr(files, "replace", cut_off)
    with pytest.raises(KeyboardInterrupt):
        bring(desk, theirs)
    monkeypatch.setattr(files, "replace", replace)
    done = bring(desk, theirs)
    assert sorted(done.fates.values()) == [ADDED, ADDED, SAME]
    commit_noted(desk.vault, "what was left")
    assert tell(desk.vault.root, "status", "--porcelain") == ""
    assert tell(desk.vault.root, "ls-files", "notes").count(".md") == 3


@pytest.mark.slow
def test_what_only_the_template_says_yields(tmp_path: Path) -> None:
    source, target = (Desk(make_vault(tmp_path / name).vault) for name in ("source", "target"))
    mine = source.read("MEMORY.md") + "\n- 我喜欢 tabs。\n"
    write(source.vault, "MEMORY.md", mine)
    content = export(source.vault, JSON).content
    done = bring(target, content)
    assert target.read("MEMORY.md") == mine
    assert done.fates["MEMORY.md"] == MERGED
    write(source.vault, "MEMORY.md", "other\n")
    assert bring(target, export(source.vault, JSON).content).fates["MEMORY.md"] == KEPT  # somebody wrote there now
    assert target.read("MEMORY.md") == mine


def test_a_file_with_marks_is_not_exported(desk: Desk) -> None:
    write(desk.vault, "notes/茶.md", "a\n<<<<<<< one text\nb\n=======\nc\n>>>>>>> the other text\n")
    found = export(desk.vault, JSON)
    assert "notes/茶.md" not in found.content.decode()
    assert any("notes/茶.md" in problem and "marks" in problem for problem in found.problems)


def test_the_template_travels_into_a_new_vault(tmp_path: Path) -> None:
    one, other = (make_vault(tmp_path / name).vault for name in ("one", "other"))
    content = export(filled(one), TAR).content
    import_bundle(Desk(other).work, parsed(content)[0], "x")
    assert export(other, TAR).content == content


@pytest.mark.slow
def test_kept_turns_travel_in_an_archive_without_secrets_and_out_of_git(desk: Desk, tmp_path: Path) -> None:
    source = empty(tmp_path / "source")
    key = "ghp_" + "a1B2" * 9
    turns = (Turn(typed=f"钥匙是 {key}, keep it"), Turn(typed="commit"))
    write_source(source.vault, Source("one", ended_at=desk.now, started_at=desk.now, turns=turns), desk.now)
    write(source.vault, "transcripts/2026/two.jsonl.gz", "no source")
    content = export(source.vault, TAR).content
    done = bring(desk, content)
    assert done.of(ADDED) == ["transcripts/2026/one.jsonl.gz"]
    assert [ref for ref in done.refused if "two.jsonl.gz" in ref]
    found = read_source(desk.vault, "one")
    assert found
    assert [turn.typed for turn in found.turns] == ["钥匙是 [redacted: github-token], keep it", "commit"]
    assert tell(desk.vault.root, "ls-files", "transcripts") == ""
    assert "transcripts" not in tell(desk.vault.root, "status", "--porcelain")
    assert bring(desk, content).of(SAME) == done.of(ADDED)
