"""Passwords that the form of a sentence gives away; sentences that are like them and hold none."""

from __future__ import annotations

import pytest

from memtool.redaction import make_redactor
from memtool.settings.sections import RedactSettings

SECRETS = (
    ("> Which passphrase should I use?\nplum orbit candle seventeen", "plum orbit candle seventeen"),
    ("Assistant: What is the passphrase?\nUser: plum orbit candle seventeen", "plum orbit candle seventeen"),
    ("Welche Passphrase soll ich nehmen?\nPflaume Umlauf Kerze Siebzehn", "Pflaume Umlauf Kerze Siebzehn"),
    ("助手：密码短语是什么？\n用户：plum orbit candle seventeen", "plum orbit candle seventeen"),
    ("Die PIN meiner Signaturkarte ist 402918", "402918"),
    ("Die PIN unserer Karte lautet 402918", "402918"),
    ("Zugangsdaten fürs Testsystem: m.huber / Nebel-Horn-88", "Nebel-Horn-88"),
    ("credentials: m.huber:Nebel-Horn-88", "Nebel-Horn-88"),
    ("登录信息: huber:Nebel-Horn-88", "Nebel-Horn-88"),
    ("Q: admin pass?\nA: drizzle-and-fog", "drizzle-and-fog"),
    ("Das Kennwort lautet sieben kleine graue Igel", "sieben kleine graue Igel"),
    ("Der Zugangscode lautet 77-41-09, 请保密", "77-41-09"),
    ("your one-time code is 884102", "884102"),
    ("the vpn secret is Harbour.Lights.44, keep it safe", "Harbour.Lights.44"),
    ("Assistant: Which passphrase protects the signing key?\nUser: marmalade", "marmalade"),
    ("助手：请问 root 的密码是什么？\n用户：qingtian", "qingtian"),
    ("Assistant: Was ist die Passphrase für borg?\nUser: Heidekraut", "Heidekraut"),
    ("用 zhangwei 和 longmen_2044 登录后台看一下", "longmen_2044"),
    ("I have rotated the db password, it's now Tern-Gully7", "Tern-Gully7"),
    ("密码我改了，现在是 meihua_303", "meihua_303"),
    ("when the phone asks for a passcode, type 664192", "664192"),
    ("Wenn er nach der PIN fragt, gib 730255 ein", "730255"),
    ("passphrase for the backup drive: quiet otter paints seven doors", "quiet otter paints seven doors"),
    ("Die Passphrase lautet: zwölf kleine Igel tanzen Walzer", "zwölf kleine Igel tanzen Walzer"),
    ("密码短语：purple rivers carry old letters", "purple rivers carry old letters"),
    ("net use \\\\nas01\\media /user:OFFICE\\mhuber Sommergewitter.9", "Sommergewitter.9"),
    ("r = requests.get(url, auth=HTTPBasicAuth('reader', 'plumblossom'))", "plumblossom"),
    ("set -gx PGPASSWORD wildgans", "wildgans"),
    ("setenv REDIS_PASSWORD stockente7", "stockente7"),
    ("https://app.example.org/x?token=Zx81kQmN2pLr7TsVuWyB4dEf9aGh", "Zx81kQmN2pLr7TsVuWyB4dEf9aGh"),
    ('the passphrase is "seven foxes jump the fence"', "seven foxes jump the fence"),
    ("Assistant: what's the sudo password?\n\nUser: gartenzwerg", "gartenzwerg"),
    ("it is refused when I type maple-Lagoon4 as my password", "maple-Lagoon4"),
    ("Password: herring.Boat5\nsu: Authentication failure", "herring.Boat5"),
    ("Le mot de passe de la base, c'est « kL4-bouleau-vert » ; rien d'autre", "kL4-bouleau-vert"),
    ("identifiant paul, mdp Madeleine83.", "Madeleine83"),
    ("ロッカーの暗証番号は 6147 に変えました。", "6147"),
    ("密钥给你:91c04fd28ab35e6770d1b29e8c4fa653,放到头里", "91c04fd28ab35e6770d1b29e8c4fa653"),
    ("export STORE_PASS='won'\\''t-tell_Elk9'", "won'\\''t-tell_Elk9"),
    ("Enter this setup key:\n\n    qrbm 3u2s 7445 dpa4\n", "qrbm 3u2s 7445 dpa4"),
    ('conn.Bind("cn=git,dc=corp,dc=local", "Dachsbau%Ost4")', "Dachsbau%Ost4"),
    ("log in as deploy with Sp1der-Lagoon-31 and look", "Sp1der-Lagoon-31"),
    ("use this API key for the weather: " + "60c7" * 8, "60c7" * 8),
    ("PIN für die Alarmanlage: 640913, danach die Raute", "640913"),
    ("J'ai mis « Marée-Basse-31 » comme mot de passe admin", "Marée-Basse-31"),
    ("認証コードは615 338です", "615 338"),
    ("授权码 f0kqantzvv4r18ue，发信用", "f0kqantzvv4r18ue"),
    ("API 키: " + "d8dc" * 8, "d8dc" * 8),
    ("Server=db3;user=hr;password=Granit(Turm)6;trust=true", "Granit(Turm)6"),
    ("CREATE USER hq IDENTIFIED BY Gr0undsel_78 ACCOUNT LOCK", "Gr0undsel_78"),
    ('KEY_SECRET = bytes.fromhex("' + "76b0" * 16 + '")', "76b0" * 16),
    ("- **Pre-shared key:** `Limpet-Shell-Blue`", "Limpet-Shell-Blue"),
    ("Backup codes for your account:\n1. 1936 7705", "1936 7705"),
    ("高德地图的 key 用这个 " + "567d" * 8, "567d" * 8),
    ("Enter this setup key in the app: UIVH 2IV4 ERZQ 7SR5", "UIVH 2IV4 ERZQ 7SR5"),
    ("DeepL: 440e0b85-0f81-4ba0-b6f1-22a2b948c91a:fx", "440e0b85-0f81-4ba0-b6f1-22a2b948c91a:fx"),
    ("usuario: marta.ruiz\nclave: s3ndero_luz", "s3ndero_luz"),
    ("Das Modem will die PUK, das ist die 73310482.", "73310482"),
    ("the code that I got by SMS is 731 205", "731 205"),
    ("smtps://depot@example.com:qkzmwahxtpcv@smtp.example.com:465/", "qkzmwahxtpcv"),
    ('getConnection(\n    "jdbc:oracle:thin:@//db:1521/X", "APP_USER",\n    "Pflaumenmus7")', "Pflaumenmus7"),
)
INNOCENT = (
    "Which passphrase should I use?\nthe same one as before",
    "> Which passphrase should I use?\nlet us ask Peter first",
    "Which password should I use?\nplum orbit candle seventeen",
    "Welche Passphrase soll ich nehmen?\ndie gleiche wie beim letzten Mal",
    "密码短语是什么？\n我也不知道",
    "Die PIN meiner Karte ist 6 Ziffern lang",
    "Zugangsdaten fürs Testsystem: siehe Wiki / Abschnitt zwei",
    "credentials: provider:default",
    "login service: image:latest",
    "账号：image:v1.2.3",
    "login flow: client:server1",
    "Sign in: error:invalid_grant",
    "What is the password policy for guests?\nstrict",
    "密码要不要改？\n不用",
    "Assistant: Is the passphrase stored anywhere?\nUser: nowhere",
    "hab das Passwort geändert und die Sitzungen beendet",
    "the app asks for a passcode of 6 digits, type is numeric",
    "The passphrase is: never written to disk, not even in the logs",
    "密码短语：用来保护私钥的一串单词，可以为空",
    "net use Z: \\\\srv\\share /user:CORP\\anna *",
    "auth = HTTPBasicAuth(username, password)",
    "set -x MYSQL_PWD $argv[1]",
    "golang.org/x/sync v0.7.0 h1:YsImfSBoP9QPYL0xyKJPq0gcaJdG3rInoqxTWbfQu9M=",
    '"resolved": "https://r.example.org/a.tgz", "integrity": "sha512-7Kc2vJmQ9xTz4LwNfYb1RpHs8dGeUaXo5iBqVnMkEjZrWtCy3SuPl6AhDgFvIxOwKzJmTqLbNcRe0YsHuXpG2w=="',  # noqa: E501
    "https://www.example.org/playlist?list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf&index=2",
    "the regex for the password: ^(?=.*\\d)[A-Za-z\\d]{10,32}$ is too strict",
    "密码校验改成 bcrypt 了",
    "密码加密方式从 md5 换成 argon2id",
    "The login page was changed, it's now responsive",
    "I updated the login form, it's now validated on blur",
    "the password field was replaced, it is now a component",
    "The password policy was changed, it's now stricter than before",
    "Die Passwortprüfung wurde geändert, sie ist jetzt schneller und heißt jetzt check_password",
    "I reset the signing key, it's now stored in the keyring; logging in works",
    "What is the password hash?\nargon2id",
    "Which password manager do you use?\nBitwarden",
    "What is the password for?\nIt opens the vault",
    "What's the name of the password column?\npasswd",
    "Welche Passwörter sind betroffen?\nalle",
    "密码存在哪里？\nkeyring",
    "密码用什么加密的？\nbcrypt",
    "What should the password check return?\nboolean",
    "What type is the password field?\nstring",
    "which endpoint resets the password?\nPOST",
    "The PIN length is 4, use 6 digits instead",
    "pin the dependency: use 2024 as the baseline",
    "connect the LED to pin 13 and use 9600 baud",
    "pin numpy to 1.26 and use 3.11 for CI",
    "the PIN entry page answers with 4040 in the header row",
    "passphrase: a string used to encrypt the private key",
    "Enter passphrase (empty for no passphrase):",
    "passphrase: optional, defaults to none",
    '"passphrase": "Passphrase of the private key",',
    "The passphrase is asked for only once per session",
    "Passphrase: mindestens fünf zufällige Wörter verwenden",
    "Die Passphrase ist auf jedem Rechner anders gesetzt worden",
    "密码短语是可选的，留空即可",
    "set -x PATH /usr/local/bin $PATH",
    "set -x TOKEN_FILE /run/secrets/token",
    'auth = HTTPBasicAuth("user", "")',
    'requests.get(url, auth=("user", "pass"))',
    'auth=("<user>", "<password>")',
    "net use Z: /delete",
    "net use * \\\\srv\\share /user:DOMAIN\\user <password>",
)


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_password_that_a_sentence_names_goes_and_nothing_else(text: str, secret: str) -> None:
    cleaned = make_redactor(RedactSettings())(text)
    before, after = text.split(secret)
    assert cleaned.startswith(f"{before}[redacted: ")
    assert cleaned.endswith(f"]{after}")


@pytest.mark.parametrize("text", INNOCENT)
def test_a_sentence_without_a_password_stays(text: str) -> None:
    assert make_redactor(RedactSettings())(text) == text


def test_a_plain_word_that_answers_a_question_for_a_password_is_masked_in_the_session() -> None:
    redact = make_redactor(RedactSettings()).of_session()
    redact.learn_answer("Which password hash do you use?", "pfannkuchen")
    redact.learn_answer("Wie lautet die Passphrase für den Schlüssel?", "pfannkuchen")
    assert redact("pfannkuchen 完成了") == "[redacted: password] 完成了"
    redact = make_redactor(RedactSettings()).of_session()
    redact.learn_answer("Which password hash do you use?", "pfannkuchen")
    assert redact("pfannkuchen 完成了") == "pfannkuchen 完成了"


def test_an_address_keeps_its_ids_and_loses_its_token() -> None:
    token = "Zx81kQmN2pLr7TsVuWyB4dEf9aGh"
    redact = make_redactor(RedactSettings())
    assert redact(f"https://a.example/播放?list={token}&token={token}").startswith(
        f"https://a.example/播放?list={token}"
    )
    assert redact(f"https://a.example/?x={token}") == "https://a.example/?x=[redacted: random]"


def test_a_user_of_a_kubernetes_secret_stays() -> None:
    text = "kubectl create secret generic 邮件 --from-literal=user=mailer --from-literal=pw=Distelfink4"
    assert make_redactor(RedactSettings())(text) == text.replace("Distelfink4", "[redacted: secret]")
