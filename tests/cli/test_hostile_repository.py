"""A vault, or a project, that was cloned from a stranger: git runs none of the programs that its settings name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from client_transcripts import edit, prompt, write_transcript
from hook.agent import Agent

from memtool.capture import queue
from memtool.history import repository as history
from memtool.vault.project_area import find_project, identities_of

if TYPE_CHECKING:
    from terminal import Memtool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the canary is a shell script")

_HOOKS = (
    "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction",
    "pre-auto-gc", "post-rewrite", "fsmonitor-watchman",
)  # fmt: skip
_ALL = "* filter=x diff=x merge=x\n"
_FILTER = '[filter "x"]\n\tclean = CANARY\n'
_SIGN = "[commit]\n\tgpgSign = true\n"
_PROMISOR = "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = origin\n"
_CONFLICT, _RECORDED = "<<<<<<< a\nours\n=======\ntheirs\n>>>>>>> b\n", "1" * 40
_BARE = "[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = CANARY\n"
_ANY = "[protocol]\n\tallow = always\n"
_COMMIT = ("commit", "--all", "--message=x")


class Trap(NamedTuple):
    """What a stranger has put into the folder `.git` and beside it.

    Args:
        config: lines for `.git/config`, in which CANARY is the program, FOLDER the repository.
        files: what lies below the repository; `#!` alone is the canary.
        springs: what git is asked for to run the canary; empty where another version of git is needed.
        lacks_commit: whether the first commit is missing, as in a partial clone.
    """

    config: str = ""
    files: dict[str, str] = {}  # noqa: RUF012  (never changed)
    springs: tuple[str, ...] = ()
    lacks_commit: bool = False


def promised(remote: str) -> Trap:
    """Return the trap of a partial clone whose missing commit is to be fetched from *remote*."""
    config = f'{_PROMISOR}[remote "origin"]\n\tpromisor = true\n{remote}'
    return Trap(config, springs=("rev-list", "HEAD"), lacks_commit=True)


TRAPS = {
    "fsmonitor": Trap("[core]\n\tfsmonitor = CANARY\n", springs=("status",)),
    "hooks path": Trap("[core]\n\thooksPath = evil\n", {f"evil/{name}": "#!" for name in _HOOKS}, _COMMIT),
    "hooks": Trap("", {f".git/hooks/{name}": "#!" for name in _HOOKS}, _COMMIT),
    "hooks of the settings": Trap('[hook "x"]\n\tcommand = CANARY\n\tevent = pre-commit\n'),
    "gpg": Trap(_SIGN + "[gpg]\n\tprogram = CANARY\n", springs=_COMMIT),
    "gpg of OpenPGP": Trap(_SIGN + '[gpg "openpgp"]\n\tprogram = CANARY\n', springs=_COMMIT),
    "gpg by x509": Trap(_SIGN + '[gpg]\n\tformat = x509\n[gpg "x509"]\n\tprogram = CANARY\n', springs=_COMMIT),
    "gpg by ssh": Trap(
        _SIGN + '[user]\n\tsigningKey = k\n[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = CANARY\n', springs=_COMMIT
    ),
    "the key to sign with": Trap(
        _SIGN + '[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tdefaultKeyCommand = CANARY\n', springs=_COMMIT
    ),
    "clean filter": Trap(_FILTER, {".gitattributes": _ALL}, ("add", ".")),
    "filter process": Trap('[filter "x"]\n\tprocess = CANARY\n', {".gitattributes": _ALL}, ("add", ".")),
    "filter by info": Trap(_FILTER, {".git/info/attributes": _ALL}, ("add", ".")),
    "filter by a file of attributes": Trap(
        _FILTER + "[core]\n\tattributesFile = FOLDER/attributes\n", {"attributes": _ALL}, ("add", ".")
    ),
    "filter by include": Trap("[include]\n\tpath = ../evil\n", {"evil": _FILTER, ".gitattributes": _ALL}, ("add", ".")),
    "filter by includeIf": Trap(
        '[includeIf "gitdir:**"]\n\tpath = ../evil\n', {"evil": _FILTER, ".gitattributes": _ALL}, ("add", ".")
    ),
    "filter of the worktree": Trap(
        "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tworktreeConfig = true\n",
        {".git/config.worktree": _FILTER, ".gitattributes": _ALL},
        ("add", "."),
    ),
    "signatures of the log": Trap('[log]\n\tshowSignature = true\n[gpg]\n\tprogram = CANARY\n'),
    "textconv": Trap('[diff "x"]\n\ttextconv = CANARY\n', {".gitattributes": _ALL}, ("diff",)),
    "diff driver": Trap('[diff "x"]\n\tcommand = CANARY\n', {".gitattributes": _ALL}, ("diff",)),
    "external diff": Trap("[diff]\n\texternal = CANARY\n", springs=("diff",)),
    "pager": Trap("[core]\n\tpager = CANARY\n[pager]\n\tstatus = CANARY\n\tconfig = CANARY\n"),  # wants a terminal
    "editor": Trap("[core]\n\teditor = CANARY\n[commit]\n\tverbose = true\n", springs=("commit", "--all")),
    "alias": Trap("[alias]\n\tx = !CANARY\n\tstatus = !CANARY\n\tcommit = !CANARY\n", springs=("x",)),
    "hook of the tidying": Trap("[gc]\n\tauto = 1\n\trecentObjectsHook = CANARY\n"),
    "merge driver of a recorded resolution": Trap(
        '[rerere]\n\tenabled = true\n[merge "x"]\n\tdriver = CANARY\n',
        {
            ".gitattributes": _ALL,
            "conflict.md": _CONFLICT,
            ".git/MERGE_RR": f"{_RECORDED}\tconflict.md\0",
            f".git/rr-cache/{_RECORDED}/preimage": _CONFLICT,
            f".git/rr-cache/{_RECORDED}/postimage": "both\n",
        },
        _COMMIT,
    ),
    "promisor by ext": promised("\turl = ext::CANARY\n" + _ANY),
    "promisor by a helper": promised("\turl = CANARY\n\tvcs = ext\n" + _ANY),
    "promisor by upload-pack": promised("\turl = FOLDER\n\tuploadPack = CANARY\n"),
    "promisor by ssh": promised("\turl = ssh://localhost/x\n[core]\n\tsshCommand = CANARY\n"),
    "promisor by a proxy": promised("\turl = git://localhost/x\n[core]\n\tgitProxy = CANARY\n"),
    "promisor by another name": promised('\turl = x:y\n[url "ext::CANARY "]\n\tinsteadOf = x:\n' + _ANY),
    "promisor over http": promised(
        "\turl = http://127.0.0.1:9/x\n[credential]\n\thelper = !CANARY\n[core]\n\taskPass = CANARY\n"
    )._replace(springs=()),
    "worktree elsewhere": Trap("[core]\n\tworktree = FOLDER/..\n\tfsmonitor = CANARY\n", springs=("status",)),
    "bare repository among the notes": Trap(
        "",
        {
            "daily/HEAD": "ref: refs/heads/main\n",
            "daily/objects/x": "",
            "daily/refs/x": "",
            "daily/config": _BARE,
        },
        ("-C", "daily", "status"),
    ),
    "submodule": Trap(
        '[status]\n\tsubmoduleSummary = true\n[submodule "sub"]\n\tupdate = !CANARY\n\tignore = none\n',
        {"sub/.git/config": "[core]\n\tfsmonitor = CANARY\n\tbare = false\n"},
        ("status",),
    ),
}  # fmt: skip


# Those that do not get into each other's way lie in one repository: a setting that two of them need has two values.
TOGETHER = (
    ("submodule", "fsmonitor", "hooks path", "hooks of the settings", "gpg", "clean filter", "external diff", "pager",
     "editor", "alias", "hook of the tidying", "signatures of the log"),
    ("hooks", "gpg of OpenPGP", "filter process", "textconv", "merge driver of a recorded resolution"),
    ("gpg by x509", "filter by info", "diff driver"),
    ("gpg by ssh", "filter by a file of attributes", "worktree elsewhere"),
    ("the key to sign with", "filter by include", "bare repository among the notes"),
)  # fmt: skip
ALONE = TRAPS.keys() - {name for names in TOGETHER for name in names}


class Repository:
    """A repository with two commits, a changed note and a trap. *sprung* is what the canary leaves behind."""

    def __init__(self, folder: Path, canary: Path) -> None:
        self.folder = folder
        self.canary = canary
        self.sprung = canary.with_name("sprung")
        history.make_repository(folder)
        for number in (1, 2):
            (folder / "trap.md").write_text(str(number))
            self.git("add", "trap.md")
            self.git("commit", "--quiet", "--message=x")

    def git(self, *args: str) -> str:
        """Run git without any of our guards, whatever it answers."""
        name = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        command = ["git", "-C", str(self.folder), *name, *args]
        done = subprocess.run(command, capture_output=True, check=False, timeout=20)
        return done.stdout.decode()

    def lay(self, trap: Trap) -> None:
        """Put *trap* into it."""
        if "sub/.git/config" in trap.files:
            self._add_submodule()
        for name, text in trap.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text == "#!":
                shutil.copy(self.canary, path)
            else:
                path.write_text(self._filled(text))
        with (self.folder / ".git" / "config").open("a") as config:
            config.write(self._filled(trap.config))
        if trap.lacks_commit:
            first = self.git("rev-list", "--max-parents=0", "HEAD").split()[-1]
            (self.folder / ".git" / "objects" / first[:2] / first[2:]).unlink()
        (self.folder / "trap.md").write_text("changed")

    def _filled(self, text: str) -> str:
        return text.replace("CANARY", str(self.canary)).replace("FOLDER", str(self.folder))

    def _add_submodule(self) -> None:
        (self.folder / "sub").mkdir()
        Repository(self.folder / "sub", self.canary)
        (self.folder / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n')
        self.git("add", "sub", ".gitmodules")
        self.git("commit", "--quiet", "--message=sub")


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A program that leaves a trace: by which name it was run."""
    path = tmp_path / "canary"
    path.write_text(f"#!/bin/sh\necho \"$0 $*\" >>'{tmp_path}/sprung'\nexit 1\n")
    path.chmod(0o755)
    return path


REAL = [name for name, trap in TRAPS.items() if trap.springs]


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_the_trap_is_one(tmp_path: Path, canary: Path, name: str) -> None:
    (tmp_path / "repository").mkdir()
    repository = Repository(tmp_path / "repository", canary)
    repository.lay(TRAPS[name])
    assert not repository.sprung.exists()
    repository.git(*TRAPS[name].springs)
    assert repository.sprung.exists()


@pytest.mark.slow
@pytest.mark.parametrize("names", [*TOGETHER, *((name,) for name in sorted(ALONE))], ids=", ".join)
def test_nothing_that_memtool_does_springs_it(
    agent: Agent, memtool: Memtool, canary: Path, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "start_worker", lambda *_: False)
    for folder in (agent.vault.root, agent.project):
        repository = Repository(folder, canary)
        for name in names:
            repository.lay(TRAPS[name])
    transcript = write_transcript(
        agent.folder / "s1.jsonl",
        [prompt("Where does the zeppelin dock? 飞艇停在哪里？"), *edit(str(agent.project / "trap.md"))],
    )
    edited = {"tool_name": "Edit", "tool_input": {"file_path": str(agent.project / "trap.md")}}
    agent.start()
    agent.ask("where does the zeppelin dock?")
    agent.fire("PostToolUse", **edited)
    for event in ("Stop", "PreCompact", "SessionEnd"):
        agent.fire(event, transcript_path=str(transcript))
    drained = memtool("capture", "--drain")
    assert "1 session captured." in drained.out
    memtool("remember", "The zeppelin docks at gate 7. 飞艇停在七号门。")
    memtool("doctor")
    for arguments in (["log"], ["diff", "--uncommitted"], ["diff"], ["blame", "trap.md"], ["sync"], ["undo"]):
        memtool(*arguments)
    history.status(agent.vault.root)
    list(identities_of(find_project(agent.project)))
    sprung = canary.with_name("sprung")
    assert not sprung.exists(), sprung.read_text()
