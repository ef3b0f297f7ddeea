"""Tags for a statement: the areas that its words name beyond doubt."""

from __future__ import annotations

from memtool.capture.extractive.cue_words import TRADITIONAL
from memtool.index.text import fold, words_of

MOST = 2
_AREAS: dict[str, tuple[str, str]] = {  # words, and pieces of text in scripts without spaces
    "auth": (
        "auth authentication authorization jwt oauth oauth2 login sso oidc saml csrf",
        "认证|鉴权|登录|ログイン|認証|로그인|인증",
    ),
    "database": (
        "postgres postgresql mysql sqlite mariadb mongodb prisma sqlalchemy alembic sql",
        "数据库|データベース|데이터베이스",
    ),
    "cache": ("redis memcached cache caching lru", "缓存|キャッシュ|캐시"),
    "docker": ("docker dockerfile podman", "镜像构建"),
    "kubernetes": ("kubernetes k8s kubectl helm", ""),
    "ci": ("ci github-actions gitlab-ci jenkins", "流水线|持续集成"),
    "frontend": ("react vue svelte css tailwind vite nextjs webpack jsx tsx", "前端|フロントエンド"),
    "api": ("graphql openapi swagger grpc webhook webhooks", "接口文档"),
    "testing": ("pytest jest vitest playwright cypress junit hypothesis mocks", "单元测试|集成测试"),
    "security": ("xss cve sanitize vulnerability vulnerabilities tls encryption", "安全漏洞|加密"),
    "performance": ("latency throughput p95 p99 profiling benchmark", "性能|延迟|パフォーマンス|성능"),
    "i18n": ("i18n localization l10n", "国际化|翻译"),
    "telemetry": ("telemetry opentelemetry otel", "链路追踪"),
    "queue": ("kafka rabbitmq celery sqs", "消息队列"),
}
_BY_WORD = {word: tag for tag, (words, _) in _AREAS.items() for word in words.split()}
_BY_PIECE = {
    piece.translate(TRADITIONAL): tag for tag, (_, pieces) in _AREAS.items() for piece in pieces.split("|") if piece
}


def tags_of(text: str) -> tuple[str, ...]:
    """Return at most MOST tags of *text*, sorted; none is no loss."""
    found = {_BY_WORD[word] for word in words_of(text) & _BY_WORD.keys()}
    if not text.isascii():
        plain = fold(text).translate(TRADITIONAL)
        found |= {tag for piece, tag in _BY_PIECE.items() if piece in plain}
    return tuple(sorted(found)[:MOST])
