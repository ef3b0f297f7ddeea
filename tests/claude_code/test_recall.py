"""What a session left comes back to the model in the next one: by the real client, with memtool installed."""

from __future__ import annotations

from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.script import Json, text_of

from memtool.redaction import CONTEXT_TAG

KNOWN = "We decided that the zeppelin docks at gate 7, because gate 4 is too narrow for its gondola."
ASKED = "At which gate does the zeppelin dock?"
MARK = f'<{CONTEXT_TAG} event="prompt">'


def blocks_in(body: Json) -> list[str]:
    """Return the blocks that prompts were given, as they stand in a request of the client."""
    texts = [text_of(message) for message in body["messages"]]
    return [part.split(f"</{CONTEXT_TAG}>")[0] for text in texts for part in text.split(MARK)[1:]]


def teach(box: Box, api: ScriptedApi, owner: Owner) -> str:
    """Let a session leave a note that the start of the next one keeps to itself, and return the session's id."""
    owner.configure("[recall]\nsession_tokens = 0")
    api.answers([KNOWN])
    session = box.run(api.url, "Plan the docking of the zeppelin")
    box.wait_until_idle()
    owner.run("index")
    return session.id


def test_what_one_session_learned_reaches_the_prompt_of_the_next_one_once(
    box: Box, api: ScriptedApi, owner: Owner
) -> None:
    first = teach(box, api, owner)
    api.answers(["At gate 7.", "Still at gate 7."])
    second = box.run(api.url, ASKED)
    (block,) = blocks_in(api.asked("main")[-1])
    assert "gate 7" in block
    assert f"sessions/{first}.md:" in block
    box.wait_until_idle()
    third = box.run(api.url, "And where does the zeppelin dock?", "--resume", second.id)
    assert third.id == second.id
    box.wait_until_idle()
    assert f"(session {second.id})" in owner.daily()  # two questions leave no note
    assert CONTEXT_TAG not in owner.daily()
    assert "Remembered text" not in owner.daily()


def test_a_line_is_taken_back_by_the_id_that_the_model_saw(box: Box, api: ScriptedApi, owner: Owner) -> None:
    session = teach(box, api, owner)
    api.answers(["At gate 7.", "Nobody knows."])
    box.run(api.url, ASKED)
    box.wait_until_idle()
    (block,) = blocks_in(api.asked("main")[-1])
    (line,) = (line for line in block.splitlines() if "gate 7, because" in line and f"{session}.md" in line)
    owner.run("forget", line[-5:-1], "--yes")
    box.run(api.url, ASKED)
    assert "gate 7, because" not in "".join(blocks_in(api.asked("main")[-1]))
    note = owner.text_of(session)
    assert "gate 7, because" not in note
    assert "\nforgotten: [" in note  # the line alone; the rest of the note stands
    assert "status: archived" not in note
    assert "# Plan the docking of the zeppelin\n" in note
