"""The plugin's files that are made from the code: `python3 -m scripts.generate_plugin` writes them.

A client of version 2.1.197 drops all of `hooks.json` when it does not know one of the events in it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from memtool import __version__
from memtool.clients import CLAUDE_HOOKS, HOOKS
from memtool.install.hook_shares import group_of
from memtool.install.hooks import Program

CLONE = Path(__file__).resolve().parents[1]
PLUGIN = "hooks/claude-code"  # the whole of it, so that installing it copies nothing else
HOW_TO_MEND = "Run `python3 -m scripts.generate_plugin`."

_LAUNCHER = "${CLAUDE_PLUGIN_ROOT}/hooks/launch.sh"


def main() -> int:
    """Write the files, and name those that were stale."""
    for path in stale_files(CLONE):
        (CLONE / path).parent.mkdir(parents=True, exist_ok=True)
        (CLONE / path).write_text(files()[path], encoding="utf-8")
        print(f"wrote {path}")
    return 0


def files() -> dict[str, str]:
    """Return the text of each file by its path."""
    return {
        f"{PLUGIN}/.claude-plugin/plugin.json": _text(_manifest()),
        f"{PLUGIN}/.mcp.json": _text({"mcpServers": {"memtool": {"command": "sh", "args": [_LAUNCHER, "mcp"]}}}),
        f"{PLUGIN}/hooks/hooks.json": _text(_hooks()),
    }


def stale_files(clone: Path) -> list[str]:
    """Return the paths of the files that are not what the code says."""
    return [path for path, text in files().items() if _text_of(clone / path) != text]


def _manifest() -> dict[str, Any]:
    return {
        "name": "memtool",
        "version": __version__,
        "description": "Remembers sessions, decisions and facts across sessions, in plain Markdown that you own",
        "author": {"name": "the memtool authors"},
        "license": "MIT",
        "keywords": ["memory", "recall", "markdown"],
    }


def _hooks() -> dict[str, Any]:
    return {
        "description": "Writes down what happens in a session, and recalls what was written",
        "hooks": {
            event.name: [group_of(event, Program("sh", (_LAUNCHER, event.name)))]
            for event in CLAUDE_HOOKS.events
            if event.part == HOOKS
        },
    }


def _text(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _text_of(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
