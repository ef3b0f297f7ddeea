"""Secrets in structures of several lines: tables, `INSERT` statements, Kubernetes Secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtool.redaction.names import PASSWORD, Proof, named_secrets, secret_of
from memtool.redaction.values import Form, is_blank, is_common, is_secret
from memtool.redaction.views import Finding, compiled
from memtool.text.languages import words

_INSERT = r"(?i)insert (?:or \w{1,12} )?into [\w.\"`\[\]]{1,80}\s*\(([^()\n]{1,600})\)\s*values\s*(?=\()"
_TUPLE = r"\s*,?\s*\(((?:'(?:[^'\n]|'')*+'|[^'()\n]){1,2000}+)\)"
_SQL_VALUE = r"'((?:[^'\n]|'')*+)'|[^',\s][^',]*+"


def find_in_columns(text: str) -> Iterator[Finding]:
    """Return the values in the columns of tables (Markdown, CSV, SQL) that are named after a password."""
    if not _mentions_password(text):
        return
    yield from _inserted(text)
    head: list[str] = []
    separator, place = "", 0
    for line in text.splitlines(keepends=True):
        row = line.strip() if len(line) <= 2_000 else ""  # characters
        if head and row and not row.strip("-+=|: \t"):
            pass  # the rule below the head
        elif head and separator in row:
            yield from _in_row(line, place, head, separator)
        else:
            separator = next((mark for mark in ("|", "\t", "  ", ",", ";") if mark in row), "")
            separator = "" if separator and separator in ",;" and " " in row else separator  # else it is a list
            head = _cells(row, separator) if separator and _mentions_password(row) else []
            is_code = any(len(cell) > 32 or re.search(r"[=(){}<>:;\"$]|\d{3}", cell) for cell in head)
            if is_code or not any(map(_is_head, head)):
                head = []
        place += len(line)


def _inserted(text: str) -> Iterator[Finding]:
    """Give the string literals that `INSERT INTO` writes into a column of passwords."""
    for insert in compiled(_INSERT).finditer(text):
        head, at = insert[1].split(","), insert.end()
        while any(map(_is_head, head)) and (row := compiled(_TUPLE).match(text, at)):
            at = row.end()
            cells = list(compiled(_SQL_VALUE).finditer(text, *row.span(1)))
            if len(cells) == len(head):
                found = [cell for name, cell in zip(head, cells, strict=True) if _is_head(name) and cell[1]]
                yield from (Finding(*cell.span(1), PASSWORD.kind) for cell in found if _is_value(cell[1]))


def _in_row(line: str, place: int, head: list[str], separator: str) -> Iterator[Finding]:
    cells, at = _cells(line, separator), 0
    if len(cells) != len(head):
        return
    for name, cell in zip(head, cells, strict=True):
        value = cell.strip("\"'`“”" + "*" * cell.startswith("*"))  # emphasis has both; a password may end so
        start = line.index(cell, at) + cell.index(value)
        at = start + len(value)
        if _is_head(name) and _is_value(value):
            yield Finding(place + start, place + at, PASSWORD.kind)


def _cells(row: str, separator: str) -> list[str]:
    parts = re.split(" {2,}", row.strip()) if separator == "  " else row.strip().split(separator, 24)
    cells = [cell.strip() for cell in parts]
    return cells[1:-1] if separator == "|" and len(cells) > 2 and not cells[0] and not cells[-1] else cells


def _is_head(cell: str) -> bool:
    name = cell.strip("*_`\"' ").lower()
    secret = named_secrets().get(name) or (secret_of(name) if name.isascii() and len(name.split()) < 3 else None)
    return name in {"pass", "pw"} or (secret is not None and secret.kind == "password" and secret.proof is Proof.NONE)


def _is_value(value: str) -> bool:
    return not is_common(value) and (is_secret(value, PASSWORD, Form.BARE) or (value.isdigit() and len(value) > 3))


def _mentions_password(text: str) -> bool:
    """Return whether *text* has a word for passwords."""
    lowered = text.lower()
    return any(name in lowered for name in ("pass", "pwd", "pw", *words("password_names")))


_KIND = r"(?m)^[ \t]*(?:- )?[\"']?kind[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?Secret[\"']?[ \t]{0,8},?\r?$"
_BEGINS = r"[ \t]*+[\"']?(?:data|stringData)[\"']?[ \t]*+:[ \t]*+\{?[ \t]*+$"
_ENTRY = r"[\"']?[\w.-]{1,253}[\"']?[ \t]*:(?:[ \t]+|$)(?:[|>][+-]?[0-9]?[ \t]*$)?"


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
            if len(core) >= 3 and not content.startswith("#") and not is_blank(core):
                start += value.index(core)
                yield Finding(start, start + len(core), "secret")
        place += len(line)
