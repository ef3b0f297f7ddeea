"""The named tuples of memtool are those of `typing`."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import typing

import pytest

from memtool.named_tuple import NamedTuple


class Ours(NamedTuple):
    """A place in a file."""

    ref: str
    line: int = 1
    tags: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The place as a person reads it."""
        return f"{self.ref}:{self.line}"

    def __repr__(self) -> str:
        return f"<{self.shown}>"


class Theirs(typing.NamedTuple):
    """A place in a file."""

    ref: str
    line: int = 1
    tags: tuple[str, ...] = ()


def test_they_have_the_fields_defaults_and_text_of_typings() -> None:
    assert Ours._fields == Theirs._fields
    assert Ours._field_defaults == Theirs._field_defaults
    assert Ours.__doc__ == Theirs.__doc__
    assert Ours.__module__ == Theirs.__module__
    assert Ours.__mro__[1:] == Theirs.__mro__[1:]
    assert tuple(Ours("解密.md", 2)) == tuple(Theirs("解密.md", 2))


def test_they_behave_as_values_with_their_own_methods() -> None:
    place = Ours("解密.md")
    assert (place.shown, repr(place)) == ("解密.md:1", "<解密.md:1>")
    assert place._replace(line=7) == ("解密.md", 7, ())
    assert pickle.loads(pickle.dumps(place)) == copy.copy(place) == place
    with pytest.raises(AttributeError):
        place.line = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        Ours()  # type: ignore[call-arg]


@pytest.mark.parametrize("module", ["session_start", "last_sessions"])
def test_a_start_compiles_no_annotation(module: str) -> None:
    watched = (
        "import typing\n"
        "typing.ForwardRef.__init__ = lambda self, text, **_: print(text)\n"
        f"import memtool.hook.main, memtool.hook.recalling, memtool.recall.start.{module}"
    )
    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, check=True)
    assert done.stdout == ""
