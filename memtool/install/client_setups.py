"""The clients that memtool can be installed into: what each gets, and where.

A client is a module that is imported when it is asked for, and a `ClientSetup` in its `BY_NAME`:

* its `parts` are what `--with` and `--without` choose from;
* `shares(target)` gives their shares in files (`memtool.install.plans`): every share that may be there, whatever
  is wanted, so that `uninstall` finds them all. A target without a vault is one to uninstall from;
* `brought(target)` gives the parts that something else brings, such as the client's own plugin: they are left to it;
* `shared(target)` gives the parts that another client with memtool has in the same files: `uninstall` leaves them;
* `notices(target, planned)` gives what else its user should know after `install`, and `left(target)` after `uninstall`.

The command line does the rest for all of them: options, the dry run, JSON, the vault, the words.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from memtool.install.plans import Plan, Share, parts_there, plan
from memtool.processes import ISOLATED
from memtool.vault.layout import Vault

_AGENTS = "memtool.install.agents"  # one table of all other agents
CLIENTS = {
    "claude-code": "memtool.install.claude_code.client",
    **dict.fromkeys(
        """
        codex gemini opencode cursor copilot vscode windsurf zed amp crush goose hermes openclaw pi antigravity
        """.split(),
        _AGENTS,
    ),
}


class Target(NamedTuple):
    """The place that memtool is installed into.

    Args:
        environ: the variables of the environment.
        home: the user's home folder.
        folder: where the user works; None if that folder is gone.
        project: the folder of the project that the installation is for; None if it is for all of them.
        vault: the vault that is written to; None to uninstall.
        named: the vault to name to the programs; None where they find it by themselves, so that it may move.
    """

    environ: Mapping[str, str]
    home: Path
    folder: Path | None
    project: Path | None = None
    vault: Vault | None = None
    named: Path | None = None

    def mcp_program(self) -> tuple[str, ...]:
        """Return the program and the arguments of the MCP server."""
        vault = ("--vault", str(self.named)) if self.named else ()
        return (sys.executable, *ISOLATED, "-m", "memtool", *vault, "mcp")


class ClientPart(NamedTuple):
    """A part of an installation: what it does for the user, and whether it comes without being asked for.

    *flag* is an option of its own that it has beside `--with` and `--without`, in the form of click.
    """

    name: str
    deed: str
    is_default: bool = True
    flag: str = ""


class ClientSetup(NamedTuple):
    """A program that works with memtool, called *title*; see the module.

    *recalls* says whether its hooks give memory, *reads_at_once* whether a running session reads its settings anew.
    """

    name: str
    title: str
    parts: tuple[ClientPart, ...]
    shares: Callable[[Target], list[Share]]
    notices: Callable[[Target, Plan], Iterable[str]] = lambda _target, _planned: ()
    left: Callable[[Target], Iterable[str]] = lambda _target: ()
    brought: Callable[[Target], Collection[str]] = lambda _target: ()
    shared: Callable[[Target], Collection[str]] = lambda _target: ()
    recalls: bool = True
    reads_at_once: bool = False

    def wanted(self, with_parts: Collection[str] = (), without: Collection[str] = ()) -> dict[str, bool]:
        """Return the parts to have and to lack; one that comes on request only and is not named is in neither."""
        chosen = {part.name: True for part in self.parts if part.is_default}
        return chosen | dict.fromkeys(with_parts, True) | dict.fromkeys(without, False)

    def parts_in(self, target: Target) -> list[str]:
        """Return the parts that this client has; none if it has nothing but what it shares with another one."""
        parts = parts_there(self.shares(target))
        return parts if {*parts} - {*self.shared(target)} else []

    def removal(self, target: Target) -> Plan:
        """Return the plan that takes all parts out but those that another client needs.

        Raises:
            BadSetting: a file cannot be read, or is not what it should be.
        """
        shared = self.shared(target)
        shares = [share for share in self.shares(target) if share.part not in shared]
        return plan(shares, {part.name: False for part in self.parts})

    def installation(self, target: Target) -> str:
        """Return the name under which an installation of this client is remembered (`memtool.install.record`)."""
        return f"{self.name} {target.project}" if target.project else self.name


def installed_clients(target: Target) -> list[str]:
    """Return the names of the clients in which the user has memtool for all projects."""
    user = target._replace(project=None, vault=None)
    return [name for name in CLIENTS if get_client(name).parts_in(user)]


def get_client(name: str) -> ClientSetup:
    """Return the client called *name*, one of `CLIENTS`."""
    client: ClientSetup = import_module(CLIENTS[name]).BY_NAME[name]
    return client
