"""`memtool config`: settings, one at a time."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from memtool import settings
from memtool.cli import completion, output
from memtool.cli.options import JSON
from memtool.cli.session import Session
from memtool.errors import BadSetting, UsageError
from memtool.install import client_files, settings_file
from memtool.install.settings_file import Value, as_toml
from memtool.llm.writers import what_is_missing
from memtool.redaction import make_redactor
from memtool.settings.sections import ABOUT, RedactSettings
from memtool.vault import files
from memtool.vault.project_area import shown_path

F = TypeVar("F", bound=Callable[..., Any])

_NAME = click.argument("setting", metavar="NAME", shell_complete=completion.settings)


class VaultCommand(click.Command):
    """A command whose --vault takes an optional path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take what follows --vault as its path only if it is a folder, and not the name of a setting."""
        for at in reversed([at for at, word in enumerate(args) if word == "--vault"]):
            path = args[at + 1] if at + 1 < len(args) else ""
            if path and path not in ABOUT and Path(path).expanduser().is_dir():
                args[at : at + 2] = [f"--vault={path}"]
            else:
                args[at] = "--vault="
        return super().parse_args(ctx, args)


def _with_file(command: F) -> F:
    """Let a command accept `--vault [PATH]`, and hand it the `Session` and whether the vault's file is meant."""
    help_text = "The vault's memtool.toml instead of your own config.toml."
    option = click.option("--vault", "of_vault", metavar="[PATH]", callback=_use_vault, help=help_text)
    return cast("F", option(click.pass_obj(command)))


def _use_vault(ctx: click.Context, _: click.Parameter, value: str | None) -> bool:
    session = ctx.find_object(Session)
    if session is not None and value:
        session.vault_option = value
    return value is not None


@click.group()
def command() -> None:
    """Read and change settings: in your own config.toml, or with --vault in the vault's memtool.toml.

    Comments and the order of lines are kept. docs/reference/settings.md explains each setting.
    """


@command.command(cls=VaultCommand)
@click.argument("setting", metavar="[NAME]", required=False, shell_complete=completion.settings)
@JSON
@_with_file
def get(session: Session, *, setting: str | None, of_vault: bool) -> None:
    """Show the value of a setting and the file or variable that sets it; without NAME, of all settings.

    With --vault, only the vault's memtool.toml is read. Passwords and keys are never shown.
    """
    keys = [_checked_name(setting)] if setting else list(ABOUT)
    vault_file = session.vault.settings_path if of_vault or session.vault_path()[0].is_dir() else None
    known = settings.load(vault_file, settings_file.NOTHING if of_vault else session.environ)
    rows = [(key, _masked(key, settings.shown_value(known, key)), _origin(known.origins[key])) for key in keys]
    names = ("name", "value", "origin", "help")
    fields = [dict(zip(names, (*row, ABOUT[row[0]].help), strict=True)) for row in rows]
    if session.emits(fields[0] if setting else {"settings": fields}):
        return
    for key, value, origin in rows:
        click.echo(output.printable(f"{key} = {as_toml(value)}  # {origin}"))
    output.say(*known.notices)


@command.command("set", cls=VaultCommand)
@_NAME
@click.argument("value", metavar="VALUE...", nargs=-1, required=True)
@JSON
@_with_file
def set_(session: Session, *, setting: str, value: tuple[str, ...], of_vault: bool) -> None:
    """Set a setting. A list takes several VALUEs; '' empties it.

    The value is checked first. The change takes effect with the next command, hook or session.
    """
    key = _checked_name(setting)
    path = _file(session, key, of_vault=of_vault)
    _change(session, path, key, settings_file.check_value(key, value), of_vault=of_vault)


@command.command(cls=VaultCommand)
@_NAME
@JSON
@_with_file
def unset(session: Session, *, setting: str, of_vault: bool) -> None:
    """Remove a setting from the file, so that a weaker place or the default applies."""
    _change(session, _file(session, "", of_vault=of_vault), _checked_name(setting), None, of_vault=of_vault)


@command.command(cls=VaultCommand)
@_with_file
def edit(session: Session, *, of_vault: bool) -> None:
    """Open the file in your editor ($VISUAL, $EDITOR); the result is checked before it replaces the file."""
    if not (sys.stdin.isatty() or session.environ.get("VISUAL") or session.environ.get("EDITOR")):
        hint = "Use `memtool config set NAME VALUE`, or name an editor in EDITOR."
        raise UsageError("`memtool config edit` needs a terminal", hint=hint)
    path = _file(session, "", of_vault=of_vault)
    content = client_files.read(path)
    before = content.text if content else ""
    draft = Path(tempfile.mkdtemp(prefix="memtool-config-")) / path.name
    draft.write_text(before, encoding="utf-8", newline="")
    text = _edited(draft, path, of_vault=of_vault)
    if text == before:
        click.echo(f"Nothing was changed in {_short(path)}.")
    else:
        files.replace(path, text, expected=content.hash if content else None)
        click.echo(f"Changed {_short(path)}.")
        click.echo(f"To undo: {_write_backup(session, path, before) if content else f'rm {shlex.quote(str(path))}'}")
    draft.unlink()
    draft.parent.rmdir()


def _edited(draft: Path, path: Path, *, of_vault: bool) -> str:
    """Return the text that the user's editor left in *draft*, once it can be used."""
    while True:
        click.edit(filename=str(draft))
        try:
            text = draft.read_text(encoding="utf-8-sig")
            output.say(*settings_file.check_text(text, path, of_vault=of_vault).notices)
        except (BadSetting, UnicodeDecodeError) as error:
            output.say(f"This cannot be used: {error}")
            if not (sys.stdin.isatty() and click.confirm("Edit it again?", default=True, err=True)):
                hint = f"Your draft is {draft}."
                raise BadSetting(f"'{path.name}' stays as it was: {error}", hint=hint) from None
        else:
            return draft.read_bytes().decode("utf-8")  # with its mark of the byte order, if it has one


def _write_backup(session: Session, path: Path, before: str) -> str:
    """Keep the text *before* the change beside the caches; return the command that brings it back."""
    kept = settings.user_cache_path(session.environ) / f"{path.name}.before-edit"
    files.make_folder(kept.parent)
    files.write_over(kept, before.encode(), durable=False)
    return f"cp {shlex.quote(str(kept))} {shlex.quote(str(path))}"


def _checked_name(name: str) -> str:
    """Return *name* if there is such a setting.

    Raises:
        UsageError: there is none; the nearest ones are named.
    """
    if name in ABOUT:
        return name
    last = [key for key in ABOUT if key.rpartition(".")[2] == name]
    near = last or get_close_matches(name.casefold().replace("-", "_"), ABOUT, 3, 0.6)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`memtool config get` lists all settings."
    raise UsageError(f"there is no setting '{name}'", hint=hint)


def _file(session: Session, key: str, *, of_vault: bool) -> Path:
    """Return the file to change, in which *key* may be set."""
    if not of_vault:
        return settings.user_config_path(session.environ)
    if key and ABOUT[key].user_only:
        hint = f"Without --vault it is set for you: `memtool config set {key} …`."
        raise UsageError(f"'{key}' is never taken from a vault's file, which may come from a stranger", hint=hint)
    session.vault.check_made()
    return session.vault.settings_path


def _change(session: Session, path: Path, key: str, value: Value | None, *, of_vault: bool) -> None:
    """Change the file, and print the new value, a stronger place if there is one, and how to undo it."""
    before = settings_file.change_setting(path, key, value)
    is_change = before != (value if value is None or isinstance(value, str | int) else list(value))
    undo = _undo(key, before, of_vault=of_vault) if is_change else ""
    stronger = _overriding_origin(session, key, path) if value is not None else ""
    shown = None if value is None else _masked(key, value)
    answer = {"name": key, "value": shown, "file": str(path), "changed": is_change, "undo": undo, "stronger": stronger}
    if session.emits(answer):
        return
    now = "is not set" if shown is None else f"= {as_toml(shown)}"
    click.echo(output.printable(f"{key} {now} in {_short(path)}{'' if is_change else ', as before'}"))
    if undo:
        click.echo(output.printable(f"To undo: {undo}"))
    if key == "llm.writer" and (missing := what_is_missing(settings.load(None, session.environ))):
        output.say(f"It cannot be called yet: {missing}", missing.hint)
    output.say(f"It has no effect here: {stronger} overrides it." if stronger else "")


def _undo(key: str, before: Value | None, *, of_vault: bool) -> str:
    option = " --vault" if of_vault else ""
    if before is None:
        return f"memtool config unset {key}{option}"
    if _masked(key, before) != before:
        return f"memtool config edit{option} (the value before is not shown, because it may hold a secret)"
    words = [str(before).lower()] if isinstance(before, bool) else [before] if isinstance(before, str | int) else before
    dashes = "-- " if any(str(word).startswith("-") for word in words) else ""
    return f"memtool config set {key}{option} {dashes}{shlex.join(map(str, words)) or repr('')}"


def _overriding_origin(session: Session, key: str, path: Path) -> str:
    """Return the file or variable that overrides *key* in the file at *path*; empty if none does."""
    known = session.settings if session.vault_path()[0].is_dir() else settings.load(None, session.environ)
    origin = known.origins[key]
    return "" if origin in (str(path), "default") else _origin(origin)


def _masked(key: str, value: Value) -> Value:
    """Return *value* without secrets, whatever setting they got into."""
    if not isinstance(value, str | int):
        return [str(_masked(key, item)) for item in value]
    shown = settings.shown(key, value)
    return make_redactor(RedactSettings())(shown) if isinstance(shown, str) else shown


def _origin(origin: str) -> str:
    return "the default" if origin == "default" else _short(Path(origin)) if os.sep in origin else origin


def _short(path: Path) -> str:
    return shown_path(str(path), None, Path.home())
