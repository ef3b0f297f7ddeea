"""When something holds no more: after its last day, or from an hour on."""

from __future__ import annotations

import datetime as dt

_DAY = 10  # characters of a date


def is_past(expires: str, now: dt.datetime) -> bool:
    """Return whether *expires*, a last day or a moment in ISO 8601, is over; an empty text never is.

    A moment without an offset is of the zone of *now*.
    """
    if len(expires) > _DAY:
        try:
            moment = dt.datetime.fromisoformat(expires)
        except ValueError:
            return expires[:_DAY] < now.date().isoformat()
        return (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)) <= now
    return bool(expires) and expires < now.date().isoformat()
