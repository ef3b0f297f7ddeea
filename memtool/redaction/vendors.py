"""Keys and tokens that their makers gave a shape of their own, as the makers' documents describe it.

Many are listed by GitHub (docs.github.com, "Supported secret scanning patterns") and GitLab (docs.gitlab.com, "Token
overview"); a JWT is RFC 7519. Lengths are minima: vendors lengthen their tokens, and one that is too long is still one.
What has no entry here is found by its place (`places`), its name (`assignments`) or its randomness (`randomness`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memtool.redaction.values import is_blank
from memtool.redaction.views import Finding, compiled


class Shape(NamedTuple):
    """The form of one kind of secret.

    Args:
        kind: its name in the marker.
        mark: the pattern is compiled and tried only where this occurs in the text.
        pattern: a regular expression; its last group is the secret or, without a group, all of it. It takes linear
            time on any text: repeats are possessive or bounded, it does not start anew inside what it has just
            refused, and it begins with a literal, which `re` finds fastest: what stands before that is looked at after.
        before: how many characters in front of the match belong to the secret.
    """

    kind: str
    mark: str
    pattern: str
    before: int = 0


def prefixed(kind: str, prefixes: str, body: str) -> Iterator[Shape]:
    """Return the shapes of tokens that begin with one of the *prefixes*, which blanks separate."""
    for prefix in prefixes.split():
        literal = re.escape(prefix)
        yield Shape(kind, prefix, rf"{literal}(?<![A-Za-z0-9]{literal}){body}")


def find_shapes(text: str, shapes: Iterable[Shape]) -> Iterator[Finding]:
    """Return each place that has one of the *shapes* and is no placeholder."""
    for kind, mark, pattern, before in shapes:
        if mark in text:
            for found in compiled(pattern).finditer(text):
                start, end = found.span(found.lastindex or 0)
                if not is_blank(text[start:end]):
                    yield Finding(start - before, end, kind)


_WORD = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[0-9a-fA-F]"
_BASE64 = "[A-Za-z0-9+/_=-]"
_UUID = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
_END = r"(?![A-Za-z0-9])"
_DIGIT = r"(?=[A-Za-z_-]{0,40}[0-9])"  # soon: what tells `fc-3f2a…` from `fc-calendar-header`

VENDORS = (
    Shape("memtool-token", "memtool_", rf"memtool_{_WORD}{{43}}{_END}"),  # of a team's service
    Shape("bitlocker-key", "-", r"-(?<=[0-9]{6}-)[0-9]{6}(?:-[0-9]{6}){6}(?![0-9-])", before=6),
    # Models
    Shape("anthropic-key", "sk-ant-", rf"sk-ant-{_WORD}{{16,}}+"),
    *prefixed("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", rf"{_WORD}{{16,}}+"),
    Shape("openai-key", "T3BlbkFJ", rf"sk-(?<![A-Za-z0-9]sk-){_WORD}{{0,120}}T3BlbkFJ{_WORD}{{16,}}+"),
    *prefixed("openai-key", "sess-", rf"{_ALNUM}{{32,}}+"),
    *prefixed("openrouter-key", "sk-or-v", rf"[0-9]-{_HEX}{{32,}}+"),
    *prefixed("api-key", "sk-lf- pk-lf-", _UUID),
    # DeepSeek, Moonshot, Qwen, SiliconFlow and many others took over OpenAI's first form.
    *prefixed(
        "api-key",
        "sk- csk- ak-",
        rf"(?:[a-z0-9]{{1,8}}[-_]){{0,2}}(?=[A-Za-z]{{0,40}}[0-9]|[A-Za-z]{{40}}){_ALNUM}{{20,}}+{_WORD}*+",
    ),
    *prefixed("elevenlabs-key", "sk_", rf"{_HEX}{{48}}{_END}"),
    *prefixed("huggingface-token", "hf_ api_org_", rf"{_ALNUM}{{30,}}+"),
    *prefixed(
        "api-key", "gsk_ r8_ jina_ fw_ fw- e2b_ rpa_ nvapi- pplx- xai- pcsk_ pa- esecret_", rf"{_DIGIT}{_WORD}{{24,}}+"
    ),
    *prefixed("api-key", "tgp_v1_ wandb_v1_ tvly- lsv2_pt_ lsv2_sk_ fc- BSA", rf"{_DIGIT}{_WORD}{{24,}}+"),
    Shape("deepl-key", ":fx", rf":fx(?<={_UUID}:fx){_END}", before=36),
    Shape("zhipu-key", ".", rf"\.(?<={_HEX}{{32}}\.){_ALNUM}{{16}}{_END}", before=32),
    # Clouds
    *prefixed("aws-key", "AKIA ASIA ABIA ACCA", rf"[A-Z0-9]{{16}}{_END}"),
    *prefixed("aws-key", "ABSK", rf"{_BASE64}{{60,}}+"),
    Shape("google-key", "AIza", rf"AIza{_WORD}{{30,}}+"),
    *prefixed("google-key", "GOCSPX- ya29. AQ.Ab", r"[A-Za-z0-9_.-]{20,}+"),
    *prefixed("google-key", "1//0", rf"{_WORD}{{30,}}+"),
    Shape("azure-key", "Q~", r"[0-9]Q~(?<=[A-Za-z0-9_~.]{3}[0-9]Q~)[A-Za-z0-9_~.-]{31,40}", before=3),
    *prefixed("azure-sas", "sig=", r"([A-Za-z0-9%+/_-]{40,}+=?)"),
    *prefixed("alibaba-key", "LTAI", rf"{_ALNUM}{{12,30}}{_END}"),
    *prefixed("tencent-key", "AKID", rf"{_ALNUM}{{30,40}}{_END}"),
    *prefixed("volcengine-key", "AKLT", rf"{_BASE64}{{30,}}+"),
    *prefixed("baidu-key", "bce-v3/ALTAK- ALTAK", r"[A-Za-z0-9/-]{16,}+"),
    *prefixed("yandex-key", "AQVN y0_ t1.", rf"{_DIGIT}[A-Za-z0-9_.=-]{{32,}}+"),
    *prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{40,}}+"),
    *prefixed("cloudflare-key", "cfk_ cfut_ cfat_", rf"{_DIGIT}{_WORD}{{30,}}+"),
    *prefixed("cloudflare-key", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{100,}}+"),
    *prefixed("heroku-key", "HRKU-", rf"{_WORD}{{30,}}+"),
    *prefixed("fly-token", "fo1_ fm1r_ fm1a_ fm2_", rf"{_BASE64}{{40,}}+"),
    *prefixed("databricks-token", "dapi", rf"{_HEX}{{32}}(?:-[0-9])?{_END}"),
    *prefixed("vercel-token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", rf"{_WORD}{{20,}}+"),
    *prefixed("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", rf"{_ALNUM}{{30,}}+"),
    *prefixed("supabase-key", "sbp_ sb_secret_", rf"{_WORD}{{20,}}+"),
    *prefixed("database-key", "pscale_tkn_ pscale_pw_ pscale_oauth_ AVNS_", rf"{_WORD}{{16,}}+"),
    *prefixed("database-key", "napi_", rf"{_ALNUM}{{40,}}+"),
    # Code hosts and registries
    *(Shape("github-token", f"gh{letter}_", rf"gh{letter}_[A-Za-z0-9_]{{30,}}+") for letter in "pousr"),
    Shape("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{30,}+"),
    # An instance may set a word of its own before the prefix.
    Shape(
        "gitlab-token",
        "gl",
        r"gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|wt|soat|ffct)-[A-Za-z0-9_.-]{20,}+",
    ),
    *prefixed("gitlab-token", "GR1348941 _gitlab_session=", rf"{_WORD}{{20,}}+"),
    *prefixed("npm-token", "npm_", rf"{_ALNUM}{{36,}}+"),
    *prefixed("pypi-token", "pypi-", rf"AgE{_WORD}{{50,}}+"),
    *prefixed("rubygems-key", "rubygems_", rf"{_HEX}{{40,}}+"),
    *prefixed("crates-token", "cio", rf"{_ALNUM}{{32}}{_END}"),
    *prefixed("nuget-key", "oy2", rf"[a-z0-9]{{43}}{_END}"),
    *prefixed("docker-token", "dckr_pat_ dckr_oat_", rf"{_WORD}{{20,}}+"),
    *prefixed("jfrog-key", "AKCp cmVmdGtu", rf"{_ALNUM}{{50,}}+"),
    *prefixed("clojars-token", "CLOJARS_", rf"{_HEX}{{50,}}+"),
    # Chat and mail
    Shape("slack-token", "xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}+"),
    *prefixed("slack-token", "xapp- xwfp-", r"[A-Za-z0-9-]{10,}+"),
    Shape("webhook", "hooks.slack.com/", r"hooks\.slack\.com/[a-z]{4,12}/([A-Za-z0-9+/_-]{20,}+)"),
    Shape("webhook", "/api/webhooks/", rf"/api/webhooks/([0-9]{{15,22}}/{_WORD}{{30,}}+)"),
    Shape("webhook", ".webhook.office.com/", r"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,}+)"),
    Shape("webhook", "/hook/", rf"/hook/(?<=/bot/hook/|t/v2/hook/)({_WORD}{{20,}}+)"),
    Shape("webhook", "webhook/send?key=", rf"webhook/send\?key=({_WORD}{{20,}}+)"),
    Shape("discord-token", ".", rf"\.(?<={_WORD}{{24}}\.){_WORD}{{6}}\.{_WORD}{{27,45}}", before=24),
    *prefixed("webhook", "SEC", rf"{_HEX}{{64}}{_END}"),  # DingTalk
    *prefixed("discord-token", "mfa.", rf"{_WORD}{{80,}}+"),
    Shape("telegram-token", ":AA", rf"[0-9]{{8,11}}:AA{_WORD}{{30,}}+"),
    *prefixed("sendgrid-key", "SG.", rf"{_WORD}{{16,32}}\.{_WORD}{{16,64}}"),
    *prefixed("twilio-key", "SK AC", rf"{_HEX}{{32}}{_END}"),
    *prefixed("mailgun-key", "key-", rf"{_HEX}{{32}}{_END}"),
    Shape("mailgun-key", "-", rf"-(?<={_HEX}{{32}}-){_HEX}{{8}}-{_HEX}{{8}}{_END}", before=32),
    Shape("mailchimp-key", "-us", rf"-us(?<={_HEX}{{32}}-us)[0-9]{{1,2}}{_END}", before=32),
    *prefixed("brevo-key", "xkeysib- xsmtpsib-", rf"{_WORD}{{40,}}+"),
    *prefixed("resend-key", "re_", rf"{_ALNUM}{{6,12}}_{_ALNUM}{{20,}}+"),
    # Money
    *(Shape("stripe-key", f"k{mode}", rf"[spr]k{mode}{_WORD}{{10,}}+") for mode in ("_live_", "_test_")),
    *prefixed("stripe-key", "whsec_", r"[A-Za-z0-9+/=]{20,}+"),
    *prefixed("square-token", "sq0atp- sq0csp- EAAA", rf"{_WORD}{{22,}}+"),
    *prefixed("payment-key", "access_token$production$ access_token$sandbox$", r"[a-z0-9$]{40,}+"),
    *prefixed("payment-key", "rzp_live_ rzp_test_ FLWSECK- FLWSECK_TEST- EZAK EZTK shippo_live_", rf"{_WORD}{{14,}}+"),
    *prefixed("payment-key", "access-production- access-sandbox- access-development-", _UUID),
    # Platforms and tools
    *prefixed("vault-token", "hvs. hvb. hvr.", rf"{_WORD}{{20,}}+"),
    *prefixed("vault-token", "s. b.", rf"(?=[A-Za-z]{{0,23}}[0-9]){_ALNUM}{{24}}(?![A-Za-z0-9.(_])"),
    Shape("terraform-token", ".atlasv1.", rf"\.atlasv1\.(?<={_ALNUM}{{14}}\.atlasv1\.){_WORD}{{40,}}+", before=14),
    Shape("doppler-token", "dp.", r"dp\.(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9_.-]{30,}+"),
    *prefixed("1password-token", "ops_eyJ", rf"{_BASE64}{{40,}}+"),
    *prefixed("1password-key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    *prefixed("age-key", "AGE-SECRET-KEY-1", rf"{_ALNUM}{{40,}}+"),
    *prefixed("linear-key", "lin_api_ lin_oauth_ lin_wh_", rf"{_ALNUM}{{24,}}+"),
    *prefixed("notion-token", "ntn_ secret_", rf"{_ALNUM}{{40,}}+"),
    *prefixed("figma-token", "figd_ figdr_ figo_ figor_ figoh_ figuh_", rf"{_WORD}{{20,}}+"),
    Shape("airtable-token", "pat", rf"pat{_ALNUM}{{14}}\.{_HEX}{{40,}}+"),
    Shape("asana-token", "/", rf"[12]/[0-9]{{12,20}}(?:/[0-9]{{12,20}})?:{_HEX}{{32}}{_END}"),
    *prefixed("atlassian-token", "ATATT3 ATCTT3 ATSTT3 ATBB ATOA", r"[A-Za-z0-9_=-]{24,}+"),
    *prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ shpit_", rf"{_HEX}{{32,}}+"),
    *prefixed("facebook-token", "EAA", rf"[A-Z]{_ALNUM}{{60,}}+"),
    *prefixed("instagram-token", "IGQV", rf"{_WORD}{{60,}}+"),
    Shape("twitter-token", "AAAAAAAAAAAAAAAAAAAA", r"AAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%]{40,}+"),
    *prefixed("adobe-key", "p8e-", rf"{_ALNUM}{{32}}{_END}"),
    *prefixed("new-relic-key", "NRAK- NRJS- NRII- NRAA- NRSP-", rf"{_WORD}{{16,}}+"),
    Shape("new-relic-key", "NRAL", rf"NRAL(?<={_HEX}{{36}}NRAL){_END}", before=36),
    *prefixed("grafana-token", "glsa_ glc_ eyJrIjoi", rf"{_BASE64}{{30,}}+"),
    *prefixed("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", rf"{_BASE64}{{40,}}+"),
    *prefixed("posthog-key", "phx_ phc_ phs_", rf"{_ALNUM}{{32,}}+"),
    *prefixed("launchdarkly-key", "sdk- api- mob- rel-", rf"{_UUID}{_END}"),
    *prefixed("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),
    *prefixed("honeycomb-key", "hcaik_ hcamk_ hcalk_ hcxik_ hcxmk_", r"[a-z0-9]{32,}+"),
    *prefixed("dynatrace-token", "dt0c01. dt0s01. dt0s02. dt0s16.", r"[A-Z0-9]{8,30}\.[A-Z0-9]{40,}+"),
    *prefixed(
        "ci-token", "sqp_ sqa_ squ_ pul- bkua_ bkaj_ pnu_ pnb_ rnd_", rf"(?=[A-Za-z]{{0,40}}[0-9]){_ALNUM}{{20,}}+"
    ),
    *prefixed("ci-token", "CCIPAT_ CCIPRJ_", rf"{_WORD}{{30,}}+"),
    *prefixed("tailscale-key", "tskey-", rf"[a-z]{{2,12}}-{_WORD}{{16,}}+"),
    *prefixed("postman-key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    *prefixed(
        "access-key", "duffel_live_ duffel_test_ fio-u- dnkey- rdme_ sm_pat_ CFPAT-", rf"{_DIGIT}{_WORD}{{26,}}+"
    ),
    *prefixed("access-key", "tfp_ KGAT_ aio_ tk-us- ico-", rf"{_DIGIT}{_WORD}{{26,}}+"),
    *prefixed("mapbox-token", "sk.eyJ pk.eyJ tk.eyJ", rf"{_WORD}{{20,}}+(?:\.{_WORD}{{10,}}+)?"),
    *(Shape("wallet-key", f"{letter}prv", rf"{letter}prv{_ALNUM}{{100,}}+") for letter in "xyz"),
    # Any maker
    Shape("jwt", "eyJ", rf"eyJ(?<!{_WORD}eyJ){_WORD}{{8,}}+(?:\.{_WORD}*+){{1,4}}"),
)
