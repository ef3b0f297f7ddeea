"""Webhooks of git hosts: whether a message that a remote has changed comes from who knows the secret. Pure.

GitHub, Gitea and Forgejo sign the body with HMAC-SHA256 (`X-Hub-Signature-256: sha256=…`), GitLab sends the secret
itself (`X-Gitlab-Token`). What the body says does not matter, so that a message that is sent again does no harm.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

SHORTEST_SECRET = 16  # characters


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether whoever sent *body* knows *secret*. Names of *headers* are in small letters."""
    if len(secret) < SHORTEST_SECRET:
        return False
    key = secret.encode()
    if signature := headers.get("x-hub-signature-256"):
        wanted = "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(signature.encode("latin-1", "replace"), wanted.encode())
    return hmac.compare_digest(headers.get("x-gitlab-token", "").encode("latin-1", "replace"), key)
