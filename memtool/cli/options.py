"""The options and arguments that many commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from memtool.cli import completion
from memtool.cli.session import Session

F = TypeVar("F", bound=Callable[..., Any])


def _keep(field: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Return a callback that sets the *field* of the `Session` to the value of an option, if the option is there."""

    def keep(ctx: click.Context, _: click.Parameter, value: object) -> None:
        session = ctx.find_object(Session)
        if session is not None and value is not None:
            setattr(session, field, value)

    return keep


JSON = click.option("--json", is_flag=True, expose_value=False, callback=_keep("as_json"), help="Print JSON.")
DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would be done; change nothing.")
YES = click.option("-y", "--yes", is_flag=True, help="Do not ask.")
ALL_PROJECTS = click.option("--all-projects", is_flag=True, help="Search every project, not only the current one.")
AT = click.option("--at", metavar="DATE", help="Use the vault as it was then: 2026-02-10, 2026-02-10T14:30, 7d.")
PAGE = click.option("--page", type=click.IntRange(1, 1000), default=1, help="Show a later page: 2, 3 and so on.")
PROJECTS = click.option(
    "--project", "projects", multiple=True, shell_complete=completion.projects, help="Only this project. Repeatable."
)
REF = click.argument("ref", shell_complete=completion.references)
FACT_ID = click.argument("fact_id", metavar="ID", shell_complete=completion.facts)
FACT_IDS = click.argument("fact_ids", metavar="ID...", nargs=-1, required=True, shell_complete=completion.facts)


def project_option(help_text: str, default: str | None = None) -> Callable[[F], F]:
    """Return the option `--project NAME`."""
    return click.option(
        "--project", metavar="NAME", default=default, shell_complete=completion.projects, help=help_text
    )


def with_vault(command: F) -> F:
    """Let a command accept `--vault` after its name as well, and hand it the `Session`."""
    option = click.option(
        "--vault", metavar="PATH", expose_value=False, callback=_keep("vault_option"),
        shell_complete=completion.folders, help="The vault to work on.",
    )  # fmt: skip
    return cast("F", option(click.pass_obj(command)))


def with_json(command: F) -> F:
    """Let a command accept `--vault` and `--json`, and hand it the `Session`."""
    return JSON(with_vault(command))
