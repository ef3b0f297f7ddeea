"""Passwords that are known by their kind beside a word for them; talk of passwords stays as it is."""

from __future__ import annotations

import base64

import pytest

from memtool.redaction import Redactor, make_redactor
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
    ("user     password      role\nanna     seepferd77    admin", "seepferd77"),
    ("escape this for sed: Tr0ub/4dor&3x", "4dor&3x"),
    ("the recovery codes are 7f3k-92lm, p0qx-44ab", "p0qx-44ab"),
    ("密码是：小红456xyz", "456xyz"),
    ("what did I set as password again? I think marzipan41", "marzipan41"),
    ("it's still peppermint22 for the wifi password", "peppermint22"),
    ("服务器密码是多少来着？好像是 tianmao_618", "tianmao_618"),
    ("提示输入密码时输入 guanliyuan1", "guanliyuan1"),
    ("Das WLAN-Passwort? Gästezimmer8", "Gästezimmer8"),
    ("I tried Apfelmus1 and Apfelmus2 but neither password is accepted", "Apfelmus"),
    ("gpg asked for the passphrase, I typed purple anchor salad moon", "anchor"),
    ("unlock it with the passphrase copper violin midnight train", "copper"),
    ("when it asks for the passphrase, answer krokodil-im-teich", "krokodil"),
    ("admin / Honeydew is the login of the router", "Honeydew"),
    ("Enter password for bob kiwi#Smoothie", "kiwi#Smoothie"),
    ("[10:42] anna: what's the pw?\n[10:43] bernd: Kaktusfeige2", "Kaktusfeige2"),
    ("- grafana: admin / Lotus-77\n- kibana: elastic / Safran_3", "Safran_3"),
    ("password of the mqtt broker = mosquito", "mosquito"),
    ("[database]\nuser = app\npassword = kieselstein", "kieselstein"),
    ("use Quiet-Meadow-73 to log in to the shop as anna@example.org, then stop", "Quiet-Meadow-73"),
    ("lol the password is literally password123", "password123"),
    ("wget --user=anna --password='Herr Ribbeck' https://x.example.org", "Ribbeck"),
    ("driver.find_element(By.ID, 'password').send_keys('Selenium#5')", "Selenium#5"),
    ("cryptsetup luksFormat /dev/sdb1 <<< 'mein-keller-5'", "mein-keller"),
    ("const pw = ['Sch', 'ild', 'krote9'].join('');", "ild"),
    ('password = "".join(["tru", "ffle", "Pig7"])', "ffle"),
    ("$password = implode('', ['quar', 'tz77', '!mine']);", "tz77"),
    ('password := strings.Join([]string{"moon", "rabbit", "31"}, "")', "rabbit"),
    ("smtp.login('anna@example.org', 'smtpTaube')", "smtpTaube"),
    ("jwt.sign(payload, 'shhhhh-very-secret')", "shhhhh"),
    ('Session.open("anna", "offenesTor5") // password', "offenesTor5"),
    ("The admin panel: https://x.org/admin (anna / Paneel_12)", "Paneel_12"),
    ("The API token (hx72-kd93-ls01) was leaked, 已泄露", "hx72"),
    ('export PASSWORD="two words"', "two words"),
    ("Login: Bob/Sommerfest", "Sommerfest"),
    ("use the account Bob/Sommer2024", "Sommer2024"),
    ("登录时用 bob/Sommerfest", "Sommerfest"),
    ("密码: 春天2024花开", "花开"),
    ("sshpass -p \\\n  'Kolibri Brot' ssh root@10.0.0.9", "Kolibri"),
    ("./connect.sh --password \\\n  'Elfenbein_7'", "Elfenbein_7"),
    ("the disk's passphrase: tulip rocket marble fog (case matters)", "rocket"),
    ("Wie war nochmal das WLAN-Passwort? Ich glaube sonnenblume7", "sonnenblume7"),
    ('<property name="connection.password">hibernate5x</property>', "hibernate5x"),
    ("root's password got reset to temporary-8841 by ops", "8841"),
    ("Der API-Schlüssel ist apk-77f3d9e2b1", "77f3d9"),
    ("verification code: 730114，验证码：8841", "8841"),
    ("UPDATE settings SET value = 'Zitrone-Rad' WHERE name = 'smtp_password'", "Zitrone"),
    ("update 设置 set 值value='Zitrone-Rad' where name='smtp_password'", "Zitrone"),
    ("codecov -t 00000000-1111-4222-8333-444444444444 -f x.xml", "4444"),
    ("1 error for 设置\nadmin_password\n  Too short [type=short, input_value='Brunnen-Tor']", "Brunnen"),
    ("the wifi: network Gäste, and the key's Kiesel-Bucht-77", "Kiesel"),
    ("Der WLAN-Schlüssel ist jetzt Kiesel#Bucht7", "Kiesel"),
    ("用 zhulin_2031 作为新密码，重置用户", "zhulin"),
    ("账号 zhangsan 密码 Shu.lin88 ，先登录", "lin88"),
    ("Enter passphrase for key '/home/张/.ssh/id_rsa': kiesel-bucht-tor-wal\nIdentity added", "bucht"),
    ("seed phrase, keep it: " + "legal winner thank year wave sausage " * 2, "winner"),
    ('String p = String.join("-", "otter", "Kiesel", "77");\nconn.setPassword(p);', "Kiesel"),
)
INNOCENT = (
    "af4a711 fix token refresh\nb1529ca docs: explain the API key",
    "export SLACK_TOKEN=xoxb-xxxx-xxxx-xxxx",
    'password authentication failed for user "bob"\nhost all all all scram-sha-256',
    "[Peer]\nPublicKey = fnGXbFspQZVqq10dYLC5H1OTpl8uvIxTs1bWpN+UZmZ=",
    "Host key fingerprint is SHA256:EGCIaw0c2b3Ijptn+hFLSxVoY/NbvMPg7FdBUBCfi17",
    "cache key: d41d8cd98f00b204e9800998ecf8427e, ETag: 3f2a",
    "STRIPE_SECRET_KEY=sk_test_your_key_here",
    '"Resource": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-*"',
    'etag: W/"5f3a-j0ulZ2ksHX1jPTHa1MYu38PMmAI"',
    ".password-toggle { right: 8px }\n.token--keyword { background: #282c34ff; }",
    'login:\n  password: "Passwort"\n  other: "确认密码"',
    "password=open;",
    "La clave es entender los tokens; palabra clave: rendimiento",
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
    "from urllib2 import HTTPPasswordMgr, AbstractBasicAuthHandler",
    "def login_cram_md5(self, user, password): return pbkdf2_hmac(password)",
    "class PBKDF2PasswordHasher(BasePasswordHasher): ...",
    "see PR #482, AUTH-03 and RFC2980 about password rotation, 密码轮换",
    "the deb493a commit changed the login, then bpo-10496 the passwd entry",
    "user bernd77 forgot the password, anna2 logged in",
    "['user', 'name', 'password'].join(', ')",
    "password_hash = ', '.join(columns)",
    "the passphrase prompt appears twice on macOS 14.5",
    "Passwords must match ^(?=.*[A-Z])(?=.*[0-9]).{8,}$",
    "管理员账号默认禁用，见 docs/admin-v2.md",
    "密码重试 5 次后锁定 30 分钟，验证码 60 秒后过期",
    "Enhanced the login with better text truncation logic",
    "把 password 字段改名为 passwd2hash",
    "the test of api-key-02 and the API key of page2",
    "press Ctrl+Alt+F2 to log in on tty2",
    "DB_PASSWORD=${DB_PASSWORD:?must be set}",
    "Das Archiv ist mit zstd19 komprimiert, ohne Passwort",
    "The password screen uses MaterialButton3 and ColorScheme.dark",
    "pass when attempting to authenticate using mechanisms like these",
    "password = other\nname = password",
    "用户的当天、报表按 `Asia/Shanghai` 的零点切分",
    "She logged in from Europe/Berlin, the account uses America/New_York",
    "Users log in via Google/Facebook, or Keycloak/Authentik",
    "例如 postgres://user:password@localhost/db 或 redis://:changeme@cache:6379",
    "UPDATE settings SET value = 'dark-mode-2' WHERE name = 'theme'",
    "codecov -t ${CODECOV_TOKEN} -f x.xml",
    "用户 列表 密码 字段，账号 admin 密码 为空",
    'String url = "https://x.example";\nconn.setPassword(read(url));',
)


def test_a_password_in_base64_goes_beside_a_word_of_encoding(redact: Redactor) -> None:
    for secret in ("k?7wTpZQmuriGX2!", "Sommer2024!"):
        coded = base64.b64encode(secret.encode()).decode()
        assert redact(f"Encoded it is `{coded}`, 已编码") == "Encoded it is `[redacted: password]`, 已编码"
    text = "decode this base64: SGVsbG8gV29ybGQ="
    assert redact(text) == text


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_password_beside_a_word_for_it_goes(text: str, secret: str) -> None:
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
