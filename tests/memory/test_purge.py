"""A purged text is in no file, no state, no index and, if that is wanted, in no commit."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import unicodedata
from pathlib import Path
from urllib.parse import quote

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.capture.captured import read_record
from memtool.capture.queue import Job, only_worker
from memtool.errors import Busy, HistoryFailed, UsageError
from memtool.history.changes import read_changes
from memtool.history.rewriting import PURGED, refuse_purged
from memtool.history.template import template_text
from memtool.history.undoing import undo
from memtool.memory.forget import LINE
from memtool.memory.purge import Purged, extent_of, find_purge_target, purge
from memtool.recall.ledger import Ledger, ledger_folder, write_ledger
from memtool.vault.memory import Location, Memory

TEXT = "Blaue Giraffe 芝麻 9!x"
FORMS = (TEXT, quote(TEXT), json.dumps(TEXT)[1:-1], base64.b64encode(f"u:{TEXT} ".encode()).decode())


def is_in(content: bytes) -> bool:
    lowered = content.lower()
    return any(form.lower().encode() in lowered for form in FORMS)


def git(folder: Path, *command: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *command], stdout=subprocess.PIPE, check=True).stdout


def in_files(folder: Path) -> list[str]:
    found = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts}
    return [str(path) for path, data in found.items() if is_in(gzip.decompress(data) if path.suffix == ".gz" else data)]


def in_git(folder: Path) -> list[str]:
    commands = (["log", "-p", "--all", "--reflog"], ["cat-file", "--batch-all-objects", "--batch"], ["reflog", "--all"])
    kept = [str(path) for path in (folder / ".git").rglob("*") if path.is_file() and is_in(path.read_bytes())]
    return [*kept, *(command[0] for command in commands if is_in(git(folder, *command)))]


def removed(desk: Desk, asked: str, *, history: bool = False) -> Purged:
    return purge(desk.work, asked, find_purge_target(desk.work, asked), history=history)


@pytest.fixture
def filled(desk: Desk) -> Desk:
    """A vault that holds the text in many places, most of them in a commit."""
    root = desk.vault.root
    desk.remember(f"The deploy key is called {TEXT}, 部署用.")
    desk.remember("Payments go by Stripe, 支付走 Stripe.")
    (root / "archive").mkdir(exist_ok=True)
    (root / "archive" / "old.md").write_text(f"# 旧\n\nsee {FORMS[1]} and {FORMS[3]}\n", encoding="utf-8")
    (root / "notes.json").write_text(f'{{"a": "{FORMS[2]}"}}\n', encoding="utf-8")
    git(root, "add", "-A")
    git(root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", f"by hand: {TEXT}")
    folder = root / "transcripts" / "2026"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl.gz").write_bytes(gzip.compress(json.dumps({"text": TEXT}).encode()))
    write_ledger(ledger_folder(desk.work), "s1", Ledger(start=f"- {TEXT}"))
    desk.queue.put(Job("s1", "/t/s1.jsonl", event="Stop", said=f"it is {TEXT}"))
    desk.find("deploy key")
    return desk


@pytest.mark.slow
def test_a_text_goes_from_files_and_state_and_its_commit_does_not_repeat_it(filled: Desk) -> None:
    before = len(read_changes(filled.vault))
    done = removed(filled, TEXT)
    assert in_files(filled.vault.root) == []
    assert {"archive/old.md", "notes.json", "areas/projects/shop/facts.json"} <= set(done.refs)
    assert done.state >= 2
    changes = read_changes(filled.vault)
    assert (len(changes), changes[0].subject) == (before + 1, "purge: a text")
    assert filled.facts()[0].fact == "The deploy key is called [redacted: purged], 部署用."
    assert filled.find("Stripe 支付") == ["areas/projects/shop/facts.json"]
    assert in_git(filled.vault.root) != []  # that is what --history is for


@pytest.mark.slow
def test_with_history_it_is_in_no_object_whatever_leads_there(filled: Desk) -> None:
    root = filled.vault.root
    identity = ("-c", "user.name=A", "-c", "user.email=a@x")
    git(root, *identity, "tag", "-a", "-m", f"tag {TEXT}", "v1")
    git(root, "branch", "side")
    git(root, *identity, "notes", "add", "-m", f"note {TEXT}", "HEAD")
    for number in (1, 2):
        (root / "notes.json").write_text(f"stash {number} {TEXT}", encoding="utf-8")
        git(root, *identity, "stash", "push", "-qm", f"stash {number} {TEXT}")
    subjects = git(root, "log", "--format=%an %ad %s").decode().replace(TEXT, "[redacted: purged]")
    done = removed(filled, TEXT, history=True)
    assert in_files(root) == []
    assert in_git(root) == []
    assert done.rewritten
    assert done.rewritten.commits >= 2
    assert git(root, "log", "--format=%an %ad %s").decode().split("\n", 1)[1] == subjects
    assert git(root, "status", "--porcelain").decode() == ""
    assert [line.partition(": ")[2] for line in git(root, "stash", "list").decode().splitlines()] == [
        f"On main: stash {number} [redacted: purged]" for number in (2, 1)
    ]
    assert "note [redacted: purged]" in git(root, "log", "--notes", "--all").decode()
    assert git(root, "fsck", "--strict").decode() == ""
    assert "[redacted: purged]" in git(root, "show", "side:notes.json").decode()


@pytest.mark.slow
def test_commits_before_the_text_keep_their_ids_and_undone_ones_their_names(filled: Desk) -> None:
    first = git(filled.vault.root, "rev-list", "--max-parents=0", "HEAD")
    undo(filled.vault, read_changes(filled.vault)[1])
    removed(filled, TEXT, history=True)
    assert git(filled.vault.root, "rev-list", "--max-parents=0", "HEAD") == first
    changes = {change.commit: change for change in read_changes(filled.vault)}
    (back,) = [change for change in changes.values() if change.deed == "undo"]
    assert back.undoes in changes


@pytest.mark.slow
def test_an_undo_does_not_bring_a_purged_text_back(filled: Desk) -> None:
    path = filled.vault.root / "archive" / "old.md"
    path.write_text("# 旧\n\nnothing now\n", encoding="utf-8")
    git(filled.vault.root, "add", "-A")
    git(filled.vault.root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "by hand: less")
    removed(filled, TEXT)
    changes = read_changes(filled.vault)
    for change in changes[:2]:
        with pytest.raises((HistoryFailed, UsageError)):
            undo(filled.vault, change)
    assert in_files(filled.vault.root) == []


@pytest.mark.slow
def test_a_session_goes_with_all_that_is_kept_of_it_and_is_not_captured_again(desk: Desk) -> None:
    talk = [prompt("Let the giraffe mailer use SMTP, 邮件走 SMTP"), *edit("/src/shop/mail.ts"), answer("It does now.")]
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", talk))
    desk.drain()
    kept = desk.vault.root / "transcripts" / "2026" / "3f2a9c.jsonl.gz"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(gzip.compress(b'{"text": "giraffe"}'))
    done = removed(desk, "sessions/3f2a9c.md", history=True)
    assert not kept.exists()
    assert "sessions/3f2a9c.md" in done.refs
    assert read_record(desk.vault, "3f2a9c").off
    said = git(desk.vault.root, "log", "-p", "--all")
    assert b"sessions/3f2a9c.md b/" not in said
    desk.put(desk.home / "3f2a9c.jsonl")
    desk.drain()
    assert not (desk.vault.root / "sessions" / "3f2a9c.md").exists()
    assert b"mailer" not in b"".join(
        path.read_bytes() for path in (desk.vault.root / ".memtool" / "captured").iterdir()
    )


@pytest.mark.slow
def test_a_fact_goes_with_its_words_elsewhere(filled: Desk) -> None:
    fact = filled.facts()[0]
    (filled.vault.root / "daily").mkdir(exist_ok=True)
    (filled.vault.root / "daily" / "2026-02-09.md").write_text(f"# Day\n\n- {fact.fact}\n", encoding="utf-8")
    removed(filled, fact.id)
    assert [one.fact for one in filled.facts()] == ["Payments go by Stripe, 支付走 Stripe."]
    assert fact.fact not in filled.read("daily/2026-02-09.md")


@pytest.mark.slow
def test_where_it_is_unsafe_nothing_is_changed(filled: Desk) -> None:
    root = filled.vault.root
    before = filled.read("notes.json")
    (root / ".git" / "MERGE_HEAD").write_text("x")
    with pytest.raises(HistoryFailed, match="merge was left unfinished"):
        removed(filled, TEXT, history=True)
    (root / ".git" / "MERGE_HEAD").unlink()
    (root / "new.md").write_text("新", encoding="utf-8")
    git(root, "add", "new.md")
    with pytest.raises(HistoryFailed, match=r"staged changes \(new.md\)"):
        removed(filled, TEXT, history=True)
    git(root, "reset", "-q")
    git(root, "worktree", "add", "-q", str(root.parent / "other"), "-b", "other")
    with pytest.raises(HistoryFailed, match="other worktrees"):
        removed(filled, TEXT, history=True)
    with only_worker(filled.vault), pytest.raises(Busy):
        removed(filled, TEXT)
    assert filled.read("notes.json") == before


@pytest.mark.slow
def test_a_vault_within_a_larger_repository_is_refused(filled: Desk) -> None:
    root = filled.vault.root
    (root / ".git").rename(root.parent / ".git")
    with pytest.raises(HistoryFailed, match="lies in the repository"):
        removed(filled, TEXT, history=True)
    removed(filled, TEXT)
    assert in_files(root) == []


@pytest.mark.slow
def test_the_old_history_does_not_come_back_from_elsewhere(filled: Desk) -> None:
    root = filled.vault.root
    git(root.parent, "clone", "-q", str(root), "clone")
    removed(filled, TEXT, history=True)
    assert git(root, "config", "--get-all", PURGED).split()
    git(root, "fetch", "-q", str(root.parent / "clone"), "main:refs/remotes/origin/main")
    with pytest.raises(HistoryFailed, match="history that was purged here"):
        refuse_purged(root, "refs/remotes/origin/main")
    refuse_purged(root, "HEAD")


def test_a_short_text_is_refused(desk: Desk) -> None:
    with pytest.raises(UsageError, match="less than 4"):
        find_purge_target(desk.work, "a1")


@pytest.mark.parametrize("text", ["", " ", "abc", "码", "\n"])
def test_a_short_or_blank_text_is_refused_and_names_no_note(desk: Desk, text: str) -> None:
    (desk.vault.root / "abc.md").write_text("# abc 码\n", encoding="utf-8")
    with pytest.raises(UsageError, match="less than 4"):
        find_purge_target(desk.work, text)
    with pytest.raises(UsageError, match="less than 4"):
        purge(desk.work, text, None)
    assert desk.read("abc.md") == "# abc 码\n"


@pytest.mark.parametrize("text", ["type", "session", "supersededBy", "statement"])
def test_what_memtool_reads_files_by_is_not_purged(desk: Desk, text: str) -> None:
    desk.remember("Payments go by Stripe, 支付走 Stripe.")
    (desk.vault.root / "a.md").write_text("---\ntype: session\n---\n# a\n", encoding="utf-8")
    (desk.vault.root / "CLAUDE.md").write_text(template_text("CLAUDE.md") or "", encoding="utf-8")
    with pytest.raises(UsageError, match="memtool needs"):
        purge(desk.work, text, None)


@pytest.mark.slow
def test_other_forms_of_the_letters_the_gaps_and_the_file_are_found(desk: Desk) -> None:
    text, root = "Grüne Gämse 山羊 7!y", desk.vault.root
    forms = (unicodedata.normalize("NFD", text), text.replace(" ", "\n> "), text.replace(" ", "  "))
    for number, form in enumerate(forms):
        (root / f"{number}.md").write_text(f"# x\n\na {form} b\n", encoding="utf-8")
    (root / "wide.md").write_bytes(f"a {text} b".encode("utf-16"))
    (root / "raw.bin").write_bytes(b"\0\1" + text.encode())
    old = desk.vault.state_path / "0123456789abcdef" / "index"
    old.mkdir(parents=True)
    (old / "chunks.db").write_text(text, encoding="utf-8")
    extent = extent_of(desk.work, text)
    assert (extent.places, extent.files, extent.unread) == (4, 4, ("raw.bin",))
    removed(desk, text)
    assert {(root / f"{number}.md").read_text(encoding="utf-8") for number in range(3)} == {
        "# x\n\na [redacted: purged] b\n"
    }
    assert (root / "wide.md").read_bytes().decode("utf-16") == "a [redacted: purged] b"
    assert not old.exists()


@pytest.mark.slow
@pytest.mark.parametrize("text", ["Nebelkraehe", "blaue 芝麻"])
def test_a_later_capture_of_the_session_does_not_bring_a_text_back(desk: Desk, text: str) -> None:
    talk = [prompt(f"Call the mailer {text}, 叫{text}吧"), *edit("/src/shop/mail.ts"), answer(f"It is {text} now.")]
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", talk))
    desk.drain()
    assert text in desk.read("sessions/3f2a9c.md")
    removed(desk, text)
    more = [
        *talk,
        prompt(f"Now let {quote(text)} use SMTP, 邮件走 SMTP"),
        *edit("/src/shop/smtp.ts"),
        answer(f"{quote(text)} uses SMTP now."),
    ]
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", more))
    desk.drain()
    assert "SMTP" in desk.read("sessions/3f2a9c.md")
    assert not [path for path in desk.vault.root.rglob("*") if path.is_file() and text.encode() in path.read_bytes()
                and ".git" not in path.parts]  # fmt: skip
    assert quote(text) not in desk.read("sessions/3f2a9c.md")
    (kept,) = (desk.vault.root / "transcripts").rglob("*3f2a9c*.gz")
    turns = gzip.decompress(kept.read_bytes()).decode()
    assert "SMTP" in turns
    assert [form for form in (text, quote(text), json.dumps(text)[1:-1]) if form in turns] == []


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["Never touch the ledger of Kowalski by hand.", "一律不要手工修改 Kowalski 的账本。"])
def test_a_later_capture_does_not_bring_a_line_back_into_the_source(desk: Desk, rule: str) -> None:
    talk = [prompt(f"Let the mailer use SMTP. {rule}"), *edit("/src/shop/mail.ts"), answer("The mailer uses SMTP now.")]
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", talk))
    desk.drain()
    target = Memory("sessions/3f2a9c.md:1", rule, LINE, Location("sessions/3f2a9c.md", 1, 1))
    purge(desk.work, "k3f9", target)
    more = [*talk, prompt("And the docs, 还有文档?"), *edit("/src/shop/docs.ts"), answer("The docs explain SMTP now.")]
    desk.put(write_transcript(desk.home / "3f2a9c.jsonl", more))
    desk.drain()
    (kept,) = (desk.vault.root / "transcripts").rglob("*.gz")
    turns = gzip.decompress(kept.read_bytes()).decode()
    assert "docs.ts" in turns
    assert "Kowalski" not in turns + desk.read("sessions/3f2a9c.md")
