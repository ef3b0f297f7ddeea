"""The memory of a team beside the own vault. Its room, `memtool.team`, is found by name: nothing else imports it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from memtool.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memtool.recall.answers.question import Question
    from memtool.recall.budget import BlockLine
    from memtool.recall.prompts.prompt import Given
    from memtool.recall.start.session_start import ContextBlock
    from memtool.vault.memory import Found
    from memtool.workspace import Workspace

COMMANDS = {"team": "memtool.team.command:command"}  # by the name of the command
SERVICES = {"postgres": "memtool.team.command:serve_team"}  # by the engine of the vaults that are served
CHECKS = "memtool.team.checks:team_checks"
_MEMBER = "memtool.team.member"


class SharedStart(NamedTuple):
    """The start of a session of which a team has something, too.

    Args:
        own: the context that the own vault gives.
        text: that, and below it the block of the team's vaults.
        lines: those of the team's; their refs begin with the name of a vault.
        notice: what the user should know of the service.
    """

    own: ContextBlock
    text: str
    lines: tuple[BlockLine, ...] = ()
    notice: str = ""


class SharedQuestion(Protocol):
    """A question that the team's service is asked while the own vault is read."""

    def answer(self) -> tuple[Sequence[Found], str]:
        """Return what the team remembers, and a notice when the service is away, once for each outage.

        What is *shown* of each is one line; *why* names its `vault`, and its `source` in words.
        """


class Team(Protocol):
    """The member's side of a team's memory (`memtool.team.member`)."""

    def ask_for_memories(self, work: Workspace, query: str, *, project: str, limit: int) -> SharedQuestion:
        """Begin to ask what the team remembers of *query*, for a person who waits."""

    def ask_for_prompt(self, work: Workspace, question: Question) -> SharedQuestion | None:
        """Begin to ask what the team remembers of a prompt; None if it is about nothing, or the service is away."""

    def with_memories(self, work: Workspace, given: Given, asked: SharedQuestion) -> tuple[Given, str]:
        """Return *given* with the team's memories that the session was not given lately, and a notice."""

    def shared_start(
        self,
        work: Workspace,
        project: str,
        own: Callable[[Workspace], ContextBlock],
        *,
        known: str = "",
        whole: bool = False,
        waits: bool = False,
    ) -> SharedStart:
        """Return what *own* gives of *project*, and below it what the team has of it.

        Args:
            work: the own vault and its settings.
            project: whose memory is given.
            own: makes the context of the own vault.
            known: what the session was given before. Neither that nor what the own context says is given again.
            whole: whether there is no budget.
            waits: whether a person waits; else the service has the time of a prompt, and none while it rests.
        """


def team_beside(work: Workspace) -> Team | None:
    """Return the team whose memory is asked beside the vault at hand, if the user's settings name one."""
    return cast("Team", import_module(_MEMBER)) if work.settings.team.url else None


def load_object(path: str) -> Any:  # noqa: ANN401
    """Import a module and return the object in it that *path* names: `module:name`."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
