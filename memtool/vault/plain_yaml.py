"""YAML read as text: every scalar stays as its owner wrote it, and no input can do harm.

`yaml.load` builds its values by recursion in C, where deep nesting ends the whole process, and it shares what aliases
name, so that a few lines unfold into gigabytes. Here the parser's events are put together one by one, to a bounded
depth and without aliases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

DEEPEST = 32  # lists and mappings within each other


def parse_yaml(text: str) -> Any:  # noqa: ANN401  (whatever the document holds)
    """Return the document in *text* as dicts, lists and texts: `01234` is no number, `no` is not false. None if empty.

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
            stack[-1].append(_mapping(items) if isinstance(event, yaml.MappingEndEvent) else items)
    if len(stack[0]) > 1:
        raise ValueError("several documents")
    return stack[0][0] if stack[0] else None


def _mapping(items: Sequence[Any]) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in items[::2]):
        raise ValueError("a key that is no text")
    return dict(zip(items[::2], items[1::2], strict=True))
