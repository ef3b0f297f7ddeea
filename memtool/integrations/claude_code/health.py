"""The health of the installed hooks: will each run, and once? `memtool install` warns, `memtool doctor` examines."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memtool.errors import BadSetting, HistoryFailed
from memtool.integrations import json_text
from memtool.integrations.claude_code import hooks, places
from memtool.integrations.claude_code.hooks import HOOKS, Handler, Program
from memtool.integrations.claude_code.plugin import Plugin, find_plugin, plugin_program
from memtool.integrations.claude_code.probe import fault_of
from memtool.vault import git

_AGAIN = "Run `memtool install claude-code` again, with --project for a project."


class HookFinding(NamedTuple):
    """One fault or remark, as a sentence, and its remedy."""

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
        findings += _faults(installation, may_run=installation.path == places.user_settings_path(environ))
    plugin = None if found else find_plugin(_settings_paths(environ, folder), environ)
    if plugin:
        program = plugin_program(environ)
        findings += [*_plugin_faults(plugin, program), *_notes(_switched_off(environ, folder))]
        return Health((), (program,) if program else (), tuple(findings), plugin)
    findings += _notes(obstacles(environ, folder))
    programs = dict.fromkeys(program for installation in found for program in installation.programs())
    return Health(tuple(installation.path for installation in found), tuple(programs), tuple(findings))


def installed_in(environ: Mapping[str, str], folder: Path | None) -> list[Path]:
    """Return the settings files that hold hooks of ours, as far as they can be read."""
    return [installation.path for installation in _installations(environ, folder)[0]]


def obstacles(environ: Mapping[str, str], folder: Path | None) -> list[str]:
    """Return what keeps hooks of ours from running once each in a session in *folder*, a sentence each."""
    sentences = _switched_off(environ, folder)
    if plugin := find_plugin(_settings_paths(environ, folder), environ):
        does = "brings the same hooks; it leaves every event to these"
        sentences.append(f"'{plugin.path}' enables the plugin '{plugin.id}', which {does}")
    found, _ = _installations(environ, folder)
    # The client runs handlers that are alike in every field once, wherever they stand.
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
    path = places.project_settings_path(folder)
    sentences = []
    with contextlib.suppress(HistoryFailed):
        # `check-ignore` refuses the literal paths that `ask` asks for.
        if git.ask(folder, "--no-literal-pathspecs", "check-ignore", "--quiet", str(path)).code == 1:
            sentences.append(f"git does not ignore '{path}', which holds paths of this machine: add it to .gitignore")
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    if root != folder:
        sentences.append(f"only sessions that start in '{folder}' run these hooks; its repository is '{root}'")
    return sentences


def _settings_paths(environ: Mapping[str, str], folder: Path | None) -> list[Path]:
    """Return the paths of all settings files, in the order in which the later overrule the earlier."""
    paths = [places.user_settings_path(environ)]
    if folder:
        paths += [places.shared_settings_path(folder), places.project_settings_path(folder)]
    return list(dict.fromkeys([*paths, places.managed_settings_path()]))  # the home folder may be a project, too


def _installations(environ: Mapping[str, str], folder: Path | None) -> tuple[list[_Installation], list[BadSetting]]:
    """Return the installations, and an error for each settings file that cannot be read."""
    found: list[_Installation] = []
    errors: list[BadSetting] = []
    for path in _settings_paths(environ, folder):
        try:
            content = places.read(path)
            handlers = hooks.find_handlers(content.text) if content else []
        except BadSetting as error:
            errors.append(error)
        except ValueError as error:
            errors.append(places.not_settings(path, error))
        else:
            if content and handlers:
                found.append(_Installation(path, content.text, handlers))
    return found, errors


def _switched_off(environ: Mapping[str, str], folder: Path | None) -> list[str]:
    return [sentence for path in _settings_paths(environ, folder) for sentence in _switches(path)]


def _switches(path: Path) -> Iterator[str]:
    values = places.values(path)
    if values.get("disableAllHooks") is True:
        yield f"'{path}' says disableAllHooks, so no hook runs at all"
    if values.get("allowManagedHooksOnly") is True and path == places.managed_settings_path():
        yield f"'{path}' says allowManagedHooksOnly, so only the hooks of your administrator run"


def _notes(sentences: Iterable[str]) -> list[HookFinding]:
    return [HookFinding(False, sentence, "") for sentence in sentences]


def _plugin_faults(plugin: Plugin, program: Program | None) -> Iterator[HookFinding]:
    if not plugin.version:
        sentence = f"'{plugin.path}' enables the plugin '{plugin.id}', which Claude Code has not installed"
        # A project may be a stranger's: what it enables is not proposed for installation.
        yield HookFinding(
            False, sentence, "Run `memtool install claude-code`, or install the plugin as `docs/plugin.md` says."
        )
    if program is None:
        sentence = "the plugin finds no memtool-hook: it is neither on your PATH nor in ~/.local/bin"
        yield HookFinding(True, sentence, "Install memtool with pipx or uv, or run `memtool install claude-code`.")
    elif fault := fault_of(program):
        yield HookFinding(True, f"the plugin runs '{program.command}', and {fault}", "Install memtool again.")


def _faults(installation: _Installation, *, may_run: bool) -> Iterator[HookFinding]:
    path, handlers = installation.path, installation.handlers
    unread = why_unread(path, installation.text)
    if unread:
        yield HookFinding(True, unread, "Remove them from the file.")
    missing = [hook.event for hook in HOOKS if hook.event not in {handler.event for handler in handlers}]
    if missing:
        yield HookFinding(False, f"'{path}' lacks the hooks {', '.join(missing)}", _AGAIN)
    for program in installation.programs():
        yield from _program_faults(program, may_run=may_run)


def _program_faults(program: Program, *, may_run: bool) -> Iterator[HookFinding]:
    if program.vault and not Path(program.vault).is_dir():
        yield HookFinding(True, f"the hooks write to '{program.vault}', which is not there", _AGAIN)
    if shutil.which(program.interpreter) is None:
        yield HookFinding(True, f"the hooks run '{program.interpreter}', which is not there", _AGAIN)
    elif may_run and (fault := fault_of(program)):
        yield HookFinding(True, f"the hooks run '{program.interpreter}', and {fault}", _AGAIN)
