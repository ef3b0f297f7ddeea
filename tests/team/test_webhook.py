from __future__ import annotations

import hmac
import json
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from memtool.team.gate import is_genuine

SECRET = "It's a Secret to Everybody"


class Delivery(NamedTuple):
    """A message as a git host sends it. *signature* names the header that vouches for it."""

    host: str
    headers: dict[str, str]
    body: bytes
    signature: str


def signed(body: bytes, kind: str, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, kind).hexdigest()


def deliveries(secret: str = SECRET) -> list[Delivery]:
    """Return the messages of hosts that know *secret*, with the headers and fields of their docs."""
    commit = {
        "id": "1a2b3c",
        "message": "facts: 令牌有效期为 24 小时",
        "author": {"name": "安娜", "email": "anna@example.org"},
    }
    push = {"ref": "refs/heads/main", "before": "0" * 40, "after": "1" * 40, "commits": [commit]}
    repository = {"name": "shop", "full_name": "memory/shop"}
    told = json.dumps({**push, "repository": repository}, ensure_ascii=False, separators=(",", ":")).encode()
    ping = json.dumps({"zen": "Design for failure.", "hook_id": 7, "repository": repository}).encode()
    form = urlencode({"payload": told.decode()}).encode()  # what GitHub sends if its hook is not set to JSON
    indented = json.dumps({**push, "repository": repository}, indent=2).encode()  # as Gitea and Forgejo write it
    lab = json.dumps({"object_kind": "push", "event_name": "push", **push, "project": {"name": "shop"}}).encode()

    def hub(body: bytes) -> dict[str, str]:
        return {
            "X-Hub-Signature": f"sha1={signed(body, 'sha1', secret)}",
            "X-Hub-Signature-256": f"sha256={signed(body, 'sha256', secret)}",
        }

    def github(event: str, body: bytes, kind: str = "application/json") -> Delivery:
        about = {"User-Agent": "GitHub-Hookshot/044aadd", "X-GitHub-Event": event, "X-GitHub-Delivery": "72d3162e-cc78"}
        return Delivery("github", {**about, "Content-Type": kind, **hub(body)}, body, "X-Hub-Signature-256")

    def tea(*names: str) -> Delivery:
        headers = {"Content-Type": "application/json", **hub(indented)}
        for name in names:
            headers |= {
                f"X-{name}-Event": "push",
                f"X-{name}-Delivery": "f6266f16-1bf3",
                f"X-{name}-Signature": signed(indented, "sha256", secret),
            }
        return Delivery(names[0].lower(), headers, indented, "X-Hub-Signature-256")

    gitlab = {
        "Content-Type": "application/json", "User-Agent": "GitLab/17.1.0", "X-Gitlab-Event": "Push Hook",
        "X-Gitlab-Webhook-UUID": "13792a34-cac6", "X-Gitlab-Instance": "https://git.example.org",
        "X-Gitlab-Token": secret, "Idempotency-Key": "f5e57ba3-1a2b",
    }  # fmt: skip
    return [
        github("push", told),
        github("ping", ping),
        github("push", form, "application/x-www-form-urlencoded"),
        Delivery("gitlab", gitlab, lab, "X-Gitlab-Token"),
        tea("Gitea", "Gogs", "GitHub"),
        tea("Forgejo", "Gitea", "Gogs", "GitHub"),
    ]


@pytest.mark.parametrize("sent", deliveries(), ids=lambda sent: f"{sent.host}-{len(sent.body)}")
def test_what_git_hosts_send_is_genuine(sent: Delivery) -> None:
    headers = {name.lower(): value for name, value in sent.headers.items()}
    signature = sent.signature.lower()
    assert is_genuine(SECRET, headers, sent.body)
    assert not is_genuine(f"{SECRET}!", headers, sent.body)
    if sent.host != "gitlab":  # which signs nothing
        assert not is_genuine(SECRET, headers, sent.body + b" ")
    for forged in ("", "sha256=", headers[signature][:-1], signed(b"", "sha256")):
        assert not is_genuine(SECRET, {**headers, signature: forged}, sent.body), forged
    del headers[signature]
    assert not is_genuine(SECRET, headers, sent.body)


def test_the_example_of_github_is_genuine() -> None:
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"  # docs.github.com
    assert is_genuine(SECRET, {"x-hub-signature-256": signature}, b"Hello, World!")
    assert not is_genuine(SECRET, {"x-hub-signature-256": signature}, b"Hello, World?")


def test_the_token_of_gitlab_is_genuine() -> None:
    assert is_genuine(SECRET, {"x-gitlab-token": SECRET}, b"{}")
    assert not is_genuine(SECRET, {"x-gitlab-token": SECRET[:-1]}, b"{}")


@pytest.mark.parametrize("secret", ["", "short"])
def test_without_a_secret_nothing_is_genuine(secret: str) -> None:
    assert not is_genuine(secret, {"x-gitlab-token": secret}, b"")
