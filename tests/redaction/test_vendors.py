from __future__ import annotations

import pytest
from redaction.noise import ALNUM, BASE32, BASE64, DIGITS, HEX, LOWER, UPPER, URL64, noise, uuid

from memtool.redaction import Redactor

# kind: the part that tells it, and what follows; parts in a list are joined
SAMPLES = {
    "memtool-token": [["memtool", "_", noise(43, URL64)]],
    "bitlocker-key": [["-".join(noise(6, DIGITS) for _ in range(8))]],
    "anthropic-key": [
        ["sk-ant-", "api03-", noise(93, URL64), "AA"],
        ["sk-ant-", "admin01-", noise(93, URL64), "AA"],
        ["sk-ant-", "oat01-", noise(93, URL64), "AA"],
    ],
    "openai-key": [
        ["sk-", noise(20), "T3Blbk", "FJ", noise(20)],
        ["sk-", "proj-", noise(74, URL64), "T3Blbk", "FJ", noise(74, URL64)],
        ["sk-", "svcacct-", noise(120, URL64)],
        ["sk-", "admin-", noise(120, URL64)],
    ],
    "openrouter-key": [["sk-", "or-v1-", noise(64, HEX)]],
    "api-key": [
        ["sk-", noise(32, HEX)],  # DeepSeek, Qwen
        ["sk-", noise(48)],  # Moonshot
        ["sk-", "abcdefghijklmnopqrstuvwxyz" + "lkjhgfdsaqwertyuiopmnb"],  # SiliconFlow: letters only
        ["gsk_", noise(52)],
        ["r8_", noise(37)],
        ["xai-", noise(80)],
        ["pplx-", noise(48)],
        ["nvapi-", noise(64, URL64)],
        ["tvly-", "dev-", noise(32)],
        ["lsv2_pt_", noise(32, HEX), "_", noise(10, HEX)],
    ],
    "elevenlabs-key": [["sk", "_", noise(48, HEX)]],
    "huggingface-token": [["hf", "_", noise(34)]],
    "zhipu-key": [[noise(32, HEX), ".", noise(16)]],
    "aws-key": [["AK", "IA", noise(16, BASE32)], ["AS", "IA", noise(16, BASE32)]],
    "google-key": [["AI", "za", noise(35, URL64)], ["GOCS", "PX-", noise(28, URL64)], ["ya29", ".", noise(120, URL64)]],
    "azure-key": [[noise(3), "8Q~", noise(34)]],
    "azure-sas": [["sv=2026-01-01&", "sig=", noise(43, BASE64), "%3D"]],
    "alibaba-key": [["LT", "AI", noise(20)], ["LT", "AI", noise(12)]],
    "tencent-key": [["AK", "ID", noise(32)]],
    "volcengine-key": [["AK", "LT", noise(43, BASE64)]],
    "digitalocean-token": [["dop", "_v1_", noise(64, HEX)]],
    "databricks-token": [["da", "pi", noise(32, HEX), "-2"]],
    "vercel-token": [["vcp", "_", noise(56)]],
    "supabase-key": [["sbp", "_", noise(40, HEX)], ["sb_", "secret_", noise(31, URL64)]],
    "github-token": [
        *(["gh" + letter, "_", noise(36)] for letter in "pousr"),
        ["github", "_pat_", noise(22), "_", noise(59)],
    ],
    "gitlab-token": [["gl" + name, "-", noise(20, URL64)] for name in ("pat", "dt", "rt", "cbt", "ptt", "ft", "soat")],
    "npm-token": [["npm", "_", noise(36)]],
    "pypi-token": [["pypi", "-AgEIcHlwaS5vcmc", noise(120, URL64)]],
    "docker-token": [["dckr", "_pat_", noise(27, URL64)]],
    "slack-token": [
        ["xox", "b-", noise(12, DIGITS), "-", noise(12, DIGITS), "-", noise(24)],
        ["xox", "p-", noise(12, DIGITS), "-", noise(32, HEX)],
        ["xapp", "-1-A", noise(10, UPPER), "-", noise(13, DIGITS), "-", noise(64, HEX)],
    ],
    "webhook": [
        ["https://hooks.slack.com/", "services/", "T", noise(8, UPPER), "/B", noise(8, UPPER), "/", noise(24)],
        ["https://discord.com/", "api/webhooks/", noise(18, DIGITS), "/", noise(68, URL64)],
        ["https://open.feishu.cn/open-apis", "/bot/v2/hook/", uuid()],
        ["https://qyapi.weixin.qq.com/cgi-bin", "/webhook/send?key=", uuid()],
    ],
    "discord-token": [["M", noise(23), ".", noise(6), ".", noise(38, URL64)]],
    "telegram-token": [[noise(10, DIGITS), ":AA", noise(33, URL64)]],
    "sendgrid-key": [["SG", ".", noise(22, URL64), ".", noise(43, URL64)]],
    "twilio-key": [["SK", noise(32, HEX)]],
    "mailgun-key": [["key", "-", noise(32, HEX)], [noise(32, HEX), "-", noise(8, HEX), "-", noise(8, HEX)]],
    "mailchimp-key": [[noise(32, HEX), "-us", "12"]],
    "brevo-key": [["xkey", "sib-", noise(64, HEX), "-", noise(16)]],
    "stripe-key": [
        ["sk_", "live_", noise(24)],
        ["rk_", "test_", noise(24)],
        ["pk_", "live_", noise(99)],
        ["wh", "sec_", noise(32)],
    ],
    "square-token": [["sq0", "csp-", noise(43, URL64)]],
    "vault-token": [["hvs", ".", noise(90, URL64)], ["s", ".", noise(24)]],
    "terraform-token": [[noise(14), ".atlas", "v1.", noise(64, URL64)]],
    "doppler-token": [["dp.", "pt.", noise(43)]],
    "1password-token": [["ops", "_eyJ", noise(250, BASE64)]],
    "age-key": [["AGE-SECRET-", "KEY-1", noise(58, UPPER)]],
    "linear-key": [["lin", "_api_", noise(40)]],
    "notion-token": [["ntn", "_", noise(46)], ["secret", "_", noise(43)]],
    "figma-token": [["fig", "d_", noise(40, URL64)]],
    "airtable-token": [["pat", noise(14), ".", noise(64, HEX)]],
    "asana-token": [["1/", noise(16, DIGITS), ":", noise(32, HEX)]],
    "atlassian-token": [["ATAT", "T3", noise(186, URL64)]],
    "shopify-token": [["shp", "at_", noise(32, HEX)]],
    "new-relic-key": [["NR", "AK-", noise(27, UPPER)]],
    "grafana-token": [["gl", "sa_", noise(32), "_", noise(8, HEX)], ["gl", "c_", noise(80, BASE64)]],
    "sentry-token": [["sntr", "yu_", noise(64, HEX)]],
    "hubspot-token": [["pat-", "na1-", uuid()]],
    "tailscale-key": [["tskey", "-auth-", noise(12), "-", noise(32)]],
    "postman-key": [["PM", "AK-", noise(24, HEX), "-", noise(34, HEX)]],
    "nuget-key": [["oy", "2", noise(43, LOWER)]],
    "jwt": [["ey", "J", noise(33, URL64), ".", "ey", "J", noise(80, URL64), ".", noise(43, URL64)]],
    "password-hash": [["$2", "b$12$", noise(53)], ["$argon2id", "$v=19$m=65536,t=3,p=4$", noise(22), "$", noise(43)]],
}


TOKENS = [(kind, "".join(parts)) for kind, samples in SAMPLES.items() for parts in samples]


@pytest.mark.slow
def test_a_vendors_token_goes_wherever_it_stands(redact: Redactor) -> None:
    for kind, token in TOKENS:
        secret = token[-12:]  # some begin with an address that stays
        for text in (
            token,
            f"use {token} for it",
            f"密钥是{token}的",
            f"令牌：{token}，请保存",
            f'{{"text": "first line\\n{token}\\nlast line"}}',
            f"`{token}`",
            f"({token}),",
            f"> export X={token}\n",
        ):
            cleaned = redact(text)
            assert secret not in cleaned, text
            assert f"[redacted: {kind}]" in cleaned, (text, cleaned)


def test_what_stands_beside_a_token_stays(redact: Redactor) -> None:
    for kind, token in TOKENS:
        cleaned = redact(f"before {token} behind 前 {token}后")
        assert cleaned.count(f"[redacted: {kind}]") == 2, cleaned
        assert cleaned.startswith("before "), cleaned
        assert " behind 前 " in cleaned
        assert cleaned.endswith("后"), cleaned


@pytest.mark.parametrize(
    "text",
    [
        "sk-fading-circle sk-toggleable__label-arrow task-management-and-planning-2026",
        "the prefix sk-ant- is Anthropic's, ghp_ is GitHub's, glpat- is GitLab's",
        "sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx and ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "napi_create_function, napi_get_value_string_utf8, gl_texture_2d_multisample",
        "pat-name1 key-value fc-calendar-header pa-rampa api-docs-v2 re_compile_pattern_2",
        "msg_01" + noise(22) + " toolu_01" + noise(22) + " req_011" + noise(21),
    ],
)
def test_what_only_begins_like_a_token_stays(redact: Redactor, text: str) -> None:
    assert redact(text) == text


def test_a_token_that_a_terminal_wrapped_goes_whole(redact: Redactor) -> None:
    token = "sk-" + "ant-api03-" + noise(90, ALNUM) + "AA"
    for width in (64, 76, 80):
        line = f"the key of the build machine is {token}"
        wrapped = "\n".join(line[start : start + width] for start in range(0, len(line), width))
        assert redact(f"{wrapped}\nand that was it") == (
            "the key of the build machine is [redacted: anthropic-key]\nand that was it"
        )


def test_the_next_setting_is_not_taken_for_the_rest_of_a_token(redact: Redactor) -> None:
    token = "sk-" + "ant-api03-" + noise(95, URL64)
    text = f"ANTHROPIC_API_KEY={token}\nDB_HOST=localhost2\nthen we go on"
    assert redact(text) == "ANTHROPIC_API_KEY=[redacted: anthropic-key]\nDB_HOST=localhost2\nthen we go on"
