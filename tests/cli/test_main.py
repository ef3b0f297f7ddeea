from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from terminal import MEMTOOL, with_pipes

from memtool import __version__
from memtool.cli import show
from memtool.cli.examples import EXAMPLES
from memtool.cli.main import COMMANDS, GROUPS, cli
from memtool.cli.session import Session
from memtool.index import limits
from memtool.index.writer import Writer

if TYPE_CHECKING:
    from terminal import Memtool


def commands() -> list[list[str]]:
    """The words of each command; of a group, those of the commands below it."""
    context = click.Context(cli)

    def below(words: list[str], command: click.Command | None) -> list[list[str]]:
        if not isinstance(command, click.Group):
            return [words]
        return [each for name, one in command.commands.items() for each in below([*words, name], one)]

    return [each for name in COMMANDS for each in below([name], cli.get_command(context, name))]


@pytest.mark.slow
def test_help_names_every_command_and_every_command_has_help(memtool: Memtool) -> None:
    code, out, err = memtool("--help")
    assert (code, err) == (0, "")
    for name in COMMANDS:
        assert f"\n  {name} " in out
        code, page, err = memtool(name, "--help")
        assert (code, err) == (0, "")
        assert page.startswith(f"Usage: memtool {name} ")
    for words in commands():
        page = memtool(*words, "--help").out
        # Some work on a database, or on the user's settings.
        assert "--vault PATH" in page or "--vault [PATH]" in page or words[0] in {"team", "completion"}
        # An export and MCP are JSON by themselves, and who waits in the foreground has nothing to answer.
        has_no_answer = words in (
            ["completion"],
            ["config", "edit"],
            ["export"],
            ["mcp"],
            ["schedule", "run"],
            ["team", "join"],
        )
        assert has_no_answer or "--json" in page or "memtool remember TEXT" in page  # which has it
    assert with_pipes("search", "-h").out == memtool("search", "--help").out


def test_every_command_is_in_one_group_of_the_help(memtool: Memtool) -> None:
    out = memtool("--help").out
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)
    assert "Others:" not in out
    assert [line for line in out.split("\n") if line.rstrip(":") in GROUPS] == [f"{title}:" for title in GROUPS]


def pages() -> list[list[str]]:
    """The words of each page of help: of memtool, of each group and of each command."""
    above = {tuple(words[:count]) for words in commands() for count in range(len(words))}
    return [*map(list, sorted(above)), *commands()]


@pytest.mark.parametrize("words", pages(), ids=" ".join)
def test_every_page_of_help_has_examples_that_can_be_parsed(memtool: Memtool, notes: Path, words: list[str]) -> None:
    for name in ("questions.jsonl", "xquad.zh.json", "expectations.toml"):
        (notes / name).touch()
    page = memtool(*words, "--help").out
    examples = EXAMPLES[" ".join(words)]
    assert all(f"\n    {example}\n" in page for example in examples)
    for example in examples:
        program, *arguments = shlex.split(example.partition(" > ")[0])
        assert (program, arguments[: len(words)]) == ("memtool", words)
        parse(cli, program, [argument.replace("~", "") for argument in arguments])


def parse(command: click.Command, name: str, arguments: list[str], parent: click.Context | None = None) -> None:
    """Parse *arguments* down to the last command; what is wrong with them is an error of click's."""
    with command.make_context(name, arguments, parent, obj=Session()) as context:
        if isinstance(command, click.Group):
            below, found, rest = command.resolve_command(context, [*context._protected_args, *context.args])
            assert found is not None
            parse(found, below or "", rest, context)


@pytest.mark.parametrize("group", ["facts", "import", "schedule"])
def test_no_line_of_a_list_of_commands_is_cut(memtool: Memtool, group: str) -> None:
    assert "..." not in memtool(group, "--help").out.partition("Commands:")[2]


def test_nothing_at_all_shows_the_help_as_a_usage_error(memtool: Memtool) -> None:
    code, out, err = memtool()
    assert code in (0, 2)  # the opinion of click on this has changed
    assert "Set up:" in out + err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["serch", "x"], "No such command 'serch'. Did you mean 'search'?"),
        (["search", "x", "--mode", "grep"], "'grep' is not one of 'hybrid', 'bm25', 'vector'"),
        (["search", "x", "--fusion", "cold"], "'cold' is not one of 'adaptive', 'rrf'"),
        (["search", "x", "--kind", "novel"], "'novel' is not one of"),
        (["search", "x", "--kind", "decison"], "Did you mean 'decision'?"),
        (["--kind", "decision", "search"], "--kind belongs after the command, as in `memtool search --kind`"),
        (["search", "x", "--limit", "0"], "0 is not in the range x>=1"),
        (["search", "x", "--limit", "ten"], "'ten' is not a whole number"),
        (["search", "x", "--nothing"], "No such option"),
        (["search", "x", "--vault"], "requires an argument"),
        (["show"], "Missing argument 'REF'"),
        (["show", "x", "--level", "3"], "3 is not in the range 0<=x<=2"),
        (["index", "x"], "unexpected extra argument"),
        (["eval", "nothing.jsonl"], "No such file or directory"),
        (["eval", "."], "Is a directory"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(
    memtool: Memtool, notes: Path, arguments: list[str], sentence: str
) -> None:
    code, out, err = memtool(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("memtool: ")
    assert sentence in err.splitlines()[0]
    named = next(word for word in arguments if word in COMMANDS or word == "serch")
    assert err.splitlines()[1:] in ([f"See `memtool {named} --help`."], ["See `memtool --help`."])
    assert notes.is_dir()


@pytest.mark.parametrize("command", [["search", "x"], ["show", "x"], ["index"]])
def test_what_is_no_vault_is_one_sentence_and_a_hint(memtool: Memtool, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "memtool.toml").write_text("format = 2")
    for name, code, sentence in (
        ("nothing", 21, f"there is no vault at '{tmp_path}/nothing'"),
        ("file", 22, f"'{tmp_path}/file' is a file, not a vault"),
        ("new", 23, f"the vault at '{tmp_path}/new' has format 2; this memtool knows format 1"),
    ):
        ran = memtool(*command, "--vault", str(tmp_path / name))
        assert (ran.code, ran.out) == (code, "")
        assert ran.err.startswith(f"memtool: {sentence}\n")
        assert ran.err.count("\n") == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "memtool.toml", "new"]


def test_the_vault_is_named_before_or_behind_the_command(memtool: Memtool, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text("tea")
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert memtool("--vault", one, "search", "tea", "--json").answer["hits"][0]["path"] == "one.md"
    assert memtool("search", "tea", "--json", "--vault", two).answer["hits"][0]["path"] == "two.md"
    assert memtool("--vault", one, "search", "tea", "--json", "--vault", two).answer["hits"][0]["path"] == "two.md"


def test_the_vault_is_found_upwards(memtool: Memtool, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (notes / "a" / "b").mkdir(parents=True)
    (notes / "a" / "n.md").write_text("tea")
    monkeypatch.chdir(notes / "a" / "b")
    assert memtool("search", "tea", "--json").answer["hits"][0]["path"] == "a/n.md"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows does not let it happen")
@pytest.mark.parametrize(("vault", "code"), [("{}", "0"), ("notes", "21"), (".", "21")])
def test_a_working_folder_that_is_gone_is_no_hindrance(notes: Path, tmp_path: Path, vault: str, code: str) -> None:
    (tmp_path / "gone").mkdir()
    script = 'rmdir "$PWD"; "$@"; echo $?'
    command = ["sh", "-c", script, "sh", *MEMTOOL, "search", "tea", "--json", "--vault", vault.format(notes)]
    ran = subprocess.run(command, cwd=tmp_path / "gone", capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == code
    assert "bug" not in ran.stderr


@pytest.mark.parametrize("message", ["plain", "\x1b[31mred\x9b2J\n解密\udcff"])
def test_a_bug_is_no_traceback_but_a_file_to_report(
    memtool: Memtool, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError(message)

    monkeypatch.setattr(show, "_direct", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code, out, err = memtool("show", "x")
    assert (code, out) == (3, "")
    assert err.startswith("memtool: this is a bug in memtool: ")
    assert "Traceback" not in err
    assert not set(err) & {"\x1b", "\x9b"}
    (log,) = tmp_path.glob("memtool-bug-*.log")
    assert str(log) in err
    assert "in fail\n    raise ZeroDivisionError(message)" in log.read_text("utf-8")
    assert f"memtool {__version__}, Python " in log.read_text("utf-8")
    assert log.stat().st_mode & 0o077 == 0
    assert notes.is_dir()


def test_a_bug_is_reported_even_where_no_file_can_be_made(
    memtool: Memtool, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "_direct", None)
    monkeypatch.setattr(tempfile, "tempdir", str(notes / "nothing"))
    assert memtool("show", "x") == (
        3, "", "memtool: this is a bug in memtool: TypeError: 'NoneType' object is not callable\nPlease report it\n",
    )  # fmt: skip


def test_an_interruption_ends_with_130(memtool: Memtool, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(show, "_direct", interrupt)
    assert memtool("show", str(notes)) == (130, "", "\n")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows interrupts in another way")
def test_an_interrupted_process_says_nothing_and_leaves_a_usable_index(notes: Path) -> None:
    (notes / "n.md").write_text("tea")
    script = (
        "import os, signal; from memtool.cli.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs ignore it
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGINT)\n"  # before the index is made current
        "main()"
    )
    ran = subprocess.run([sys.executable, "-c", script, "search", "tea"], capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr.strip()) == (130, b"", b"")
    assert with_pipes("search", "tea", "--json").answer["hits"][0]["path"] == "n.md"


AT_EXIT = "import atexit; atexit.register(print, 'last words')"
IN_A_THREAD = """
import threading
threading.Thread(target=lambda: (threading.main_thread().join(), print("last words"))).start()
"""


@pytest.mark.slow
@pytest.mark.parametrize("left_behind", [AT_EXIT, IN_A_THREAD])
def test_the_end_of_a_process_cuts_nothing_off(notes: Path, left_behind: str) -> None:
    script = f"{left_behind}\nfrom memtool.cli.main import main\nmain()"
    ran = subprocess.run([sys.executable, "-c", script, "show", "gone.md"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (20, "last words\n")
    assert ran.stderr.startswith("memtool: no note matches 'gone.md'")
    assert notes.is_dir()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
@pytest.mark.parametrize(
    "arguments", [["search", "the"], ["search", "the", "--json"], ["show", "MEMORY.md"], ["--help"]]
)
def test_a_reader_who_has_seen_enough_is_no_error(sample: Path, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run([*MEMTOOL, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ran.returncode, b"rror" in ran.stderr, b"bug" in ran.stderr) == (0, False, False)
    assert sample.is_dir()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a shell of Unix")
@pytest.mark.parametrize(
    ("arguments", "closed"),
    [
        ("search the", ">&-"), ("show MEMORY.md", "2>&-"), ("search the", "<&-"),
        *((arguments, "<&- >&- 2>&-") for arguments in ("search the", "show MEMORY.md", "index", "doctor")),
    ],
)  # fmt: skip
def test_closed_streams_are_no_error(sample: Path, closed: str, arguments: str) -> None:
    command = f'exec "$0" -m memtool {arguments} {closed}'
    environ = {**os.environ, "MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
    ran = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True, env=environ, check=False)
    assert ran.returncode == 0, ran.stderr
    assert b"bug" not in ran.stderr
    assert sample.is_dir()


@pytest.mark.slow
def test_output_is_utf8_wherever_it_runs(notes: Path) -> None:
    (notes / "n.md").write_text("# 解密 é\n\ntea 😀\n", encoding="utf-8")
    for environ in ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}):
        assert with_pipes("show", "n.md", environ=environ).out == "# 解密 é\n\ntea 😀\n"
        batch = '{"id": "é", "query": "解密"}\n'.encode()
        assert (
            '{"id": "é", "results": [{"path": "n.md"'
            in with_pipes("search", "--batch", stdin=batch, environ=environ).out
        )


@pytest.mark.slow
def test_bytes_that_are_no_text_are_no_error(notes: Path) -> None:
    (notes / "n.md").write_text("tea")
    assert with_pipes("search", b"tea \xff\xfe", "--json").answer["hits"][0]["path"] == "n.md"
    assert with_pipes("search", b"\xff").code == 2
    assert with_pipes("show", b"\xff.md").code == 20
    assert with_pipes("search", "tea", "--vault", b"\xff").code == 21
    assert with_pipes("search", "tea", "--since", b"\xff").code == 2
    assert with_pipes("search", "tea", "--project", b"\xff", "--tag", b"\xff", "--category", b"\xff").code == 0
    assert with_pipes("search", "tea", environ={"MEMTOOL_SEARCH_MODE": "\udcff"}).code == 30


def test_an_interruption_says_what_is_kept(memtool: Memtool, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (notes / f"n{number}.md").write_text(f"# Note {number}\n\n解密 common\n", encoding="utf-8")
    monkeypatch.setattr(limits, "AT_ONCE", 2)
    put = Writer.put

    def interrupted(writer: Writer, ref: str, *rest: Any) -> None:
        if ref == "n3.md":
            raise KeyboardInterrupt
        put(writer, ref, *rest)

    monkeypatch.setattr(Writer, "put", interrupted)
    code, out, err = memtool("index")

    assert (code, out) == (130, "")
    assert "files are indexed; the next run goes on there" in err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_what_is_written_is_the_users_own_whatever_the_umask(tmp_path: Path) -> None:
    event = {"hook_event_name": "PostToolUse", "session_id": "s", "cwd": str(tmp_path), "tool_name": "Write"}
    event_text = json.dumps(event | {"tool_input": {"file_path": str(tmp_path / "茶.md")}})
    python, vault = sys.executable, tmp_path / "记忆"
    for command in (
        f"'{python}' -m memtool init '{vault}'",
        f"'{python}' -m memtool --vault '{vault}' remember '茶 is steeped at 75 degrees' --global",
        f"'{python}' -m memtool --vault '{vault}' search 茶",
        f"'{python}' -m memtool.hook --vault '{vault}'",
    ):
        subprocess.run(["sh", "-c", f"umask 000; {command}"], cwd=tmp_path, input=event_text.encode(), check=True)
    paths = [path for folder in (vault, Path(os.environ["MEMTOOL_CACHE"])) for path in [folder, *folder.rglob("*")]]
    assert len(paths) > 20
    assert [str(path) for path in paths if path.lstat().st_mode & 0o077 and not path.is_symlink()] == []
