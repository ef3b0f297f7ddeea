from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pytest

from memtool.cli.completion import SHELLS

if TYPE_CHECKING:
    from terminal import Memtool

SESSION = "sessions/ef299174-4970-4a1b-9c1d-2f7b8c9d0e1f.md"
FACT = "fact-20260302-8812fd95ac"


@pytest.fixture
def known(memtool: Memtool, sample: Path) -> Path:
    """A vault with an index, which a shell asks."""
    (sample / SESSION).write_text("---\ntype: session\n---\n# 登录\n", encoding="utf-8")
    (sample / "两个 词.md").write_text("text\n", encoding="utf-8")
    memtool("index")
    return sample


def completed(memtool: Memtool, monkeypatch: pytest.MonkeyPatch, line: str, shell: str = "fish") -> list[str]:
    """What *shell* is told may follow *line*."""
    monkeypatch.setenv("_MEMTOOL_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", f"memtool {line}")
    monkeypatch.setenv("COMP_CWORD", line.rpartition(" ")[2] if shell == "fish" else f"{line.count(' ') + 1}")
    ran = memtool()
    assert (ran.code, ran.err) == (0, "")
    return [item.partition(",")[2].partition("\t")[0] for item in ran.out.split("\n") if item]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("sea", ["search"]),
        ("install co", ["codex", "copilot"]),
        ("uninstall codex gem", ["gemini"]),
        ("search --project ti", ["tideline"]),
        ("facts list --project sh", ["shop"]),
        ("show ti", ["tideline"]),
        ("show 2026-02-05-解", ["2026-02-05-解密失败排查"]),
        ("show ef2", ["ef299174"]),
        ("show sessions/ef", ["sessions/ef299174…"]),
        ("given ef", ["ef299174"]),
        ("show fact-20260302", [FACT]),
        ("facts show fact-20260302", [FACT]),
        ("facts archive fact-20260302-8", [FACT]),
        ("blame areas/projects/shop/ru", ["areas/projects/shop/rules.md"]),
        ("forget MEM", ["MEMORY"]),
        ("facts re", ["restore", "review"]),
        ("completion ", list(SHELLS)),
        ("config set llm.wr", ["llm.writer"]),
        ("config get search.", ["search.mode", "search.fusion", "search.limit"]),
    ],
)
def test_a_shell_completes_what_the_vault_knows(
    memtool: Memtool, known: Path, monkeypatch: pytest.MonkeyPatch, line: str, some: list[str]
) -> None:
    assert completed(memtool, monkeypatch, line) == some
    assert known.is_dir()


def test_a_name_that_means_several_notes_is_not_offered(
    memtool: Memtool, known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert completed(memtool, monkeypatch, "show summ") == []
    assert (known / "areas/projects/shop/summary.md").is_file()


@pytest.mark.usefixtures("known")
def test_the_vault_that_is_named_is_asked(memtool: Memtool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "其他"
    (other / "areas/projects/茶/").mkdir(parents=True)
    (other / "memtool.toml").touch()
    (other / "zebra.md").write_text("text\n")
    for line in (f"--vault {other} search --project ", f"search --vault {other} --project "):
        assert completed(memtool, monkeypatch, line) == ["茶"]
    assert completed(memtool, monkeypatch, f"show --vault {other} z") == ["zebra"]  # without an index
    assert not (other / ".memtool").exists()
    assert completed(memtool, monkeypatch, f"show --vault {tmp_path}/nowhere z") == []


@pytest.mark.usefixtures("known")
def test_nothing_heavy_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import sys; from memtool.cli.main import run; run([]);"
        "print(*sorted({'rich', 'jsonschema', 'mcp', 'numpy', 'asyncio'} & sys.modules.keys()), file=sys.stderr)"
    )
    monkeypatch.setenv("_MEMTOOL_COMPLETE", "zsh_complete")
    for words in ("memtool sho", "memtool show 2026", "memtool search --project s", "memtool facts show fact-"):
        environ = {**os.environ, "COMP_WORDS": words, "COMP_CWORD": f"{words.count(' ')}"}
        ran = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, check=True, text=True)
        assert (ran.stdout != "", ran.stderr) == (True, "\n"), words


KEYS = {
    "bash": ("bash --norc --noprofile -i", "PS1='> '; bind 'set show-all-if-ambiguous on'; source {script}"),
    "zsh": ("zsh -f -i", "PS1='> '; autoload -U compinit; compinit -D -u; source {script}"),
    "fish": ("fish --no-config -i", "function fish_prompt; echo '> '; end; source {script}"),
}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("search --project tid", "[--project][tideline]"),
        ("install codex gem", "[codex][gemini]"),
        ("show ef2", "[ef299174]"),
        ("show fact-20260302-8", f"[{FACT}]"),
        ("show 两", "[两个 词]"),
    ],
)  # fmt: skip
def test_a_real_shell_completes(
    memtool: Memtool, known: Path, tmp_path: Path, shell: str, typed: str, printed: str
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / f"memtool.{shell}"
    script.write_text(memtool("completion", shell).out, encoding="utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    words = programs / "memtool"  # answers a shell as memtool does, and else prints its words
    words.write_text(
        f'#!/bin/sh\n[ -n "$_MEMTOOL_COMPLETE" ] && exec "{sys.executable}" -m memtool "$@"\n'
        f'printf "[%s]" "$@" > "{tmp_path}/printed"\n'
    )
    words.chmod(0o755)
    started, setup = KEYS[shell]
    environ = {
        **os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "TERM": "xterm", "LC_ALL": "C.UTF-8",
        "HISTFILE": "", "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip
    name, *options = started.split()
    child = pexpect.spawn(name, options, env=environ, cwd=str(known), encoding="utf-8", dimensions=(40, 200))
    try:
        child.sendline(f"{setup.format(script=script)}; echo rea''dy")
        child.expect("ready")
        child.send(f"memtool {typed}\t")
        child.expect(printed.rpartition("[")[2].rstrip("]").split()[0][-3:])
        child.send("\r")
        child.sendline("echo do''ne")
        child.expect("done")
    finally:
        child.close(force=True)
    assert (tmp_path / "printed").read_text(encoding="utf-8").endswith(printed)
