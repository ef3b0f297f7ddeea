"""A commit of one file that was clean before it was written, without a look at all others.

`git commit --only` asks the disk about every file of the repository, which takes longer than all else that a `remember`
does in a large vault. Here git's index learns of one file, and the commit is made of the one before it and that file.
What the user has staged stays staged and out of it. Where anything is unusual nothing is committed, and
`memtool.history.commits.commit` does it.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Mapping

from memtool.git import ask, blob_of, environment
from memtool.history.commits import AUTHOR, Repository, signed

_IDENTITY = ("GIT_AUTHOR_", "GIT_COMMITTER_", "EMAIL")  # variables by which the user says who commits
_UNUSUAL = re.compile(r"[ \t\r\f\v]$|\n{3}|[^\n]\Z", re.MULTILINE)  # what git would clean up in a message
_PERSON = r"\w(?:[^<>\n\r\0]*\w)? <[^<>\s\0]+>"


def commit_known(repository: Repository, name: str, message: str, *, author: str = "") -> str:
    """Commit the file *name*, which `look_at` found clean, as memtool's own change; return the commit, or nothing.

    Nothing is committed where the file is unchanged or new to git, where git has another content for it than its bytes
    (line ends, filters), and where more than a name and an address says who commits.
    """
    message, branch = signed(message), _branch(repository)
    committer = _committer(repository)
    is_plain = branch and committer and re.fullmatch(rf"{_PERSON}|", author) and re.fullmatch(r'[^"\n][^\n]*', name)
    if not is_plain or _UNUSUAL.search(message):
        return ""
    path = repository.top / name
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode) or about.st_mode & stat.S_IXUSR:
        return ""
    content = path.read_bytes()
    blob = blob_of(content)
    if blob == (repository.clean or {}).get(name):
        return ""
    if ask(repository.top, "-c", "core.safecrlf=false", "update-index", "-z", "--stdin", paths=[name]).code:
        return ""
    when = f"{int(time.time())} {time.strftime('%z')}"
    text = message.encode("utf-8", "replace")
    head = f"commit {branch}\nmark :1\nauthor {author or committer} {when}\ncommitter {committer} {when}\n"
    tail = f"\nfrom {branch}^0\nM 100644 {blob} {name}\n\nget-mark :1\n"
    stream = os.fsencode(f"{head}data {len(text)}\n") + text + os.fsencode(tail)
    made = ask(repository.top, "fast-import", "--quiet", stdin=stream, timeout=60.0)
    return made.out.strip() if made.code == 0 else ""


def _branch(repository: Repository) -> str:
    """Return the reference of the branch that is checked out; empty where HEAD says something else."""
    try:
        head = (repository.git_folder / "HEAD").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return head.removeprefix("ref: ") if re.fullmatch(r"ref: refs/heads/[\w./-]+", head) else ""


def _committer(repository: Repository) -> str:
    """Return who commits, `Name <address>`; empty where git would have to work that out."""
    if repository.settings is None or _names_identity(environment()):
        return ""
    known = {each.name: each.value.strip() for each in repository.settings}
    if any(key.startswith(("author.", "committer.")) for key in known):
        return ""
    name, address = (known.get(key) or default for key, default in AUTHOR.items())
    person = f"{name} <{address}>"
    return person if re.fullmatch(_PERSON, person) else ""


def _names_identity(environ: Mapping[str, str]) -> bool:
    return any(variable.startswith(_IDENTITY) for variable in environ)
