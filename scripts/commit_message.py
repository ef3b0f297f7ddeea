"""Check the message of a commit: a subject that names topic and change, and a body that says why."""

from __future__ import annotations

import re
import sys
from pathlib import Path

LONGEST_SUBJECT = 60  # characters
_SUBJECT = re.compile(r"[\w, /.-]+: \S")
_WRITTEN_BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ")


def problems(message: str) -> list[str]:
    """Return a sentence for each fault of *message*; lines that begin with `#` are git's own."""
    lines = [line.rstrip() for line in message.splitlines() if not line.startswith("#")]
    subject, *rest = lines or [""]
    if subject.startswith(_WRITTEN_BY_GIT):
        return []
    found = []
    if not _SUBJECT.match(subject):
        found.append("the subject has the form `topic: what changes`")
    if len(subject) > LONGEST_SUBJECT:
        found.append(f"the subject has {len(subject)} characters, {LONGEST_SUBJECT} at most")
    if rest and rest[0]:
        found.append("an empty line follows the subject")
    if not any(rest):
        found.append("a body says why, in one sentence at least")
    return found


def main() -> int:
    """Check the file that git hands over; 1 if its message has a fault."""
    found = problems(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for sentence in found:
        print(f"commit message: {sentence}", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
