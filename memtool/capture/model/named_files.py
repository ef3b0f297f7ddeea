"""Which files a text names, and whether a session names them too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memtool.capture.conversation import Conversation

_EXTENSION = r"\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9_(]|\.\w)"  # not that of a call such as `config.load()`
_DOTTED = re.compile(rf"[^\W\x00-\x7f]?[A-Za-z0-9_+@~$./\\-]*{_EXTENSION}")
_PATH = re.compile(r"(?<![\w.:/\\-])(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@+-][\w.@+/\\-]*")  # not `and/or`, `输入/输出`
_BARE = re.compile(
    r"(?<![A-Za-z0-9_.])(?:Make|Docker|Jenkins|Gem|Rake|Proc|Vagrant|Just|Caddy|Pip)file(?![A-Za-z0-9_])"
)
_SENTENCE_END = re.compile(r"[a-z)]\.[A-Z][a-z]*$")  # "is fixed.The next"
_VERSION = re.compile(r"v?[\d.]+\.x", re.IGNORECASE)
_NO_FILES = frozenset(
    "node.js vue.js next.js nuxt.js react.js express.js three.js d3.js chart.js backbone.js alpine.js p5.js"
    " asp.net vb.net ado.net .net socket.io draw.io fly.io e.g i.e a.m p.m u.s u.k ph.d a.k.a".split()
)


def unknown_files(texts: Iterable[str], conversation: Conversation) -> list[str]:
    """Return the names of files in *texts* that occur nowhere in *conversation*, by their last part, in any case."""
    names = dict.fromkeys(name for text in texts for name in files_in(text))
    if not names:
        return []
    said = _said(conversation)
    return [name for name in names if not _occurs(name.lower(), said)]


def files_in(text: str) -> list[str]:
    """Return the last part of each path and file name in *text*: `src/auth.ts` is `auth.ts`."""
    found = [*_dotted(text), *(_last(match[0]) for match in _PATH.finditer(text)), *_BARE.findall(text)]
    return [name for name in dict.fromkeys(found) if _may_be_a_file(name)]


def _dotted(text: str) -> Iterable[str]:
    for match in _DOTTED.finditer(text):
        name = _last(match[0].rstrip("."))
        if not name[0].isascii() and not name[1:].startswith("."):
            name = name[1:]  # a Chinese word stands right before `auth.ts`; of `设计.md` one character is enough
        yield name


def _may_be_a_file(name: str) -> bool:
    if len(name) < 2 or ".." in name or name.lower() in _NO_FILES:
        return False
    return any(map(str.isalpha, name)) and not _VERSION.fullmatch(name) and not _SENTENCE_END.search(name)


def _last(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\."))[-1]


def _said(conversation: Conversation) -> str:
    parts = [conversation.cwd, conversation.title]
    parts += [part for step in conversation.steps for part in (step.text, step.file, step.error, step.tool)]
    return "\n".join(parts).lower()


def _occurs(name: str, said: str) -> bool:
    is_word = name[0].isascii() and name[0].isalnum()
    start = "(?<![a-z0-9_])" if is_word else ""  # `.py` is the end of any name, and 设计.md that of 新设计.md
    return bool(re.search(rf"{start}{re.escape(name)}(?![a-z0-9_])", said))
