"""`python -m memtool.hook` is `memtool-hook`."""

from __future__ import annotations

import sys

from memtool.hook.main import main

if __name__ == "__main__":
    sys.exit(main())
