"""Run the tests against memtool as others install it.

python scripts/check_installed.py lowest    with the lowest versions that pyproject.toml allows (by uv)
python scripts/check_installed.py wheel     from the built wheel, without the package's folder in sight

Other arguments go to pytest. CI of a forge runs both; `check.py` does not.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

CLONE = Path(__file__).resolve().parents[1]
EXTRAS = "dev-all"
# Tests that look at the sources, or make an environment of their own.
OF_THE_CLONE = (
    "test_packaging.py", "test_imports.py", "test_reference.py", "test_quickstart.py", "test_plugin.py",
    "test_containers.py",
)  # fmt: skip

sys.path.insert(0, str(CLONE))
from scripts.virtual_environment import python_of


def main(arguments: list[str]) -> int:
    """Install memtool into a new environment as the first of *arguments* says, and return what pytest returns."""
    ways = {"lowest": _lowest, "wheel": _wheel}
    if not arguments or arguments[0] not in ways:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="memtool check ") as folder:
        environment = Path(folder) / "environment"
        venv.create(environment, with_pip=True)
        python = python_of(environment)
        tree = Path(folder) / "clone"
        shutil.copytree(CLONE, tree, ignore=shutil.ignore_patterns(".venv*", ".git", ".*_cache", "__pycache__"))
        ignored = ways[arguments[0]](python, tree)
        options = ["-n", "auto", *(f"--ignore=tests/{name}" for name in ignored), *arguments[1:]]
        return subprocess.call([python, "-m", "pytest", *options], cwd=tree)


def _lowest(python: Path, tree: Path) -> tuple[str, ...]:
    _run(python, "-m", "pip", "install", "-q", "uv", cwd=tree)
    options = ("--python", python, "--resolution", "lowest-direct")
    _run(python, "-m", "uv", "pip", "install", "-q", *options, "--editable", f".[{EXTRAS}]", cwd=tree)
    return ()


def _wheel(python: Path, tree: Path) -> tuple[str, ...]:
    _run(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tree / "dist", ".", cwd=tree)
    wheel = next((tree / "dist").glob("*.whl"))
    _run(python, "-m", "pip", "install", "-q", f"{wheel}[{EXTRAS}]", cwd=tree)
    shutil.rmtree(tree / "memtool")
    return OF_THE_CLONE


def _run(*command: str | Path, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
