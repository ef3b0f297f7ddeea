"""What captures have written and not committed yet: see `memtool.vault.uncommitted`, which others note in, too."""

from __future__ import annotations

from memtool.vault.uncommitted import commit_noted, note_uncommitted

__all__ = ["commit_noted", "note_uncommitted"]
