"""Secrets of every kind, to be planted in a session and looked for in its vault. None of them ever opened anything."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
from pathlib import Path


def _noise(kind: str, length: int) -> str:
    """Return letters and digits that belong to *kind*, the same in every run."""
    digests = b"".join(hashlib.sha256(f"{kind} {number}".encode()).digest() for number in range(6))
    return re.sub(r"[^A-Za-z0-9]", "", base64.b64encode(digests).decode())[:length]


# What makes each of them a secret, and the text that it stands in as {}. All are put together here, so that nobody
# who looks for keys in this repository finds one.
_SECRETS = {
    "Anthropic": (_noise("anthropic", 93) + "AA", "sk-" + "ant-api03-{}"),
    "OpenAI": (_noise("openai", 48), "sk-" + "proj-{}"),
    "AWS id": (_noise("aws key", 16).upper(), "AK" + "IA{}"),
    "AWS secret": (_noise("aws secret", 40), "aws_secret_access" + "_key = {}"),
    "Google": (_noise("google", 35), "AI" + "za{}"),
    "Azure": (_noise("azure", 86), "DefaultEndpointsProtocol=https;AccountName=shop;Account" + "Key={}=="),
    "GitHub": (_noise("github", 36), "gh" + "p_{}"),
    "GitHub, fine-grained": (_noise("github pat", 59), "github" + "_pat_11ABCDEFG0abcdefghijkl_{}"),
    "GitLab": (_noise("gitlab", 20), "gl" + "pat-{}"),
    "Slack": (_noise("slack", 24), "xo" + "xb-123456789012-1234567890123-{}"),
    "Stripe": (_noise("stripe", 24), "sk" + "_live_{}"),
    "npm": (_noise("npm", 36), "np" + "m_{}"),
    "PyPI": (_noise("pypi", 70), "py" + "pi-AgEIcHlwaS5vcmc{}"),
    "JWT": (_noise("jwt", 43), "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}"),
    "header": (_noise("bearer", 32), "Authorization: " + "Bearer {}"),
    "address": (_noise("address", 18), "postgres" + "://shop:{}@db.example.com:5432/shop"),
    "assignment": (_noise("assignment", 24), "DB_PASS" + "WORD={}"),
    "JSON": (_noise("json", 32), '{{"client_' + 'secret": "{}"}}'),
    "private key": (_noise("private key", 64), "-----BEGIN " + "PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----"),
    "private block": (_noise("private block", 20), "<pri" + "vate>our word is {}</private>"),
}
SECRETS = {kind: form.format(secret) for kind, (secret, form) in _SECRETS.items()}
ALL_OF_THEM = "\n".join(SECRETS.values())


def leaks_in(folder: Path) -> list[str]:
    """Return which secrets stand in which file below *folder*, in the objects of git repositories as well."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    found = [f"{kind} in {path}" for path in files for kind in leaks(path.read_bytes().decode("utf-8", "replace"))]
    for repository in folder.rglob(".git"):
        command = ["git", "-C", str(repository.parent), "cat-file", "--batch-all-objects", "--batch"]
        objects = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        found += [f"{kind} in {repository}" for kind in leaks(objects.decode("utf-8", "replace"))]
    return found


def leaks(text: str) -> list[str]:
    """Return the kinds of the secrets in *text*, whole or cut in two, in capitals or not."""
    folded = text.casefold()
    ends = {kind: (secret[:12].casefold(), secret[-12:].casefold()) for kind, (secret, _) in _SECRETS.items()}
    return [kind for kind, halves in ends.items() if any(half in folded for half in halves)]
