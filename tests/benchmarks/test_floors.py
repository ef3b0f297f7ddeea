from __future__ import annotations

import contextlib
from pathlib import Path

from benchmarks import floors


def test_what_was_inserted_is_found_best_first(tmp_path: Path) -> None:
    texts = {"one.md": "密钥轮换后解密失败", "two.md": "密钥 and nothing else", "three.md": "nothing at all"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with contextlib.closing(floors.create(tmp_path / "floor.sqlite")) as db:
        floors.insert(db, [str(tmp_path / name) for name in texts])
        ranked = floors.best(db, "密钥 解密")
    assert [number for number, _ in ranked] == [1, 2]
    assert ranked[0][1] > ranked[1][1]
