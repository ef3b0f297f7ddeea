from __future__ import annotations

import pytest

from memtool.redaction import Redactor

HEAD = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (HEAD + "data:\n  pg: U2NobmVlZmxvY2tlMjM=", "U2NobmVlZmxvY2tlMjM="),
        (HEAD + "type: Opaque\nstringData:\n  pg: Schneeflocke23  \n", "Schneeflocke23"),
        (HEAD + "stringData:\n  备注: x\n  主库: 雪花飘飘2023\n", "雪花飘飘2023"),
        (HEAD + "stringData:\n  conf.ini: |\n    host=db\n    pw=Käsekuchen\n", "Käsekuchen"),
        ("data:\n  pg: c25vdw==\nkind: Secret\n", "c25vdw=="),
        ('{\n  "kind": "Secret",\n  "data": {\n    "pg": "c25vdw=="\n  }\n}\n', "c25vdw=="),
    ],
)
def test_values_of_a_secret_go(text: str, secret: str, redact: Redactor) -> None:
    redacted = redact(text)
    assert secret not in redacted
    assert redacted.count("\n") == text.count("\n")
    assert redact(redacted) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  pg: U2NobmVlZmxvY2tlMjM=\n",
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  Gruß: Schneeflocke\n  问候: 你好\n",
        HEAD + "data:\n  pg: {{ .Values.pg }}\n  other: ${PG}\n  third: <base64>\n",
        HEAD + "type: Opaque\n",
        HEAD + "---\nkind: ConfigMap\ndata:\n  colour: turquoise\n",
        "kind: ExternalSecret\nspec:\n  data:\n    remote: database/main\n",
        "A `kind: Secret` keeps its values below data:\n  see the manual\n",
        "kind: Secret 的 data: 需要 base64\n",
    ],
)
def test_other_manifests_and_placeholders_stay(text: str, redact: Redactor) -> None:
    assert redact(text) == text
