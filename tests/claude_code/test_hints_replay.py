"""Sessions of the real client that meet an error and mend it, and later ones that run into the same.

Each command is a made-up program that fails until a file is written. Other commands are sent to the hook as the client
sends them. `REPLAY_CASES=20` tries all of `CASES` and two hundred other commands: two minutes of the processor.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from typing import NamedTuple

import pytest
from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.script import Turn, text_of, use

TOOLS = ("--allowedTools", "Write Bash")


class Case(NamedTuple):
    """A command that fails with an error, and how it is run in a later session."""

    command: str
    error: str
    again: str


CASES = [
    Case("pytest tests/db", "OperationalError: no such table: users", "pytest -q tests/db"),
    Case("npm run build", "Cannot find module 'sass'", "npm run build -- --mode production"),
    Case("pnpm --filter api test", "connect ECONNREFUSED 127.0.0.1:6379",
         "cd apps && pnpm --filter api test 2>&1 | tail"),
    Case("go test ./internal/checkout", "error: DATA RACE in subscriber.go:31", "go test -race ./internal/checkout"),
    Case("cargo build --features fuse", "error[E0308]: mismatched types", "cargo build"),
    Case("docker compose up -d", "Error: port is already allocated: 5432", "docker compose up"),
    Case("make lint", "golangci-lint: unknown linter 'nilerr'", "make lint"),
    Case("mise run test:integration", "entire: unknown field agent", "mise run test:integration -- -run TestContract"),
    Case("python manage.py migrate", "relation orders does not exist: cannot alter",
         "python manage.py migrate --noinput"),
    Case("uv run pytest tests/api", "error: fixture 'client' not found", "uv run pytest tests/api -x"),
    Case("gradle assembleDebug", "Duplicate class okhttp3: conflict", "gradle assembleDebug --stacktrace"),
    Case("mvn verify", "Unsupported class file: unknown major version 65", "mvn -q verify"),
    Case("terraform apply", "Error acquiring the state lock", "terraform apply -auto-approve"),
    Case("kubectl apply -f deploy.yaml", "unable to recognize: no matches for kind", "kubectl apply -f deploy.yaml"),
    Case("bundle exec rspec", "ActiveRecord::PendingMigrationError: migrations are pending",
         "bundle exec rspec spec/models"),
    Case("npx tsc --noEmit", "error TS2307: cannot find module '@/lib'", "npx tsc -p ."),
    Case("yarn test trace", "AssertionError: expected end to be called once", "yarn test trace"),
    Case("composer install", "Your php is invalid: requires php >=8.2", "composer install --no-dev"),
    Case("swift build", "error: no such module 'Alamofire'", "swift build -c release"),
    Case("flutter test", "错误：类型不匹配，expected String", "flutter test test/cart_test.dart"),
]  # fmt: skip
OTHERS = (
    "git status", "git commit -m x", "ls -la", "cat README.md", "rg TODO", "node scripts/a.js", "npm install",
    "npm run dev", "pnpm install", "pnpm --filter web build", "go vet ./...", "go build ./...", "cargo fmt",
    "cargo clippy", "docker ps", "docker build .", "make build", "make clean", "mise run lint", "python setup.py",
    "python -m http.server", "uv sync", "uv run ruff check", "gradle lint", "mvn clean", "terraform plan",
    "kubectl get pods", "kubectl logs web", "bundle install", "npx eslint .", "npx prettier .", "yarn add left-pad",
    "composer dump-autoload", "swift test", "flutter run", "curl localhost", "psql -c 'select 1'", "redis-cli ping",
    "ssh host", "sed -n 1p a",
)  # fmt: skip
ENDS = ("", " --verbose", " 2>&1 | tail -3", " && echo done", " || true")
LATER = 4  # commands of one later session
TRIED = CASES[-int(os.environ.get("REPLAY_CASES", "4")) :]


def answer(number: int) -> str:
    return f"cases/{number}.cfg names the answer-{number}-a now, which was missing"


@pytest.fixture
def programs(box: Box) -> Box:
    """The box with a program of each name in `CASES`; a command passes where its file is there."""
    folder = box.root / "bin"
    folder.mkdir()
    (box.project / "apps").mkdir()
    for name, cases in itertools.groupby(sorted(enumerate(TRIED), key=lambda each: each[1].command), key=program_of):
        lines = ["#!/bin/sh"]
        for number, case in cases:
            lines.append(f'[ -e "{box.project}/cases/{number}.cfg" ] || {{ echo "{case.error}" >&2; exit 1; }}')
        path = folder / name
        path.write_text("\n".join([*lines, "echo ok", ""]), encoding="utf-8")
        path.chmod(0o755)
    box.path = f"{folder}:{box.path}"
    return box


def program_of(numbered: tuple[int, Case]) -> str:
    return numbered[1].command.split()[0]


def mend(box: Box, api: ScriptedApi, number: int, case: Case) -> None:
    api.answers([
        use("Bash", command=case.command),
        use("Write", file_path=str(box.project / f"cases/{number}.cfg"), content="x\n"),
        use("Bash", command=case.command),
        f"The cause: {answer(number)}.",
    ])  # fmt: skip
    box.run(api.url, f"`{case.command}` fails, mend it", *TOOLS)
    box.wait_until_idle()


def distil(box: Box, owner: Owner) -> None:
    """Let the weekly run come, and put all notes of sessions where they are when they are old."""
    owner.run("consolidate", "--week", "this")
    assert owner.run("consolidate", "--week", "this") == ""  # the second run of a week changes nothing
    for path in (owner.vault / "sessions").glob("*.md"):
        (owner.vault / "archive" / "sessions").mkdir(parents=True, exist_ok=True)
        path.rename(owner.vault / "archive" / "sessions" / path.name)
    box.wait_until_idle()


def given_in(api: ScriptedApi, request: int) -> str:
    """Return what the model was told up to the main request with this number."""
    body = api.asked("main")[request]
    return json.dumps(body["messages"], ensure_ascii=False) + "\n".join(map(text_of, body["messages"]))


def hint_for(box: Box, command: str, session: str) -> str:
    """Return what the installed hook answers before *command*, sent as the client sends it."""
    settings = json.loads((box.home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]
    event = {
        "hook_event_name": "PreToolUse", "session_id": session, "cwd": str(box.project), "transcript_path": "",
        "tool_name": "Bash", "tool_input": {"command": command},
    }  # fmt: skip
    told = subprocess.run(
        [hook["command"], *hook.get("args", [])] if "args" in hook else ["sh", "-c", hook["command"]],
        input=json.dumps(event), env=box.environ(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return told.stdout


def missed_later(box: Box, api: ScriptedApi) -> list[str]:
    """Break all that was mended, and return the commands that later sessions run without being told of its fix."""
    missed = []
    for start in range(0, len(TRIED), LATER):
        asked = len(api.asked("main"))
        later = list(enumerate(TRIED))[start : start + LATER]
        for number, _ in later:
            (box.project / f"cases/{number}.cfg").unlink(missing_ok=True)
        turns: list[Turn | str] = [use("Bash", command=case.again) for _, case in later]
        api.answers([*turns, "Done."])
        box.run(api.url, "Run the checks", *TOOLS)
        box.wait_until_idle()
        missed += [
            case.again for at, (number, case) in enumerate(later, 1) if answer(number) not in given_in(api, asked + at)
        ]
    return missed


def test_what_was_mended_is_known_when_it_is_met_again(programs: Box, api: ScriptedApi, owner: Owner) -> None:
    """From the notes of its session, and from the facts of a weekly run that has archived those notes."""
    owner.run("install", "claude-code", "--hints")
    owner.configure("[recall]\nsession_tokens = 0\nprompt_characters = 0\n[consolidate]\nsessions_days = 1")
    for number, case in enumerate(TRIED):
        mend(programs, api, number, case)
    assert len(missed := missed_later(programs, api)) <= 0.2 * len(TRIED), missed
    distil(programs, owner)
    assert len(missed := missed_later(programs, api)) <= 0.2 * len(TRIED), missed
    commands = [program + end for program, end in itertools.product(OTHERS, ENDS)]
    assert len(commands) == 200
    others = commands[:: 1 if TRIED == CASES else 19]
    wrong = [command for at, command in enumerate(others) if "answer-" in hint_for(programs, command, f"other-{at}")]
    assert len(wrong) <= 0.02 * len(others), wrong
    assert "answer-0" in hint_for(programs, TRIED[0].again, "one-more")
