from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from memtool import settings
from memtool.capture.log import ERROR, WARNING, read_log
from memtool.hook.main import run
from memtool.vault.layout import Vault, outer_folder

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def logged(vault: Vault, content: bytes) -> list[tuple[str, str]]:
    """The level and the subject of what a hook that is given *content* writes into the log."""
    run((), {**settings.environment(), "MEMTOOL_VAULT": str(vault.root)}, io.BytesIO(content))
    return [(entry.level, entry.subject) for entry in read_log([vault.state_path], LONG_AGO)]


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"\n", b'{"hook_event_name": "Stop', b"[]", "不是 JSON".encode()])
def test_what_is_no_event_is_a_warning(vault: Vault, content: bytes) -> None:
    assert logged(vault, content) == [(WARNING, "hook")]


@pytest.mark.slow
def test_an_event_that_cannot_be_acted_on_is_an_error(vault: Vault) -> None:
    vault.settings_path.write_text("language = [")
    assert logged(vault, b'{"hook_event_name": "Stop"}') == [(ERROR, "Stop")]


def test_what_cannot_be_written_in_the_vault_is_kept_for_that_vault_only(vault: Vault) -> None:
    environ = settings.environment()
    vault.settings_path.unlink()
    assert logged(vault, b'{"hook_event_name": "Stop"}') == []
    cache = settings.user_cache_path(environ)
    (entry,) = read_log([outer_folder(vault.root, cache)], LONG_AGO)
    assert (entry.level, "is no vault" in entry.message) == (ERROR, True)
    assert read_log([cache, outer_folder(vault.root.parent, cache)], LONG_AGO) == []
