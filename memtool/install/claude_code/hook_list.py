"""The events of Claude Code that memtool listens to."""

from __future__ import annotations

from memtool.install.hooks import Hook

HOOKS = (
    Hook(
        "SessionStart",
        "gives the session the memory of its project, and finds sessions that were not captured",
        status="memtool: recalling this project",
    ),
    Hook("UserPromptSubmit", "gives the prompt the memories that matter to it", status="memtool: recalling"),
    Hook("PostToolUse", "writes edited files into the daily note", "Write|Edit|MultiEdit|NotebookEdit"),
    Hook(
        "PreCompact",
        "captures the session before it is compacted, and names what the summary must keep",
        status="memtool: keeping what matters",
    ),
    Hook("PostCompact", "keeps the client's own summary"),
    Hook("Stop", "captures the session after each answer"),
    Hook("SessionEnd", "captures the session when it ends"),
)

# Added by `memtool install claude-code --hints`: they cost a process before every edit and after a command that failed.
HINTS = (
    Hook("PreToolUse", "gives the rules that name a file", "Write|Edit|MultiEdit|NotebookEdit"),
    Hook("PostToolUseFailure", "says what was tried when a check fails for the third time", "Bash"),
)
