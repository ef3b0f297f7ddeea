from __future__ import annotations

import inspect
import re
from pathlib import Path

from memtool import errors
from memtool.errors import MemtoolError, NoteNotFound, UsageError

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, MemtoolError)]
RANGES = (range(1, 3), range(20, 30), range(30, 40), range(40, 50), range(75, 76))


def test_every_error_has_an_exit_code_of_its_range_and_says_what_it_is() -> None:
    assert [kind for kind in KINDS if not any(kind.exit_code in codes for codes in RANGES)] == []
    assert [kind for kind in KINDS if not (kind.__doc__ or "").endswith(".")] == []
    assert [kind for kind in KINDS if kind.hint and not (kind.hint == kind.hint.strip() and kind.hint[-1] == ".")] == []


def test_an_error_is_a_sentence_and_a_hint_that_the_place_may_sharpen() -> None:
    error = UsageError("no such thing", hint="Look again.")
    assert (str(error), error.hint, error.exit_code) == ("no such thing", "Look again.", 2)
    assert UsageError("no such thing").hint == "See `memtool --help`."
    assert UsageError("no such thing", hint="").hint == ""
    assert str(NoteNotFound("解密")) == "no note matches '解密'"


def test_no_module_raises_a_bare_exception() -> None:
    """What is raised at a user is one of ours; ValueError and its like are for programmers."""
    package = Path(errors.__file__).parent
    bare = re.compile(r"raise (Exception|RuntimeError|SystemExit)\b")
    assert [str(path) for path in package.rglob("*.py") if bare.search(path.read_text(encoding="utf-8"))] == []
