"""Secrets of many kinds in the places where people put them, and texts beside which nothing may go."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from redaction.noise import lines

from memtool.redaction import Redactor, make_redactor
from memtool.settings.sections import RedactSettings

REDACT = make_redactor(RedactSettings())

STRONG = "k?7wTpZQmuriGX2! xK9#mPq2$vLs Zr4_bnW!82qTe qL8vN2xR5tYw G7h!kPz0-Wq3 u7Yk-29Lq-Xw4p 0pEn$es4me!Q"
HUMAN = (
    "Sommer2024! hunter2 Tr0ub4dor&3 Winter-is-Coming7 Passw0rd! Berlin#1989 Fluffy_Cat_99 woaini520 Zhangsan1990"
    " Tern.Gully7"
)
WORDS = "rotkehlchen swordfish shibboleth moonbeam kaffeetasse honigkuchen blaue-katze-im-regen"
PHRASES = ("correct horse battery staple", "vier gelbe enten tanzen", "purple monkey dishwasher lamp")
PINS = "482913 7731"

# § is the secret. What may stand in it: S strong, H human, W a word in small letters, P a phrase, N a number.
CARRIERS = lines("""
    SHWN The new password for staging: § (ask Jonas before you change it)
    SHWN use § as the password for the test account
    SHWN ok, password now §, please restart the worker
    SHWN the root pw is §
    SH   Log in with bob / § and look at the second tab
    S    staging: bob / §
    SHW  账号：admin/§
    SHWN 账号: zhang.wei 密码: §
    SHWPN 密码是“§”，不要外传
    SHWP 密码：＂§＂
    SHW  数据库密码改成 § 了
    SHW  请把密码设为 §
    SHW  用户名 admin，口令 §
    SHWN Das Passwort für den Testserver lautet §
    SHWPN Das Kennwort ist „§“.
    SHWN nimm § als Passwort
    SHW  Passwort geändert auf §
    SH   Zugangsdaten: admin / §
    SHWN | host | user | password |⏎| --- | --- | --- |⏎| db1 | app | § |
    SHW  INSERT INTO users (id, email, plain_password) VALUES⏎  (1, 'a@example.org', '§');
    SHW  insert into `用户` (名字, 密码, 角色) values ('小王', '无', 'x'), ('Ann''s', '§', 'admin')
    SHWN | 用户 | 密码 |⏎|---|---|⏎| root | § |
    SHWN user,password,role⏎anna,§,admin
    SHWP keytool -importkeystore -storepass '§' -srckeystore a.jks
    SHWP openssl passwd -6 -salt ab '§'
    SHWP expect "Password:"⏎send "§\\r"
    SHWP child.expect("Password:")⏎child.sendline("§\\n")
    SH   send "§\\r"
    SHWP wpa_passphrase Cafe '§'
    SHW  net user bob '§' /add
    SHW  SET PASSWORD FOR 'app'@'%' = '§';
    SHWP CREATE USER app WITH PASSWORD '§';
    SHW  tool --password § --host db
    SHWP unlock the keystore with the passphrase "§"
    SHWP <password>§</password>
    SHW  the password of the replica is § now, 已更换
    SHW  psql "host=db user=app password=§ dbname=x"
    SHW  Here is the password you asked for:⏎§⏎
    SHW  System.setProperty("javax.net.ssl.keyStorePassword", "§");
    SHWP Neues Passwort: §
    SHW  The password is:⏎⏎§⏎⏎Please store it in the safe.
    SHW  Passwort:⏎§⏎
    SHW  密码：⏎§⏎
    SHW  the passphrase is §.
    SHW  I changed the admin password to §
    SHW  the password was reset to §
    SHW  The wifi password at the office is § by the way
    SHW  My login there is anna@example.org, password §
    SHW  user: anna⏎pass: §
    SH   anna:§@10.0.0.5 via ftp
    S    § escape this for the URL
    S    § 帮我转译一下
    S    can you url-encode § please
    SH   echo -n '§' | kubectl create secret generic db --from-file=password=/dev/stdin
    SH   mosquitto_pub -h mq -u dev -P '§' -t a -m b
    SHW  lftp -u ftpuser,'§' ftp.example.com
    SHWP UPDATE users SET password = crypt('§', gen_salt('bf'));
    SHW   id | email | password⏎----+-------+---------⏎  1 | a@b.de | §
    SH   page.fill('#password', '§')
    SHW  driver.find_element(By.ID, 'password').send_keys('§')
    SHWP {"ParameterKey":"DBPassword","ParameterValue":"§"}
    SHW  wifi:⏎  ssid: 家⏎  key: §
    N    § is your Google verification code.
    N    認証コードは § です
    N    my PIN is §
    N    Die PIN lautet §
""")
VALUES = {"S": STRONG.split(), "H": HUMAN.split(), "W": WORDS.split(), "P": PHRASES, "N": PINS.split()}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_secret_goes_from_its_carrier(carrier: str) -> None:
    kinds, _, text = carrier.partition(" ")
    values = [value for kind in kinds for value in VALUES[kind]]
    cleaned = {value: REDACT(text.lstrip().replace("§", value)) for value in values}
    assert [value for value, left in cleaned.items() if value in left or "[redacted: password]" not in left] == []


INNOCENT = lines(r"""
    the login (登录) fails in Safari 9f3a1c04be  +sessions/3f2a9c.md, daily/2026-11-22.md
    The new password form: see PasswordForm.tsx (ask Jonas).
    use bcrypt as the password hash
    Use the PasswordEncoder as the password hasher.
    take Argon2 as password hasher for new users
    The secret of good design is restraint.
    密码强度校验用 zxcvbn
    Set-Cookie: theme=dark; Path=/; Max-Age=31536000
    docker run -u 1000 -p 8080:80 nginx
    Use code review before merging, error code 404291 is your hint
    const [a, b] = connect("db1", "READ_COMMITTED_2")
    the password now expires after 90 days
    password now optional
    The root pw is unknown to me.
    the password is visible in the logs
    Read/write access for bob / alice was granted.
    login / logout buttons
    账号：未登录
    密码保存在 1Password 里
    密码改为加盐哈希存储
    密码是用户自己设置的
    密码字段改成 varchar(255) 了
    用户名：必填，密码：必填
    请把这段话转译成英文：今天下雨
    Das Passwort wurde gestern abgelehnt
    Das Passwort ist hinterlegt.
    9f3a1c04be  +sessions/3f2a9c.md, daily/2026-11-22.md (login)
    (folder / ".git" / "info").mkdir(exist_ok=True)  # encoded
    "|terminal prompts disabled|access denied|40[13]"  # password
    redact, secret, 脱敏⏎mask, password, 打码⏎expired, expiry, 过期
    password: "…"⏎"user": "bob"
    exchange it for a token from cipherbox, submit to web3auth
    Setze das Passwort auf der Seite zurück
    用户名：必填，密码：必填
    Neues Passwort: mindestens 12 Zeichen
    Setze das Passwort auf der Seite Einstellungen zurück.
    | column | type | null |⏎| --- | --- | --- |⏎| password | varchar(255) | no |
    | Feature | Password | Token |⏎| --- | --- | --- |⏎| Rotation | yes | no |⏎| Expiry | required | optional |
    id,name,password_hash⏎1,anna,none
    openssl passwd --help
    docker login --username ci --password-stdin
    expect "Password:" then send the answer
    send "hello\\r" to the modem
    The PIN is locked after three attempts.
    GPIO PIN 17 is the button.
    PIN is 4 digits long
    escape this for the URL: https://example.org/a b?x=1&y=2
    decode this base64: SGVsbG8gV29ybGQ=
    regex ^[A-Za-z0-9+/=]{20,}$ matches base64
    percent-encode the name Müller & Söhne GmbH
    uses: actions/checkout@v4 # with the login of the bot
    huh form output includes ANSI escape codes like `[?25l[?2004h[?1004h`
    pass it through to `resumeFromCurrentBranch`
    npm:react@18.2.0 and npm:lodash4@4.17.21
    The password manager is 1Password, the vault is called Team2024.
    anna/shop#142 is about the login
    let label = 'Pass' + 'word';
    const cacheKey = 'user:' + id + ':profile';
    order number 482913 was shipped
    订单号 482913 已发货
    password = getpass.getpass("Password: ")
    client.login(user=user, password=password)
    System.getProperty("javax.net.ssl.keyStorePassword")
    Enter passphrase for key '/home/anna/.ssh/id_rsa':
    tests/auth/test_password_reset.py::test_reset_link_expires PASSED
    Merge branch 'fix/password-reset' into release/2024.3
    k8s pod shop-api-7d9f8b6c5-x2x7q restarted after the login
    INSERT INTO users (name, password) VALUES ($1, $2), ('a', NULL)
    INSERT INTO 用户 (密码, 名字) VALUES (?, '小王')
""")


@pytest.mark.parametrize("text", INNOCENT)
def test_an_innocent_text_stays(text: str) -> None:
    assert REDACT(text) == text


CONTINUED = lines(r"""
    key = "§1" + "§2"
    api_key = ("§1"⏎           "§2")
    const secret = '§1' +⏎  '§2';
    $token = '§1' . '§2';
    export TOKEN=§1\⏎§2
""")


@pytest.mark.parametrize("code", CONTINUED)
def test_a_key_that_code_puts_together_goes_whole(redact: Redactor, code: str) -> None:
    key = "ghp" + "_9aZkQ2mW7xLr4TvB8nYc1EfGh3JpKs6DuV0q"
    for cut in (6, 20, 33):
        left = redact(code.replace("§1", key[:cut]).replace("§2", key[cut:]))
        assert key[:cut][-6:] not in left
        assert key[cut:][:6] not in left


SIGNS = "!#$%&*+?@^~"
PASSWORDS = st.tuples(
    st.text("abcdefghkmnpqrstuvwxyz", min_size=3, max_size=8),
    st.text("ABCDEFGHKLMNPQRSTUVWXYZ", min_size=2, max_size=6),
    st.text("23456789", min_size=2, max_size=4),
    st.sampled_from(SIGNS),
).map("".join)


@given(PASSWORDS, st.sampled_from(CARRIERS))
def test_a_password_of_four_classes_goes_from_every_carrier(password: str, carrier: str) -> None:
    kinds, _, text = carrier.partition(" ")
    if "S" in kinds:
        assert password not in REDACT(text.lstrip().replace("§", password))


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyzäöü中文密码 ", max_size=12), min_size=2, max_size=5), PASSWORDS)
def test_a_column_of_passwords_goes_and_the_others_stay(names: list[str], password: str) -> None:
    heads = ["host", *("note" for _ in names), "password"]
    rows = [["db1", *(name.strip() or "x" for name in names), password]]
    table = "\n".join("| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows))
    assert REDACT(table) == table.replace(password, "[redacted: password]")
