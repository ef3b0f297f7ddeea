from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from capture.transcripts import assistant, call, read, result, user

MEGABYTE = 1_048_576


def test_an_image_costs_the_question_beside_it_nothing(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "QUJD" * MEGABYTE}}
    conversation = read(tmp_path, user([image, {"type": "text", "text": "what is 失败 here?"}]), user("next"))
    assert [step.text for step in conversation.steps] == ["what is 失败 here?", "next"]
    assert conversation.broken == 0


@pytest.mark.parametrize("word", ["word ", "词", "x\\\\ny\\n", "\\u00e9\\n;", '\\"quoted\\" ', "é "])
def test_a_huge_prompt_keeps_its_ends(tmp_path: Path, word: str) -> None:
    content = "begin " + word * (600_000 // len(word)) + " and what does it mean?"
    conversation = read(tmp_path, f'{{"type":"user","message":{{"content":"{content}"}}}}')
    (step,) = conversation.steps
    assert step.text.startswith("begin ")
    assert step.text.endswith("and what does it mean?")
    assert conversation.broken == 0


@pytest.mark.parametrize("tag", ["<private>", "</PRIVATE>", "< private >", "＜private＞", "<memtool-context x>"])
def test_a_huge_text_ends_before_a_block_that_must_go_whole(tmp_path: Path, tag: str) -> None:
    text = "begin " + "word " * 20_000 + tag + " word" * 20_000 + " hush"
    (step,) = read(tmp_path, user(text)).steps
    assert "begin" in step.text
    assert "hush" not in step.text


@pytest.mark.slow
def test_a_line_over_the_limit_is_passed_over(tmp_path: Path) -> None:
    long = b'{"type":"user","message":{"content":"' + b"word " * (7 * MEGABYTE) + b'"}}\n'
    conversation = read(tmp_path, user("before"), long, user("after"))
    assert [step.text for step in conversation.steps] == ["before", "after"]
    assert (conversation.lines, conversation.broken) == (3, 1)
    assert conversation.size == (tmp_path / "session-1.jsonl").stat().st_size


def test_a_line_of_a_million_small_values_is_passed_over(tmp_path: Path) -> None:
    conversation = read(tmp_path, '{"type":"user","message":{"content":[' + "[]," * MEGABYTE + "1]}}", user("after"))
    assert [step.text for step in conversation.steps] == ["after"]
    assert conversation.broken == 1


@pytest.mark.parametrize("end", ["", "\\", '\\"', "\\\\"])
def test_a_huge_line_that_was_cut_off_is_passed_over(tmp_path: Path, end: str) -> None:
    start = '{"type":"user","message":{"content":"'
    conversation = read(tmp_path, user("before"), (start + '\\"' * MEGABYTE + end).encode())
    assert (len(conversation.steps), conversation.broken) == (1, 1)


def test_what_looks_like_a_skipped_record_inside_a_text_is_not_skipped(tmp_path: Path) -> None:
    quoted = '{"parentUuid":null,"isSidechain":false,"attachment":{"type":"file"}} {"type":"api-request"}'
    conversation = read(tmp_path, user(quoted), call("mcp__x__y", {"attachment": {"type": "file"}}))
    assert len(conversation.steps) == 2


PEAK = """
import sys
from pathlib import Path
from memtool.capture.transcript.reader import read_transcript

conversation = read_transcript(Path(sys.argv[1]), str)
status = Path("/proc/self/status").read_text()
peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
print(peak // 1024, len(conversation.steps), len({step.file for step in conversation.edits}), conversation.broken)
"""


def peak_of(path: Path) -> list[int]:
    """Return the peak memory in megabytes, the steps, the files and the broken lines."""
    done = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True)
    return [int(number) for number in done.stdout.split()]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the peak of one process")
def test_a_large_transcript_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    content = "".join(f"{number}\tx = parse(令牌, {number})\n" for number in range(3_000))
    with path.open("w", encoding="utf-8") as file:
        for turn in range(400):
            records = (
                user(f"question {turn}"),
                call("Edit", {"file_path": f"/src/m{turn % 300}.py", "new_string": content[:1_000]}, f"e{turn}"),
                result("ok", f"e{turn}", toolUseResult={"originalFile": content}),
                call("Bash", {"description": "test"}, f"b{turn}"),
                result(content[:20_000], f"b{turn}", is_error=True),
                assistant(content[:6_000]),
            )
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        file.write(json.dumps(user([{"type": "image", "source": {"data": "QUJD" * (6 * MEGABYTE)}}])) + "\n")
    assert path.stat().st_size > 60 * MEGABYTE
    peak, steps, files, broken = peak_of(path)
    assert peak < 100
    assert files == 300
    assert steps == 4 * 400
    assert broken == 0
