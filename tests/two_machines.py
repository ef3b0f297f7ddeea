"""Two machines with a clone of the same vault each, and the remote between them: what tests of `sync` start from."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from trees import Tree, tree_of

from memtool.history.commits import commit
from memtool.history.syncing import Synced, sync
from memtool.history.template import make_vault
from memtool.vault.layout import Vault, open_vault


def git(folder: Path, *args: str) -> str:
    name = ("-c", "user.name=安娜", "-c", "user.email=anna@example.org")
    command = ["git", "-C", str(folder), *name, *args]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


_ELSEWHERE = "/made/elsewhere"


@cache
def _both_and_remote() -> Tree:
    """Return the files of two machines and their remote, which takes git half a second; they say `_ELSEWHERE`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        remote = folder / "远程.git"
        git(folder, "init", "-q", "--bare", "-b", "main", str(remote))
        one = make_vault(folder / "one").vault
        git(one.root, "remote", "add", "origin", str(remote))
        sync(one, wait=lambda _: None)
        git(folder, "clone", "-q", str(remote), "two")
        sync(open_vault(folder / "two"), wait=lambda _: None)
        for config in folder.glob("*/.git/config"):
            config.write_text(config.read_text(encoding="utf-8").replace(str(folder), _ELSEWHERE), encoding="utf-8")
        return tree_of(folder)


class TwoMachines:
    """*one* made the vault, *two* cloned it; both are up to date."""

    def __init__(self, folder: Path) -> None:
        root = _both_and_remote().write(folder / "machines")
        for config in root.glob("*/.git/config"):
            config.write_text(config.read_text(encoding="utf-8").replace(_ELSEWHERE, str(root)), encoding="utf-8")
        self.remote = root / "远程.git"
        self.one, self.two = open_vault(root / "one"), open_vault(root / "two")

    def sync(self, vault: Vault, **options: Any) -> Synced:
        return sync(vault, wait=lambda _: None, **options)

    def write(self, vault: Vault, ref: str, text: str, message: str = "capture: 商店: 登录") -> None:
        """Write and commit a file; without a *message*, it is left uncommitted."""
        path = vault.root / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if message:
            commit(vault.root, [ref], message)

    def meet(self) -> None:
        """Bring both to the same state."""
        for vault in (self.one, self.two, self.one):
            self.sync(vault)
        assert self.texts(self.one) == self.texts(self.two)

    def texts(self, vault: Vault) -> dict[str, str]:
        """Return all that is committed."""
        names = git(vault.root, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
        return {name: (vault.root / name).read_text(encoding="utf-8") for name in names if name}
