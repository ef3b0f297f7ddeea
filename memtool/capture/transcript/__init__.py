"""Transcripts of every client, read as Claude Code's. This module names its tools; hooks import it, so nothing else."""

EDITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
ASKING_TOOL, PLANNING_TOOL, SHELL_TOOL = "AskUserQuestion", "ExitPlanMode", "Bash"
