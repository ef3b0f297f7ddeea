"""Fixes of twenty sessions, met again in other words: how often they are given, and how often for nothing."""

from __future__ import annotations

import itertools

import pytest

from memtool.recall.hints import Hint, for_command, for_failure

# What failed and was mended; the command as it is run in a later session; the error if it is another command.
MET = [
    ("pytest tests/db", "OperationalError: no such table: users", "pytest -q tests/db", ""),
    ("npm run build", "Cannot find module 'sass'", "npm run build -- --mode production", ""),
    ("pnpm --filter api test", "ECONNREFUSED 127.0.0.1:6379", "cd apps && pnpm --filter api test 2>&1 | tail", ""),
    ("go test ./internal/checkout", "DATA RACE subscriber.go:31", "go test -race -count=3 ./internal/checkout", ""),
    ("cargo build --features fuse", "error[E0308]: mismatched types", "cargo build", ""),
    ("docker compose up -d", "port is already allocated 5432", "docker compose up", ""),
    ("make lint", "golangci-lint: unknown linter 'nilerr'", "make lint", ""),
    ("mise run test:integration", "entire: unknown field agent", "mise run test:integration -- -run TestContract", ""),
    ("python manage.py migrate", "relation orders does not exist", "python manage.py migrate --noinput", ""),
    ("uv run pytest tests/api", "fixture 'client' not found", "uv run pytest tests/api -x", ""),
    ("./gradlew assembleDebug", "Duplicate class okhttp3", "./gradlew assembleDebug --stacktrace", ""),
    ("mvn verify", "Unsupported class file major version 65", "mvn -q verify", ""),
    ("terraform apply", "Error acquiring the state lock", "terraform apply -auto-approve", ""),
    ("kubectl apply -f deploy.yaml", "unable to recognize: no matches for kind", "kubectl apply -f deploy.yaml", ""),
    ("bundle exec rspec", "ActiveRecord::PendingMigrationError", "bundle exec rspec spec/models",
     "Exit code 1\nActiveRecord::PendingMigrationError: migrations are pending"),
    ("npx tsc --noEmit", "TS2307: cannot find module '@/lib'", "npx tsc -p .",
     "error TS2307: cannot find module '@/lib'"),
    ("npm test -- trace", "AssertionError: expected end to be called once", "npm test -- spans",
     "AssertionError: expected end to be called once, got 2"),
    ("composer install", "requires php >=8.2", "composer update", "Your php does not satisfy: requires php >=8.2"),
    ("swift build", "no such module 'Alamofire'", "swift build -c release", ""),
    ("flutter test", "类型不匹配：需要 String", "flutter test test/cart_test.dart",
     "类型不匹配：需要 String，得到 int"),
]  # fmt: skip
PROGRAMS = (
    "git status", "git commit -m x", "git push", "ls -la", "cat README.md", "rg TODO", "node scripts/a.js",
    "npm install", "npm run dev", "pnpm install", "pnpm --filter web build", "go vet ./...", "go build ./...",
    "cargo fmt", "cargo clippy", "docker ps", "docker build .", "make build", "make clean", "mise run lint",
    "python setup.py", "python -m http.server", "uv sync", "uv run ruff check", "./gradlew lint", "mvn clean",
    "terraform plan", "kubectl get pods", "kubectl logs web", "bundle install", "npx eslint .", "npx prettier .",
    "composer dump-autoload", "swift test", "flutter run", "curl localhost", "psql -c 'select 1'",
    "redis-cli ping", "ssh host", "sed -n 1p a",
)  # fmt: skip
ENDS = ("", " --verbose", " 2>&1 | tail -3", " && echo done", " || true")


@pytest.mark.slow
def test_known_errors_are_given_their_fix_and_other_commands_nothing() -> None:
    hints = [Hint("fix", "sessions/a.md", f"{at}", "2026-02-10", "a", "shop", met[:2]) for at, met in enumerate(MET)]
    given = []
    for at, (_, _, again, error) in enumerate(MET):
        found = for_command(hints, again) + (for_failure(hints, again, error) if error else [])
        given.append(str(at) in [hint.text for hint in found])
    assert sum(given) >= 0.8 * len(MET), [met for met, was in zip(MET, given, strict=True) if not was]
    others = [program + end for program, end in itertools.product(PROGRAMS, ENDS)]
    assert len(others) == 200
    wrong = [command for command in others if for_command(hints, command) or for_failure(hints, command, "Exit code 1")]
    assert len(wrong) <= 4, wrong
