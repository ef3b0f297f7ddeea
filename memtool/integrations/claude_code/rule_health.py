"""The health of the rule files in the user's folder: are they those of the vault as it is now?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memtool.integrations.claude_code.health import HookFinding
from memtool.integrations.claude_code.rule_files import are_for, install_rules, rules_folder, written_rules
from memtool.integrations.own_vaults import is_own
from memtool.vault.layout import Vault

_INSTALL = "Run `memtool install claude-code`."


class RuleHealth(NamedTuple):
    """The rule files of memtool in *folder*, and what is to be known of them."""

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
    return RuleHealth(rules_folder(environ), tuple(texts), tuple(_findings(environ, vault, texts)))


def _findings(environ: Mapping[str, str], vault: Vault, texts: Mapping[str, str]) -> Iterator[HookFinding]:
    folder = rules_folder(environ)
    foreign = [name for name, text in texts.items() if not _speaks_of(text, vault)]
    if foreign:
        sentence = f"rules in '{folder}' are for another vault: {', '.join(foreign)}"
        yield HookFinding(False, sentence, _INSTALL)
    elif texts and not are_for(environ, vault):
        sentence = f"the rules in '{folder}' do not follow this vault, because no hook in your settings writes to it"
        yield HookFinding(False, sentence, _INSTALL)
    if not are_for(environ, vault):
        return
    planned = install_rules(environ, vault, dry_run=True)
    if planned.changes and not is_own(environ, vault):
        sentence = f"the triggers of {vault.root} are no rules yet, since you have not said that the vault is yours"
        yield HookFinding(False, sentence, "If it is, run `memtool init` in it, then `memtool install claude-code`.")
        return
    stale = [change.path.name for change in planned.changes if change.path.name not in foreign]
    if stale:
        fix = "Run `memtool route --update`. The end of the next session does the same."
        yield HookFinding(False, f"rules in '{folder}' are not up to date: {', '.join(stale)}", fix)
    for notice in planned.notices:
        yield HookFinding(False, notice, "Move the file away if memtool is to write its rule again.")


def _speaks_of(text: str, vault: Vault) -> bool:
    """Whether the rule *text* names the folder of *vault*, or a file in it, as `rules` writes them."""
    root = re.escape(str(vault.root).replace("|", r"\|"))
    return re.search(rf"` ?{root}(?: ?`|[/\\])", text) is not None
