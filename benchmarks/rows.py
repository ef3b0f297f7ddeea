"""What was measured: rows with ours, the floor and the budget; as a table for people and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

FORMAT = 1  # of the JSON
_HEAD = ("what", "ours", "floor", "ratio", "budget", "ok")
_DIGITS = {"s": 2, "ms": 2, "MB": 1, "errors": 0}


@dataclass(frozen=True)
class Row:
    """One measurement. Times and sizes are judged by the least of the tries: noise only adds.

    Args:
        what: what was measured.
        notes: of how many notes the vault was; 0 where that does not matter.
        unit: of *ours* and *floor*: s, ms, MB or errors.
        ours: the tries.
        floor: the tries of the least that it can cost; empty if there is none.
        most_ratio: the budget, as a multiple of the floor.
        most: the budget, in *unit*.
        details: what else is worth knowing, for the JSON.
    """

    what: str
    notes: int
    unit: str
    ours: Sequence[float]
    floor: Sequence[float] = ()
    most_ratio: float | None = None
    most: float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """How many times the floor ours is, or None without a floor."""
        return min(self.ours) / min(self.floor) if self.floor else None

    @property
    def ok(self) -> bool | None:
        """Whether the budget is kept, or None without a budget."""
        if self.most is not None:
            return min(self.ours) <= self.most
        if self.most_ratio is None or self.ratio is None:
            return None
        return self.ratio <= self.most_ratio


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the value that *percent* of 100 of *values* do not exceed."""
    return sorted(values)[round((len(values) - 1) * percent / 100)]


def table(rows: Iterable[Row]) -> str:
    """Return a Markdown table of *rows*: the least of all tries, and the median in parentheses."""
    lines = [_HEAD, tuple("---" for _ in _HEAD), *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


def as_json(rows: Iterable[Row], machine: dict[str, Any]) -> dict[str, Any]:
    """Return *rows* for a program, with what they were measured on."""
    return {"format": FORMAT, "machine": machine, "rows": [_fields(row) for row in rows]}


def _fields(row: Row) -> dict[str, Any]:
    return {
        "what": row.what,
        "notes": row.notes,
        "unit": row.unit,
        "ours": _summary(row.ours),
        "floor": _summary(row.floor),
        "ratio": row.ratio,
        "budget": {"ratio": row.most_ratio, "absolute": row.most},
        "ok": row.ok,
        "details": row.details,
    }


def _summary(tries: Sequence[float]) -> dict[str, Any] | None:
    if not tries:
        return None
    return {"least": min(tries), "median": statistics.median(tries), "tries": list(tries)}


def _cells(row: Row) -> tuple[str, ...]:
    what = f"{row.what}, {row.notes:,} notes" if row.notes else row.what
    ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
    ok = {True: "yes", False: "NO", None: ""}[row.ok]
    return (what, _amount(row.ours, row.unit), _amount(row.floor, row.unit), ratio, _budget(row), ok)


def _budget(row: Row) -> str:
    if row.most is not None:
        return f"{row.most:g} {row.unit}"
    return f"{row.most_ratio:g}" if row.most_ratio is not None else ""


def _amount(tries: Sequence[float], unit: str) -> str:
    if not tries:
        return ""
    digits = _DIGITS[unit]
    median = f" ({statistics.median(tries):.{digits}f})" if len(tries) > 1 else ""
    return f"{min(tries):.{digits}f}{median} {unit}"
