"""The health of an installation in Claude Code: its hooks (does each run, and once?), the plugin, rule files.

`memtool install` warns, `memtool doctor` examines. What the client records of its plugins is as seen in 2.1.330.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memtool import git
from memtool.clients import CLAUDE_HOOKS, HOOKS
from memtool.errors import BadSetting, HistoryFailed
from memtool.install import client_files, hooks, json_text
from memtool.install.hook_probe import probe
from memtool.install.hooks import Handler, Program
from memtool.install.plans import plan
from memtool.install.record import is_own
from memtool.install.rule_files import are_for, rule_shares, rules_folder, written_rules
from memtool.vault.layout import Vault

_AGAIN = "Run `memtool install claude-code` again, with --project for a project."
_EVENTS = [event.name for event in CLAUDE_HOOKS.events if event.part == HOOKS]
_PLUGIN = "memtool"
_HOOK_PROGRAM = "memtool-hook"
_INSTALL = "Run `memtool install claude-code`."


class HookFinding(NamedTuple):
    """A fault or a remark, as a sentence, and its remedy."""

    is_broken: bool
    sentence: str
    fix: str


class Health(NamedTuple):
    """The settings files that hold hooks of ours, the programs that these run, and the faults that were found.

    *plugin* brings the hooks where no settings file does.
    """

    paths: tuple[Path, ...]
    programs: tuple[Program, ...]
    findings: tuple[HookFinding, ...]
    plugin: Plugin | None = None


class _Installation(NamedTuple):
    """Hooks of ours in the settings file at *path*."""

    path: Path
    text: str
    handlers: list[Handler]

    def programs(self) -> list[Program]:
        """Return the programs of the hooks, each once."""
        return list(dict.fromkeys(handler.program for handler in self.handlers))


def examine(environ: Mapping[str, str], folder: Path | None) -> Health:
    """Return the health of the hooks that a session in *folder* would run; without one, of the user's.

    Raises:
        BadSetting: the home folder is unknown.
    """
    found, errors = _installations(environ, folder)
    findings = [HookFinding(True, str(error), error.hint) for error in errors]
    for installation in found:
        findings += _faults(installation, may_run=installation.path == client_files.user_settings_path(environ))
    plugin = None if found else find_plugin(settings_paths(environ, folder), environ)
    if plugin:
        program = _plugin_program(environ)
        findings += [*_plugin_faults(plugin, program), *_notes(_switched_off(environ, folder))]
        return Health((), (program,) if program else (), tuple(findings), plugin)
    findings += _notes(obstacles(environ, folder))
    programs = dict.fromkeys(program for installation in found for program in installation.programs())
    return Health(tuple(installation.path for installation in found), tuple(programs), tuple(findings))


def installed_in(environ: Mapping[str, str], folder: Path | None) -> list[Path]:
    """Return the settings files that hold hooks of ours, as far as they can be read."""
    return [installation.path for installation in _installations(environ, folder)[0]]


def has_hooks(path: Path) -> bool:
    """Return whether the settings file at *path* holds hooks of ours, as far as it can be read."""
    with contextlib.suppress(BadSetting):
        return _installation(path) is not None
    return False


def obstacles(environ: Mapping[str, str], folder: Path | None) -> list[str]:
    """Return a sentence for each thing that keeps our hooks from running exactly once in a session in *folder*."""
    sentences = _switched_off(environ, folder)
    if plugin := find_plugin(settings_paths(environ, folder), environ):
        does = "brings the same hooks; it leaves every event to these"
        sentences.append(f"'{plugin.path}' enables the plugin '{plugin.id}', which {does}")
    found, _ = _installations(environ, folder)
    # The client runs handlers that are alike in every field once, even from several files.
    if len({frozenset((handler.event, handler.program) for handler in each.handlers) for each in found}) > 1:
        where = " and ".join(f"'{installation.path}'" for installation in found)
        sentences.append(f"the hooks in {where} differ, so both run for each event: uninstall one of them")
    return sentences


def why_unread(path: Path, text: str) -> str:
    """Return why the client ignores all of the settings *text*, or an empty string (seen in 2.1.197 and 2.1.330)."""
    if not text or json_text.is_plain(text):
        return ""
    return f"Claude Code ignores all of '{path}' while it holds comments or trailing commas"


def project_notices(folder: Path) -> list[str]:
    """Return a warning for each risk of an installation for the project in *folder* only."""
    path = client_files.project_settings_path(folder)
    sentences = []
    with contextlib.suppress(HistoryFailed):
        # `check-ignore` refuses the literal paths that `ask` asks for.
        if git.ask(folder, "--no-literal-pathspecs", "check-ignore", "--quiet", str(path)).code == 1:
            sentences.append(f"git does not ignore '{path}', which holds paths of this machine: add it to .gitignore")
    root = repository_of(folder)
    if root != folder:
        sentences.append(f"only sessions that start in '{folder}' run these hooks; its repository is '{root}'")
    return sentences


def repository_of(folder: Path) -> Path:
    """Return the topmost folder of the checkout that *folder* lies in, or itself."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def settings_paths(environ: Mapping[str, str], folder: Path | None) -> list[Path]:
    """Return the paths of all settings files, in the order in which the later overrule the earlier."""
    paths = [client_files.user_settings_path(environ)]
    if folder:
        paths += [client_files.shared_settings_path(folder), client_files.project_settings_path(folder)]
    return list(dict.fromkeys([*paths, client_files.managed_settings_path()]))  # the home folder may be a project, too


def _installations(environ: Mapping[str, str], folder: Path | None) -> tuple[list[_Installation], list[BadSetting]]:
    """Return the installations, and an error for each settings file that cannot be read."""
    found: list[_Installation] = []
    errors: list[BadSetting] = []
    for path in settings_paths(environ, folder):
        try:
            found += [installation] if (installation := _installation(path)) else []
        except BadSetting as error:
            errors.append(error)
    return found, errors


def _installation(path: Path) -> _Installation | None:
    """Return our hooks in the settings file at *path*; None without any.

    Raises:
        BadSetting: it cannot be read.
    """
    content = client_files.read(path)
    try:
        handlers = hooks.find_handlers(content.text) if content else []
    except ValueError as error:
        raise client_files.not_settings(path, error) from None
    return _Installation(path, content.text, handlers) if content and handlers else None


def _switched_off(environ: Mapping[str, str], folder: Path | None) -> list[str]:
    sentences = []
    for path in settings_paths(environ, folder):
        values = client_files.values(path)
        if values.get("disableAllHooks") is True:
            sentences.append(f"'{path}' sets disableAllHooks, so no hook runs at all")
        if values.get("allowManagedHooksOnly") is True and path == client_files.managed_settings_path():
            sentences.append(f"'{path}' sets allowManagedHooksOnly, so only your administrator's hooks run")
    return sentences


def _notes(sentences: Iterable[str]) -> list[HookFinding]:
    return [HookFinding(False, sentence, "") for sentence in sentences]


def _plugin_faults(plugin: Plugin, program: Program | None) -> Iterator[HookFinding]:
    if not plugin.version:
        sentence = f"'{plugin.path}' enables the plugin '{plugin.id}', which Claude Code has not installed"
        # A project may be a stranger's: what it enables is not proposed for installation.
        yield HookFinding(
            False, sentence, "Run `memtool install claude-code`, or install the plugin as `docs/agents.md` says."
        )
    if program is None:
        sentence = "the plugin finds no memtool-hook: it is neither on your PATH nor in ~/.local/bin"
        yield HookFinding(True, sentence, _INSTALL)
    elif fault := probe(program).fault:
        yield HookFinding(True, f"the plugin runs '{program.command}', and {fault}", "Install memtool again.")


def _faults(installation: _Installation, *, may_run: bool) -> Iterator[HookFinding]:
    path, handlers = installation.path, installation.handlers
    unread = why_unread(path, installation.text)
    if unread:
        yield HookFinding(True, unread, "Remove them from the file.")
    there = {handler.event for handler in handlers}
    missing = [event for event in _EVENTS if event not in there]
    if missing:
        yield HookFinding(False, f"'{path}' lacks the hooks {', '.join(missing)}", _AGAIN)
    for program in installation.programs():
        if program.vault and not Path(program.vault).is_dir():
            yield HookFinding(True, f"the hooks write to '{program.vault}', which does not exist", _AGAIN)
        if shutil.which(program.interpreter) is None:
            yield HookFinding(True, f"the hooks run '{program.interpreter}', which does not exist", _AGAIN)
        elif may_run and (fault := probe(program).fault):
            yield HookFinding(True, f"the hooks run '{program.interpreter}', and {fault}", _AGAIN)


class Plugin(NamedTuple):
    """A plugin of ours that the settings file at *path* enables; *version* is empty if it is not installed."""

    id: str
    path: Path
    version: str


def find_plugin(paths: Iterable[Path], environ: Mapping[str, str]) -> Plugin | None:
    """Return the plugin that the settings files *paths* enable together, the weightiest last; None without one."""
    enabled: dict[str, Path | None] = {}
    for path in paths:
        for name, is_on in _as_object(client_files.values(path).get("enabledPlugins")).items():
            if name.partition("@")[0] == _PLUGIN:
                enabled[name] = path if is_on is True else None
    name, chosen = next(((name, path) for name, path in enabled.items() if path), ("", None))
    if chosen is None:
        return None
    record = client_files.user_settings_path(environ).parent / "plugins" / "installed_plugins.json"
    installed = _as_object(client_files.values(record).get("plugins")).get(name)
    copies = [_as_object(copy).get("version") for copy in installed] if isinstance(installed, list) else []
    return Plugin(name, chosen, next((version for version in copies if isinstance(version, str)), ""))


def _plugin_program(environ: Mapping[str, str]) -> Program | None:
    """Return the program that `hooks/claude-code/hooks/launch.sh` would run; None if it finds none."""
    found = shutil.which(_HOOK_PROGRAM, path=environ.get("PATH"))
    if not found:
        with contextlib.suppress(RuntimeError):  # the home folder is unknown
            found = shutil.which(str(Path.home() / ".local" / "bin" / _HOOK_PROGRAM))
    return Program(found) if found else None


def _as_object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


class RuleHealth(NamedTuple):
    """The rule files of memtool in *folder*, with their faults."""

    folder: Path
    names: tuple[str, ...]
    findings: tuple[HookFinding, ...]


def examine_rules(environ: Mapping[str, str], vault: Vault) -> RuleHealth:
    """Return the rule files that *vault* has in the user's folder, and their faults. Nothing is written.

    Raises:
        BadSetting: the home folder is unknown.
        NotWritable: a rule file cannot be read.
    """
    texts = written_rules(environ)
    return RuleHealth(rules_folder(environ), tuple(texts), tuple(_rule_findings(environ, vault, texts)))


def _rule_findings(environ: Mapping[str, str], vault: Vault, texts: Mapping[str, str]) -> Iterator[HookFinding]:
    folder = rules_folder(environ)
    foreign = [name for name, text in texts.items() if not _speaks_of(text, vault)]
    if foreign:
        sentence = f"rules in '{folder}' are for another vault: {', '.join(foreign)}"
        yield HookFinding(False, sentence, _INSTALL)
    elif texts and not are_for(environ, vault):
        sentence = (
            f"the rules in '{folder}' are not updated from this vault, because no hook in your settings writes to it"
        )
        yield HookFinding(False, sentence, _INSTALL)
    if not are_for(environ, vault):
        return
    planned = plan(rule_shares(environ, vault), {"rules": True})
    if planned.changes and not is_own(environ, vault):
        sentence = f"the triggers of {vault.root} are not in your rules, because the vault may belong to someone else"
        yield HookFinding(
            False, sentence, "If it is yours, run `memtool init` in it, then `memtool install claude-code`."
        )
        return
    stale = [change.path.name for change in planned.changes if change.path.name not in foreign]
    if stale:
        fix = "Run `memtool route --update`. The end of the next session does the same."
        yield HookFinding(False, f"rules in '{folder}' are not up to date: {', '.join(stale)}", fix)
    for notice in planned.notices:
        yield HookFinding(False, notice, "Move the file away if memtool is to write its rule again.")


def _speaks_of(text: str, vault: Vault) -> bool:
    """Return whether the rule *text* names the folder of *vault*, or a file in it, as `rules` writes them."""
    root = re.escape(str(vault.root).replace("|", r"\|"))
    return re.search(rf"` ?{root}(?: ?`|[/\\])", text) is not None
