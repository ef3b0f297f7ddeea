from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from desk import NOW

from memtool.errors import MemtoolError, ProviderFailed
from memtool.llm import Answer, Request, call_log as call_log_module
from memtool.llm.call_log import BudgetSpent, CallLog, Usage, usage
from memtool.vault.layout import Vault

REQUEST = Request("s" * 200, "p" * 200)  # 100 tokens
ANSWER = Answer("text", "claude", "small", 90, 10, 0.002)


def path_of(vault: Vault) -> Path:
    return vault.state_path / "model-calls.jsonl"


def spend(
    ledger: CallLog, outcome: Answer | MemtoolError = ANSWER, at: datetime = NOW, provider: str = "claude"
) -> None:
    call = ledger.begin(provider, REQUEST, "summary", at)
    ledger.end(call, outcome, 1.5, failure="" if isinstance(outcome, Answer) else str(outcome))


@pytest.mark.slow
def test_usage_is_summed_per_day_and_provider(vault: Vault) -> None:
    ledger = CallLog(vault, 0)
    spend(ledger, at=NOW - timedelta(days=1))
    spend(ledger)
    spend(ledger)
    spend(ledger, ANSWER._replace(cost_usd=None), provider="openai")
    assert usage(vault) == [
        Usage("2026-02-10", "claude", 2, 0, 180, 20, 0.004),
        Usage("2026-02-10", "openai", 1, 0, 90, 10, None),
        Usage("2026-02-09", "claude", 1, 0, 90, 10, 0.002),
    ]


@pytest.mark.slow
def test_each_call_is_a_line_that_says_all(vault: Vault) -> None:
    spend(CallLog(vault, 0))
    last = json.loads(path_of(vault).read_text().splitlines()[-1])
    assert last | {"id": ""} == {
        "id": "", "at": "2026-02-10T14:30:00+08:00", "provider": "claude", "purpose": "summary", "model": "small",
        "input_tokens": 90, "output_tokens": 10, "cost_usd": 0.002, "seconds": 1.5, "failure": "",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_the_ledger_is_for_its_owner_only(vault: Vault) -> None:
    spend(CallLog(vault, 0))
    assert path_of(vault).stat().st_mode & 0o777 == 0o600


def test_a_call_is_counted_before_it_is_made(vault: Vault) -> None:
    CallLog(vault, 0).begin("claude", REQUEST, "summary", NOW)  # and then the process is killed
    assert usage(vault) == [Usage("2026-02-10", "claude", 1, 1, 100, 0, None)]


def test_the_budget_counts_what_was_taken_and_what_a_call_will_take(vault: Vault) -> None:
    ledger = CallLog(vault, 250)
    spend(ledger)  # 100
    spend(ledger)  # 200
    with pytest.raises(BudgetSpent, match="200, and this takes 100"):
        ledger.begin("claude", REQUEST, "summary", NOW)
    assert len(usage(vault)) == 1
    assert usage(vault)[0].calls == 2


def test_a_new_day_has_a_new_budget(vault: Vault) -> None:
    ledger = CallLog(vault, 150)
    spend(ledger)
    with pytest.raises(BudgetSpent):
        spend(ledger)
    spend(ledger, at=NOW + timedelta(days=1))


def test_a_day_is_a_local_one(vault: Vault) -> None:
    ledger = CallLog(vault, 150)
    spend(ledger, at=datetime(2026, 2, 10, 23, 59, tzinfo=timezone(timedelta(hours=8))))
    spend(ledger, at=datetime(2026, 2, 11, 0, 1, tzinfo=timezone(timedelta(hours=8))))  # the same day in UTC
    assert [row.day for row in usage(vault)] == ["2026-02-11", "2026-02-10"]


def test_a_failure_that_cost_nothing_takes_nothing_from_the_budget(vault: Vault) -> None:
    ledger = CallLog(vault, 150)
    for _ in range(3):
        spend(ledger, ProviderFailed("nobody is there"))
    spend(ledger)
    assert usage(vault) == [Usage("2026-02-10", "claude", 4, 3, 90, 10, 0.002)]


ODD: tuple[dict[str, object], ...] = (
    {"input_tokens": "1"}, {"input_tokens": -1}, {"output_tokens": 1e300}, {"at": "yesterday"}, {"at": 7}, {"id": []},
    {"cost_usd": "free"}, {"cost_usd": float("nan")}, {"provider": None}, {"seconds": True}, {"more": 1},
)  # fmt: skip


@pytest.mark.slow
def test_broken_lines_are_passed_over(vault: Vault) -> None:
    spend(CallLog(vault, 0))
    good = path_of(vault).read_bytes().splitlines()[-1]
    broken = [b"", b"{", b"[]", b"7", b"null", b"\xff\xfe", b"{}", b"[" * 100_000, good[:-7]]
    odd = [json.dumps(json.loads(good) | {"id": "x"} | changed).encode() for changed in ODD]
    path_of(vault).write_bytes(b"\n".join([*broken, *odd, good, b'{"id": "half']))
    assert usage(vault) == [Usage("2026-02-10", "claude", 1, 0, 90, 10, 0.002)]


def test_what_a_crash_cut_off_does_not_swallow_the_next_call(vault: Vault) -> None:
    ledger = CallLog(vault, 0)
    spend(ledger)
    with path_of(vault).open("ab") as file:
        file.write(b'{"id": "half')
    spend(ledger)
    assert usage(vault)[0].calls == 2


def test_without_a_ledger_there_is_no_call(vault: Vault) -> None:
    path_of(vault).mkdir(parents=True)
    with pytest.raises(BudgetSpent, match="cannot be kept"):
        CallLog(vault, 0).begin("claude", REQUEST, "summary", NOW)


def test_a_full_disk_is_told_and_leaves_no_half_line(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = CallLog(vault, 0)
    spend(ledger)
    before = path_of(vault).read_bytes()
    with _full_disk(monkeypatch), pytest.raises(BudgetSpent, match="cannot be kept"):
        ledger.begin("claude", REQUEST, "summary", NOW)
    assert path_of(vault).read_bytes() == before


@pytest.mark.slow
def test_an_end_that_cannot_be_written_leaves_the_estimate(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = CallLog(vault, 0)
    call = ledger.begin("claude", REQUEST, "summary", NOW)
    with _full_disk(monkeypatch):
        ledger.end(call, ANSWER, 1.0)
    assert usage(vault) == [Usage("2026-02-10", "claude", 1, 1, 100, 0, None)]


@contextlib.contextmanager
def _full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A disk that takes three more bytes of a line."""
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, line: write(handle, line[:3]))
        yield


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need a privilege there")
def test_a_vault_does_not_choose_where_the_ledger_lies(vault: Vault, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("")
    vault.state_path.mkdir(exist_ok=True)
    path_of(vault).symlink_to(elsewhere)
    with pytest.raises(BudgetSpent):
        CallLog(vault, 0).begin("claude", REQUEST, "summary", NOW)
    assert elsewhere.read_text() == ""
    assert usage(vault) == []


@pytest.mark.slow
def test_a_large_ledger_forgets_the_oldest_and_nothing_of_the_day(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_log_module, "MAX_BYTES", 4_000)
    ledger = CallLog(vault, 0)
    for day in range(20, 0, -1):
        spend(ledger, at=NOW - timedelta(days=day))
    for _ in range(20):
        spend(ledger)
    rows = usage(vault)
    assert rows[0] == Usage("2026-02-10", "claude", 20, 0, 1800, 200, pytest.approx(0.04))  # type: ignore[arg-type]
    assert len(rows) < 10
    assert rows[1:] == sorted(rows[1:], key=lambda row: row.day, reverse=True)


_SPENDER = """
import sys
from datetime import datetime, timezone
from pathlib import Path
from memtool.llm import Answer, Request
from memtool.llm.call_log import BudgetSpent, CallLog
from memtool.vault.layout import Vault
ledger, made = CallLog(Vault(Path(sys.argv[1])), 1000), 0
at = datetime(2026, 2, 10, tzinfo=timezone.utc)
for _ in range(5):
    try:
        call = ledger.begin("claude", Request("s" * 200, "p" * 200), "summary", at)
    except BudgetSpent:
        continue
    ledger.end(call, Answer("", "claude", "m", 90, 10), 0.0)
    made += 1
print(made)
"""


@pytest.mark.slow
def test_several_processes_do_not_spend_more_than_there_is(vault: Vault) -> None:
    command = [sys.executable, "-c", _SPENDER, str(vault.root)]
    running = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        )
        for _ in range(4)
    ]
    made = sum(int(process.communicate()[0]) for process in running)
    assert made == 10
    assert usage(vault) == [Usage("2026-02-10", "claude", 10, 0, 900, 100, None)]
