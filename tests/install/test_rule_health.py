from __future__ import annotations

from pathlib import Path

import pytest
from installing import install, install_rules
from unprivileged import unprivileged

from memtool.errors import NotWritable
from memtool.install.claude_health import examine_rules
from memtool.install.hooks import Program
from memtool.install.record import call_own
from memtool.install.rule_files import rules_folder
from memtool.vault.layout import Vault


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The environment of a user of the client."""
    return {"CLAUDE_CONFIG_DIR": str(tmp_path / "config"), "MEMTOOL_CONFIG": str(tmp_path / "config.toml")}


@pytest.fixture(params=["记忆", "a|b"])
def shop(tmp_path: Path, request: pytest.FixtureRequest) -> Vault:
    """A vault with triggers and paths, in a folder whose name a table has to escape."""
    return with_triggers(Vault(tmp_path / request.param))


def with_triggers(vault: Vault, words: str = "支付, checkout") -> Vault:
    path = vault.root / "areas/projects/shop/summary.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    vault.settings_path.touch()
    path.write_text(f"---\ntriggers: [{words}]\npaths: ['*.sql']\n---\n", encoding="utf-8")
    return vault


def with_hooks(environ: dict[str, str], vault: Vault) -> None:
    path = Path(environ["CLAUDE_CONFIG_DIR"]) / "settings.json"
    install(path, Program("/opt/memtool-hook", ("--vault", str(vault.root))))
    call_own(environ, vault)


def sentences(environ: dict[str, str], vault: Vault) -> list[str]:
    return [finding.sentence for finding in examine_rules(environ, vault).findings]


def test_without_hooks_and_rules_there_is_nothing_to_say(shop: Vault, environ: dict[str, str]) -> None:
    assert examine_rules(environ, shop) == (rules_folder(environ), (), ())
    assert not rules_folder(environ).exists()


def test_rules_of_this_vault_are_fine_until_a_trigger_changes(shop: Vault, environ: dict[str, str]) -> None:
    with_hooks(environ, shop)
    assert sentences(environ, shop) == [
        f"rules in '{rules_folder(environ)}' are not up to date: memtool-shop.md, memtool.md"
    ]
    install_rules(environ, shop)
    assert examine_rules(environ, shop) == (rules_folder(environ), ("memtool-shop.md", "memtool.md"), ())
    with_triggers(shop, "退款")
    assert sentences(environ, shop) == [f"rules in '{rules_folder(environ)}' are not up to date: memtool.md"]


def test_rules_of_another_vault_are_told(shop: Vault, environ: dict[str, str]) -> None:
    install_rules(environ, with_triggers(Vault(shop.root.with_name(f"{shop.root.name}2"))))
    expected = f"rules in '{rules_folder(environ)}' are for another vault: memtool-shop.md, memtool.md"
    assert sentences(environ, shop) == [expected]
    with_hooks(environ, shop)
    assert sentences(environ, shop) == [expected]


def test_rules_that_nothing_keeps_up_to_date_are_told(shop: Vault, environ: dict[str, str]) -> None:
    install_rules(environ, shop)
    (sentence,) = sentences(environ, shop)
    assert "no hook in your settings writes to it" in sentence


def test_an_edited_rule_and_a_file_of_the_users_own_are_told(shop: Vault, environ: dict[str, str]) -> None:
    with_hooks(environ, shop)
    install_rules(environ, shop)
    main, scoped = (rules_folder(environ) / name for name in ("memtool.md", "memtool-shop.md"))
    main.write_text(main.read_text(encoding="utf-8") + "我的\n", encoding="utf-8")
    scoped.write_text("")
    assert sentences(environ, shop) == [
        f"'{scoped}' is your own file, so memtool's was not written",
        f"'{main}' keeps your edits",
    ]


def test_a_rule_that_cannot_be_read_is_one_sentence(shop: Vault, environ: dict[str, str]) -> None:
    install_rules(environ, shop)
    (rules_folder(environ) / "memtool.md").chmod(0o000)
    with unprivileged(), pytest.raises(NotWritable, match="cannot read"):
        examine_rules(environ, shop)
