"""Front matter: read as texts, and edited by changing only the lines we own.

A YAML round trip sorts keys, drops comments and turns `01234` into a number, so lines are changed as text. What comes
out is read once more: an edit that would touch another field is refused.

Patterns are texts: `re` compiles them when they are first used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from memtool.errors import BrokenVaultFile
from memtool.text.lines import newline_of

LONGEST_FRONT_MATTER = 65_536  # characters; more is a mistake or an attack
DEEPEST = 32  # lists and mappings within each other in front matter
_FENCES = {"-": re.compile(r"-{3}[ \t]*"), "+": re.compile(r"\+{3}[ \t]*")}
FIELD = r"(?![\s#]|-(?:\s|$))(.+?):(?:\s|$)"
_FOREIGN = r"(?P<name>[^\W\d_][\w .-]*):(?:\s+(?P<value>.*))?|\s*-\s+(?P<item>.*)|\s*(?:#.*)?|\s+\S.*"
_PLAIN_FIELD = r"([A-Za-z_]{1,100}):(?: +(.*))?"
_PLAIN_ITEM = r"( *)- +(\S.*)"
_PLAIN_SCALAR = (
    r"""(?P<bare>[^\s\-?:,\[\]{}#&*!|>'"%@`](?:[^:#]|:(?!\s|$)|(?<!\s)#)*)"""
    r"""|"(?P<double>[^"\\]*)"|'(?P<single>[^']*)'"""
)
_PLAIN_LIST = r"""\[(?: *(?:[\w./][\w ./()+-]*|"[^"\\,]*" *)(?:,|(?=\])))*\]"""
_PLAIN = r"[^\W\d_][\w ./()+\-]*|\d{4}-\d{2}-\d{2}"
_NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
_FORBIDDEN = "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]"  # raw in YAML


def split_front_matter(text: str, mark: str = "-") -> tuple[str | None, int]:
    """Return the YAML between the leading `---` lines (None without any) and the line on which the body begins.

    With the *mark* `+`, the TOML between `+++` lines.
    """
    if not text.startswith(mark * 3):
        return None, 1
    lines, fence = text.split("\n"), _FENCES[mark]
    if not fence.fullmatch(lines[0].rstrip("\r")):
        return None, 1
    for number, line in enumerate(lines[1:], start=2):
        if fence.fullmatch(line.rstrip("\r")):
            return "\n".join(lines[1 : number - 1]), number + 1
    return None, 1


def read_front_matter(text: str) -> tuple[dict[str, Any], int]:
    """Return the fields of *text*, as far as they can be read, and the line on which its body begins.

    Other programs write front matter, too: TOML between `+++`, templates such as `{{title}}`, tabs. What is no front
    matter is body.
    """
    is_toml = text.startswith("+")
    matter, body_line = split_front_matter(text, "+" if is_toml else "-")
    if matter is None or len(matter) > LONGEST_FRONT_MATTER:
        return {}, 1
    fields = _parse_toml(matter) if is_toml else parse_fields(matter)
    fields = _line_by_line(matter) if isinstance(fields, str) else fields
    return ({}, 1) if fields is None else (fields, body_line)


def _line_by_line(matter: str) -> dict[str, Any] | None:
    """Return the fields of front matter that is no YAML; None where a line looks like prose."""
    fields: dict[str, Any] = {}
    name = ""
    for line in matter.split("\n"):
        match = re.fullmatch(_FOREIGN, line.rstrip())
        if match is None:
            return None
        if match["name"]:
            name, value = match["name"].strip(), (match["value"] or "").strip()
            is_list = value.startswith("[") and value.endswith("]") and "[[" not in value
            fields[name] = [_bare(item) for item in value[1:-1].split(",")] if is_list else _bare(value)
        elif name and match["item"]:
            fields[name] = [*(fields[name] if isinstance(fields[name], list) else ()), _bare(match["item"])]
    return fields or None


def _bare(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _parse_toml(matter: str) -> dict[str, Any] | None:
    import tomllib

    try:
        return {name: _as_texts(value) for name, value in tomllib.loads(matter.replace("\r\n", "\n")).items()}
    except (tomllib.TOMLDecodeError, RecursionError):
        return _line_by_line(re.sub(r"(?m)^([\w.-]+)\s*=", r"\1:", matter))


def _as_texts(value: object) -> Any:  # noqa: ANN401  (texts, in lists and dicts)
    if isinstance(value, list):
        return [_as_texts(item) for item in value]
    if isinstance(value, dict):
        return {name: _as_texts(item) for name, item in value.items()}
    return str(value).lower() if isinstance(value, bool) else str(value)


def with_body(text: str, body: str) -> str:
    """Return *text* with another *body* below its front matter, if it has any."""
    matter, first = split_front_matter(text)
    head = "\n".join(text.split("\n")[: first - 1])
    return f"{head}\n\n{body}\n" if matter is not None else f"{body}\n"


def parse_fields(matter: str) -> dict[str, Any] | str | None:
    """Return the fields in the front matter *matter*, or a sentence that says what is wrong with it.

    None means that it is something else: prose between two rules, say.
    """
    if (plain := _plain_fields(matter)) is not None:
        return plain
    import frontmatter
    import yaml

    try:
        fields: dict[str, Any] = frontmatter.parse(f"---\n{matter}\n---", handler=_handler())[0]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 2})" if mark else ""
        return f"bad YAML in the front matter{where}: {getattr(error, 'problem', None) or 'unreadable'}"
    except _NoFieldsError:
        return None
    except (RecursionError, ValueError) as error:
        return f"front matter that is not read: {error}"
    return fields


def plain_fields(matter: str) -> dict[str, str]:
    """Return the fields of the front matter *matter* that are text."""
    found = parse_fields(matter) if len(matter) <= LONGEST_FRONT_MATTER else None
    values = found.items() if isinstance(found, dict) else ()
    return {name: value for name, value in values if isinstance(value, str)}


def _plain_fields(matter: str) -> dict[str, Any] | None:
    """Return the fields of *matter* if each is a plain value on its line, or a list of such; else None.

    Nearly all front matter is. A parser of YAML takes longer, and its import takes longer than a whole hook.
    """
    fields: dict[str, Any] = {}
    listing, indent = "", None  # the field whose items may follow, and the spaces before each of them
    for line in matter.split("\n"):
        if not line.isprintable():  # tabs, and what YAML refuses or takes for the end of a line
            return None
        if field := re.fullmatch(_PLAIN_FIELD, line):
            name, written = field[1], (field[2] or "").rstrip(" ")
            listing, indent = "" if written else name, None
            fields[name] = value = _plain_value(written) if written else ""
        elif listing and (item := re.fullmatch(_PLAIN_ITEM, line)) and indent in (None, item[1]):
            indent, value = item[1], _plain_value(item[2].rstrip(" "))
            fields[listing] = [*fields[listing], value]
        else:
            value = None if line and not line.startswith("#") else ""
        if value is None:
            return None
    return fields


def _plain_value(written: str) -> str | list[str] | None:
    """Return a YAML scalar that means what it says, or a list of such on one line; None of any other value."""
    if match := re.fullmatch(_PLAIN_SCALAR, written):
        return match["bare"] or match["double"] or match["single"] or ""
    if re.fullmatch(_PLAIN_LIST, written):
        return [item.strip(' "') for item in written[1:-1].split(",") if item.strip(" ")]
    with suppress(ValueError, RecursionError):
        is_json = written.startswith('"') and "\\u" not in written and "\\/" not in written
        found = json.loads(written) if is_json else None
        return found if isinstance(found, str) else None
    return None


def set_field(text: str, key: str, value: str) -> str:
    """Return *text* with one front-matter line changed and every other byte kept.

    A field that is missing is added as the last one; a note without front matter gets one. A value that spans
    several lines is replaced whole.

    Raises:
        BrokenVaultFile: the front matter is not one field to a line, or is broken.
    """
    return _set(text, key, quoted(value), " ".join(value.split()))


def set_list(text: str, key: str, values: Iterable[str]) -> str:
    """Return *text* with one front-matter field set to a list on one line, and every other byte kept.

    Raises:
        BrokenVaultFile: as `set_field`.
    """
    items = [" ".join(value.split()) for value in values]
    return _set(text, key, f"[{', '.join(map(quoted, items))}]", items)


def quoted(value: str) -> str:
    """Return *value* as a YAML scalar on one line, quoted only where plain text would be read as something else."""
    line = " ".join(value.split())
    if re.fullmatch(_PLAIN, line) and line.casefold() not in _NOT_TEXT:
        return line
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    escaped = re.sub(_FORBIDDEN, lambda match: rf"\U{ord(match[0]):08x}", escaped)
    return f'"{escaped}"'


def _set(text: str, key: str, written: str, value: object) -> str:
    fields, end = _front_matter(text)
    line = f"{key}: {written}"
    if fields is None:
        newline = newline_of(text)
        bom = "\ufeff" if text.startswith("\ufeff") else ""
        return f"{bom}---{newline}{line}{newline}---{newline}{text.removeprefix(bom)}"
    lines = text.split("\n")
    start, stop = _span(lines[:end], key)
    lines[start:stop] = [line + ("\r" if lines[0].endswith("\r") else "")]
    changed = "\n".join(lines)
    if _front_matter(changed)[0] != {**fields, key: value}:
        raise BrokenVaultFile("the front matter cannot be changed line by line", hint="Change it with an editor.")
    return changed


def _front_matter(text: str) -> tuple[Mapping[str, Any] | None, int]:
    """Return the fields of *text* (None without front matter) and the position of the line that ends them."""
    matter, body_line = split_front_matter(text.removeprefix("\ufeff"))
    if matter is None and split_front_matter(text.removeprefix("\ufeff"), "+")[0] is not None:
        raise BrokenVaultFile("the note cannot be changed: its front matter is TOML", hint="Change it with an editor.")
    fields = None if matter is None else parse_fields(matter)
    if isinstance(fields, str):
        raise BrokenVaultFile(f"the note cannot be changed: {fields}")
    return fields, body_line - 2


def _span(lines: list[str], key: str) -> tuple[int, int]:
    """Return the span of *lines* that holds the field *key*: its line, and those on which its value goes on.

    Of two fields with one name the last one counts; that of a missing one is empty, at the end.
    """
    names = [(at, match[1].strip().strip("\"'")) for at, line in enumerate(lines) if (match := re.match(FIELD, line))]
    start = next((at for at, name in reversed(names) if name == key), len(lines))
    end = next((at for at, _ in names if at > start), len(lines))
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1  # comments and empty lines between two fields are not part of the first one
    return start, end


class _NoFieldsError(Exception):
    """The YAML is no mapping."""


@cache
def _handler() -> Any:  # noqa: ANN401  (python-frontmatter has no types)
    """Return the handler with which python-frontmatter reads our YAML; the matter was split from the note before."""
    from frontmatter.default_handlers import YAMLHandler

    class PlainYAML(YAMLHandler):
        def split(self, text: str) -> tuple[str, str]:
            return text.removeprefix("---\n").removesuffix("---"), ""

        def load(self, fm: str, **_: object) -> dict[str, Any]:
            value = _parse_yaml(fm)
            if value is not None and not isinstance(value, dict):
                raise _NoFieldsError
            return value or {}

    return PlainYAML()


def _parse_yaml(text: str) -> Any:  # noqa: ANN401  (whatever the document holds)
    """Return the document in *text* as dicts, lists and texts: `01234` is no number, `no` is not false. None if empty.

    `yaml.load` builds its values by recursion in C, where deep nesting ends the whole process, and it shares what
    aliases name, so that a few lines unfold into gigabytes. Here the parser's events are put together one by one, to
    a bounded depth and without aliases.

    Raises:
        yaml.YAMLError: it is not YAML.
        ValueError: it is YAML that is not read here.
    """
    import yaml

    stack: list[list[Any]] = [[]]
    for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].append(event.value)
        elif isinstance(event, yaml.AliasEvent):
            raise ValueError("an alias")  # noqa: TRY004  (the text is wrong, no type is)
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(stack) > DEEPEST:
                raise ValueError(f"more than {DEEPEST} levels")
            stack.append([])
        elif isinstance(event, yaml.CollectionEndEvent):
            items = stack.pop()
            if isinstance(event, yaml.MappingEndEvent):
                if not all(isinstance(key, str) for key in items[::2]):
                    raise ValueError("a key that is no text")
                stack[-1].append(dict(zip(items[::2], items[1::2], strict=True)))
            else:
                stack[-1].append(items)
    if len(stack[0]) > 1:
        raise ValueError("several documents")
    return stack[0][0] if stack[0] else None
