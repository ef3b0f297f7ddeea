"""`memtool route`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from memtool.cli import completion, output
from memtool.cli.options import ALL_PROJECTS, with_json
from memtool.cli.output import table as print_table
from memtool.cli.session import Session, working_folder
from memtool.errors import UsageError
from memtool.recall.routing.routes import (
    PAGE,
    Route,
    Routing,
    check,
    in_reach,
    read_routing,
    routes_of_file,
    routes_of_table,
    routes_of_text,
)
from memtool.text.lines import counted
from memtool.vault.layout import projects_of


@click.command()
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option("--file", metavar="PATH", shell_complete=completion.files, help="Look up a file of a project.")
@click.option("--table", metavar="NAME", help="Look up the name of a table, by its longest prefix.")
@ALL_PROJECTS
@click.option("--check", "only_check", is_flag=True, help="List rows and prefixes that lead nowhere.")
@click.option("--update", is_flag=True, help="Bring `rules/memory-loader.md` and Claude Code's rules up to date.")
@with_json
@click.pass_context
def command(
    ctx: click.Context,
    session: Session,
    *,
    words: tuple[str, ...],
    file: str | None,
    table: str | None,
    all_projects: bool,
    only_check: bool,
    update: bool,
) -> None:
    """Show which files of the vault a text, a file or a table leads to.

    Routes come from `triggers`, `aliases` and `paths` in the front matter of areas, the rows of
    `rules/memory-loader.md`, and the prefixes of `rules/prefix-map.json`. Without an argument, all are listed. In a
    project that the vault knows, routes of other projects are ignored, unless the text names that project.
    """
    if (words != ()) + (file is not None) + (table is not None) + only_check + update > 1:
        raise UsageError("a text, --file, --table, --check and --update exclude each other")
    if update:
        _update(session)
    elif only_check:
        ctx.exit(_check(session))
    else:
        routing, text, known = read_routing(session.vault), " ".join(words), projects_of(session.vault)
        here = session.work.project() if (text or table) and not all_projects else ""
        routing = in_reach(routing, here if here in known else "", text)
        if file is not None:
            path = Path(os.path.abspath(working_folder() / file))  # noqa: PTH100  (symlinks are the user's choice)
            area = session.work.area(next(folder for folder in (path, *path.parents) if folder.is_dir()))
            relative = path.relative_to(area.root) if path.is_relative_to(area.root) else path
            routes = routes_of_file(routing, relative.as_posix(), project=area.name if area.name in known else "")
        elif table is not None:
            routes = routes_of_table(routing, table)
        else:
            routes = routes_of_text(routing, text) if text else list(routing.routes)
        _answer(session, routing, routes)


def _answer(session: Session, routing: Routing, routes: list[Route]) -> None:
    files: dict[str, list[Route]] = {}
    for route in routes:
        for ref in route.refs:
            files.setdefault(ref, []).append(route)
    notices = []
    if wrong := len(routing.findings):
        leads = counted(wrong, "trigger leads", "triggers lead")
        notices.append(f"{leads} nowhere or cannot be read: see `memtool route --check`")
    names = ("kind", "trigger", "source", "line")
    listed = [
        {"path": ref, "reasons": [{name: getattr(route, name) for name in names} for route in files[ref]]}
        for ref in files
    ]
    if session.emits({"vault": str(session.vault.root), "files": listed, "notices": notices}):
        return
    print_table(("File", "Because of"), [(ref, _reasons(reasons)) for ref, reasons in files.items()])
    hint = "No trigger matches. `memtool route` lists all triggers; `memtool search` finds other notes."
    if not routing.routes:
        hint = "There are no triggers yet. Add `triggers: [word]` to the front matter of a project's summary.md."
    output.say(*notices, "" if files else hint)


def _reasons(routes: list[Route]) -> str:
    by_place: dict[str, list[str]] = {}
    for route in routes:
        # A page is found by its own name; every other trigger has a line in a file.
        place = "its name" if route.kind == PAGE else f"{route.source}:{route.line}"
        by_place.setdefault(place, []).append(f"'{route.trigger}'")
    return "; ".join(f"{', '.join(triggers)} in {place}" for place, triggers in by_place.items())


def _check(session: Session) -> int:
    findings = check(session.vault, read_routing(session.vault))
    is_good = all(finding.is_warning for finding in findings)
    if not session.emits({"good": is_good, "findings": [finding._asdict() for finding in findings]}):
        for finding in findings:
            warning = "warning: " if finding.is_warning else ""
            click.echo(output.printable(f"{finding.path}:{finding.line}: {warning}{finding.sentence}"))
        if is_good:
            output.say("Every trigger leads to a file.")
    return 0 if is_good else 1


def _update(session: Session) -> None:
    from memtool.cli.install import files_of
    from memtool.recall.routing.loader_table import LOADER
    from memtool.worker import update_routes

    changed, kept, rules = update_routes(session.work, new_table=True)
    notices = [*filter(None, [kept.notice]), *rules.notices]
    written = [str(rule.path) for rule in rules.changes]
    if session.emits({"changed": changed, "commit": kept.commit, "rules": written, "notices": notices}):
        return
    lines = [f"{LOADER} is updated." if changed else f"Nothing to do: {LOADER} is up to date."]
    lines += [f"Changed: {files_of(rules, session.work.home)}"] if rules.changes else []
    click.echo(output.printable_lines("\n".join(lines)))
    output.say(*notices)
