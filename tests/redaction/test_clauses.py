"""Passwords that a clause or a line beside the word for them gives away; talk of passwords stays as it is."""

from __future__ import annotations

import pytest

from memtool.redaction import make_redactor
from memtool.settings.sections import RedactSettings

SECRETS = (
    ("What's the database password?\n\nsaltyPretzel9", "saltyPretzel9"),
    ("数据库的密码是什么？\n\nxigua_2031", "xigua_2031"),
    ("log in to staging with marta and kittens4ever, then stop", "kittens4ever"),
    ("用 admin/Abc@12345 登录后台", "Abc@12345"),
    ("账密 admin/abc12345", "abc12345"),
    ("root: Marmelade#5", "Marmelade#5"),
    ("brombeer_41 is what you type when it asks for the password", "brombeer_41"),
    ("I changed the root password. New one: Marmelade#5", "Marmelade#5"),
    ("enter brombeer88 when it asks for the passphrase", "brombeer88"),
    ("the zip is encrypted with changeit99", "changeit99"),
    ('variable "db_password" {\n  type = string\n  default = "MoonCheese"\n}', "MoonCheese"),
    ("| gitlab | glpat-vmuGMGKAuWfpTbmRsHdR |", "vmuGMGKAuWfpTbmRsHdR"),
    ("ansible_become_pass: rotkehlchen", "rotkehlchen"),
    ("The password was changed from `teekanne_1` to `teekanne_2`.", "teekanne_"),
    ("alice / Herbst2024!\nbob / Winter99", "Winter99"),
    ("accounts:\nanna: Lokomotive4\nbernd: Zugvogel5", "Zugvogel5"),
    ("user     password      role\nanna     seepferd77    admin", "seepferd77"),
    ("escape this for sed: Tr0ub/4dor&3x", "4dor&3x"),
    ("the recovery codes are 7f3k-92lm, p0qx-44ab", "p0qx-44ab"),
    ("密码是：小红456xyz", "456xyz"),
)
INNOCENT = (
    "What is the password policy?\nlowercase",
    "Is the password hashed?\nYes",
    "log in as admin with two-factor, then with OAuth2",
    "The zip is encrypted with AES-256, protected with fail2ban",
    "root: /srv/www\nadmin: user@example.com",
    'variable "password_length" {\n  default = 16\n}',
    "first_pass: parsing\nall_pass = everything\nrender_pass: shadow",
    "The password commit: `a1b2c3d4` → `e5f6a7b8`",
    "user      password-reset   role\nanna      done    admin",
    "name    password  type\nlogin   required  string",
    "accounts:\nanna: admin2\nbernd: viewer",
    "用 npm/yarn 登录，密码为必填",
    "status code is 4471, the country code is 0049",
)


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_password_in_a_clause_goes(text: str, secret: str) -> None:
    assert secret not in make_redactor(RedactSettings())(text)


@pytest.mark.parametrize("text", INNOCENT)
def test_talk_of_passwords_stays(text: str) -> None:
    assert make_redactor(RedactSettings())(text) == text


def test_a_prompt_of_one_token_that_answers_a_question_goes() -> None:
    redact = make_redactor(RedactSettings()).of_session()
    redact.learn_answer("Done. What is the password policy?", "lemonTree")
    redact.learn_answer("Done. What is the sudo password?", "lemonTree_3")
    assert redact("I typed lemonTree_3, 完成了") == "I typed [redacted: password], 完成了"
    assert make_redactor(RedactSettings()).of_session()("lemonTree_3") == "lemonTree_3"
