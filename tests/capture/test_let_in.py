"""What the gate lets in of invented sessions: every line that a colleague would write, and nothing that nobody said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from capture.inventions import INVENTED
from capture.talk import TALKS, talk

from memtool.capture.gate import Gate
from memtool.capture.model_note import parse_note
from memtool.capture.turns import Turn, turns_of
from memtool.vault.sessions import Line

COLLEAGUE = {
    "payment_zh": {
        "title": "支付回调超时已修复：公钥缓存 2 小时，P99 降到 86 毫秒",
        "summary": "回调超时的原因是 DNS 解析慢；公钥缓存 2 小时后 P99 从 5.1 秒降到 86 毫秒，412 笔订单还没有补。",
        "decisions": [
            {"turn": 4, "text": "用方案 1：缓存平台公钥，缓存时间 2 小时", "why": "平台换证书只提前 4 小时通知", "not": "12 小时"},
            {"turn": 6, "text": "补单走 OrderService 的补单接口 /internal/orders/{id}/reconcile，而且要能 dry-run"},
            {"turn": 8, "text": "9 笔金额对不上的我让财务看"},
        ],
        "rules": [
            {"turn": 8, "quote": "以后写脚本操作线上数据一律先 dry-run"},
            {"turn": 7, "quote": "不要直接改库"},
        ],
        "fixes": [
            {
                "turn": 4, "error": "CertClientTest.refreshesAfterExpiry 失败",
                "cause": "用 `System.currentTimeMillis()` 没法模拟过期", "change": "改成注入 `Clock`", "proof": "6 个用例全部通过",
            },
        ],
        "findings": [
            {"turn": 2, "text": "验签前要请求公钥地址，`CertClient` 每次都重新解析域名，DNS 解析要将近 5 秒"},
            {"turn": 2, "text": "317 次超时和行锁没有关系"},
            {"turn": 2, "text": "3 月 9 日机房换了 DNS 服务器 10.8.0.53"},
        ],
        "open": [{"turn": 8, "text": "还没有执行 `--apply`，等财务核对完 9 笔"}],
        "commands": [{"turn": 4, "run": "mvn -q test -Dtest=CertClientTest"}],
        "files": ["CertClient.java", "scripts/repair_orders.py"],
    },
    "ranking_en": {
        "title": "Docs search: guides rank above the changelog, MRR 0.76",
        "summary": "Changelog, release notes and blog are down-weighted to 0.2 and \"sso\" is found; Japanese is not indexed.",
        "decisions": [
            {"turn": 2, "text": "Changelog, release notes and blog are down-weighted by boostDocument with 0.2", "not": "0.3"},
            {"turn": 8, "text": "`fuzzy` only for terms of 5+ letters", "why": "nearly no cost", "not": "`fuzzy: 0.2` for every term"},
            {"turn": 10, "text": "The index build hooks into the existing docs-deploy.yml, cached by content hash",
             "not": "a new workflow file"},
            {"turn": 6, "text": "Expand synonyms instead of replacing them"},
        ],
        "rules": [{"turn": 9, "quote": "no new workflow file please"}],
        "fixes": [
            {"turn": 2, "error": "Cannot read properties of undefined (reading 'type')",
             "cause": "MiniSearch only keeps what is listed in `storeFields`", "change": "added it in `search/build.ts`",
             "proof": "npm run search:eval"},
            {"turn": 10, "error": "cache key too long (max 512)", "cause": "the list of files was the cache key",
             "change": "hashing it", "proof": "act -j docs"},
        ],
        "findings": [
            {"turn": 5, "text": "Refuted: `minLength` drops three-letter words; it applies only to query suggestions"},
            {"turn": 4, "text": "`synonyms.json` maps \"sso\" to \"single sign-on\" and the query replaced the term"},
            {"turn": 1, "text": "Changelog pages are long and mention every feature, so their term frequency dominates"},
            {"turn": 10, "text": "A cached run takes 11 s instead of 94 s"},
        ],
        "open": [
            {"turn": 12, "text": "The Japanese docs are not indexed; they need `Intl.Segmenter`"},
            {"turn": 12, "text": "`synonyms.json` has 14 entries that point to pages that no longer exist"},
        ],
        "commands": [{"turn": 2, "run": "npm run search:eval"}, {"turn": 10, "run": "act -j docs"}],
        "files": ["search/index.config.ts", "docs-deploy.yml"],
    },
}  # fmt: skip
NAMES = sorted(path.stem for path in TALKS.glob("*.txt"))


def turns(folder: Path, name: str) -> list[Turn]:
    return turns_of(talk(folder, name).steps)


def lines(folder: Path, name: str) -> tuple[Line, ...]:
    return parse_note(json.dumps(COLLEAGUE[name]), turns(folder, name)).lines


@pytest.mark.parametrize("name", COLLEAGUE)
def test_what_a_colleague_would_write_is_let_in(tmp_path: Path, name: str) -> None:
    answer = COLLEAGUE[name]
    written = [item for each in answer.values() if isinstance(each, list) for item in each if isinstance(item, dict)]
    kept = lines(tmp_path, name)
    assert [item for item in written if not any(_is_in(item, line.text) for line in kept)] == []
    draft = parse_note(json.dumps(answer), turns(tmp_path, name))
    assert (draft.title, draft.summary) == (answer["title"], answer["summary"])
    assert list(draft.files) == answer["files"]


def _is_in(item: dict[str, object], text: str) -> bool:
    parts = [str(part) for key, part in item.items() if key != "turn"]
    return all(part.removeprefix("Refuted: ").rstrip("。.") in text for part in parts)


@pytest.mark.parametrize("name", COLLEAGUE)
def test_what_the_user_chose_is_theirs(tmp_path: Path, name: str) -> None:
    decisions = [line for line in lines(tmp_path, name) if line.role == "decision"]
    assert len(decisions) == len(COLLEAGUE[name]["decisions"])
    assert [line.text for line in decisions if line.author != "user"] == []


def test_hardly_anything_that_nobody_said_is_let_in(tmp_path: Path) -> None:
    offered = let_in = 0
    for name in NAMES:
        session = turns(tmp_path, name)
        gate = Gate(session)
        found = [gate.fault(text, number) for number in range(1, len(session) + 1) for text in INVENTED]
        offered, let_in = offered + len(found), let_in + found.count("")
    assert offered > 1_000
    assert let_in <= 0.01 * offered
