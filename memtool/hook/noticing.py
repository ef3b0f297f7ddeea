"""What the user, not the agent, is told at the start of a session."""

from __future__ import annotations

from memtool.consolidate.due import missed_week
from memtool.hook.occasion import Occasion, Reply


def week_was_missed(occasion: Occasion) -> Reply:
    """Return, once for each week, that last week was not consolidated."""
    week = missed_week(occasion.work)
    if week is None:
        return Reply()
    return Reply(notice=f"memtool: {week} was not consolidated; `memtool consolidate --week last` does it now")
