"""What one session of the real client leaves behind, and what the next ones start with."""

from __future__ import annotations

import subprocess

from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.script import Json, Turn, text_of, use
from claude_code.talk import Talk
from talks_of_change import TALKS

from memtool.redaction import CONTEXT_TAG

TOOLS = ("--allowedTools", "Write Edit Bash")


def started_with(body: Json) -> str:
    """Return what a session was given at its start, as its first request shows it."""
    heard = "\n".join(map(text_of, body["messages"]))
    return "".join(
        part.split(f"</{CONTEXT_TAG}>")[0] for part in heard.split(f'<{CONTEXT_TAG} event="session-start">')[1:]
    )


def writes(box: Box, name: str) -> Turn:
    return use("Write", file_path=str(box.project / name), content="text\n")


def hold(box: Box, api: ScriptedApi, *prompts: str) -> str:
    """Hold a session with these prompts and return what it started with."""
    before = len(api.asked("main"))
    with Talk(box, api.url, *TOOLS) as talk:
        for prompt in prompts:
            talk.say(prompt)
    box.wait_until_idle()
    return started_with(api.asked("main")[before])


def test_a_decision_in_passing_and_a_correction_are_known_to_the_next_session(
    box: Box, api: ScriptedApi, owner: Owner
) -> None:
    """Hold one of the talks that `tests/recall/start/test_what_sessions_tell_the_next.py` tries in this process."""
    said = TALKS["chinese in other words"]
    api.answers([
        writes(box, "order_model.py"), said.done,
        writes(box, "test_order_model.py"), said.redone,
        "…", "…",
        writes(box, "order_model_2.py"), said.changed,
        "…",
    ])  # fmt: skip
    assert hold(box, api, said.decide, said.correct) == ""
    assert len(owner.notes()) == 1

    second = hold(box, api, said.ask)
    assert said.old in second
    assert said.rule in second

    home, box.project = box.project, box.root / "elsewhere"
    box.project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=box.project, env=box.environ(), check=True)
    third = hold(box, api, said.ask)
    box.project = home
    assert said.name not in third
    assert said.rule not in third

    hold(box, api, said.change)
    fifth = hold(box, api, said.ask)
    assert said.new in fifth
    assert said.old not in fifth or fifth.index(said.new) < fifth.index(said.old)
    assert said.rule in fifth


def test_what_the_user_deletes_from_a_note_is_never_said_again(box: Box, api: ScriptedApi, owner: Owner) -> None:
    said = TALKS["english"]
    api.answers([writes(box, "order_model.py"), said.done, "…", "…"])
    hold(box, api, said.decide)
    (name,) = owner.notes()
    path = owner.vault / "sessions" / f"{name}.md"
    path.write_text("\n".join(line for line in path.read_text().split("\n") if "new_order_id" not in line))
    assert "new_order_id" not in hold(box, api, said.ask)
    owner.run("capture", str(next(box.home.rglob(f"{name}.jsonl"))))
    assert "new_order_id" not in hold(box, api, said.ask)
