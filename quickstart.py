#!/usr/bin/env python3
"""Set up memtool in this clone, fill a vault with Markdown, and search it.

python3 quickstart.py            with memtool's own documents, a sample vault and a sample session, in two languages
python3 quickstart.py FOLDER     with copies of the Markdown in FOLDER; FOLDER itself stays as it is
"""

import argparse
import io
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

CLONE = Path(__file__).resolve().parent
ENVIRONMENT = CLONE / ".venv"

sys.path.insert(0, str(CLONE))
from scripts import newer_python

newer_python.require()

from scripts.markdown_copy import SUFFIXES, Copies, copy_markdown
from scripts.virtual_environment import SetupFailed, make_ready, script_of

SAMPLE_QUERIES = ("why were customers charged twice", "密钥轮换后解密失败", "overlapping reservations")
MORE_COMMANDS = (
    ("search", "max_connections", "--kind", "fact"),
    ("search", "连接池", "--project", "shop"),
    ("search", "E0308", "--since", "2026-02", "--explain"),
    ("show", "areas/projects/shop/summary.md"),
    ("show", "sample-1f3c9a52"),
    ("install", "claude-code", "--dry-run"),
    ("doctor",),
)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.{1,200})$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
Commands = Sequence[Sequence[str]]  # words after `memtool --vault PATH`


def main(arguments: list[str]) -> int:
    """Do it all; return the exit code."""
    options = parse(arguments)
    started_at = time.monotonic()
    try:
        folder = options.folder and existing_folder(options.folder)
        vault = Path(options.vault or CLONE / ("my-memory" if folder else "sample-memory")).expanduser().absolute()
        make_ready(ENVIRONMENT, CLONE)
        memtool = script_of(ENVIRONMENT, "memtool")
        queries, more = fill_from(folder, vault) if folder else fill_with_samples(vault)
        run(memtool, "init", vault)
        if not folder:
            run(memtool, "--vault", vault, "capture", *sorted((CLONE / "sample_sessions").glob("*.jsonl")))
        run(memtool, "--vault", vault, "index")
        for query in queries:
            run(memtool, "--vault", vault, "search", query, "--limit", "3")
    except SetupFailed as error:
        print(f"\nThe quickstart stopped: {error}", file=sys.stderr)
        return 1
    print(f"\nDone in {time.monotonic() - started_at:.0f} s.\n")
    print(what_next(memtool, vault, more))
    return 0


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options; end the process where they make no sense."""
    parser = argparse.ArgumentParser("quickstart.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="notes of your own; they are copied, not changed")
    parser.add_argument("--vault", metavar="PATH", help="where to make the vault (default: a folder in this clone)")
    return parser.parse_args(arguments)


def existing_folder(name: str) -> Path:
    """Return the folder that the user named."""
    folder = Path(name).expanduser().resolve()
    if not folder.is_dir():
        raise SetupFailed(f"there is no folder '{name}'.")
    return folder


def fill_with_samples(vault: Path) -> tuple[tuple[str, ...], Commands]:
    """Fill *vault* with the sample vault and memtool's documents; return queries and commands for them."""
    docs = CLONE / "docs"
    make_private(vault)
    say(copy_markdown(CLONE / "sample_vault", vault, suffixes=(*SUFFIXES, ".json", ".toml")), "the sample vault")
    quoting = [docs / "privacy.md", docs / "vault-format.md"]  # secrets and notes, as examples
    generated = [docs / "account.md"]
    # Below notes/ and not in a project called memtool: a search in this clone would leave the sample's projects out.
    documents = copy_markdown(docs, vault / "notes" / "memtool", passed_over=[docs / "decisions", *generated, *quoting])
    say(documents, "memtool's documents")
    return SAMPLE_QUERIES, MORE_COMMANDS


def fill_from(folder: Path, vault: Path) -> tuple[tuple[str, ...], Commands]:
    """Fill *vault* with copies of the Markdown in *folder*; return queries and commands drawn from it."""
    if folder.is_relative_to(vault.resolve()):
        raise SetupFailed(f"'{folder}' lies in the vault already.")
    make_private(vault)
    # Below notes/, because a folder may be called daily or .git, which mean something at the top of a vault.
    copies = copy_markdown(folder, vault / "notes" / (folder.name.lstrip(".") or "all"), passed_over=[vault.resolve()])
    say(copies, str(folder))
    if not copies.paths:
        raise SetupFailed(f"there is no Markdown in '{folder}'.")
    queries = queries_from(copies.paths)
    some_note = copies.paths[0].relative_to(vault).as_posix()
    return queries, (("search", queries[0], "--explain"), ("show", some_note, "--level", "0"), ("doctor",))


def make_private(vault: Path) -> None:
    """Make the folder *vault*, for its owner only."""
    try:
        vault.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SetupFailed(f"cannot make '{vault}': {error.strerror}.") from None


def say(copies: Copies, source: str) -> None:
    """Say what was copied and what was not."""
    print(f"Markdown from {source}: {copies.new} new, {len(copies.paths)} in all")
    if copies.different:
        print(f"  not overwritten, because the vault's copy differs: {copies.different}")
    for sentence in copies.left_out[:5]:
        print(f"  {sentence}")
    if len(copies.left_out) > 5:
        print(f"  and {len(copies.left_out) - 5} more were left out")


def queries_from(paths: list[Path]) -> tuple[str, ...]:
    """Return up to two headings of the notes at *paths* to search for: one without and one with CJK."""
    some = paths[:: max(1, len(paths) // 200)]
    headings = [heading for path in some for heading in headings_of(path.read_text(encoding="utf-8", errors="replace"))]
    western = [heading for heading in headings if not CJK.search(heading)]
    eastern = [heading for heading in headings if CJK.search(heading)]
    chosen = [max(group, key=len) for group in (western, eastern) if group]
    return tuple(chosen) or (some[0].stem,)


def headings_of(text: str) -> list[str]:
    """Return the headings of *text* that say enough to be searched for and fit on a line."""
    plain = (re.sub(r"[^\w\s.#+/'’-]+", " ", match[1]) for match in HEADING.finditer(CODE_BLOCK.sub("", text)))
    headings = (" ".join(heading.split()).strip(" -.#+/'") for heading in plain)
    return [heading for heading in headings if (3 if CJK.search(heading) else 8) <= len(heading) <= 48]


def run(memtool: Path, *words: str | Path) -> None:
    """Show a memtool command and run it."""
    print(f"\n$ {command_line(memtool, *words)}", flush=True)
    if subprocess.call([str(word) for word in (memtool, *words)]):
        raise SetupFailed("the command above failed.")


def what_next(memtool: Path, vault: Path, more: Commands) -> str:
    """Return commands to go on with, which can be pasted as they are, and how to undo it all."""
    lines = [command_line(memtool, "--vault", vault, *words) for words in more]
    python = "py" if os.name == "nt" else "python3"
    lines += [command_line(memtool, "--help"), command_line(python, CLONE / "quickstart.py", "FOLDER_OF_YOUR_NOTES")]
    made = [ENVIRONMENT, *([vault] if vault.is_relative_to(CLONE) else [])]
    return "\n".join(
        [
            "Try next:",
            *(f"  {line}" for line in lines),
            "The vault is plain Markdown: change it with any editor and search again.",
            f"To undo it all, delete {' and '.join(command_line(path) for path in made)}.",
        ]
    )


def command_line(*words: str | Path) -> str:
    """Return *words* as one line that the user's shell takes as it is, with paths as seen from here."""
    plain = [shown(word) if isinstance(word, Path) else word for word in words]
    return subprocess.list2cmdline(plain) if os.name == "nt" else shlex.join(plain)


def shown(path: Path) -> str:
    """Return *path* from the current folder if it lies below it, else in full."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # not every terminal can show every file name
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
