from __future__ import annotations

import pytest
from redaction.noise import HEX, LOWER, lines, noise, uuid

from memtool.redaction import Redactor

LONG = noise(20, LOWER)

# § is the password
BEHIND_ITS_NAME = lines(r"""
    # environment, shell
    DB_PASSWORD=§
    export DB_PASSWORD='§'
    set PGPASSWORD=§
    $env:DB_PASSWORD = "§"
    docker run -e MYSQL_ROOT_PASSWORD=§ x
    tool --password § --user bob
    tool --password=§
    gpg --passphrase § -d x
    ENV DB_PASSWORD §
    # settings
    password: §
    password = §
    password: '§'
    db_pass: §  # prod
    spring.datasource.password=§
    requirepass §
    - name: DB_PASSWORD⏎  value: §
    password: |⏎  §⏎
    Server=db;User Id=sa;Password=§;Encrypt=yes
    ansible_ssh_pass=§
    # JSON, XML
    {"password": "§"}
    {"user":"a","dbPassword":"§","n":1}
    {\"password\": \"§\"}
    "{\\\"password\\\":\\\"§\\\"}"
    {"name": "DB_PASSWORD", "value": "§"}
    <password>§</password>
    <add key="DbPassword" value="§"/>
    <key>password</key>⏎<string>§</string>
    &quot;password&quot;: &quot;§&quot;
    passw\u006frd\u003d§
    # code
    password = "§"
    const password: string = '§';
    password: str = "§"
    var password string = "§"
    char password[] = "§";
    password := "§"
    :password => '§'
    if (password === "§")
    connect(user="bob", password="§")
    setPassword("§")
    os.environ.get("DB_PASSWORD", "§")
    define('DB_PASSWORD', '§');
    ALTER ROLE x WITH PASSWORD '§'
    #define PASSWORD "§"
    # URLs and forms
    https://x.org/login?user=bob&password=§&next=1
    user=bob&password=§
    otp?password%3D§
    name="password"⏎⏎§⏎
    # sentences, tables
    the password is §
    The password for the staging box is: §.
    change the password to § today
    use password § please
    **Password**: `§`
    **Password:** §
    | password | § |
    password:⏎§⏎
    my pwd is §, right?
    # other languages
    密码是 §
    密码为§，请保存
    数据库密码：§
    密码＝§
    密码：“§”
    密码（生产）：§
    把密码改成 § 了
    密码我设的是 §
    密码§
    口令: §
    パスワードは § です
    パスワード：§
    비밀번호는 §입니다
    비밀번호: §
    Passwort: §
    contraseña: §
    wachtwoord: §
    lösenord: §
    hasło: §
    Şifre: §
    пароль: §
    ｐａｓｓｗｏｒｄ：§
""")
BEHIND_ITS_NAME += ["pass\u200bword: §", "\x1b[1mpassword\x1b[0m: §"]


@pytest.mark.parametrize("secret", ["Tr0ub4dor&3", "hunter2"])
def test_a_password_behind_its_name_goes(redact: Redactor, secret: str) -> None:
    cleaned = [redact(text.replace("§", secret)) for text in BEHIND_ITS_NAME]
    assert cleaned == [text.replace("§", "[redacted: password]") for text in BEHIND_ITS_NAME]


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("secret", "secret CLIENT_SECRET wx.appSecret jwt_secret secrets"),
        ("token", "token GH_TOKEN accessToken x-auth-token _authToken 令牌 トークン 토큰"),
        (
            "key",
            "api_key API-Key apikey x-api-key AccountKey SECRET_KEY_BASE aws_secret_access_key privateKey credentials",
        ),
        ("key", "密钥 私钥 秘密鍵"),
    ],
)
def test_a_drawn_secret_behind_its_name_goes(redact: Redactor, kind: str, names: str) -> None:
    for name in [*names.split(), "API key", "encryption key"] if kind == "key" else names.split():
        for text in (f'{name} = "§"', f"{name}: §", f"{name}=§", f"the {name} is §", f'{{"{name}":"§"}}'):
            assert redact(text.replace("§", LONG)) == text.replace("§", f"[redacted: {kind}]")


@pytest.mark.parametrize("value", [uuid(), noise(32, HEX), noise(40, HEX)])
def test_a_key_may_look_like_a_hash(redact: Redactor, value: str) -> None:
    assert redact(f"HEROKU_API_KEY={value}") == "HEROKU_API_KEY=[redacted: key]"
    assert redact(f'"token": "{value}"') == '"token": "[redacted: token]"'


OF_PLAIN_WORDS = lines("""
    DB_PASSWORD=|correcthorse
    SMTP_PASS=|correcthorse
    JWT_SECRET=|keyboardcat
    SECRET_KEY=|mysupersecretkeyvalue
    password: |correcthorse
    password: |20260210
    password: |ab,cd;ef)9x
    密码：|correcthorse
""")


def test_a_secret_of_plain_words_goes_where_only_a_value_can_stand(redact: Redactor) -> None:
    for name, value in (text.split("|") for text in OF_PLAIN_WORDS):
        cleaned = redact(name + value)
        assert cleaned.startswith(f"{name}[redacted: ")
        assert cleaned.endswith("]")


def test_a_passphrase_goes_and_a_sentence_stays(redact: Redactor) -> None:
    assert redact('passphrase: "correct horse battery staple"') == 'passphrase: "[redacted: password]"'
    assert redact('password: "Please enter your password"') == 'password: "Please enter your password"'


def test_a_value_goes_whole_however_long_it_is(redact: Redactor) -> None:
    long = noise(5000)
    assert redact(f"PASSWORD={long}\nx") == "PASSWORD=[redacted: password]\nx"
    assert redact(f'{{"password": "{long} \\" {long}", "b": 1}}') == '{"password": "[redacted: password]", "b": 1}'


NO_SECRETS = lines(r"""
    # code
    password = get_password()
    token: str
    secret=os.environ["X"]
    password: ${DB_PASSWORD}
    tokens = 4096
    max_tokens=1024
    def login(password: str, token: str | None = None) -> bool:
    password: Optional[SecretStr] = None
    password: string;
    const token = req.headers.authorization;
    this.password = password;
    let token = await getToken();
    password=password
    if password == other_password:
    password.length > 8
    password=$DB_PASS
    PASSWORD=$(pass show db)
    token = token1
    password: await bcrypt.hash(password, 10)
    "Bearer " + token
    f'Bearer {token}'
    f"token={token[:4]}9"
    password: {{ vault_password }}
    secret_key=hashlib.sha256(seed.encode()).hexdigest()
    key=lambda pair: pair[1]
    for key, value in items.items():
    fields = ["password", "email"]
    <input type="password" name="pw" id="user1">
    password = input("Password: ")
    credentials: 'same-origin'
    'password' => 'required|min:8'
    { email, password: hashed }
    pad_token = "[PAD]"
    PASSWORD_HASHERS = ["Argon2PasswordHasher"]
    token_count = 12345
    "input_tokens": 123456, "token": 50256
    challenge: "challengePassword"
    cache_key = "user:123:profile"
    nid_key = self._lib.NID_aes_256_cbc
    def custom_auth(self) -> httpx2.Auth | None:
    # placeholders
    API_KEY=<your-key>
    api_key: xxxx
    password: changeme
    password=******
    token: ...
    API_KEY=your_api_key_here
    password: ENC[...]
    password: %DB_PASS%
    secret: @secret@
    password: !vault |
    SECRET=REDACTED
    password=
    # what only points to a secret
    password_file: /run/secrets/db_password
    secret: arn:aws:secretsmanager:eu-west-1:1:secret:x
    token: op://vault/item/field
    secretName: db-credentials
    API_KEY_HEADER = "X-API-Key"
    JWT = "areas/projects/shop/decisions/2026-01-19-jwt.md"
    # sentences
    the password is wrong
    KeyPoint("auth.ts 里的 getUserById 返回 E0308")
    refresh tokens are kept in an HttpOnly cookie #auth #cookies2
    password is case-sensitive
    the token is valid for 24 hours
    the secret is base64-encoded
    password: at least 8 characters
    password: hashed with argon2
    密码是错误的
    密码长度：12
    密码至少8位
    令牌有效期为 24 小时
    パスワードは必須です
    tests pass in 3.2s
    pass: 12, fail: 3
    secret santa is on 2026-12-24
    auth: add OAuth2 login
    the key idea is v2.1.210
    Author: Bob2
    keyboard: qwerty123
    monkey = banana7up
""")
NO_SECRETS += [f"session_id: {uuid()}", f"etag: {noise(32, HEX)}", f"cache_key = '{noise(64, HEX)}'"]


def test_what_is_no_secret_stays(redact: Redactor) -> None:
    within_notes = [f"# Notes\n\n- {text}\n- next\n" for text in NO_SECRETS]
    assert [text for text in (*NO_SECRETS, *within_notes) if redact(text) != text] == []


OF_TWO_CASES = lines("""
    password: §
    Password: §
    passwd: §
    密码：§
    密碼：§
    tool --password § --host db
    tool --password=§
    the password is §
    I changed the password to § and it works
    the password was changed from Oldpass to §
    密码是 §，请保存
    Das Passwort ist §
    Das Passwort lautet §.
    La contraseña es §
    Le mot de passe est §
    A senha é §
    Il password è adesso §
    Het wachtwoord is nu §
    Lösenordet är kvar; lösenord är §
    Hasło to §
    пароль: §
""")


@pytest.mark.parametrize("secret", ["BlueHorse", "QwErTyUi", "Hunter2x7"])
def test_a_password_of_mixed_case_goes(redact: Redactor, secret: str) -> None:
    cleaned = [redact(text.replace("§", secret)) for text in OF_TWO_CASES]
    assert cleaned == [text.replace("§", "[redacted: password]") for text in OF_TWO_CASES]


OF_FOUR_WORDS = lines("""
    password: §
    passphrase = §
    the password is §
    The passphrase is now §, please keep it.
    | passphrase | § |
    密码：§
    口令是 §，别外传
    Das Passwort ist §.
""")


@pytest.mark.parametrize(
    "secret", ["correct horse battery staple", "orbit-velvet-candle-mango", "orbit velvet candle mango piano"]
)
def test_a_passphrase_without_quotes_goes(redact: Redactor, secret: str) -> None:
    cleaned = [redact(text.replace("§", secret)) for text in OF_FOUR_WORDS]
    assert cleaned == [text.replace("§", "[redacted: password]") for text in OF_FOUR_WORDS]


TALK = lines("""
    the password must be reset
    password: required
    Password: Required
    密码：必填
    密码：需要重置
    密码是必填项
    密码字段使用 PasswordInput 组件
    密码使用 BCrypt 加密
    密码：由 AuthService 校验
    密码为 JSON 字段
    password: SecretStr
    password: PasswordField
    password: NotNull
    password: MinLength
    password: ValueError
    password: confirmPassword
    password: isStrongPassword
    password: GitHub
    the password comes from AuthService
    the password is handled by AuthController
    the password is JSON encoded
    the password is NotEmpty
    --password PASSWORD
    --password FILE  the file that holds it
    Das Passwort ist abgelaufen
    Das Passwort ist Pflicht
    Passwort: erforderlich
    La contraseña es obligatoria
    contraseña: vacía
    Passwort: bitte nicht weitergeben danke
    wachtwoord: vergeten
    Hasło: proszę go nikomu nie podawać
    şifre: gerekli
    I changed the password to something stronger and it works
    I changed the password hashing to argon2 and it works
    the password is never logged anywhere
    the password is kept in memory for one hour
    the password is passed through stdin only
    password: reset flow works again
    password: login page redesign complete
    password: fails when empty string given
    password: minimum eight characters long
    password strength meter looks great overall
    passphrase: read from stdin without echo
    the password is always checked first
""")


def test_talk_about_passwords_stays(redact: Redactor) -> None:
    notes = [f"- {text}\n- 下一行 next\n" for text in TALK]
    assert [note for note in notes if redact(note) != note] == []


@pytest.mark.parametrize("value", ["Foo&bar=12", "Foo&barbaz=1234", "x9!Foo&bar=1234zz", "4x!k2^m0z8&qp1w7=v"])
@pytest.mark.parametrize(
    "line",
    [
        "APP_ENV=prod⏎DB_PASSWORD=§⏎DEBUG=0",
        "export DB_PASSWORD=§",
        "db:⏎  password: §⏎  port: 1",
        "spring.datasource.password=§",
        "Passwort: §",
        "db_password=§",
        "Passwort=§",
        "密码: §",
    ],
)
def test_a_line_of_settings_has_one_value(line: str, value: str, redact: Redactor) -> None:
    line = line.replace("⏎", "\n")
    redacted = redact(line.replace("§", value))
    assert redacted == line.replace("§", "[redacted: password]")


@pytest.mark.parametrize(
    "front", ["https://x.org/login?user=bob&password=", "user=bob&password=", "password=", "userpassword="]
)
def test_a_query_string_keeps_its_parts(front: str, redact: Redactor) -> None:
    assert redact(f"{front}hunter2&next=1&lang=中文") == f"{front}[redacted: password]&next=1&lang=中文"


def test_a_password_in_full_width_brackets_goes(redact: Redactor) -> None:
    assert redact("管理员密码（Feng2Yun9）") == "管理员密码（[redacted: password]）"


@pytest.mark.parametrize(
    "text", ["密码（optional）", "密码（至少8位）", "密码（见下文）", "密码（sha256）", "密码（必填）"]
)
def test_a_remark_in_full_width_brackets_stays(text: str, redact: Redactor) -> None:
    assert redact(text) == text
