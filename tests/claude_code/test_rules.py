"""The rules that `memtool install claude-code` writes, as the client reads them."""

from __future__ import annotations

from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.script import text_of, use

from memtool.recall.routing.triggers import matches_glob

SUMMARY = """\
---
triggers: [checkout, 支付, "@~/secret.md", "` @~/secret.md"]
paths: ["src/支付/**", "*.{sql,ddl}"]
---
# project
"""
GLOBS = (
    "src/pay/**", "*.py", "**/pay/*.py", "src/{pay,zzz}/*.py", "a.py", "src/pay/", "src/pay", "pay/**", "**/src/pay/**",
    "/src/pay/**", "src/[p]ay/*", "SRC/pay/**", "other/**", "src/支付/**", "pay/*.py", "src/*.py", "src/**/a.py",
)  # fmt: skip


def said(api: ScriptedApi) -> list[str]:
    """The text of each request to the model."""
    return ["\n".join(map(text_of, body["messages"])) for body in api.asked("main")]


def test_the_words_come_with_the_first_request_an_areas_rule_with_its_files_and_taken_out_nothing(
    box: Box, api: ScriptedApi, owner: Owner
) -> None:
    summary = owner.vault / "areas" / "projects" / "project" / "summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text(SUMMARY)
    (box.home / "secret.md").write_text("never to be read\n")
    owner.run("install", "claude-code")
    file = box.project / "src" / "支付" / "回调.py"
    file.parent.mkdir(parents=True)
    file.write_text("x = 1\n")
    api.answers([use("Read", file_path=str(file)), "done"])
    box.run(api.url, "What is in the file?")
    first, after_reading = said(api)
    assert "`checkout`, `支付`" in first
    assert f"`{summary}`" in first
    assert "Remembered notes about project" not in first
    assert "Remembered notes about project `project`" in after_reading
    assert after_reading.count("memtool rule ") == 0
    assert "never to be read" not in first + after_reading
    box.wait_until_idle()
    owner.run("uninstall", "claude-code")
    api.answers(["done"])
    box.run(api.url, "hello")
    assert "Remembered notes" not in said(api)[-1]
    assert not (box.home / ".claude" / "rules").exists()


def test_globs_mean_to_us_what_they_mean_to_the_client(box: Box, api: ScriptedApi) -> None:
    rules = box.home / ".claude" / "rules"
    rules.mkdir(parents=True)
    for number, glob in enumerate(GLOBS):
        (rules / f"{number}.md").write_text(f'---\npaths:\n  - "{glob}"\n---\nRULE-{number}.\n')
    for path in ("src/pay/a.py", "src/支付/a.py"):
        (box.project / path).parent.mkdir(parents=True)
        (box.project / path).write_text("x = 1\n")
    paths = ("src/pay/a.py", "src/支付/a.py")
    api.answers([*(use("Read", file_path=str(box.project / path)) for path in paths), "done"])
    box.run(api.url, "What is in the files?")
    matched: set[str] = set()
    for path, read in zip(paths, said(api)[1:], strict=True):
        matched |= {glob for glob in GLOBS if matches_glob(glob, path)}
        assert {glob for number, glob in enumerate(GLOBS) if f"RULE-{number}." in read} == matched
    assert 0 < len(matched) < len(GLOBS)
