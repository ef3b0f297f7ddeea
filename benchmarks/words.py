"""Words for synthetic notes, drawn as people use them: a few all the time, most of them hardly ever (Zipf)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from random import Random

_ENGLISH_WORDS = 20_000
_CHINESE_WORDS = 6_000

_FUNCTION_WORDS = (
    "the to a of and is in for that we it not with on as this be when from was are by after but so an or at if "
    "only has have because then before which they all must should can does until there into than more still now"
).split()
_TECHNICAL_WORDS = (
    "test file error user server token cache index query service request branch deploy build table client key "
    "config session database release version commit review timeout retry queue worker login schema migration "
    "backup log module package import path folder note search vector model prompt hook agent memory summary "
    "decision rule fact project team customer payment order invoice report export page form button layout style "
    "component route handler endpoint header cookie password secret rotation encryption signature certificate "
    "proxy gateway balancer cluster node container image volume network port socket stream buffer thread process "
    "lock transaction replica shard partition cursor column row field constraint trigger view procedure function "
    "method class type interface parameter argument variable constant string number boolean array object map "
    "list tree graph edge weight score ranking snippet chunk tokenizer stemmer language script encoding locale "
    "calendar date clock zone schedule job pipeline stage artifact runner coverage linter formatter compiler "
    "debugger profiler benchmark latency throughput memory leak crash dump trace span metric alert dashboard "
    "incident outage rollback hotfix patch upgrade downgrade dependency licence changelog readme tutorial guide "
    "reference glossary diagram draft proposal meeting agenda customer contract pricing budget forecast roadmap "
    "milestone deadline estimate risk owner approval audit policy"
).split()
_SYLLABLES = (
    "ba be bi bo bra cal can cor da del den dis dor en er fa fen flo gra han il in ka kel lan lar len lin lo ma "
    "mar men mi mon na nel nor o par pel per pla pro qua ra ren ri ro sa sel sen sta sul ta tel ter tin tor tra "
    "u val van ver vi"
).split()
_ENDINGS = ("", "", "", "s", "ed", "ing", "ation", "er", "ly", "ment", "able", "al")

_CHINESE_FUNCTION_WORDS = (
    "的 了 是 在 和 我们 不 有 就 要 这个 也 但 因为 所以 如果 可以 需要 已经 没有 对 从 把 被 后 时"
).split()
_CHINESE_TECHNICAL_WORDS = (
    "测试 文件 错误 用户 服务器 令牌 缓存 索引 查询 服务 请求 分支 部署 构建 数据库 客户端 密钥 配置 会话 发布 "
    "版本 提交 评审 超时 重试 队列 登录 迁移 备份 日志 模块 路径 目录 笔记 搜索 向量 模型 记忆 摘要 决策 规则 "
    "事实 项目 团队 支付 订单 报表 页面 组件 接口 密码 加密 解密 失败 证书 代理 集群 节点 容器 网络 端口 线程 "
    "进程 事务 连接池 分片 字段 函数 参数 变量 排序 分词 编码 时区 任务 流水线 覆盖率 延迟 吞吐量 内存泄漏 崩溃 "
    "告警 事故 回滚 补丁 升级 依赖 文档 会议 预算 风险 审计"
).split()
_HANZI = (
    "一人大中上来到国个说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于"
    "起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此"
    "实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使"
    "教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难"
    "神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及"
)
_FOLDERS = ("src", "lib", "app", "pkg", "internal", "web", "tools")
_SUFFIXES = (".py", ".ts", ".go", ".rs", ".sql", ".md", ".toml")


class Deck:
    """Words in the order of their use: the n-th is drawn about n times less often than the first."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(dict.fromkeys(words))
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))  # Zipf and Mandelbrot

    def draw(self, chance: Random, count: int) -> list[str]:
        """Return *count* words, some of them perhaps twice."""
        return chance.choices(self.words, cum_weights=self._weights, k=count)

    def draw_rare(self, chance: Random, count: int) -> list[str]:
        """Return *count* words, every word of the deck being as likely as any other."""
        return chance.choices(self.words, k=count)


@cache
def english() -> Deck:
    """Return the English words: real ones in front, then words that only sound like it."""
    chance = Random("english")
    made = (_made_word(chance) for _ in range(_ENGLISH_WORDS * 2))
    return Deck([*_FUNCTION_WORDS, *_TECHNICAL_WORDS, *made][:_ENGLISH_WORDS])


@cache
def chinese() -> Deck:
    """Return the Chinese words, of one to four characters."""
    chance = Random("chinese")
    made = ("".join(chance.choices(_HANZI, k=chance.choice((2, 2, 2, 3)))) for _ in range(_CHINESE_WORDS))
    return Deck([*_CHINESE_FUNCTION_WORDS, *_CHINESE_TECHNICAL_WORDS, *made])


def identifier(chance: Random) -> str:
    """Return something from code: a name, a path, a version, an error, an issue, a commit."""
    first, second, third = (chance.choice(_TECHNICAL_WORDS) for _ in range(3))
    forms = (
        lambda: f"{first}{second.title()}{third.title()}",
        lambda: f"{first}_{second}",
        lambda: f"{first.title()}{second.title()}Error",
        lambda: f"{chance.choice(_FOLDERS)}/{first}/{second}_{third}{chance.choice(_SUFFIXES)}",
        lambda: f"{first}.{second}()",
        lambda: f"v{chance.randrange(9)}.{chance.randrange(30)}.{chance.randrange(300)}",
        lambda: f"E{chance.randrange(10_000):04}",
        lambda: f"#{chance.randrange(1, 9_000)}",
        lambda: f"{chance.getrandbits(28):07x}",
        lambda: f"{first.upper()}_{second.upper()}={chance.randrange(5_000)}",
    )
    return chance.choice(forms)()


def _made_word(chance: Random) -> str:
    return "".join(chance.choices(_SYLLABLES, k=chance.choice((2, 2, 3, 3, 4)))) + chance.choice(_ENDINGS)
