"""Who writes the notes of sessions: asked once, when memtool is installed into an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from memtool import settings
from memtool.cli import output
from memtool.errors import MemtoolError
from memtool.install.settings_file import change_setting
from memtool.llm import NO_WRITER, writer_of
from memtool.llm.writers import OWN, USUAL_TOKENS, what_is_missing, where_text_goes, writers_at_hand
from memtool.settings import Settings
from memtool.settings.text_providers import VENDORS
from memtool.vault.project_area import shown_path

OPTION = click.option(
    "--writer",
    type=click.Choice([*VENDORS, NO_WRITER]),
    help="The model that writes the notes of sessions, or none; you are not asked.",
)
YES = click.option("--yes", is_flag=True, help="Let the agent's own model write the notes; you are not asked.")
_SETTING = "llm.writer"


def choose_writer(
    environ: Mapping[str, str], agents: Sequence[str], named: str | None, *, yes: bool, asks: bool, dry_run: bool
) -> str:
    """Return a sentence about the writer, if *asks* after a question; empty if the user has chosen before.

    It is the *named* model, or with *yes* that of one of the *agents*.
    """
    known = settings.load(None, environ)
    if not named and any(known.origins[key] != "default" for key in (_SETTING, "llm.providers")):
        return ""
    names = writers_at_hand(known)
    own = next((OWN[agent] for agent in agents if OWN.get(agent) in names), "")
    chosen = named or (own if yes else "")
    if asks and names and not (chosen or yes or dry_run):
        chosen = _asked(known, names, own)
    if chosen:
        return f"Would set {_SETTING} = {chosen}." if dry_run else _set(environ, chosen)
    first = next((OWN[agent] for agent in agents if agent in OWN), "claude")
    return f"Notes are written without a model. To let one write them: memtool config set {_SETTING} {first}"


def _asked(known: Settings, names: Sequence[str], own: str) -> str:
    """Return the writer that the user chooses; empty if the user gives no answer."""
    taken, made = (f"{round(tokens, -1):,}" for tokens in USUAL_TOKENS)
    limit = known.llm.daily_tokens
    for line in (
        "\nWho writes the notes of your sessions? A model writes better notes than memtool's own rules.",
        "memtool sends it the turns of each session, redacted, when the session ends, and at most once an hour:",
        f"about {taken} tokens in and {made} out for a session, "
        + (f"at most {limit:,} a day." if limit else "without a daily limit."),
        *(f"  {name}: {where_text_goes(name, known)}" for name in names),
        f"  {NO_WRITER}: no model is called, nothing is sent",
    ):
        click.echo(output.printable_lines(line), err=True)
    try:
        choice = click.Choice([*names, NO_WRITER])
        answer: str = click.prompt("Who writes?", type=choice, default=own or NO_WRITER, err=True)
    except click.Abort:
        click.echo(err=True)
        return ""
    return answer


def _set(environ: Mapping[str, str], name: str) -> str:
    """Save the choice in the user's own settings, and return a sentence about it."""
    path = settings.user_config_path(environ)
    try:
        change_setting(path, _SETTING, name)
    except MemtoolError as error:
        output.say(str(error), error.hint)
    known = settings.load(None, environ)
    if missing := what_is_missing(known):
        output.say(str(missing), missing.hint)
    now = writer_of(known.llm)
    who = f"by {now}" if now else "without a model"
    where = shown_path(str(path), None, Path.home())
    other = NO_WRITER if now else "claude"
    return f"Notes are written {who} ({where}). To change that: memtool config set {_SETTING} {other}"
