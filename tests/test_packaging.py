"""What travels in the wheel and in the source archive."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

CLONE = Path(__file__).resolve().parent.parent
JUNK = (".memtool", "__pycache__", ".venv", ".git/", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=CLONE, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def unpacked(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked: this is how it lies on a user's machine."""
    folder = tmp_path_factory.mktemp("unpacked wheel")
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder


def tracked(folder: Path) -> set[str]:
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if ".memtool" not in path.parts and "__pycache__" not in path.parts}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vault_template", "sample_vault", "hooks", "rules", "cron"])
def test_the_wheel_carries_the_shipped_folders_whole(name: str, unpacked: Path) -> None:
    assert tracked(unpacked / "memtool" / "_shipped" / name) == tracked(CLONE / name)


@pytest.mark.slow
def test_the_wheel_carries_all_of_the_package(unpacked: Path) -> None:
    shipped = {name for name in tracked(unpacked / "memtool") if not name.startswith("_shipped/")}
    assert shipped == tracked(CLONE / "memtool")
    assert {"py.typed", "vault/facts.schema.json"} <= shipped


@pytest.mark.slow
def test_the_distribution_has_a_name_of_its_own(unpacked: Path) -> None:
    (metadata,) = unpacked.glob("*.dist-info/METADATA")
    assert "\nName: memtool-vault\n" in metadata.read_text(encoding="utf-8")


@pytest.mark.slow
def test_nothing_carries_junk(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel, tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = [*wheel.namelist(), *archive.getnames()]
    assert [name for name in names if any(junk in name for junk in JUNK)] == []


@pytest.mark.slow
def test_the_source_archive_carries_the_tests_and_both_commands(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "quickstart.py",
        "check.py",
        "CHANGELOG.md",
        "LICENSE",
        "docs/README.md",
        "tests/test_packaging.py",
    } <= names


@pytest.mark.slow
def test_memtool_runs_from_the_wheel(unpacked: Path, tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MEMTOOL_")}
    environ |= {"PYTHONPATH": str(unpacked), "HOME": str(tmp_path), "PYTHONUTF8": "1"}
    memtool = [sys.executable, "-c", "from memtool.cli.main import main; main()"]
    for arguments in (["init", "vault"], ["search", "memory", "--vault", "vault", "--json"]):
        ran = subprocess.run(
            [*memtool, *arguments], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
    assert '"hits"' in ran.stdout
