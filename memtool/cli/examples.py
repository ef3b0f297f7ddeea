"""Examples of each command, which its help and the reference show. A test tries whether each can be parsed."""

from __future__ import annotations

import click

EXAMPLES = {
    "": ("memtool init", "memtool install claude-code", "memtool search why Redis", "memtool doctor"),
    "init": ("memtool init", "memtool init ~/notes"),
    "search": (
        "memtool search why did we choose Redis",
        "memtool search 连接池 --project shop --since 30d",
        "memtool search --kind decision",
    ),
    "timeline": ("memtool timeline yesterday", "memtool timeline deploy key --before 5"),
    "show": (
        "memtool show sessions/ef299174…",
        "memtool show '[[Deployment#Rollback]]'",
        "memtool show areas/projects/shop/rules.md:10-20",
    ),
    "remember": (
        "memtool remember 'Access tokens live 15 minutes.' --category configuration",
        "memtool remember --kind todo 'Rate limiting of the login' --due 2026-03-01",
    ),
    "facts": ("memtool facts list --project shop", "memtool facts review"),
    "facts add": ("memtool facts add 'Deploys happen on Tuesdays.' --category project",),
    "facts archive": ("memtool facts archive fact-20260302-8812fd95ac",),
    "facts list": ("memtool facts list --project shop --category decision",),
    "facts restore": ("memtool facts restore fact-20260302-8812fd95ac",),
    "facts review": ("memtool facts review", "memtool facts review --keep 1 --drop 2"),
    "facts show": ("memtool facts show fact-20260302-8812fd95ac --history",),
    "facts supersede": ("memtool facts supersede fact-20260302-8812fd95ac 'Access tokens live 15 minutes.'",),
    "facts update": ("memtool facts update fact-20260302-8812fd95ac --tag auth --expires 2026-12-31",),
    "facts verify": ("memtool facts verify",),
    "forget": ("memtool forget k3f9", "memtool forget areas/projects/shop/todos.md:12"),
    "purge": ("memtool purge --history 'k?7wTpZQ'", "memtool purge sessions/3f2a9c.md --yes"),
    "log": ("memtool log", "memtool log areas/projects/shop/rules.md --limit 5"),
    "diff": ("memtool diff", "memtool diff --since yesterday"),
    "blame": ("memtool blame areas/projects/shop/rules.md:10-20",),
    "undo": ("memtool undo", "memtool undo 3f2a9c01"),
    "sync": ("memtool sync", "memtool sync --edits"),
    "given": ("memtool given", "memtool given --last"),
    "context": ("memtool context", "memtool context --project shop --budget 500"),
    "consolidate": ("memtool consolidate --dry-run", "memtool consolidate --week 2026-W08"),
    "schedule": ("memtool schedule install", "memtool schedule status"),
    "schedule install": ("memtool schedule install", "memtool schedule install --kind cron --print"),
    "schedule remove": ("memtool schedule remove",),
    "schedule run": ("memtool schedule run",),
    "schedule status": ("memtool schedule status",),
    "route": ("memtool route 'the checkout fails'", "memtool route --file src/auth/login.ts", "memtool route --check"),
    "index": ("memtool index", "memtool index --status"),
    "test": ("memtool test expectations.toml",),
    "eval": ("memtool eval questions.jsonl --mode bm25", "memtool eval --suite xquad.zh.json"),
    "capture": ("memtool capture", "memtool capture --now ~/.claude/projects/-home-me-shop/3f2a9c71.jsonl"),
    "import": ("memtool import claude-code --dry-run", "memtool import markdown --from ~/obsidian --project shop"),
    "import basic-memory": ("memtool import basic-memory --dry-run",),
    "import claude-code": ("memtool import claude-code --since 30d",),
    "import claude-mem": ("memtool import claude-mem --dry-run",),
    "import codex": ("memtool import codex --project shop",),
    "import gemini": ("memtool import gemini --since 30d",),
    "import markdown": ("memtool import markdown --from ~/obsidian/work --project shop",),
    "import mem0": ("memtool import mem0 --dry-run",),
    "import memory-service": ("memtool import memory-service --dry-run",),
    "import memtool": ("memtool import memtool backup.json --dry-run",),
    "import opencode": ("memtool import opencode --since 30d",),
    "export": ("memtool export backup.json", "memtool export --project shop"),
    "mcp": ("memtool mcp", "memtool mcp --profile memory"),
    "serve": ("memtool serve", "memtool serve --open", "memtool serve --status"),
    "team": ("memtool team token list", "memtool team join https://memory.example.org"),
    "team audit": ("memtool team audit --days 7 --writes",),
    "team join": ("memtool team join https://memory.example.org",),
    "team token": ("memtool team token list",),
    "team token add": ("memtool team token add alice --email alice@example.org --on shop --scope write",),
    "team token list": ("memtool team token list",),
    "team token revoke": ("memtool team token revoke 7",),
    "team token rotate": ("memtool team token rotate 7 --grace 24",),
    "install": (
        "memtool install claude-code --dry-run",
        "memtool install codex gemini",
        "memtool install claude-code --with hints --without skills",
        "memtool install claude-code --writer none",
    ),
    "uninstall": ("memtool uninstall codex gemini", "memtool uninstall claude-code --dry-run"),
    "config": ("memtool config get llm.writer", "memtool config set search.limit 10", "memtool config edit --vault"),
    "config edit": ("memtool config edit", "memtool config edit --vault"),
    "config get": ("memtool config get", "memtool config get search.limit"),
    "config set": (
        "memtool config set llm.writer none",
        "memtool config set capture.exclude ~/private 'github.com/acme/*'",
        "memtool config set language zh --vault",
    ),
    "config unset": ("memtool config unset search.limit",),
    "completion": (
        "memtool completion bash > ~/.local/share/bash-completion/completions/memtool",
        "memtool completion zsh > ~/.zfunc/_memtool",
        "memtool completion fish > ~/.config/fish/completions/memtool.fish",
    ),
    "doctor": ("memtool doctor", "memtool doctor --fix"),
}  # fmt: skip


def add_examples(command: click.Command, name: str) -> click.Command:
    """Return *command*, whose words are *name*, with its examples and those of the commands below it in their helps."""
    if examples := EXAMPLES.get(name):
        listed = "\n".join(f"  {example}" for example in examples)
        command.epilog = f"\b\nExample{'s' if len(examples) > 1 else ''}:\n{listed}"
    if isinstance(command, click.Group):
        for below, one in command.commands.items():
            add_examples(one, f"{name} {below}")
    return command
