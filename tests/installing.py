"""The shares of Claude Code's parts, put in and taken out one by one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memtool.clients import CLAUDE_HOOKS, HOOKS
from memtool.install import client_files
from memtool.install.hook_shares import HookShare
from memtool.install.hooks import Program, find_program
from memtool.install.plans import FileChange, Plan, Share, carry_out, plan
from memtool.install.rule_files import rule_shares
from memtool.vault.layout import Vault


def hook_share(path: Path, program: Program) -> HookShare:
    """Return the share of the hooks that memtool puts into settings."""
    return HookShare(HOOKS, path, CLAUDE_HOOKS, program)


def install(path: Path, program: Program, *, dry_run: bool = False) -> FileChange:
    """Let the settings at *path* run *program*."""
    return _one(path, hook_share(path, program), dry_run=dry_run, is_wanted=True)


def uninstall(path: Path, *, dry_run: bool = False) -> FileChange:
    """Take the hooks out of the settings at *path*."""
    return _one(path, hook_share(path, find_program(None, this_project=False)), dry_run=dry_run, is_wanted=False)


def _one(path: Path, share: Share, *, dry_run: bool, is_wanted: bool) -> FileChange:
    planned = plan([share], {share.part: is_wanted})
    if not dry_run:
        carry_out(planned, {})
    content = client_files.read(path) if not planned.changes else None
    text = content.text if content else None
    return planned.changes[0] if planned.changes else FileChange(path, text, text)


def install_rules(environ: Mapping[str, str], vault: Vault | None, *, dry_run: bool = False) -> Plan:
    """Let the rules in the user's folder be those of *vault*; None takes them out."""
    planned = plan(rule_shares(environ, vault), {"rules": vault is not None})
    if not dry_run:
        carry_out(planned, {})
    return planned


def uninstall_rules(environ: Mapping[str, str], *, dry_run: bool = False) -> Plan:
    """Take the rules out."""
    return install_rules(environ, None, dry_run=dry_run)
