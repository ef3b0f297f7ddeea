from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.processes import Failed, run


@pytest.mark.slow
def test_a_run_prints_a_table_writes_json_and_keeps_vaults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--sizes", "10,20", "--only", "first-index,process", "--repeat", "1"]
    main([*given, "--keep", str(tmp_path), "--json", str(tmp_path / "answer.json")])
    table = capsys.readouterr().out
    rows = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["rows"]
    assert len(rows) == len(table.strip().split("\n")) - 2
    assert {row["notes"] for row in rows} == {10, 20, 0}
    assert {row["unit"] for row in rows} == {"s", "ms", "MB"}
    assert (tmp_path / "vault-20").is_dir()


def test_a_process_that_fails_is_not_taken_for_a_fast_one() -> None:
    with pytest.raises(Failed, match="ended with 3"):
        run([sys.executable, "-c", "raise SystemExit(3)"], {})
