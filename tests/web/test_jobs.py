from __future__ import annotations

import threading
from typing import Any

import pytest
from fastapi.testclient import TestClient

from memtool.web.state_api import Jobs, ReportProgress


def ended(jobs: Jobs, job: dict[str, Any]) -> dict[str, Any]:
    for thread in threading.enumerate():
        if thread.name == f"memtool-{job['name']}":
            thread.join(20)
    return jobs.get(job["id"])


def test_a_job_that_meets_a_bug_fails_is_logged_and_lets_the_next_one_start(caplog: pytest.LogCaptureFixture) -> None:
    def work(_tell: ReportProgress) -> dict[str, Any]:
        raise KeyError("支付")

    jobs = Jobs()
    job = ended(jobs, jobs.start("import", work))
    assert (job["state"], job["problem"]["detail"]) == ("failed", "this is a bug in memtool: KeyError.")
    (record,) = caplog.records
    assert (record.name, "KeyError: '支付'" in caplog.text) == ("uvicorn.error", True)
    assert ended(jobs, jobs.start("import", lambda _tell: {"added": []}))["state"] == "done"


def test_an_unknown_job_is_named_as_a_job(client: TestClient) -> None:
    answer = client.get("/jobs/none")
    problem = answer.json()
    assert (answer.status_code, problem["detail"]) == (404, "there is no job 'none'.")
    assert "memtool search" not in problem["hint"]
