from __future__ import annotations

import pytest
from hypothesis import given, strategies

from memtool.capture.conversation import Conversation, Step
from memtool.capture.model.named_files import files_in, unknown_files

SESSION = Conversation(
    cwd="/home/ann/shop",
    steps=(
        Step("prompt", "Fix src/Auth.ts, 更新设计.md and the Makefile. GET /api/orders fails. Look at config.load()."),
        Step("tool", tool="Edit", file="C:\\work\\shop\\jwt.py"),
        Step("tool", "cat .env.local", tool="Bash", error='File "worker.py", line 3'),
    ),
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("changed src/auth.ts and jwt.py:12", ["auth.ts", "jwt.py"]),
        ("修改了auth.ts文件", ["auth.ts"]),
        ("更新了设计.md", ["计.md"]),
        (r"in C:\work\shop\main.rs", ["main.rs"]),
        ("in ~/notes/todo and /etc/passwd", ["todo", "passwd"]),
        ("the Makefile and .env.local", [".env.local", "Makefile"]),
        ("修改Dockerfile之后", ["Dockerfile"]),
        ("Foo.Tests.cs", ["Foo.Tests.cs"]),
        ("all .ts files", [".ts"]),
    ],
)
def test_files_are_found_by_their_last_part(text: str, names: list[str]) -> None:
    assert files_in(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "and/or, client/server, CI/CD, HTTP/2, 50/50/10", "e.g. this, i.e. that, etc.", "Python 3.11 and v2.1.210",
        "v2.x",
        "Node.js and Vue.js", "it is fixed.The next step", "in 1.5s or 3.5GB", "uses config.load() and a.b.c()",
        "one...then two", "a \\n b", "版本2.0已发布。", "增/删/改/查、新增/删除/修改",
        "create/update/delete",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_file_is_none(text: str) -> None:
    assert files_in(text) == []


def test_what_the_session_names_is_known() -> None:
    text = "src/auth.ts, 设计.md, lib/jwt.py, WORKER.py, .env.local, Makefile, /api/orders and all .ts files in shop/"
    assert unknown_files([text], SESSION) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("added billing.py", "billing.py"),
        ("新增了billing.py", "billing.py"),
        ("更新了需求.md", "求.md"),
        ("see /etc/shadow", "shadow"),
        ("th.ts", "th.ts"),  # a part of a name is another name
        ("the Dockerfile", "Dockerfile"),
        ("auth.tsx", "auth.tsx"),
    ],
)
def test_what_it_does_not_name_is_not(text: str, name: str) -> None:
    assert unknown_files(["fixed auth.ts", text], SESSION) == [name]


@given(strategies.text(alphabet="ab文./\\~ -_(", max_size=60))
def test_whatever_a_session_says_is_known_to_it(text: str) -> None:
    assert unknown_files([text], Conversation(steps=(Step("prompt", text),))) == []
