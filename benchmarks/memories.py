# ruff: noqa: E501  (a memory a line)
"""The ranking of `memory_search`, measured: labelled questions over facts, notes and typed prompts, in two languages.

`python -m benchmarks.memories` prints, for the ranking as it is and without each of its weights, how often the best
answer comes first, and its mean reciprocal rank. The questions say what somebody wants; nothing was tuned to them.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from memtool.history.template import make_vault
from memtool.memory import search
from memtool.memory.remember import remember
from memtool.memory.search import search_memories
from memtool.recall.answers import likelihood
from memtool.settings import Settings
from memtool.settings.sections import EmbeddingSettings
from memtool.vault.memory import NewMemory
from memtool.workspace import Workspace

NOW = dt.datetime(2026, 2, 10, 14, 30, tzinfo=dt.UTC)
LIMIT = 20


class Known(NamedTuple):
    """A thing that memory holds, known in the questions by *key*; *kind* is `fact`, `note` or `prompt`."""

    key: str
    kind: str
    days: int
    category: str
    text: str


KNOWN = [
    Known("port-new", "fact", 3, "configuration", "The billing service listens on port 8444."),
    Known("port-note", "note", 200, "knowledge", "# Ports\n\nIn the summer the billing service ran on port 7000; ports are given out by Anna."),
    Known("port-asked", "prompt", 1, "", "which port does the billing service listen on?"),
    Known("tabs", "fact", 400, "preference", "I prefer tabs over spaces in Go and four spaces in Python."),
    Known("tabs-said", "prompt", 5, "", "convert the tabs in main.go to spaces please"),
    Known("ulid", "fact", 60, "decision", "Order ids are ULIDs, because they sort by time."),
    Known("ulid-note", "note", 61, "knowledge", "# Ids\n\nUUIDs, ULIDs and snowflake ids were compared; order ids need to sort by time."),
    Known("ulid-asked", "prompt", 59, "", "add ULID order ids to the importer"),
    Known("deploy", "note", 30, "knowledge", "# Deploying\n\nRun `make release`, wait for the canary, then `make promote`. A rollback is `make rollback`."),
    Known("deploy-rule", "fact", 90, "decision", "Nothing is deployed on a Friday."),
    Known("deploy-asked", "prompt", 2, "", "deploy the web shop to staging and tell me when the canary is green"),
    Known("db", "fact", 100, "architecture", "The shop keeps its orders in PostgreSQL 16, the search in OpenSearch."),
    Known("db-slow", "note", 20, "knowledge", "# Slow orders page\n\nThe orders page was slow because PostgreSQL lacked an index on created_at."),
    Known("clock", "fact", 10, "bug", "Tests of auth fail with clock skew unless leeway is 30 seconds."),
    Known("clock-typed", "prompt", 10, "", "pytest tests/auth fails with clock skew again, why?"),
    Known("webhook", "note", 7, "knowledge", "# Webhooks\n\nStripe webhooks are verified by their signature with the secret in the vault."),
    Known("webhook-bug", "fact", 6, "bug", "Stripe webhooks failed because the body was parsed before its signature was verified."),
    Known("mail", "fact", 300, "identity", "My name is Lin Wei and my mail is lin@example.org."),
    Known("review", "fact", 250, "preference", "Pull requests have at most 300 lines and one reviewer."),
    Known("review-old", "prompt", 3, "", "review this pull request, it has 1200 lines"),
    Known("cache", "note", 45, "knowledge", "# Cache\n\nRedis holds sessions for a day. Product pages are cached for five minutes."),
    Known("cache-decided", "fact", 44, "decision", "Product pages are cached for five minutes and not longer, because of prices."),
    Known("解密", "fact", 15, "bug", "解密失败是因为密钥轮换，错误码 E0308。"),
    Known("解密-笔记", "note", 400, "knowledge", "# 加密\n\n数据用 AES-GCM 加密，密钥每季度轮换一次，解密在网关里做。"),
    Known("解密-问", "prompt", 14, "", "为什么解密失败 E0308？"),
    Known("部署", "fact", 33, "decision", "数据库迁移在部署之前单独执行。"),
    Known("缩进", "fact", 500, "preference", "我写 Python 用四个空格缩进，不用制表符。"),
    Known("订单", "note", 12, "knowledge", "# 订单导出\n\n订单导出每天凌晨两点运行，文件放在对象存储。"),
    Known("订单-问", "prompt", 1, "", "订单导出今天为什么没有运行"),
    Known("standup-old", "fact", 420, "general", "The daily standup is at 9:30 in room Oslo."),
    Known("standup", "fact", 20, "general", "The daily standup is at 10:00, by video."),
    Known("node-old", "note", 380, "knowledge", "# Node\n\nThe web shop is built with Node 18 and npm."),
    Known("node", "note", 25, "knowledge", "# Toolchain\n\nThe web shop is built with Node 24 and pnpm."),
    Known("pager", "prompt", 2, "", "add Jun to the pager rotation of payments, Mia leaves it"),
    Known("pager-old", "prompt", 150, "", "add Mia to the pager rotation of payments"),
    Known("值班-旧", "fact", 300, "general", "值班每周一交接，由老张安排。"),
    Known("值班", "fact", 9, "general", "值班每周三交接，由小李安排。"),
    Known("retry", "note", 70, "knowledge", "# Retries\n\nA failed payment is tried again after 1, 5 and 30 minutes."),
    Known("retry-mail", "note", 40, "knowledge", "# Mails\n\nMails are sent by a queue with retries; retries of mails stop after a day."),
]  # fmt: skip

QUESTIONS: Mapping[str, str] = {
    "which port does billing listen on": "port-new", "who gives out ports": "port-note",
    "do I like tabs or spaces": "tabs", "what did I ask about main.go": "tabs-said",
    "which kind of order ids": "ulid", "why ULIDs": "ulid", "comparison of UUIDs and snowflake ids": "ulid-note",
    "what did I want from the importer": "ulid-asked",
    "how do we deploy": "deploy", "how is a rollback done": "deploy", "deploy on friday": "deploy-rule",
    "deploy to staging": "deploy-asked", "which database holds the orders": "db", "why was the orders page slow": "db-slow",
    "clock skew in auth tests": "clock", "how are stripe webhooks verified": "webhook",
    "why did stripe webhooks fail": "webhook-bug", "what is my mail address": "mail", "my name": "mail",
    "how large may a pull request be": "review", "how many reviewers": "review",
    "how long are product pages cached": "cache-decided", "where are sessions kept": "cache",
    "解密失败的原因": "解密", "E0308": "解密", "密钥多久轮换": "解密-笔记", "数据库迁移什么时候执行": "部署",
    "when is the standup": "standup", "node version of the web shop": "node", "pager rotation of payments": "pager",
    "值班什么时候交接": "值班", "retries": "retry", "webhooks": "webhook", "cache": "cache", "deploying": "deploy",
    "加密": "解密-笔记", "retries of mails": "retry-mail", "订单导出": "订单",
    "Python 缩进": "缩进", "订单导出几点运行": "订单", "导出的文件放在哪里": "订单",
}  # fmt: skip

# What a run without a weight puts in its place: the shares that are left keep their proportions.
WITHOUT: Mapping[str, Mapping[str, object]] = {
    "as it is": {},
    "without category": {"CATEGORY": 0.0},
 "without recency": {"RECENCY": 0.0},
    "without source": {"SOURCE": {"fact": 1.0, "note": 1.0, "history": 1.0}},
    "fact as note": {"SOURCE": {"fact": 1.0, "note": 1.0, "history": 0.6}},
    "relevance alone": {"CATEGORY": 0.0, "RECENCY": 0.0,
                        "SOURCE": {"fact": 1.0, "note": 1.0, "history": 1.0}},
}  # fmt: skip


def furnished(folder: Path) -> Workspace:
    """Return a workspace below *folder* whose memory holds `KNOWN`."""
    vault = make_vault(folder / "vault", home=folder).vault
    settings = Settings(embeddings=EmbeddingSettings(provider="none"))
    environ = {"MEMTOOL_CACHE": str(folder / "cache"), "CLAUDE_CONFIG_DIR": str(folder / ".claude")}
    work = Workspace(vault, settings, environ, folder, folder, lambda: NOW, _numbered())
    typed = []
    for one in KNOWN:
        at = NOW - dt.timedelta(days=one.days)
        if one.kind == "prompt":
            typed.append({"display": one.text, "timestamp": int(at.timestamp() * 1000), "project": str(folder)})
        else:
            is_fact = one.kind == "fact"
            given = NewMemory(
                one.text, kind="fact" if is_fact else "knowledge", category=one.category if is_fact else "", project="",
                author="user", force=True,
            )  # fmt: skip
            remember(work._replace(clock=_standing_at(at)), given)
    (folder / ".claude").mkdir()
    (folder / ".claude" / "history.jsonl").write_text("\n".join(map(json.dumps, typed)), encoding="utf-8")
    return work


def _numbered() -> Callable[[int], str]:
    numbers = itertools.count(1)
    return lambda _: f"{next(numbers):010x}"


def _standing_at(moment: dt.datetime) -> Callable[[], dt.datetime]:
    return lambda: moment


def ranks(work: Workspace) -> list[int]:
    """Return at which place the best answer to each question comes; 0 where it does not come."""
    texts = {one.key: _plain(one.text) for one in KNOWN}
    found = []
    for question, key in QUESTIONS.items():
        memories = [one.memory for one in search_memories(work, question, limit=LIMIT).found]
        places = [at for at, each in enumerate(memories, 1) if _plain(each.title + each.text)[:40] == texts[key][:40]]
        found.append(places[0] if places else 0)
    return found


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def main() -> None:
    """Print a line for each way to weigh."""
    with tempfile.TemporaryDirectory() as name:
        work = furnished(Path(name))
        for label, values in WITHOUT.items():
            weights = {name: value for name, value in values.items() if name != "SOURCE"}
            source = {name: value for name, value in values.items() if name == "SOURCE"}
            with patch.dict(vars(search), source), patch.dict(vars(likelihood), weights):
                places = ranks(work)
            first = sum(place == 1 for place in places) / len(places)
            reciprocal = sum(1 / place for place in places if place) / len(places)
            print(f"{label:<18} first {first:.1%}, mean reciprocal rank {reciprocal:.3f}")


if __name__ == "__main__":
    main()
