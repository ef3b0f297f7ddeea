"""The health of a vault, its index and this installation: what is wrong, and how to mend it."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memtool import settings as settings_module
from memtool.capture.log import NAME as LOG_NAME, Entry
from memtool.capture.past_problems import DAYS, read_problems
from memtool.capture.queue import Queue
from memtool.consolidate.due import kept_schedule, read_run
from memtool.embeddings import open_embedder
from memtool.embeddings.helper import ask_helper, helper_place, is_at_work
from memtool.errors import MemtoolError, NotWritable
from memtool.index import generations
from memtool.index.embedding import chunks_skipped, chunks_waiting
from memtool.index.engine import Index, Place, use_index
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.integrations.claude_code import health
from memtool.integrations.claude_code.health import examine_rules
from memtool.integrations.schedule import is_in_force
from memtool.recall.routing.routes import check, read_routing
from memtool.redaction import make_redactor
from memtool.resources import DISTRIBUTION
from memtool.settings import Settings
from memtool.text.lines import counted
from memtool.vault import history
from memtool.vault.files import find_leftovers, remove_leftovers
from memtool.vault.layout import Vault, open_vault
from memtool.vault.merge_driver import driver_problem
from memtool.vault.project_area import shown_path
from memtool.vault.state import find_state_folder, outer_folder, state_folder
from memtool.vault.syncing import unsolved
from memtool.workspace import Workspace, outside_of

OK, NOTE, BROKEN = "ok", "note", "broken"
_NAMED = 10  # problems of one kind
_NAMED_ERRORS = 3
_PATIENCE = 1.0  # seconds for the warm helper
_LEAST_FREE = 262_144  # bytes of a disk on which a note can still be written and committed
_OVERDUE = 3600.0  # seconds; a worker starts within one, as long as hooks run

_PROBE = "# Probe\n\nThe probe of `getUserById` found 解密失败 in v2.1.210.\n"
_PROBE_QUERIES = ("user probe", "解密失败", "v2.1.210")


@dataclass(frozen=True)
class Check:
    """One finding: `ok`, a `note` that something optional is missing, or `broken`; and what mends it."""

    subject: str
    state: str
    sentence: str
    fix: str = ""


def examine(vault_path: Path, origin: str, environ: Mapping[str, str], *, folder: Path | None = None) -> list[Check]:
    """Return the findings about the vault at *vault_path*, which *origin* has named, and about this machine.

    Nothing is changed, neither in the vault nor in the user's folders. *folder* is where the agent works: its settings
    are looked at, too.
    """
    checks = [_probe(), *_installation_checks(), *_client_checks(environ, folder)]
    try:
        vault = open_vault(vault_path)
        vault.check_made()
    except MemtoolError as error:
        return [_broken("vault", error), *checks, *_settings_checks(None, environ)]
    checks = [_vault_check(vault, origin), *_history_checks(vault), *_leftover_checks(vault), *checks]
    checks += [*_rule_checks(vault, environ), *_routing_checks(vault), *_capture_checks(vault, environ)]
    checks += _settings_checks(vault, environ)
    try:
        settings = settings_module.load(vault.settings_path, environ)
    except MemtoolError:
        return checks  # _settings_checks has said it
    return [*checks, *_schedule_checks(vault, settings, environ), *_index_checks(vault, settings, environ)]


def _vault_check(vault: Vault, origin: str) -> Check:
    for folder in (vault.root, vault.state_path):
        if not _can_write(folder):
            sentence = f"{folder} cannot be written, so nothing is captured or remembered (named by {origin})"
            return Check("vault", BROKEN, sentence, "Check its permissions, and whether the disk is read-only.")
    if shutil.disk_usage(vault.root).free < _LEAST_FREE:
        sentence = f"the disk of {vault.root} is full, so nothing is captured or remembered (named by {origin})"
        return Check("vault", BROKEN, sentence, "Make room on it.")
    return Check("vault", OK, f"{vault.root} (named by {origin})")


def _can_write(folder: Path) -> bool:
    """Return whether *folder*, or the one in which it would be made, takes new files."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)


def _settings_checks(vault: Vault | None, environ: Mapping[str, str]) -> list[Check]:
    try:
        settings = settings_module.load(vault.settings_path if vault else None, environ)
        make_redactor(settings.redact)  # without it, nothing is captured
    except MemtoolError as error:
        return [_broken("settings", error)]
    changed = [f"{key} from {origin}" for key, origin in settings.origins.items() if origin != "default"]
    path = settings_module.user_config_path(environ)
    is_there = path.is_file()
    where = f"{shown_path(str(path), None, _home())}{'' if is_there else ' (not there yet)'}"
    summary = Check("settings", OK, f"{'; '.join(changed) or 'all defaults'}; yours: {where}")
    return [summary, *(Check("settings", NOTE, notice) for notice in settings.notices)]


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # nobody knows it
        return Path("~")


def _history_checks(vault: Vault) -> list[Check]:
    try:
        status = history.status(vault.root)
    except MemtoolError as error:
        return [_broken("git", error)]
    if status.problem:
        return [Check("git", NOTE, status.problem)]
    if not status.is_own:
        where = f"it lies in the repository {status.repository}" if status.repository else "it is no git repository"
        sentence = f"memtool keeps no history of this vault: {where}"
        return [Check("git", NOTE, sentence, "Run `memtool init` in the vault.")]
    waiting = f", {counted(status.uncommitted, 'file')} not committed" if status.uncommitted else ""
    return [Check("git", OK, f"the vault is its own repository{waiting}"), *_sync_checks(vault)]


def _sync_checks(vault: Vault) -> list[Check]:
    """Return what keeps this clone from being merged with others, and what a merge has left to the user."""
    try:
        problem, left = driver_problem(vault), unsolved(vault)
    except MemtoolError as error:
        return [_broken("sync", error)]
    checks = [Check("sync", NOTE, problem, "Run `memtool sync`, or `memtool init`.")] if problem else []
    if left:
        sentence = f"two texts stand between marks in {', '.join(left[:_NAMED_ERRORS])}"
        checks.append(Check("sync", NOTE, sentence, "Keep what holds, with an editor."))
    return checks


def _leftover_checks(vault: Vault) -> list[Check]:
    left = find_leftovers(vault.root, time.time())
    if not left:
        return []
    named = ", ".join(path.relative_to(vault.root).as_posix() for path in left[:_NAMED_ERRORS])
    more = f" and {len(left) - _NAMED_ERRORS} more" if len(left) > _NAMED_ERRORS else ""
    sentence = f"runs that were killed left {counted(len(left), 'file')} behind: {named}{more}"
    return [Check("leftovers", NOTE, sentence, "Run `memtool doctor --fix`, which removes them.")]


def fix(vault_path: Path) -> list[str]:
    """Remove what killed runs left in the vault at *vault_path*; return its paths there.

    Raises:
        MemtoolError: there is no vault.
    """
    root = open_vault(vault_path).root
    return [path.relative_to(root).as_posix() for path in remove_leftovers(root, time.time())]


def _index_checks(vault: Vault, settings: Settings, environ: Mapping[str, str]) -> list[Check]:
    max_bytes = settings.index.max_note_kb * 1024
    try:
        cache = settings_module.user_cache_path(environ)
        outside = outside_of(settings, environ, _home())
        folder = find_state_folder(vault, cache)
        if not (folder or _can_write(vault.state_path) or _can_write(cache)):
            raise NotWritable(f"neither '{vault.state_path}' nor '{cache}' can be written")
        with tempfile.TemporaryDirectory(prefix="memtool-doctor-", ignore_cleanup_errors=True) as aside:
            _copy_index(folder, Path(aside))
            place = Place(vault, Path(aside), max_bytes=max_bytes, outside=outside)
            found = use_index(place, lambda index: [*_index_health(index), *_embedder_health(index, settings, cache)])
        return [*found, *_helper_health(vault, cache)]
    except MemtoolError as error:
        return [_broken("index", error)]
    except OSError as error:
        return [Check("index", BROKEN, f"it cannot be examined: {error.strerror}", NotWritable.hint)]


def _copy_index(folder: Path | None, aside: Path) -> None:
    """Copy the index in *folder*, if there is one: bringing it up to date and looking for damage would change it."""
    path = generations.current(folder / "index") if folder else None
    if path:
        (aside / "index").mkdir()
        for part in (path, path.with_name(f"{path.name}-wal")):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(part, aside / "index" / part.name)
        (aside / "index" / "current").write_text(path.name, encoding="ascii")


def _index_health(index: Index) -> Iterator[Check]:
    if index.rebuilt:
        yield Check("index", NOTE, f"the next search builds it anew: {index.rebuilt}")
    damage = _damage(index.db)
    if damage:
        yield Check("index", BROKEN, f"it is damaged: {damage}", "Run `memtool index --rebuild`.")
        return
    counts = "SELECT (SELECT count(*) FROM note), (SELECT count(*) FROM chunk)"
    notes, chunks = index.db.execute(counts).fetchone()
    new = len(index.applied.added) + len(index.applied.changed) + len(index.applied.removed)
    news = f"; {counted(new, 'file is', 'files are')} news to it until the next search" if new else ", up to date"
    yield Check("index", OK, f"{counted(notes, 'note')} in {counted(chunks, 'chunk')}{news}")
    broken = index.broken_notes()
    for note in broken[:_NAMED]:
        yield Check("notes", BROKEN, f"{note.ref}: {note.reason}", "Mend the file with an editor, or move it away.")
    if len(broken) > _NAMED:
        yield Check("notes", BROKEN, f"and {len(broken) - _NAMED} more", "`memtool index --status` names them all.")


def _damage(db: sqlite3.Connection) -> str:
    answer = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    if answer != "ok":
        return answer
    try:
        db.execute("INSERT INTO chunk_terms (chunk_terms) VALUES ('integrity-check')")
    except sqlite3.OperationalError:  # someone is writing, which is no damage
        raise
    except sqlite3.DatabaseError as error:
        return str(error)
    return ""


def _embedder_health(index: Index, settings: Settings, cache: Path) -> Iterator[Check]:
    if settings.embeddings.provider == "none" or settings.search.mode == "bm25":
        yield Check("vectors", OK, "switched off: search is by words")
        return
    try:
        embedder = open_embedder(settings.embeddings, settings.keys.embeddings, cache, may_download=False)
        embedder.embed_query("probe 探测")
    except MemtoolError as error:
        state = BROKEN if settings.has_chosen_embedder else NOTE
        yield Check("vectors", state, f"search is by words only: {error}", error.hint)
        return
    waiting = chunks_waiting(index.db, embedder.name)
    if waiting:
        chunks = counted(waiting, "chunk has", "chunks have")
        yield Check("vectors", NOTE, f"{chunks} no vector yet", "Run `memtool index`.")
    knows = ", ".join(sorted(embedder.scripts))
    skipped = chunks_skipped(index.db, embedder.name)
    more = f"; {counted(skipped, 'chunk')} in other scripts, found by words only" if skipped else ""
    yield Check("vectors", OK, f"{embedder.name}, {embedder.dimension} dimensions, knows {knows}{more}")


def _helper_health(vault: Vault, cache: Path) -> Iterator[Check]:
    place = helper_place(cache, vault.root)
    if not is_at_work(place):
        return
    status = ask_helper(place, {"ask": "status"}, patience=_PATIENCE)
    try:
        pid, idle, memory = (int(status[name]) for name in ("pid", "idle", "memory")) if status else (0, 0, 0)
    except (LookupError, TypeError, ValueError, OverflowError):
        pid = 0
    if not pid:
        fix = "It may have begun just now. If it stays so, `memtool uninstall claude-code` ends it."
        yield Check("helper", NOTE, "the helper for prompts is at work and does not answer", fix)
        return
    size = f", {memory / 1e6:.0f} MB" if memory else ""
    yield Check("helper", OK, f"at work as process {pid}{size}, asked for the last time {idle} s ago")


def _probe() -> Check:
    """Write a note in a vault of its own, index it and find it: the whole way, without touching the user's files."""
    try:
        with tempfile.TemporaryDirectory(prefix="memtool-probe-", ignore_cleanup_errors=True) as folder:
            (Path(folder) / "probe.md").write_text(_PROBE, encoding="utf-8")
            vault = open_vault(Path(folder))
            place = Place(vault, state_folder(vault, lambda: Path(folder)))
            lost = use_index(place, _lost_queries)
    except (MemtoolError, OSError, sqlite3.Error) as error:
        return Check("probe", BROKEN, f"a new note cannot be indexed here: {error}", getattr(error, "hint", ""))
    if lost:
        sentence = f"a new note was indexed and not found by {', '.join(lost)}"
        return Check("probe", BROKEN, sentence, "Please report this.")
    return Check("probe", OK, "a new note was written, indexed and found")


def _installation_checks() -> Iterator[Check]:
    """Look for the other program whose distribution is called as our command is: it brings a package `memtool`, too."""
    from importlib.metadata import PackageNotFoundError, distribution

    with contextlib.suppress(PackageNotFoundError):
        other = distribution("memtool")
        if "memtool-hook" not in {entry.name for entry in other.entry_points}:
            sentence = (
                f"another program's package 'memtool' {other.version} is installed beside this one, under one name"
            )
            fix = f"`pip uninstall memtool`, then install {DISTRIBUTION} again: they overwrite each other's files."
            yield Check("installation", BROKEN, sentence, fix)


def _client_checks(environ: Mapping[str, str], folder: Path | None) -> Iterator[Check]:
    """Check the hooks in Claude Code: each program that the user's settings name is given an edit to write down."""
    try:
        found = health.examine(environ, folder)
    except MemtoolError as error:
        yield _broken("claude-code", error)
        return
    for finding in found.findings:
        yield Check("claude-code", BROKEN if finding.is_broken else NOTE, finding.sentence, finding.fix)
    if found.paths:
        where = ", ".join(str(path) for path in found.paths)
        vaults = ", ".join(program.vault or "the vault of your settings" for program in found.programs)
        yield Check("claude-code", OK, f"hooks in {where} write to {vaults}")
    elif found.plugin and not found.findings:
        named = f"the plugin {found.plugin.id} {found.plugin.version}, enabled in {found.plugin.path}"
        yield Check("claude-code", OK, f"{named}, writes to the vault of your settings")
    elif not found.findings:
        sentence = "no session is captured, because its settings hold no hook of memtool"
        yield Check("claude-code", NOTE, sentence, "Run `memtool install claude-code`.")


def _rule_checks(vault: Vault, environ: Mapping[str, str]) -> Iterator[Check]:
    try:
        found = examine_rules(environ, vault)
    except MemtoolError as error:
        yield _broken("rules", error)
        return
    for finding in found.findings:
        yield Check("rules", NOTE, finding.sentence, finding.fix)
    if found.names and not found.findings:
        yield Check("rules", OK, f"{counted(len(found.names), 'file')} in {found.folder}, up to date with this vault")


def _routing_checks(vault: Vault) -> Iterator[Check]:
    routing = read_routing(vault)
    faults = [finding for finding in check(vault, routing) if not finding.is_warning]
    if faults:
        sentence = f"{counted(len(faults), 'trigger leads', 'triggers lead')} nowhere or cannot be read"
        yield Check("routing", NOTE, sentence, "`memtool route --check` names them.")
    elif routing.routes:
        yield Check("routing", OK, f"{counted(len(routing.routes), 'trigger leads', 'triggers lead')} to a file")


def _capture_checks(vault: Vault, environ: Mapping[str, str]) -> Iterator[Check]:
    """Say what went wrong where nobody was watching: in hooks and in the worker, within the last days."""
    folders = [vault.state_path]
    with contextlib.suppress(MemtoolError):  # the checks of the index say it
        folders.append(outer_folder(vault.root, settings_module.user_cache_path(environ)))
    now = dt.datetime.now().astimezone()
    errors, over = read_problems(vault, folders, now)
    see = f"See {' and '.join(str(folder / LOG_NAME) for folder in folders if (folder / LOG_NAME).exists())}."
    for entry in errors[-_NAMED_ERRORS:]:
        yield Check("capture", BROKEN, _told(entry), see)
    if len(errors) > _NAMED_ERRORS:
        yield Check("capture", BROKEN, f"and {counted(len(errors) - _NAMED_ERRORS, 'more error')} in the last day")
    if over:
        problems = counted(len(over), "old or small problem")
        yield Check("capture", NOTE, f"{problems} in the last {DAYS} days; the last: {_told(over[-1])}", see)
    queue = Queue(vault)
    for job in queue.parked()[:_NAMED]:
        fix = "Try it again with `memtool capture --drain --now`."
        yield Check("capture", BROKEN, f"{queue.name_of(job, _home())} was given up: {job.reason}", fix)
    waiting = queue.waiting()
    overdue = [job for job in waiting if now.timestamp() - max(job.queued_at, job.due_at) > _OVERDUE]
    if overdue:
        fix = "Run `memtool capture --drain` and see what it says."
        sessions = counted(len(overdue), "session has", "sessions have")
        yield Check("capture", BROKEN, f"{sessions} waited for more than an hour", fix)
    elif not errors:
        yield Check("capture", OK, f"nothing to mend, {counted(len(waiting), 'session')} waiting")


def _schedule_checks(vault: Vault, settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Say whether the week is consolidated; the system is asked only about a schedule that was installed."""
    work = Workspace(vault, settings, environ, _home(), vault.root)
    kind, run = kept_schedule(work), read_run(work)
    if run and not run.is_done:
        sentence = f"the consolidation of {run.week} failed at {run.at[:16]}: {run.said}"
        yield Check("schedule", BROKEN, sentence, "Run `memtool consolidate --week last` and see what it says.")
    elif kind and not is_in_force(work, kind):
        yield Check(
            "schedule", NOTE, f"{kind} no longer knows what was set up", "Run `memtool schedule install` again."
        )
    elif kind or run:
        last = f"the last run was of {run.week} at {run.at[:16]}" if run else "nothing was run yet"
        yield Check("schedule", OK, f"{f'installed for {kind}' if kind else 'none is installed'}; {last}")
    else:
        yield Check("schedule", OK, "none; `memtool schedule install` consolidates each week")


def _told(entry: Entry) -> str:
    return f"{entry.at}, {entry.subject}: {entry.message}"


def _lost_queries(index: Index) -> list[str]:
    wanted = Filter(dt.date.min)
    return [query for query in _PROBE_QUERIES if not search(index, query, wanted, limit=1).hits]


def _broken(subject: str, error: MemtoolError) -> Check:
    return Check(subject, BROKEN, str(error), error.hint)
