"""Bringing what memtool makes of triggers up to date: the vault's table, and the rules of an installed client."""

from __future__ import annotations

from typing import NamedTuple

from memtool.cli.session import Session
from memtool.integrations.claude_code.rule_files import RuleChanges, are_for, install_rules
from memtool.integrations.own_vaults import is_own
from memtool.recall.remembering.one_commit import Kept, alone, commit
from memtool.recall.routing.check import update_table
from memtool.recall.routing.loader_table import LOADER


class RouteUpdate(NamedTuple):
    """The result of an update: has the table changed, which commit holds it, and the rule files that changed."""

    changed: bool
    kept: Kept
    rules: RuleChanges


def update_routes(session: Session, *, new_table: bool) -> RouteUpdate:
    """Bring the table and the rules up to date with the triggers. Without *new_table*, one that is missing stays so.

    Raises:
        MemtoolError: a file cannot be read or written, or others were at it all the time.
    """
    vault = session.vault
    with alone(vault):
        changed = (new_table or vault.path(LOADER).exists()) and update_table(vault)
        follows = are_for(session.environ, vault) and is_own(session.environ, vault)
        kept = commit(vault, [LOADER], "route", f"update {LOADER}") if changed else Kept()
        rules = install_rules(session.environ, vault) if follows else RuleChanges()
    return RouteUpdate(changed, kept, rules)
