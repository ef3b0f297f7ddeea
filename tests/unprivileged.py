"""Permissions that hold for the superuser too, so that tests of unreadable and read-only things run everywhere."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

import pytest

_PRCTL_DROP_FROM_BOUNDING_SET = 24
_OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_HEADER_VERSION = 0x20080522


def give_up_for_children() -> None:
    """Let programs that this process starts obey permissions: for `preexec_fn`."""
    if os.geteuid() == 0 and sys.platform == "linux":
        for capability in _OVERRIDES:
            ctypes.CDLL(None).prctl(_PRCTL_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """Let this thread obey permissions for the length of a `with` block."""
    if os.name == "nt":
        pytest.skip("Windows has no such permissions")
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("the superuser may do everything here")
    header = (ctypes.c_uint32 * 2)(_HEADER_VERSION, 0)
    held = (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.capget(header, held) == 0
    fewer = (ctypes.c_uint32 * 6)(*held)
    fewer[0] &= ~sum(1 << capability for capability in _OVERRIDES)  # the effective ones; they can be taken back
    assert libc.capset(header, fewer) == 0
    try:
        yield
    finally:
        assert libc.capset(header, held) == 0
