from __future__ import annotations

from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest

from memtool.errors import BrokenVaultFile, OutsideVault
from memtool.recall.routing.check import check, update_table
from memtool.recall.routing.loader_table import LOADER
from memtool.recall.routing.routes import LARGEST, read_routing, routes_of_text
from memtool.vault.layout import Vault


def write(vault: Vault, ref: str, text: str) -> None:
    (vault.root / ref).parent.mkdir(parents=True, exist_ok=True)
    (vault.root / ref).write_text(text, encoding="utf-8")


def area(vault: Vault, name: str, triggers: str) -> None:
    write(vault, f"areas/projects/{name}/summary.md", f"---\ntriggers: [{triggers}]\n---\n")


def said(vault: Vault) -> list[str]:
    findings = check(vault, read_routing(vault))
    return [f"{'warning ' * one.is_warning}{one.path}:{one.line}: {one.sentence}" for one in findings]


def test_a_new_vault_has_nothing_to_update_and_nothing_wrong(vault: Vault) -> None:
    assert said(vault) == []
    assert not update_table(vault)


def test_updating_twice_is_updating_once(vault: Vault) -> None:
    area(vault, "商店", "支付, checkout")
    assert said(vault) == [f"warning {LOADER}:1: the table is not up to date: run `memtool route --update`"]
    assert update_table(vault)
    text = (vault.root / LOADER).read_bytes()
    assert "| 支付, checkout | areas/projects/商店/summary.md |" in text.decode()
    stamp = (vault.root / LOADER).stat()
    assert not update_table(vault)
    assert ((vault.root / LOADER).read_bytes(), (vault.root / LOADER).stat()) == (text, stamp)
    assert said(vault) == []


def test_a_table_that_is_missing_is_made_when_it_has_something_to_say(tmp_path: Path) -> None:
    (tmp_path / "memtool.toml").touch()
    vault = Vault(tmp_path)
    assert not update_table(vault)
    assert not (tmp_path / LOADER).exists()
    area(vault, "shop", "checkout")
    assert update_table(vault)
    assert "type: rules" in (tmp_path / LOADER).read_text()


def test_a_trigger_of_two_areas_is_a_warning(vault: Vault) -> None:
    area(vault, "blog", "deploy, 发布")
    area(vault, "shop", "Deploy")
    update_table(vault)
    assert said(vault) == [
        "warning areas/projects/shop/summary.md:2: 'Deploy' leads to other files in areas/projects/blog/summary.md:2"
    ]
    write(vault, LOADER, "| deploy | areas/projects/blog/summary.md |\n| gone | gone.md |\n")
    assert said(vault)[0] == f"{LOADER}:2: 'gone' leads nowhere: 'gone.md' is not there"
    assert not any(f"{LOADER}:1: 'deploy'" in sentence for sentence in said(vault))


def test_several_writers_at_once_make_one_table(vault: Vault) -> None:
    area(vault, "shop", "checkout")
    with ThreadPool(4) as pool:
        assert sorted(pool.map(update_table, [vault] * 4)) == [False, False, False, True]
    assert (vault.root / LOADER).read_text().count("memtool begin") == 1


def test_a_table_elsewhere_is_not_written(vault: Vault) -> None:
    area(vault, "shop", "checkout")
    outside = vault.root.parent / "outside.md"
    outside.write_text("mine")
    (vault.root / LOADER).unlink()
    (vault.root / LOADER).symlink_to(outside)
    with pytest.raises(OutsideVault):
        update_table(vault)
    assert outside.read_text() == "mine"
    (vault.root / LOADER).unlink()
    (vault.root / LOADER).mkdir()
    with pytest.raises(BrokenVaultFile):
        update_table(vault)
    assert len(said(vault)) == 1


# Size


@pytest.mark.slow
def test_areas_that_have_no_room_in_the_table_are_named_and_still_found(vault: Vault) -> None:
    for number in range(400):
        area(vault, f"p{number:03}", ", ".join(f"词{number}x{other}" for other in range(100)))
    assert update_table(vault)
    assert not update_table(vault)
    text = (vault.root / LOADER).read_text(encoding="utf-8")
    assert LARGEST - 5_000 < len(text.encode()) <= LARGEST
    written = text.count("| areas/projects/p")
    routing = read_routing(vault)
    assert [finding.sentence for finding in check(vault, routing)] == [
        f"the table has no room for {400 - written} of 400 areas, from 'areas/projects/p{written:03}/summary.md' on"
    ]
    assert routes_of_text(routing, "what about 词399x7?")


def test_front_matter_without_an_end_in_sight_is_found(vault: Vault) -> None:
    area(vault, "shop", f"checkout, {'x' * LARGEST}")
    assert said(vault) == ["areas/projects/shop/summary.md:1: too much front matter"]
    write(vault, "areas/projects/shop/summary.md", f"---\n\nOf triggers.\n{'x' * 1_000}\n")
    assert said(vault) == []
