"""Stand-ins for the APIs of Anthropic, OpenAI and Google on the loopback, which say what a script holds."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

from claude_code.api import Messages, ScriptedApi
from claude_code.script import Json, Turn, Use


class OtherApis(Messages):
    """The APIs of Claude Code, Codex (Responses), Gemini and OpenCode (Chat Completions), told apart by their paths."""

    def do_POST(self) -> None:  # noqa: N802  (http.server names it so)
        if "/messages" in self.path:
            super().do_POST()
            return
        body = self.asked()
        if self.path.endswith("/responses"):
            self.send_events(_responses(self._turn(body)))
        elif "streamGenerateContent" in self.path:
            self.send_events(_gemini(self._turn(body)))
        elif self.path.endswith("/chat/completions"):
            # Without tools it asks for a title of the session.
            self.send_events(_chat(self._turn(body) if body.get("tools") else Turn("A title")))
        else:  # what is asked besides, such as which model should answer
            self.send_json({"candidates": [{"content": {"role": "model", "parts": [{"text": "{}"}]}}]})

    def _turn(self, body: Json) -> Turn:
        self.server.remember("main", body)
        return self.server.script.next_turn("main")


def other_apis() -> ScriptedApi:
    """Return a server of all four."""
    return ScriptedApi(OtherApis)


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:24]}"


def _responses(turn: Turn) -> Iterator[Json]:
    items = [_call(use) for use in turn.uses]
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        message = {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": content}
        items.insert(0, message)
    response = {"id": _id("resp"), "object": "response", "created_at": 0, "status": "in_progress", "model": "m"}
    yield {"type": "response.created", "response": {**response, "output": []}}
    for at, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": at, "item": item}
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    ended = {**response, "status": "completed", "output": items, "usage": usage}
    yield {"type": "response.completed", "response": ended}


def _call(use: Use) -> Json:
    """Return the call of a tool; what is given as a patch is given as text."""
    call = {"call_id": _id("call"), "name": use.tool, "status": "completed"}
    if "patch" in use.given:
        return {"type": "custom_tool_call", "id": _id("ctc"), "input": use.given["patch"], **call}
    return {"type": "function_call", "id": _id("fc"), "arguments": json.dumps(use.given), **call}


def _gemini(turn: Turn) -> Iterator[Json]:
    parts: list[Json] = [{"text": turn.text}] if turn.text else []
    parts += [{"functionCall": {"name": use.tool, "args": use.given}} for use in turn.uses]
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    yield {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage,
        "modelVersion": "m",
    }


def _chat(turn: Turn) -> Iterator[Json]:
    said: Json = {"role": "assistant", **({"content": turn.text} if turn.text else {})}
    if turn.uses:
        said["tool_calls"] = [
            {
                "index": at,
                "id": _id("call"),
                "type": "function",
                "function": {"name": use.tool, "arguments": json.dumps(use.given)},
            }
            for at, use in enumerate(turn.uses)
        ]
    chunk = {"id": "chat", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    yield {**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if turn.uses else "stop"}
    yield {**chunk, "choices": [end], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
