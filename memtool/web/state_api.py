"""The calls on the state of the service: export and import, the settings, the log, and the jobs.

A job is long work in the background, one at a time: the request that starts it is answered at once, and others ask for
its progress.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from memtool.capture.log import LogEntry, read_log
from memtool.errors import BadSetting, Busy, MemtoolError, UsageError
from memtool.exchange.bundle_import import ADDED, KEPT, MERGED, SAME, import_bundle
from memtool.exchange.documents import JSON, export, parsed
from memtool.history.one_commit import alone, commit, keep_edits
from memtool.index.engine import catch_up
from memtool.install.settings_file import with_value, without_value
from memtool.settings import choices_of, load, shown_value
from memtool.settings.sections import ABOUT
from memtool.vault.files import read_text, replace
from memtool.vault.layout import SETTINGS_FILE
from memtool.web.calls import Limit, Name, Opening, Work, example
from memtool.web.problems import Refusal, problem_of
from memtool.workspace import Workspace

ReportProgress: TypeAlias = Callable[[int, int], None]  # done, in all

_log = logging.getLogger("uvicorn.error")  # where the server logs the bugs that a request meets
RUNNING, DONE, FAILED = "running", "done", "failed"


class Jobs:
    """The jobs of a service: the running one, and the latest that are finished."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, dict[str, Any]] = {}

    def start(self, name: str, task: Callable[[ReportProgress], dict[str, Any]]) -> dict[str, Any]:
        """Begin *task* and return the state of its job.

        Raises:
            Busy: another one is running.
        """
        with self._lock:
            if going := next((job for job in self._jobs.values() if job["state"] == RUNNING), None):
                raise Busy(f"the job '{going['name']}' is running", hint=f"See /jobs/{going['id']}.")
            job = {"id": secrets.token_hex(6), "name": name, "state": RUNNING, "done": 0, "total": 0}
            self._jobs = {**dict(list(self._jobs.items())[-49:]), str(job["id"]): job}
        threading.Thread(target=_run, args=(job, task), daemon=True, name=f"memtool-{name}").start()
        return dict(job)

    def get(self, job_id: str) -> dict[str, Any]:
        """Return the state of a job.

        Raises:
            Refusal: there is none.
        """
        if job_id not in self._jobs:
            hint = "The service remembers its latest jobs since its start."
            raise Refusal(404, f"there is no job '{job_id[:200]}'", hint)
        return dict(self._jobs[job_id])


def _run(job: dict[str, Any], task: Callable[[ReportProgress], dict[str, Any]]) -> None:
    try:
        result = task(lambda done, total: job.update(done=done, total=total))
        job.update(state=DONE, result=result)
    except MemtoolError as error:
        job.update(state=FAILED, problem=problem_of(error))
    except Exception as error:  # noqa: BLE001  (a job that stays "running" would keep all later ones from starting)
        if not isinstance(error, OSError):
            _log.exception("Exception in the job '%s'", job["name"])
        job.update(state=FAILED, problem=problem_of(error))


IMPORT = "/api/data/import"
LARGEST_IMPORT = 64 << 20  # bytes
JOB = {"id": "9f3a1c04be21", "name": "rebuild", "state": "running", "done": 1200, "total": 10000}
_SETTING = {
    "key": "search.limit", "value": 6, "origin": "default", "help": "How many hits to show.", "choices": [],
    "changeable": True,
}  # fmt: skip

router = APIRouter()


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


TheJobs: TypeAlias = Annotated[Jobs, Depends(_jobs)]


def begun(job: dict[str, Any]) -> JSONResponse:
    """Return the answer to a request that began *job*."""
    return JSONResponse(job, 202, headers={"location": f"/jobs/{job['id']}"})


@router.get("/jobs/{job_id}", tags=["service"], openapi_extra=example(JOB))
def job(jobs: TheJobs, job_id: str) -> dict[str, Any]:
    """Return the progress of a job."""
    return jobs.get(job_id)


@router.get(
    "/api/logs",
    tags=["service"],
    openapi_extra=example({"entries": [{"at": "2026-02-10T14:30:00+08:00", "level": "error", "message": "…"}]}),
)
def logs(work: Work, limit: Limit = 50) -> dict[str, Any]:
    """Return the latest entries of the log, newest first."""
    return {"entries": [each._asdict() for each in latest_entries(work)[:limit]]}


def latest_entries(work: Workspace) -> list[LogEntry]:
    """Return the entries of the log of the last thirty days, newest first."""
    return read_log([work.vault.state_path, work.index_folder], work.now() - timedelta(days=30))[::-1]


@router.get("/api/data/export", tags=["sessions"], openapi_extra=example({"format": 1, "facts": [], "notes": []}))
def everything(work: Work, project: Name = "") -> Response:
    """Return all facts and notes as one JSON document, which the import reads."""
    return Response(export(work.vault, JSON, project).content, media_type="application/json")


@router.post(
    IMPORT,
    status_code=202,
    tags=["sessions"],
    openapi_extra=example(JOB | {"name": "import"}, asked={"format": 1, "facts": [], "notes": []}, status=202),
)
async def bring_in(request: Request, work: Work, jobs: TheJobs, *, dry_run: bool = False) -> JSONResponse:
    """Import an export, in the background: add what is missing, change nothing else."""
    content = await request.body()
    return begun(jobs.start("import", lambda report: _imported(work, content, report, dry_run=dry_run)))


def _imported(work: Workspace, content: bytes, report: ReportProgress, *, dry_run: bool) -> dict[str, Any]:
    bundle, problems = parsed(content)
    if not bundle and not problems:
        raise UsageError("the document holds nothing to import", hint="Send a document of GET /api/data/export.")
    report(0, len(bundle))
    done = import_bundle(work, bundle, "a document", dry_run=dry_run)
    if not dry_run:
        catch_up(work)
    report(len(bundle), len(bundle))
    return {
        **{fate: done.of(fate) for fate in (ADDED, MERGED, SAME, KEPT)},
        "refused": [*problems, *done.refused],
        "redacted": dict(done.redacted),
        "dry_run": dry_run,
        "commit": done.kept.commit,
    }


@router.get("/api/settings", tags=["service"], openapi_extra=example({"settings": [_SETTING]}))
def settings(work: Work) -> dict[str, Any]:
    """List the settings in force, where each comes from, and which can be changed here."""
    known = work.settings
    fields = [
        {
            "key": key,
            "value": shown_value(known, key),
            "origin": known.origins.get(key, ""),
            "help": about.help,
            "choices": list(choices_of(key)),
            "changeable": not about.user_only,
        }
        for key, about in ABOUT.items()
    ]
    return {"settings": fields}


@router.post(
    "/api/settings",
    tags=["service"],
    openapi_extra=example({"settings": [_SETTING | {"value": 10}]}, asked={"search.limit": 10}),
)
def change(open_workspace: Opening, asked: dict[str, str | int | bool | list[str] | None]) -> dict[str, Any]:
    """Change settings of the vault; null removes one."""
    try:
        change_settings(open_workspace(None), asked)
    except BadSetting as error:
        raise Refusal(400, str(error).replace(" (command line)", ""), error.hint) from None
    return settings(open_workspace(None))


def change_settings(work: Workspace, wanted: dict[str, Any]) -> None:
    """Write the settings *wanted*, if any, into the vault's file, in one commit.

    Raises:
        BadSetting: one is unknown, has an invalid value, or can be set by the user only.
        MemtoolError: the file cannot be changed.
    """
    for key in wanted:
        if key not in ABOUT or ABOUT[key].user_only:
            reason = "can be set only in your own settings or the environment" if key in ABOUT else "is not a setting"
            raise BadSetting(f"'{key[:100]}' {reason}", hint="GET /api/settings lists those that can be changed.")
    if not wanted:
        return
    load(None, work.environ, wanted)  # which refuses an invalid value
    path = work.vault.settings_path
    with alone(work.vault), work.vault.lock():
        text, expected = read_text(path) if path.exists() else ("", None)
        for key, value in wanted.items():
            text = without_value(text, key) if value is None else with_value(text, key, value)
        keep_edits(work.vault, [SETTINGS_FILE])
        replace(path, text, expected=expected)
        commit(work.vault, [SETTINGS_FILE], "settings", ", ".join(wanted))
