"""Values of Kubernetes Secrets: all that is below `data` or `stringData`, whatever its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtool.redaction.shapes import compiled
from memtool.redaction.values import is_blank
from memtool.redaction.views import Finding

_KIND = r"(?m)^[ \t]*(?:- )?[\"']?kind[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?Secret[\"']?[ \t]{0,8},?\r?$"
_BEGINS = r"[ \t]*+[\"']?(?:data|stringData)[\"']?[ \t]*+:[ \t]*+\{?[ \t]*+$"
_ENTRY = r"[\"']?[\w.-]{1,253}[\"']?[ \t]*:(?:[ \t]+|$)(?:[|>][+-]?[0-9]?[ \t]*$)?"
_LEAST = 3  # characters


def find_in_manifests(text: str) -> Iterator[Finding]:
    """Return the values of each Secret in *text*, whose documents lines of `---` part."""
    if "Secret" not in text or "ata" not in text or not compiled(_KIND).search(text):
        return
    place = 0
    for document in re.split(r"(?m)(^---.*\n)", text):
        if compiled(_KIND).search(document):
            yield from _values(document, place)
        place += len(document)


def _values(document: str, place: int) -> Iterator[Finding]:
    depth = -1  # of `data`; below 0: outside
    for line in document.splitlines(keepends=True):
        content = line.strip()
        inner = len(line) - len(line.lstrip())
        if compiled(_BEGINS).match(line.rstrip("\r\n")):
            depth = inner
        elif content and inner <= depth:
            depth = -1
        elif content and depth >= 0:
            entry = compiled(_ENTRY).match(content)
            value = content[entry.end() if entry else 0 :]
            start = place + line.index(content) + len(content) - len(value)
            core = value.strip("\"', ")
            if len(core) >= _LEAST and not content.startswith("#") and not is_blank(core):
                start += value.index(core)
                yield Finding(start, start + len(core), "secret")
        place += len(line)
