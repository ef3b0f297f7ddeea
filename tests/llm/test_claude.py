from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import pytest
from scripted_claude import make_claude, result, started

from memtool.errors import BadSetting, MemtoolError, ProviderFailed, ProviderMissing, Unavailable
from memtool.llm import Answer, OutOfTime, Provider, Request, Wasted, open_provider
from memtool.llm.clients import ClaudeCommand
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings

REQUEST = Request("You keep the memory.", "What happened? 发生了什么？", max_tokens=777)
PATIENT = 20.0  # seconds; nothing here takes that long


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty at first."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return tmp_path / "box"


def opened(program: Path | str, model: str = "haiku") -> Provider:
    return open_provider("claude", ModelSettings(claude_command=str(program), claude_model=model), Keys())


def test_the_answer_is_what_the_command_says(box: Path) -> None:
    answer = opened(make_claude(box, result("hello, 你好"))).complete(REQUEST, PATIENT)
    assert answer == Answer("hello, 你好", "claude", "claude-haiku-5-5", 100, 12, 0.0004)


def test_the_prompt_goes_over_stdin_and_the_system_prompt_in_a_file(box: Path) -> None:
    opened(make_claude(box, result())).complete(REQUEST, PATIENT)
    report = started(box)
    assert (report["stdin"], report["system"]) == (REQUEST.prompt, REQUEST.system)
    assert "happened" not in " ".join(report["argv"])


def test_nothing_of_the_users_takes_part(box: Path) -> None:
    opened(make_claude(box, result())).complete(REQUEST, PATIENT)
    report = started(box)
    assert {"-p", "--safe-mode", "--strict-mcp-config", "--no-session-persistence"} <= set(report["argv"])
    assert report["argv"][report["argv"].index("--tools") + 1] == ""
    assert report["argv"][-2:] == ["--model", "haiku"]
    assert "--bare" not in report["argv"]  # it would not know the login
    settings = json.loads(report["settings"])
    assert settings["disableAllHooks"] is True
    for environ in (report["environ"], settings["env"]):  # the user's settings win over the environment, not over ours
        assert environ["MEMTOOL_INTERNAL"] == "1"
        assert environ["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"
        assert environ["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "777"


@pytest.mark.slow
def test_the_surrounding_session_is_not_seen_and_the_login_is(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    around = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "x",
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "CLAUDE_PLUGIN_ROOT": "/p",
    }
    login = {"CLAUDE_CODE_OAUTH_TOKEN": "t", "CLAUDE_CODE_USE_BEDROCK": "1", "CLAUDE_CONFIG_DIR": "/c"}
    for name, value in {**around, **login}.items():
        monkeypatch.setenv(name, value)
    opened(make_claude(box, result())).complete(REQUEST, PATIENT)
    environ = started(box)["environ"]
    assert not around.keys() & environ.keys()
    assert {name: environ[name] for name in login} == login


def test_a_file_that_the_transcript_mentions_is_no_mention_to_the_client(box: Path) -> None:
    answer = opened(make_claude(box, result("sent by ann\uff20example"))).complete(
        Request("", "see @~/.ssh/id_rsa"), PATIENT
    )
    assert "@" not in started(box)["stdin"]
    assert answer.text == "sent by ann@example"


@pytest.mark.slow
def test_it_works_in_an_empty_folder_of_its_own_and_leaves_nothing(box: Path, temporary: Path) -> None:
    opened(make_claude(box, result())).complete(REQUEST, PATIENT)
    report = started(box)
    assert Path(report["cwd"]).is_relative_to(temporary.resolve())
    assert report["files"] == []
    assert list(temporary.iterdir()) == []


FAILURES = {
    "no login": (result("Not logged in · Please run /login", is_error=True, usage={}), "", 1, "Please run /login"),
    "a bad request": (result("API Error: 400 no", is_error=True, api_error_status=400, usage={}), "", 1, "400"),
    "an error that ends well": (result("Something broke", is_error=True), "", 0, "Something broke"),
    "an old client": ("", "error: unknown option '--safe-mode'\n", 1, "unknown option"),
    "too many turns": (result(None, is_error=True, subtype="error_max_turns"), "", 1, "it ended with 1"),
    "a good result and a bad end": (result("hello"), "", 3, "hello"),
    "nothing": ("", "", 0, "no answer"),
    "nothing, killed": ("", "", 137, "it ended with 137"),
    "no JSON": ("<html>", "", 0, "no answer"),
    "half a JSON": (result()[:-9], "", 0, "no answer"),
    "brackets": ("[" * 200_000, "", 0, "no answer"),
    "a list": ("[1, 2]", "", 0, "no answer"),
    "no text": (result({"a": 1}), "", 0, "no answer"),
    "an empty text": (result("  "), "", 0, "no answer"),
    "no word on errors": (result().replace('"is_error": false', '"is_error": "no"'), "", 0, "hello"),
    "colours and lines": ("", "\x1b[31mfirst\nsecond\x1b[0m", 1, "first second"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("stdout", "stderr", "code", "reason"), FAILURES.values(), ids=FAILURES.keys())
def test_a_failure_is_one_short_sentence(box: Path, stdout: str, stderr: str, code: int, reason: str) -> None:
    with pytest.raises(Wasted, match="the `claude` command failed") as caught:
        opened(make_claude(box, stdout, stderr=stderr, code=code)).complete(REQUEST, PATIENT)
    assert reason in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


BUSY = result("API Error: 529 overloaded", is_error=True, api_error_status=529, usage={})
UNREACHABLE = result("API Error: Unable to connect to API (ECONNRESET)", is_error=True, usage={})


@pytest.mark.slow
@pytest.mark.parametrize("stdout", [BUSY, UNREACHABLE])
def test_what_may_pass_is_unavailable(box: Path, stdout: str) -> None:
    with pytest.raises(Unavailable, match="API Error"):
        opened(make_claude(box, stdout, code=1)).complete(REQUEST, PATIENT)


def test_a_failure_that_cost_something_says_so(box: Path) -> None:
    with pytest.raises(Wasted) as caught:
        opened(make_claude(box, result("cut off", is_error=True), code=1)).complete(REQUEST, PATIENT)
    assert (caught.value.input_tokens, caught.value.output_tokens, caught.value.cost_usd) == (100, 12, 0.0004)


@pytest.mark.parametrize("usage", [None, [], {"input_tokens": -1}, {"input_tokens": True}, {"input_tokens": 1e300}])
def test_odd_counts_are_estimated(box: Path, usage: object) -> None:
    answer = opened(make_claude(box, result(usage=usage, total_cost_usd="a lot", modelUsage=[]))).complete(
        REQUEST, PATIENT
    )
    assert answer == Answer("hello", "claude", "", REQUEST.tokens, 2, None)


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are asked for")
def test_a_slow_command_ends_in_time_with_all_that_it_started(box: Path, temporary: Path) -> None:
    program = make_claude(box, hangs=True, child=True)
    has_started = box / "started.json"
    command = ClaudeCommand(str(program), "", os.environ, monotonic=lambda: 1000.0 * has_started.exists())
    with pytest.raises(OutOfTime, match="did not answer within 30 seconds") as caught:
        command.complete(REQUEST, 30)
    report = started(box)
    assert report["session"] == report["pid"]  # a group of its own
    for pid in (report["pid"], report["child"]):
        assert _is_gone(pid)
    assert caught.value.input_tokens == REQUEST.tokens
    assert list(temporary.iterdir()) == []


def _is_gone(pid: int) -> bool:
    """Return whether the process has ended; its parent may be slow to notice."""
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True  # a zombie of the test's init, not of ours: ours is waited for
        time.sleep(0.01)
    return False


def test_an_answer_without_an_end_is_cut_short(box: Path) -> None:
    with pytest.raises(ProviderFailed, match="says more than any answer needs"):
        opened(make_claude(box, endless=True)).complete(REQUEST, PATIENT)


def test_a_command_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ProviderMissing, match="there is no command") as caught:
        opened(tmp_path / "nowhere" / "claude")
    assert "llm.claude_command" in caught.value.hint


def test_a_command_in_the_folder_we_happen_to_be_in_is_not_trusted(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_claude(box, result())
    monkeypatch.chdir(box)
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(ProviderMissing, match="does not trust"):
        opened("claude")


def test_it_is_found_by_its_name(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_claude(box, result())
    monkeypatch.setenv("PATH", f"{box}{os.pathsep}{os.environ['PATH']}")
    assert opened("claude").complete(REQUEST, PATIENT).text == "hello"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no such file")
def test_a_program_that_cannot_be_started_is_one_sentence(box: Path) -> None:
    box.mkdir()
    program = box / "claude"
    program.write_text("#!/nowhere/at/all\n")
    program.chmod(0o755)
    with pytest.raises(ProviderFailed, match="cannot be started"):
        opened(program).complete(REQUEST, PATIENT)


def test_without_room_for_temporary_files_it_fails(box: Path, temporary: Path) -> None:
    program = make_claude(box, result())
    temporary.rmdir()
    with pytest.raises(ProviderFailed, match="cannot be started"):
        opened(program).complete(REQUEST, PATIENT)


def test_a_name_that_no_provider_has_is_missing() -> None:
    with pytest.raises(ProviderMissing, match="there is no provider 'oracle'"):
        open_provider("oracle", ModelSettings(), Keys())


def test_a_setting_that_cannot_be_used_is_said_before_anything_is_sent() -> None:
    for name in ("openai", "anthropic"):
        settings = ModelSettings(openai_base_url="ftp://x", openai_model="m", anthropic_base_url="ftp://x")
        with pytest.raises(BadSetting):
            open_provider(name, settings, Keys(anthropic="k"))
    with pytest.raises(MemtoolError, match="name of a model"):
        open_provider("openai", ModelSettings(openai_base_url="http://127.0.0.1:9/v1"), Keys())
