"""The real Claude Code, Codex, Gemini CLI and OpenCode in a closed box, against a scripted API."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from claude_code.box import wait_until
from claude_code.processes import processes_of
from claude_code.script import Json, Turn, use
from terminal import MEMTOOL, Ran

_PATIENCE = 240  # seconds: OpenCode takes its time, and looks for packages that it cannot have
_CODEX_CONFIG = """\
model = "gpt-5.5"
model_provider = "fake"

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"

[features]
enable_request_compression = false
"""


class Agent(NamedTuple):
    """One client, its program, and the words by which its model uses tools."""

    name: str
    program: Path

    def flags(self, prompt: str, *, resumes: bool) -> list[str]:
        """Return the arguments of a run without a screen."""
        if self.name == "codex":
            trusted = ("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")
            return ["exec", *(["resume", "--last"] if resumes else []), "--skip-git-repo-check", *trusted, prompt]
        if self.name == "gemini":
            return ["--skip-trust", "-y", *(["--resume", "latest"] if resumes else []), "-p", prompt]
        if self.name == "claude-code":
            return [*(["--continue"] if resumes else []), "-p", prompt, "--allowedTools", "Write Bash"]
        return ["run", *(["--continue"] if resumes else []), prompt]

    def writes(self, path: Path) -> Turn:
        """Return a turn that writes a file."""
        if self.name == "codex":
            patch = f"*** Begin Patch\n*** Add File: {path.name}\n+text\n*** End Patch\n"
            return use("apply_patch", patch=patch)
        key = {"claude-code": "file_path", "gemini": "file_path", "opencode": "filePath"}[self.name]
        tool = {"claude-code": "Write", "gemini": "write_file", "opencode": "write"}[self.name]
        return use(tool, **{key: str(path), "content": "text\n"})

    def runs(self, command: str) -> Turn:
        """Return a turn that runs a command."""
        tool, key = {
            "codex": ("exec_command", "cmd"),
            "gemini": ("run_shell_command", "command"),
            "opencode": ("bash", "command"),
            "claude-code": ("Bash", "command"),
        }[self.name]
        described = {} if self.name == "codex" else {"description": "runs it"}
        return use(tool, **{key: command, **described})


class Box:
    """A user with a home folder and a project under git. Nothing of the caller's environment gets in."""

    def __init__(self, root: Path) -> None:
        self.root, self.home, self.project = root, root / "home", root / "project"
        self.vault = self.home / "memory"
        self.began_at = datetime.now(UTC)
        for folder in (self.home, self.project, root / "tmp"):
            folder.mkdir(parents=True)
        environ = self.environ("http://127.0.0.1:9")
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=self.project, env=environ, check=True)

    def environ(self, url: str) -> dict[str, str]:
        """Return the environment of everything that runs in the box; the API is at *url*."""
        return {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "FAKE_KEY": "dummy-key",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy-key",
            "CLAUDE_CODE_TMPDIR": str(self.root / "tmp"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "GEMINI_API_KEY": "dummy-key",
            "GOOGLE_GEMINI_BASE_URL": url,
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "npm_config_offline": "true",
        }

    def set_up(self, agent: Agent, url: str) -> None:
        """Write the settings with which *agent* asks the API at *url*."""
        if agent.name == "codex":
            _write(self.home / ".codex" / "config.toml", _CODEX_CONFIG.format(url=url))
        elif agent.name == "gemini":
            auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
            _write(self.home / ".gemini" / "settings.json", json.dumps(auth, indent=2))
        elif agent.name == "opencode":
            options = {"baseURL": f"{url}/v1", "apiKey": "dummy-key"}
            provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {"name": "m"}}}
            settings = {
                "$schema": "https://opencode.ai/config.json",
                "model": "fake/m",
                "provider": {"fake": {"name": "fake", **provider}},
            }
            _write(self.home / ".config" / "opencode" / "opencode.json", json.dumps(settings, indent=2))

    def run(self, agent: Agent, url: str, prompt: str, *, resumes: bool = False) -> str:
        """Run *agent* with *prompt* to its end, and return what it printed."""
        said = self.client(agent, url, *agent.flags(prompt, resumes=resumes))
        self.wait_until_idle()
        return said

    def client(self, agent: Agent, url: str, *arguments: str) -> str:
        """Return what the program of *agent* prints, which must succeed."""
        ran = subprocess.run(
            [str(agent.program), *arguments], cwd=self.project, env=self.environ(url), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=_PATIENCE,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout
        return ran.stdout

    def memtool(self, *arguments: str) -> Ran:
        """Run `memtool` as the box's user."""
        ran = subprocess.run(
            [*MEMTOOL, *arguments], cwd=self.project, env=self.environ("http://127.0.0.1:9"), capture_output=True,
            text=True, check=False, timeout=_PATIENCE,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def install(self, *names: str) -> str:
        """Install memtool into these clients by its own command, without vectors."""
        _write(self.home / ".config" / "memtool" / "config.toml", '[embeddings]\nprovider = "none"\n')
        return self._must("install", *names)

    def uninstall(self, *names: str) -> str:
        """Take memtool out of these clients."""
        return self._must("uninstall", *names)

    def files(self, *, like: dict[str, bytes] | None = None) -> dict[str, bytes]:
        """Return the content of each file at home but memtool's own; *like* others, only of those that are in both.

        What a client writes for itself while it runs is none of ours.
        """
        own = ("memory/", ".config/memtool/", ".cache/")  # a client keeps its logs in the cache, and we a model
        paths = [path for path in sorted(self.home.rglob("*")) if path.is_file()]
        named = {path.relative_to(self.home).as_posix(): path for path in paths}
        ours = ("memtool", "hooks.json", "AGENTS.md", "GEMINI.md", "SKILL.md")
        return {
            name: path.read_bytes()
            for name, path in named.items()
            if not name.startswith(own)
            and (like is None or name in like or (any(word in name for word in ours) and "/.system/" not in name))
        }

    def note_with(self, words: str) -> str:
        """Return the session note that holds *words*."""
        notes = [path.read_text(encoding="utf-8") for path in (self.vault / "sessions").glob("*.md")]
        return next(note for note in notes if words in note)

    def daily(self) -> str:
        """Return the daily notes as one text."""
        return "\n".join(path.read_text(encoding="utf-8") for path in sorted((self.vault / "daily").glob("*.md")))

    def _must(self, *arguments: str) -> str:
        ran = self.memtool(*arguments)
        assert ran.code == 0, ran.err
        return ran.out + ran.err

    def wait_until_idle(self) -> None:
        """Wait until no process of the box is left, and fail when one does not end."""
        wait_until(lambda: not processes_of(self.root), lambda: f"still running: {processes_of(self.root)}")


def heard(body: Json) -> str:
    """Return all text of a request, as the model reads it."""
    return "\n".join(_texts({name: body.get(name) for name in ("instructions", "input", "contents", "messages")}))


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
