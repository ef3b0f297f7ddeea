"""The health of this installation: versions, settings, a trial note, and what is installed into clients."""

from __future__ import annotations

import datetime as dt
import json
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from memtool import __version__, settings as settings_module
from memtool.doctor.check import BROKEN, NOTE, OK, Check, broken
from memtool.errors import MemtoolError
from memtool.index.engine import Index, Place, use_index
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.install import claude_health
from memtool.install.agents import AGENTS, HookScript, Target, get_setup
from memtool.install.client_files import not_settings
from memtool.install.entries import McpEntry
from memtool.install.hook_probe import on_vault, probe
from memtool.install.hook_shares import HookShare
from memtool.install.hooks import Program
from memtool.install.plans import LeftAlone, Share, original_path, plan
from memtool.installation import DISTRIBUTION
from memtool.processes import ISOLATED
from memtool.redaction import make_redactor
from memtool.text.lines import counted
from memtool.vault.layout import SETTINGS_FILE, Vault, open_vault, state_folder
from memtool.vault.project_area import shown_path

SERVER_START = 20.0  # seconds for an MCP server that is started for the first time
_PROBE = "# Probe\n\nThe probe of `getUserById` found 解密失败 in v2.1.210.\n"
_PROBE_QUERIES = ("user probe", "解密失败", "v2.1.210")


def installation_checks() -> Iterator[Check]:
    """Write, index and find a note in a temporary vault; and look for a package of the same name."""
    wanted = Filter(dt.date.min)

    def lost_queries(index: Index) -> list[str]:
        return [query for query in _PROBE_QUERIES if not search(index, query, wanted, limit=1).hits]

    try:
        with tempfile.TemporaryDirectory(prefix="memtool-probe-", ignore_cleanup_errors=True) as folder:
            (Path(folder) / "probe.md").write_text(_PROBE, encoding="utf-8")
            vault = open_vault(Path(folder))
            place = Place(vault, state_folder(vault, lambda: Path(folder)))
            lost = use_index(place, lost_queries)
    except (MemtoolError, OSError, sqlite3.Error) as error:
        yield Check("probe", BROKEN, f"a new note cannot be indexed here: {error}", getattr(error, "hint", ""))
    else:
        if lost:
            sentence = f"a new note was indexed and not found by {', '.join(lost)}"
            yield Check("probe", BROKEN, sentence, "Please report this.")
        else:
            yield Check("probe", OK, "a new note was written, indexed and found")
    from importlib.metadata import PackageNotFoundError, distribution

    with suppress(PackageNotFoundError):  # another program on PyPI brings a package `memtool`, too
        other = distribution("memtool")
        if "memtool-hook" not in {entry.name for entry in other.entry_points}:
            sentence = (
                f"another program's package 'memtool' {other.version} is installed beside this one, with the same name"
            )
            fix = f"`pip uninstall memtool`, then install {DISTRIBUTION} again: they overwrite each other's files."
            yield Check("installation", BROKEN, sentence, fix)


def version_checks() -> list[Check]:
    """Return the versions of memtool, Python and SQLite."""
    versions = f"memtool {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return [Check("versions", OK, f"{versions}, {platform.system()} {platform.machine()}")]


def settings_checks(vault: Vault | None, environ: Mapping[str, str]) -> list[Check]:
    """Return where each setting comes from, and the unknown variables and keys."""
    try:
        settings = settings_module.load(vault.settings_path if vault else None, environ)
        make_redactor(settings.redact)  # without it, nothing is captured
    except MemtoolError as error:
        return [broken("settings", error)]
    changed = [f"{key} from {origin}" for key, origin in settings.origins.items() if origin != "default"]
    path = settings_module.user_config_path(environ)
    is_there = path.is_file()
    where = f"{shown_path(str(path), None, home_folder())}{'' if is_there else ' (not there yet)'}"
    summary = Check("settings", OK, f"{'; '.join(changed) or 'all defaults'}; yours: {where}")
    unknown = [f"{name}{nearest(name)}" for name in settings_module.unknown_variables(environ, settings)]
    notices = [*settings.notices, *(f"the variable {name} is unknown" for name in unknown)]
    return [summary, *(Check("settings", NOTE, notice) for notice in notices)]


def nearest(name: str) -> str:
    """Return the question `did you mean …?` with the nearest variable; empty if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, settings_module.known_variables(), 1, 0.8)
    return f" (did you mean {near[0]}?)" if near else ""


def home_folder() -> Path:
    """Return the user's home folder, or `~` if it is unknown."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("~")


def client_checks(environ: Mapping[str, str], home: Path, folder: Path | None) -> Iterator[Check]:
    """Give the findings about each client: the parts that it has, whether they work, and the server that they start.

    A server that a file of the project itself names is not started: the project may be a stranger's.
    """
    of_hooks = list(_claude_code_checks(environ, folder))
    yield from of_hooks
    reported = {check.sentence for check in of_hooks}
    user = Target(environ, home, folder)
    commands: dict[tuple[str, ...], str] = {}
    for name in AGENTS:
        client = get_setup(name)
        try:
            shares = client.shares(user)
            here = client.shares(user._replace(project=folder)) if folder else []
        except (MemtoolError, ValueError):
            continue  # its home is unknown
        unread = list(_unread(shares))
        yield from (check for check in unread if check.sentence not in reported)
        parts = client.parts_in(user)
        if parts and not unread:
            lacks = [part for part in plan(shares, client.wanted()).parts if part not in parts]
            without = f", without {', '.join(lacks)}" if lacks else ""
            yield Check("parts", OK, f"{client.title} has memtool's {', '.join(parts)}{without}")
        if twice := [part for part in parts if part in client.brought(user)]:
            sentence = f"{client.title}'s plugin brings {', '.join(twice)}, too, so the model has each tool twice"
            yield Check("parts", NOTE, sentence, f"Run `memtool install {name}` again: it leaves them to the plugin.")
        if name != "claude-code":
            yield from _program_checks(name, client.title, shares)
        for share in (*shares, *(share for share in here if folder and not share.path.is_relative_to(folder))):
            with suppress(MemtoolError, ValueError):
                if isinstance(share, McpEntry) and (command := share.command()):
                    commands.setdefault(command, client.title)
    for command, title in commands.items():
        yield _handshake(command, title)


def _unread(shares: Iterable[Share]) -> Iterator[Check]:
    """Give a finding for each file that cannot be read and held a share of ours, as its text or its backup tells."""
    reported: set[Path] = set()
    for share in shares:
        text: str | None = None
        try:
            with suppress(LeftAlone):
                share.put(text := share.read())  # `take` reads no file that does not name memtool
        except (MemtoolError, ValueError) as error:
            if share.path not in reported and (original_path(share.path).exists() or "memtool" in (text or "")):
                yield broken("parts", error if isinstance(error, MemtoolError) else not_settings(share.path, error))
                reported.add(share.path)


def _program_checks(name: str, title: str, shares: Iterable[Share]) -> Iterator[Check]:
    """Give a finding for each program that the hooks of a client run: it is given an edit to write down."""
    programs: dict[Program, None] = {}
    for share in shares:
        with suppress(MemtoolError, ValueError):
            programs |= dict.fromkeys(share.programs() if isinstance(share, HookShare | HookScript) else ())
    fix = f"Run `memtool install {name}` again."
    for program in programs:
        if program.vault and not Path(program.vault).is_dir():
            yield Check("hooks", BROKEN, f"{title}'s hooks write to '{program.vault}', which is not there", fix)
        elif shutil.which(program.interpreter) is None:
            yield Check("hooks", BROKEN, f"{title}'s hooks run '{program.interpreter}', which is not there", fix)
        elif fault := (tried := probe(program, name)).fault:
            yield Check("hooks", BROKEN, f"{title}'s hooks run '{program.interpreter}', and {fault}", fix)
        else:
            sentence = f"{title}'s hooks wrote down an edit within {tried.milliseconds} ms"
            yield Check("hooks", OK, f"{sentence}, into {program.vault or 'the vault of your settings'}")


def _handshake(command: tuple[str, ...], title: str) -> Check:
    """Start the server as *title* would, on a temporary vault, and let the SDK's own client ask for its tools."""
    sentence = ""
    for _ in range(2):  # the machine may be busy
        with tempfile.TemporaryDirectory(prefix="memtool-probe-", ignore_cleanup_errors=True) as folder:
            (Path(folder) / SETTINGS_FILE).touch()
            words = [sys.executable, *ISOLATED, "-m", "memtool.mcp.handshake", *on_vault(command, Path(folder))]
            try:
                done = subprocess.run(
                    words, capture_output=True, timeout=SERVER_START, check=False, stdin=subprocess.DEVNULL
                )
                tools = json.loads(done.stdout)["tools"]
                return Check("mcp", OK, f"{title}'s server answers with {counted(len(tools), 'tool')}")
            except subprocess.TimeoutExpired:
                sentence = f"{title}'s server did not answer within {SERVER_START:.0f} s"
            except (OSError, ValueError, LookupError, TypeError):
                last_line = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
                sentence = f"{title}'s server does not start: {''.join(last_line) or command[0]}"
    return Check("mcp", BROKEN, sentence, "Run `memtool install` for this client again.")


def _claude_code_checks(environ: Mapping[str, str], folder: Path | None) -> Iterator[Check]:
    """Check the hooks in Claude Code: each program that the user's settings name is given an edit to write down."""
    try:
        found = claude_health.examine(environ, folder)
    except MemtoolError as error:
        yield broken("claude-code", error)
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
        sentence = "no session is captured: its settings have no hook of memtool"
        yield Check("claude-code", NOTE, sentence, "Run `memtool install claude-code`.")


def rule_checks(vault: Vault, environ: Mapping[str, str]) -> Iterator[Check]:
    """Give the findings about the rule files that the vault has in Claude Code."""
    try:
        found = claude_health.examine_rules(environ, vault)
    except MemtoolError as error:
        yield broken("rules", error)
        return
    for finding in found.findings:
        yield Check("rules", NOTE, finding.sentence, finding.fix)
    if found.names and not found.findings:
        yield Check("rules", OK, f"{counted(len(found.names), 'file')} in {found.folder}, up to date with this vault")
