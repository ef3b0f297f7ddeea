from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from installing import install, install_rules
from scripted_embeddings import refusal, serve_embeddings
from unprivileged import unprivileged

from memtool import settings
from memtool.capture.log import ERROR, LogEntry, log
from memtool.capture.queue import TRIES, Job, Queue
from memtool.doctor import BROKEN, NOTE, OK, Check, examine, installation
from memtool.index.engine import Place, use_index
from memtool.install.hooks import find_program
from memtool.install.record import call_own
from memtool.vault.layout import Vault, outer_folder, state_folder


def checks(path: Path, subject: str = "", **environ: str) -> list[Check]:
    """The findings on *subject*; without one, those that are not ok, but for hooks, which no test here installs."""
    without = {"MEMTOOL_EMBEDDINGS_PROVIDER": "none"} | environ
    found = examine(path, "--vault", {**settings.environment(), **without})
    odd = [check for check in found if check.state != OK and check.subject != "claude-code"]
    return [check for check in found if check.subject == subject] if subject else odd


def git(folder: Path, *args: str) -> None:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", *args]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.slow
def test_a_new_vault_is_healthy(vault: Vault) -> None:
    assert checks(vault.root) == []
    found = examine(vault.root, "MEMTOOL_VAULT", {**settings.environment(), "MEMTOOL_EMBEDDINGS_PROVIDER": "none"})
    said = {check.subject: check.sentence for check in found}
    assert said.pop("index").endswith(" files are not in it until the next search")
    assert said.pop("versions").startswith("memtool ")
    assert said == {
        "vault": f"{vault.root} (named by MEMTOOL_VAULT)",
        "git": "the vault has its own repository",
        "probe": "a new note was written, indexed and found",
        "claude-code": "no session is captured: its settings have no hook of memtool",
        "facts": "0 facts valid",
        "secrets": "none in all 4 notes",
        "capture": "no problems, 0 sessions pending",
        "transcripts": "no session is kept yet; `memtool import claude-code` imports those of this machine",
        "settings": "embeddings.provider from MEMTOOL_EMBEDDINGS_PROVIDER;"
        " sessions.names from MEMTOOL_SESSIONS_NAMES; yours: ~/config.toml (not there yet)",
        "schedule": "none; `memtool schedule install` consolidates each week",
        "models": "none: notes are written by rules, without a model",
        "costs": "0 tokens today",
        "vectors": "switched off: search is by words",
    }


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nothing", "there is no vault at"),
        ("file", "is a file, not a vault"),
        ("new", "has format 9"),
        ("plain", "is no vault: it has no memtool.toml"),
    ],
)
def test_what_is_no_vault_is_broken_and_the_rest_is_examined(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "new").mkdir()
    (tmp_path / "plain").mkdir()
    (tmp_path / "new" / "memtool.toml").write_text("format = 9")
    (broken,) = checks(tmp_path / name)
    assert (broken.subject, broken.state) == ("vault", BROKEN)
    assert sentence in broken.sentence
    assert broken.fix
    assert [check.state for check in checks(tmp_path / name, "probe")] == [OK]
    assert not list((tmp_path / "plain").iterdir())


def everything(*folders: Path) -> dict[Path, tuple[int, int]]:
    found = [path for folder in folders for path in folder.rglob("*")]
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in found}


@pytest.mark.slow
@pytest.mark.parametrize("is_indexed", [False, True])
def test_nothing_is_changed(vault: Vault, is_indexed: bool) -> None:
    cache = settings.user_cache_path(settings.environment())
    if is_indexed:
        index_of(vault)
        (vault.root / "新.md").write_text("解密")
    before = everything(vault.root, cache)
    assert checks(vault.root) == []
    assert everything(vault.root, cache) == before


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("folder", [".", ".memtool"])
def test_a_vault_that_cannot_be_written_is_broken(vault: Vault, folder: str) -> None:
    (vault.root / folder).chmod(0o500)
    with unprivileged():
        (broken,) = checks(vault.root, "vault")
    (vault.root / folder).chmod(0o700)
    assert (broken.state, "is read-only" in broken.sentence) == (BROKEN, True)


def test_a_vault_on_a_full_disk_is_broken(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(vault.root)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4_096))
    (broken,) = checks(vault.root, "vault")
    assert (broken.state, "is full, so nothing can be captured" in broken.sentence) == (BROKEN, True)


def test_a_vault_that_cannot_be_read_is_broken(vault: Vault) -> None:
    vault.root.chmod(0o000)
    with unprivileged():
        (broken,) = checks(vault.root)
    vault.root.chmod(0o700)
    assert (broken.subject, broken.state) == ("vault", BROKEN)
    assert "Permission denied" in broken.sentence


def test_settings_that_cannot_be_used_are_broken(vault: Vault) -> None:
    vault.settings_path.write_text("[search]\nlimit = 'x'\n")
    (broken,) = checks(vault.root)
    assert (broken.subject, broken.state) == ("settings", BROKEN)
    assert "should be a whole number" in broken.sentence


def test_a_cache_that_cannot_be_named_is_found(vault: Vault) -> None:
    (broken,) = checks(vault.root, MEMTOOL_CACHE="~nobody-has-this-name")
    assert (broken.subject, broken.state) == ("index", BROKEN)


@pytest.mark.slow
def test_a_vault_without_a_history_of_its_own_is_noted(tmp_path: Path) -> None:
    (tmp_path / "repository" / "notes").mkdir(parents=True)
    (tmp_path / "repository" / "notes" / "memtool.toml").touch()
    (note,) = checks(tmp_path / "repository" / "notes")
    assert note == Check(
        "git",
        NOTE,
        "memtool keeps no history of this vault: it is not a git repository",
        "Run `memtool init` in the vault.",
    )
    git(tmp_path / "repository", "init", "--quiet")
    (note,) = checks(tmp_path / "repository" / "notes")
    assert f"it is inside the repository {tmp_path / 'repository'}" in note.sentence


def test_a_machine_without_git_is_noted(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (note,) = checks(vault.root)
    assert (note.subject, note.state, note.sentence.startswith("git is not installed")) == ("git", NOTE, True)


def test_files_that_cannot_be_read_well_are_named_and_the_rest_is_counted(vault: Vault) -> None:
    for number in range(12):
        (vault.root / f"{number:02}.md").write_bytes("解密".encode("gbk"))
    (vault.root / "out.md").symlink_to("/etc/passwd")
    (vault.root / "facts.json").write_text("[{")
    broken = checks(vault.root, "notes")
    assert {check.state for check in broken} == {BROKEN}
    assert broken[0].sentence == "out.md: a symlink that leaves the vault is not followed"
    assert broken[1].sentence == "00.md: not UTF-8 (byte 0), read as GB18030"
    assert (len(broken), broken[-1].sentence) == (6, "and 9 more")


def index_of(vault: Vault) -> Path:
    cache = settings.user_cache_path(settings.environment())
    use_index(Place(vault, state_folder(vault, lambda: cache)), lambda _: None)
    (path,) = vault.root.glob(".memtool/*/index/*.sqlite")
    return path


@pytest.mark.slow
def test_a_damaged_index_is_told(vault: Vault) -> None:
    index_of(vault).write_bytes(b"\0" * 10_000)
    (note,) = [check for check in checks(vault.root) if check.subject == "index"]
    assert (note.state, note.sentence.startswith("the next search rebuilds it: ")) == (NOTE, True)


def test_words_that_got_lost_in_the_index_are_damage(vault: Vault) -> None:
    with sqlite3.connect(index_of(vault)) as db:
        db.execute("DELETE FROM chunk_terms_data WHERE id > 10")
    db.close()
    (broken,) = checks(vault.root)
    assert (broken.subject, broken.state, broken.fix) == (
        "index",
        BROKEN,
        "Run `memtool index --rebuild`, or `memtool doctor --fix`.",
    )


def test_a_large_index_is_read_whole_only_when_asked(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect(index_of(vault)) as db:
        db.execute("DELETE FROM chunk_terms_data WHERE id > 10")
    db.close()
    monkeypatch.setattr("memtool.doctor.index.LARGE_INDEX", 0)
    (quick,) = checks(vault.root, "index")
    assert quick.sentence.endswith("it is large, and only `memtool doctor --deep` reads all of it")
    environ = {**settings.environment(), "MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
    (deep,) = [check for check in examine(vault.root, "--vault", environ, deep=True) if check.subject == "index"]
    assert deep.state == BROKEN


def test_an_index_that_is_being_written_is_not_damaged(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    for note in vault.root.rglob("*.*"):
        os.utime(note, (1_000_000_000, 1_000_000_000))  # nothing is young, so that nothing is read again
    path = index_of(vault)
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **{**options, "timeout": 0}))
    writer = connect(path, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    found = checks(vault.root)
    writer.execute("ROLLBACK")
    writer.close()
    assert not [check for check in found if "damaged" in check.sentence or check.state == BROKEN]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_an_index_that_cannot_be_written_is_broken(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "memtool.toml").touch()
    (tmp_path / "v").chmod(0o500)
    (tmp_path / "cache").mkdir(mode=0o500)
    with unprivileged():
        (broken,) = checks(tmp_path / "v", "index", MEMTOOL_CACHE=str(tmp_path / "cache"))
    assert (broken.state, "can be written" in broken.sentence) == (BROKEN, True)


def test_the_probe_finds_a_machine_on_which_nothing_can_be_written(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(vault.root / "nothing"))
    (broken,) = checks(vault.root, "probe")
    assert (broken.subject, broken.state) == ("probe", BROKEN)
    assert broken.sentence.startswith("a new note cannot be indexed here: ")


def test_the_probe_finds_a_search_that_finds_nothing(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_PROBE_QUERIES", ("user probe", "xyzzyx"))
    (broken,) = checks(vault.root)
    assert broken == Check("probe", BROKEN, "a new note was indexed and not found by xyzzyx", "Please report this.")


def test_the_probe_leaves_nothing_behind(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    before = sorted(path for path in vault.root.rglob("*") if ".git" not in path.parts and ".memtool" not in path.parts)
    assert checks(vault.root) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    assert before == sorted(
        path for path in vault.root.rglob("*") if ".git" not in path.parts and ".memtool" not in path.parts
    )


@pytest.mark.slow
def test_a_missing_embedder_is_a_note_and_a_chosen_one_is_broken(vault: Vault) -> None:
    (note,) = checks(vault.root, "vectors", MEMTOOL_EMBEDDINGS_PROVIDER="")
    assert (note.state, note.sentence.startswith("search is by words only: ")) == (NOTE, True)
    nowhere = str(vault.root / "nothing")
    (broken,) = checks(vault.root, "vectors", MEMTOOL_EMBEDDINGS_PROVIDER="fastembed", MEMTOOL_EMBEDDINGS_PATH=nowhere)
    assert broken.state == BROKEN


def endpoint(base_url: str) -> Mapping[str, str]:
    values = {"PROVIDER": "openai", "BASE_URL": base_url, "MODEL": "tiny"}
    return {f"MEMTOOL_EMBEDDINGS_{name}": value for name, value in values.items()}


@pytest.mark.slow
def test_an_embedder_is_asked_and_missing_vectors_are_counted(vault: Vault) -> None:
    with serve_embeddings() as server:
        waiting, ready = checks(vault.root, "vectors", **endpoint(server.base_url))
        assert (waiting.state, waiting.fix) == (NOTE, "Run `memtool index`.")
        assert waiting.sentence == "3 chunks have no vector yet"  # of the notes that every vault begins with
        assert (ready.state, "16 dimensions" in ready.sentence) == (OK, True)
        server.answers += [refusal(401)] * 9
        (broken,) = checks(vault.root, "vectors", **endpoint(server.base_url))
        assert broken.state == BROKEN


@pytest.mark.slow
def test_installed_hooks_are_examined(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user, local = tmp_path / "settings.json", tmp_path / ".claude" / "settings.local.json"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert [check.state for check in checks(vault.root, "claude-code")] == [NOTE]
    install(user, find_program(None, this_project=False))
    (fine,) = checks(vault.root, "claude-code")
    assert fine == Check("claude-code", OK, f"hooks in {user} write to the vault of your settings")
    install(local, find_program(vault.root, this_project=True))
    twice, both = [
        check
        for check in examine(vault.root, "--vault", settings.environment(), folder=tmp_path)
        if check.subject == "claude-code"
    ]
    assert (twice.state, "differ" in twice.sentence) == (NOTE, True)
    assert both.sentence == f"hooks in {user}, {local} write to the vault of your settings, {vault.root}"
    user.write_text("{")
    (broken,) = checks(vault.root, "claude-code")
    assert (broken.state, "is not JSON" in broken.sentence) == (BROKEN, True)


def test_a_home_that_nobody_knows_is_a_finding(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", unknown)
    (broken,) = checks(vault.root, "claude-code", CLAUDE_CONFIG_DIR="")
    assert (broken.state, broken.fix) == (BROKEN, "Set HOME or CLAUDE_CONFIG_DIR.")


@pytest.mark.slow
def test_what_went_wrong_in_hooks_and_in_the_worker_is_found(vault: Vault) -> None:
    now = datetime.now().astimezone()
    folders = [vault.state_path, outer_folder(vault.root, settings.user_cache_path(settings.environment()))]
    for number, folder in enumerate(folders):
        folder.mkdir(parents=True, exist_ok=True)
        log([folder], LogEntry(now.isoformat(timespec="seconds"), ERROR, "Stop", f"磁盘已满 {number}"))
        log([folder], LogEntry(now.isoformat(timespec="seconds"), "note", "Stop", "nothing to mend"))
        log([folder], LogEntry((now - timedelta(days=8)).isoformat(timespec="seconds"), ERROR, "Stop", "long ago"))
    Queue(vault).put(Job("one", "/t.jsonl", queued_at=now.timestamp()))
    for _ in range(TRIES):
        (job,) = Queue(vault).waiting()
        begun = Queue(vault).begin(job, 0.0)
        assert begun
        Queue(vault).fail(begun, "the model is down", 0.0)
    at = (now - timedelta(days=2)).isoformat(timespec="seconds")
    log(folders[:1], LogEntry(at, ERROR, "Stop", "前天"))
    found = checks(vault.root, "capture")
    assert [check.state for check in found] == [BROKEN, BROKEN, NOTE, BROKEN]
    over = found.pop(2)
    assert over.sentence == f"1 old or small problem in the last 7 days; the last: {at}, Stop: 前天"
    assert "磁盘已满 0" in found[0].sentence
    assert "磁盘已满 1" in found[1].sentence
    assert "hook.log" in found[0].fix
    assert "one was not captured: the model is down" in found[2].sentence


@pytest.mark.slow
def test_a_job_that_nobody_does_and_a_pattern_that_stops_capture_are_found(vault: Vault) -> None:
    Queue(vault).put(Job("one", "/t.jsonl", queued_at=datetime.now().astimezone().timestamp() - 7200))
    assert "1 session has waited for more than an hour" in checks(vault.root, "capture")[0].sentence
    (broken,) = checks(vault.root, "settings", MEMTOOL_REDACT_PATTERNS="(")
    assert broken.state == BROKEN
    assert "redact.patterns" in broken.sentence


@pytest.mark.slow
def test_rules_and_routes_are_examined(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    assert checks(vault.root, "rules") + checks(vault.root, "routing") == []
    summary = vault.root / "areas/projects/shop/summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text("---\ntriggers: [支付]\n---\n", encoding="utf-8")
    install(tmp_path / "config" / "settings.json", find_program(vault.root, this_project=False))
    (unsaid,) = checks(vault.root, "rules")
    assert (unsaid.state, "the vault may belong to someone else" in unsaid.sentence) == (NOTE, True)
    call_own(settings.environment(), vault)
    (stale,) = checks(vault.root, "rules")
    assert (stale.state, stale.fix.startswith("Run `memtool route --update`.")) == (NOTE, True)
    install_rules(settings.environment(), vault)
    (fine,) = checks(vault.root, "rules")
    assert fine.sentence == f"1 file in {tmp_path / 'config' / 'rules'}, up to date with this vault"
    assert checks(vault.root, "routing") == [Check("routing", OK, "1 trigger leads to a file")]
    (vault.root / "rules/prefix-map.json").write_text('{"t_": "gone.md"}')
    assert checks(vault.root, "routing") == [
        Check(
            "routing",
            NOTE,
            "1 trigger leads nowhere or cannot be read",
            "`memtool route --check` lists them.",
        )
    ]


def test_the_package_of_another_program_is_noticed(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "memtool-3.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: memtool\nVersion: 3.2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (broken,) = checks(vault.root, "installation")
    assert (broken.state, "'memtool' 3.2" in broken.sentence, "memtool-vault" in broken.fix) == (BROKEN, True, True)
