"""Makes sure that a new enough Python runs the command. Written so that Python 3.6 can still read it."""

import os
import subprocess
import sys

MINIMUM = (3, 11)
CANDIDATES = ("python3.14", "python3.13", "python3.12", "python3.11", "py")


def require() -> None:
    """Return if this Python is new enough; else run the same command again with one that is, or say that none is."""
    if sys.version_info >= MINIMUM:
        return
    for name in CANDIDATES:
        command = [name, "-3"] if name == "py" else [name]
        if _is_new_enough(command):
            sys.exit(subprocess.call(command + [os.path.abspath(sys.argv[0])] + sys.argv[1:]))  # noqa: PTH100, RUF005
    sys.exit(
        "memtool needs Python {}.{} or newer, and this is Python {}.{}.\n"
        "Install a newer one (your system's package manager, or https://www.python.org) and try again.".format(
            *(MINIMUM + tuple(sys.version_info[:2]))
        )
    )


def _is_new_enough(command: "list[str]") -> bool:
    # A name on PATH proves nothing: it may be a shim for a Python that is not installed.
    code = "import sys; sys.exit(sys.version_info < {!r})".format(MINIMUM)
    try:
        return subprocess.call(command + ["-c", code], stderr=subprocess.DEVNULL) == 0  # noqa: RUF005
    except OSError:
        return False
