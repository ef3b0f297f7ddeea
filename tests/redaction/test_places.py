from __future__ import annotations

import os

import pytest
from redaction.noise import BASE64, HEX, lines, noise

from memtool.redaction import Redactor

TOKEN = noise(24)
URLS = lines(r"""
    postgres://app:§@db.example.org:5432/shop
    mongodb+srv://bob:§@cluster0.example.net/?retryWrites=true
    redis://:§@cache:6379/0
    https://bob:§@git.example.org/x.git
    amqp://guest:§@localhost
    连接串是postgres://app:§@db.example/库
    postgres:\/\/app:§@db\/x
""")
LIKE_URLS = lines("""
    bob:§@tcp(127.0.0.1:3306)/shop
    jdbc:oracle:thin:scott/§@db:1521/x
    localhost:5432:shop:bob:§
""")


@pytest.mark.parametrize("secret", ["s3cret", "letmein", "p@ss:w0rd", "a%2Fb"])
def test_a_url_loses_its_password_and_keeps_its_host(redact: Redactor, secret: str) -> None:
    cleaned = [redact(text.replace("§", secret)) for text in URLS]
    assert cleaned == [text.replace("§", "[redacted: url-password]") for text in URLS]


def test_what_is_like_a_url_loses_its_password(redact: Redactor) -> None:
    for before, after in (text.split("§") for text in LIKE_URLS):
        cleaned = redact(f"{before}s3cret{after}")
        assert "s3cret" not in cleaned
        assert cleaned.startswith(f"{before}[redacted: ")
        assert cleaned.endswith(f"]{after}")


WITHOUT_A_PASSWORD = lines("""
    # URLs
    http://localhost:8080/path@2x.png
    https://example.org:443/@scope/pkg
    git@github.com:acme/shop.git
    ssh://git@github.com/x
    postgres://app:${PGPASSWORD}@db/x
    https://user:<password>@host
    https://user:****@host
    mailto:bob@example.org
    see https://a.example/x: y@z
    http://[::1]:8080/x@y
    # headers
    Authorization: Bearer $TOKEN
    Authorization: Bearer <token>
    Authorization: Bearer ${token}
    Authorization: Bearer {token}
    Authorization: Bearer YOUR_API_KEY
    'Authorization': 'Bearer ' + token
    Authorization: users log in first
    Bearer authentication is on
    Basic authentication
    Basic Information about the project
    cookie: HttpOnly; Secure
    # commands
    docker run -p 8080:80 -u 1000 x
    mysql -u root -p shop
    mkdir -p src/a
    curl -u "$USER:$PASS" https://x
    curl -sS https://example.org/a
    ssh -p 2222 host
    git push -u origin main:main
    account identified by its number
""")


def test_what_holds_no_secret_stays(redact: Redactor) -> None:
    assert [text for text in WITHOUT_A_PASSWORD if redact(text) != text] == []


HEADERS = lines("""
    authorization | Authorization: Bearer §
    authorization | authorization: Bearer §⏎Host: x
    authorization | AUTHORIZATION: Token §
    authorization | Proxy-Authorization: Basic §
    authorization | curl -H 'Authorization: Bearer §' https://x
    authorization | "Authorization": "Bearer §"
    authorization | headers['Authorization'] = f"Bearer §"
    authorization | "authorization":["Bearer §"]
    authorization | call it with Bearer § as before
    authorization | 请求头是Authorization: Bearer §，不要忘记
    key | curl -H 'x-api-key: §' https://x
    token | PRIVATE-TOKEN: §
    token | X-Vault-Token: §
""")


def test_a_header_loses_its_secret(redact: Redactor) -> None:
    for kind, text in (sample.split(" | ") for sample in HEADERS):
        cleaned = redact(text.replace("§", TOKEN))
        assert cleaned.replace("Bearer ", "") == text.replace("§", f"[redacted: {kind}]").replace("Bearer ", "")


def test_the_words_of_a_wallet_go_and_a_sentence_stays(redact: Redactor) -> None:
    words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    assert redact(f"my seed phrase is: {words}.") == "my seed phrase is: [redacted: mnemonic]."
    assert redact(f"助记词：{words}") == "助记词：[redacted: mnemonic]"
    sentence = "a phrase is a group of words that stands for one idea in a sentence and has no verb of its own"
    assert redact(sentence) == sentence


def test_cookies_go_together(redact: Redactor) -> None:
    assert redact(f"Cookie: sid={TOKEN}; theme=dark\nHost: x") == "Cookie: [redacted: cookie]\nHost: x"
    assert redact(f"Set-Cookie: sid={TOKEN}; Path=/; HttpOnly") == "Set-Cookie: [redacted: cookie]"
    assert redact(f'"cookie": "sid={TOKEN}"') == '"cookie": "[redacted: cookie]"'


def test_other_schemes_of_authorization_go_to_the_end_of_their_line(redact: Redactor) -> None:
    digest = f'Authorization: Digest username="bob", realm="x", response="{noise(32, HEX)}"\nHost: x'
    assert redact(digest) == "Authorization: Digest [redacted: authorization]\nHost: x"
    basic = noise(16, BASE64) + "=="
    assert redact(f"Authorization: Basic {basic}") == "Authorization: Basic [redacted: authorization]"


COMMANDS = lines(r"""
    curl -u bob:§ https://x
    curl -sS https://x/?a=1&b=2 --user 'bob:§'
    curl \⏎  -u bob:§ \⏎  https://x
    http -a bob:§ GET x
    mysql -uroot -p§ shop
    mysqldump -h db -u root -p'§' shop > x.sql
    mysql --password=§
    mariadb -p§
    sshpass -p § ssh x
    sshpass -p'§' ssh x
    redis-cli -h x -a § ping
    mc alias set 仓库 http://x:9000 admin §
    docker login -u me -p § registry.example
    mongosh -u a -p § db
    ldapsearch -D cn=x -w § -b y
    7z x -p§ a.7z
    unzip -P § a.zip
    smbclient //h/s -U bob%§
    openssl enc -pass pass:§
    htpasswd -b .htpasswd bob §
    ssh-keygen -t ed25519 -N '§'
    echo § | sudo -S apt update
    echo '§' | docker login --password-stdin
    machine api.example login bob password §
    CREATE USER x IDENTIFIED BY '§'
    ConvertTo-SecureString "§" -AsPlainText
    kubectl create secret generic x --from-literal=db=§
    aws configure set aws_secret_access_key §
""")


@pytest.mark.parametrize("secret", ["S3cret!x", "hunter2"])
def test_a_command_loses_its_password(redact: Redactor, secret: str) -> None:
    for before, after in (text.split("§") for text in COMMANDS):
        cleaned = redact(f"{before}{secret}{after}")
        assert secret not in cleaned
        assert cleaned.startswith(f"{before}[redacted: "), cleaned
        assert cleaned.endswith(f"]{after}"), cleaned


@pytest.mark.parametrize("scheme", ["https", "postgres", "mongodb+srv"])
def test_a_password_in_an_address_within_a_path_goes(redact: Redactor, scheme: str) -> None:
    path = os.path.normpath(f"/src/商店/{scheme}://bob:hunter@db.example.org/notes.md")
    assert redact(path) == f"/src/商店/{scheme}:/bob:[redacted: url-password]@db.example.org/notes.md"


def test_a_token_behind_its_account_goes(redact: Redactor) -> None:
    assert "3d1b" not in redact(f"const client = require('twilio')('AC{'4f' * 16}', '{'3d1b' * 8}')")


def test_what_only_looks_like_an_address_in_a_path_stays(redact: Redactor) -> None:
    paths = ["C:/Users/bob:x@y", "at 10:/12:30@home", "mailto:/bob@db", "/src/a:/b/c@2.md"]
    assert [redact(path) for path in paths] == paths


@pytest.mark.parametrize(
    "path", ["reset-password", "magic-link", "password/reset", "invite", "konto/reset", "账户/reset"]
)
def test_a_link_that_logs_in_keeps_its_host(path: str, redact: Redactor) -> None:
    for token in (noise(20), noise(40, HEX)):
        redacted = redact(f"Link: https://app.example.org/{path}/{token} 请点")
        assert token not in redacted
        assert redacted.startswith("Link: https://app.example.org/")
        assert redacted.endswith("] 请点")


@pytest.mark.parametrize(
    "path",
    [
        "password/ChangePassword2Controller",
        "invite/InviteMembersDialogV2.tsx",
        "reset-password/how-to-do-it-in-2026",
        "magic-link/settings",
        "invite/team2",
        "reset/passwort-vergessen-hilfe-2",
    ],
)
def test_a_page_about_such_links_stays(path: str, redact: Redactor) -> None:
    assert redact(f"https://app.example.org/{path} 见文档") == f"https://app.example.org/{path} 见文档"


def test_the_host_of_a_webhook_stays(redact: Redactor) -> None:
    url = f"https://hooks.slack.com/services/T{noise(8)}/B{noise(8)}/{noise(24)}"
    assert redact(url).startswith("https://hooks.slack.com/")
    assert noise(24) not in redact(url)
