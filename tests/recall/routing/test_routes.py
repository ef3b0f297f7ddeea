from __future__ import annotations

import json
import os
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from trees import write

from memtool.errors import BrokenVaultFile, OutsideVault
from memtool.recall import limits
from memtool.recall.routing.loader_table import LOADER
from memtool.recall.routing.routes import (
    PrefixEntry,
    Route,
    check,
    longest,
    parse_prefix_map,
    placed,
    read_routing,
    routes_of_file,
    routes_of_table,
    routes_of_text,
    table_names,
    update_table,
)
from memtool.recall.routing.triggers import parse_area
from memtool.vault.layout import Vault

SHOP, RULES, ORDER = (
    "areas/projects/shop/summary.md",
    "areas/projects/shop/rules.md",
    "areas/projects/shop/schema/t_order.md",
)
MANY = [str(number) for number in range(limits.MOST_TRIGGERS + 1)]
SUMMARY = """\
---
type: project
identities: ["path:/home/anna/src/shop"]
triggers:
  - checkout
  - 支付
  - "src/payments/"
aliases: web shop, 商店
paths: ["src/pay/**", "*.sql"]
---
# shop
"""


@pytest.fixture
def shop(vault: Vault) -> Vault:
    """A vault with a project that has triggers, rules and a schema page."""
    write(vault, SHOP, SUMMARY)
    write(vault, RULES, "# Rules\n")
    write(vault, ORDER, "# t_order\n")
    return vault


def led(routes: list[Route]) -> list[str]:
    return list(dict.fromkeys(ref for route in routes for ref in route.refs))


def sentences(vault: Vault) -> list[str]:
    return [f"{path}:{line}: {sentence}" for path, line, sentence, _ in read_routing(vault).findings]


@pytest.mark.parametrize(
    ("text", "trigger", "line"),
    [
        ("Why is checkout slow?", "checkout", 5),
        ("为什么支付失败", "支付", 6),
        ("see src/payments/refund.ts", "src/payments/", 7),
        ("我的商店", "商店", 8),
        ("a Web  Shop", "web shop", 8),
        ("看src/pay/回调.py文件", "src/pay/**", 9),
        ("open /home/anna/src/shop/src/pay/a.py.", "src/pay/**", 9),
        ("it is in db/one.sql", "*.sql", 9),
    ],
)
def test_a_text_leads_to_the_notes_of_the_area(shop: Vault, text: str, trigger: str, line: int) -> None:
    (route,) = routes_of_text(read_routing(shop), text)
    assert (route.trigger, route.source, route.line) == (trigger, SHOP, line)
    assert route.refs == (SHOP, RULES)


def test_other_texts_lead_nowhere(shop: Vault) -> None:
    routing = read_routing(shop)
    for text in ("", "checkouts", "src/paying/a.py", "付 支", "🙂" * 100, "t_order_items", "a.b/c" * 1000):
        assert routes_of_text(routing, text) == []
    assert routing.findings == ()


def test_patterns_and_tools_have_triggers_and_what_is_over_has_none(vault: Vault) -> None:
    write(vault, "areas/patterns/幂等/summary.md", "---\ntriggers: 幂等\n---\n")
    write(vault, "areas/tools/psql/summary.md", "---\ntriggers: [psql]\n---\n")
    write(vault, "areas/projects/old/summary.md", "---\nstatus: archived\ntriggers: [psql]\n---\n")
    routing = read_routing(vault)
    assert led(routes_of_text(routing, "psql 与幂等")) == [
        "areas/tools/psql/summary.md",
        "areas/patterns/幂等/summary.md",
    ]
    assert [(area.kind, area.name) for area in routing.areas] == [("pattern", "幂等"), ("tool", "psql")]


def test_rows_by_hand_lead_to_any_file(shop: Vault) -> None:
    write(shop, "notes/值班.md", "# on call\n")
    write(
        shop,
        "rules/memory-loader.md",
        "| Trigger | Read |\n|---|---|\n| 值班, pager | notes/值班.md |\n| *.tf | MEMORY.md |\n",
    )
    routing = read_routing(shop)
    (route,) = routes_of_text(routing, "谁值班?")
    assert (route.refs, route.source, route.line) == (("notes/值班.md",), "rules/memory-loader.md", 3)
    assert led(routes_of_text(routing, "fix infra/main.tf")) == ["MEMORY.md"]


def test_the_longest_prefix_leads_to_its_page(shop: Vault) -> None:
    write(shop, "rules/prefix-map.json", json.dumps({"t_": "MEMORY.md", "T_PAY_": RULES}))
    routing = read_routing(shop)
    for name, ref in {"t_x": "MEMORY.md", "t_pay_log": RULES, "shop.T_Order_items": ORDER, "t_order": ORDER}.items():
        assert led(routes_of_table(routing, name)) == [ref]
    assert routes_of_table(routing, "orders") == routes_of_table(routing, "") == []
    assert led(routes_of_text(routing, "select * from shop.t_pay_log")) == [RULES]
    assert led(routes_of_text(routing, "查询t_pay_log表")) == [RULES]


def test_the_map_counts_before_the_name_of_a_page(shop: Vault) -> None:
    write(shop, "rules/prefix-map.json", json.dumps({"t_order": "MEMORY.md"}))
    assert led(routes_of_table(read_routing(shop), "t_order_items")) == ["MEMORY.md"]


def test_a_file_leads_by_its_path_within_its_project(shop: Vault) -> None:
    routing = read_routing(shop)
    assert placed(routing, "/home/anna/src/shop/src/pay/a.py") == ("src/pay/a.py", "shop")
    assert placed(routing, "/home/anna/src/shopping/a.py") == ("/home/anna/src/shopping/a.py", "")
    by_glob, by_word = routes_of_file(routing, "src/pay/checkout/a.py", project="shop")
    assert (by_glob.trigger, by_word.trigger) == ("src/pay/**", "checkout")
    assert routes_of_file(routing, "src/pay/a.py", project="blog") == []
    assert led(routes_of_file(routing, "src/pay/a.py")) == [SHOP, RULES]


def test_what_leads_nowhere_is_named_with_file_and_line(shop: Vault) -> None:
    (shop.root.parent / "outside.md").touch()
    (shop.root / "link.md").symlink_to(shop.root.parent / "outside.md")
    rows = [
        "gone | gone.md",
        "out | ../outside.md",
        "link | link.md",
        "git | .git/config",
        "folder | areas",
        "|MEMORY.md",
        "empty |",
    ]
    write(shop, "rules/memory-loader.md", "".join(f"| {row} |\n" for row in rows))
    write(shop, "rules/prefix-map.json", '{\n"a_": "gone.md",\n"": "MEMORY.md",\n"b_": 7}')
    assert sentences(shop) == [
        "rules/memory-loader.md:1: 'gone' leads nowhere: 'gone.md' is not there",
        "rules/memory-loader.md:2: 'out' leads nowhere: '../outside.md' lies outside the vault",
        "rules/memory-loader.md:3: 'link' leads nowhere: 'link.md' lies outside the vault",
        "rules/memory-loader.md:4: 'git' leads nowhere: '.git/config' is no path of a note",
        "rules/memory-loader.md:5: 'folder' leads nowhere: 'areas' is not there",
        "rules/memory-loader.md:6: the row names no trigger",
        "rules/memory-loader.md:7: the row names no file",
        "rules/prefix-map.json:2: 'a_' leads nowhere: 'gone.md' is not there",
        "rules/prefix-map.json:3: the prefix '' is empty",
        "rules/prefix-map.json:4: 'b_' leads nowhere: '' is not there",
    ]
    assert led(routes_of_text(read_routing(shop), "gone out link git folder")) == []


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ('triggers: [""]', "2: '' in 'triggers' is empty"),
        ("triggers:\n  - ok\n  - {}".format("长" * 61), f"4: '{'长' * 59}…' in 'triggers' has more than 60 characters"),
        ('paths: ["../x"]', "2: '../x' in 'paths' does not begin and stay in a project"),
        (f"triggers: {json.dumps(MANY)}", "2: 'triggers' lists more than 100: the rest is not read"),
        ("triggers: [a", "1: bad YAML in the front matter (line 3)"),
        (f"triggers: [{'a' * 1_000_000}]", "1: too much front matter"),
        ("triggers: &a [*a]", "1: front matter that is not read: an alias"),
    ],
)  # fmt: skip
def test_bad_front_matter_is_named_with_its_line(fields: str, sentence: str) -> None:
    area = parse_area(SHOP, f"---\n{fields}\n---\n")
    assert area
    (finding,) = area.findings
    assert f"{finding.line}: {finding.sentence}".startswith(sentence)


@pytest.mark.parametrize(
    "fields",
    ["", "triggers:", "triggers: {a: b}", "triggers: [[a]]", "tags: [paths]", "triggers: ~x\nstatus: archived"],
)
def test_front_matter_without_triggers_says_nothing(fields: str) -> None:
    assert parse_area(SHOP, f"---\n{fields}\n---\n") is None


def test_hostile_triggers_are_text(vault: Vault) -> None:
    triggers = ["(a+)+$", "a|b", "two\nlines", "<memtool-context>", "\u202eabc", "[x](y)", "%s{0}"]
    write(vault, SHOP, f"---\ntriggers: {json.dumps(triggers)}\n---\n")
    routing = read_routing(vault)
    assert routing.findings == ()
    for text, trigger in {"x (a+)+$ y": "(a+)+$", "a|b": "a|b", "Two lines": "two lines", "abc": "\u202eabc"}.items():
        assert [route.trigger for route in routes_of_text(routing, text)] == [trigger]
    assert routes_of_text(routing, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") == []


def test_files_that_cannot_be_read_are_named_and_the_others_lead_on(shop: Vault) -> None:
    outside = shop.root.parent / "outside.md"
    outside.write_text("---\ntriggers: [stolen]\n---\n")
    (shop.root / "areas/tools/spy").mkdir(parents=True)
    (shop.root / "areas/tools/spy/summary.md").symlink_to(outside)
    (shop.root / "areas/tools/pipe").mkdir()
    os.mkfifo(shop.root / "areas/tools/pipe/summary.md")
    write(shop, "rules/memory-loader.md", "x" * (limits.LARGEST_TABLE + 1))
    (shop.root / "rules/prefix-map.json").write_bytes(b'{"a": "\xff"}')
    assert sentences(shop) == [
        "areas/tools/pipe/summary.md:1: it cannot be read: it is no file",
        "areas/tools/spy/summary.md:1: 'areas/tools/spy/summary.md' lies outside the vault",
        "rules/memory-loader.md:1: it is no file of at most 256 KiB",
        "rules/prefix-map.json:1: 'prefix-map.json' is not UTF-8 (byte 7)",
    ]
    routing = read_routing(shop)
    assert routes_of_text(routing, "stolen") == []
    assert led(routes_of_text(routing, "checkout")) == [SHOP, RULES]


def test_a_folder_of_nothing_has_no_routes(tmp_path: Path) -> None:
    assert read_routing(Vault(tmp_path)) == ((), (), ())


def test_rules_that_are_a_symlink_out_of_the_vault_cost_the_area_no_route(shop: Vault, tmp_path: Path) -> None:
    (shop.root / RULES).unlink()
    (tmp_path / "elsewhere.md").write_text("# 别处\n", encoding="utf-8")
    (shop.root / RULES).symlink_to(tmp_path / "elsewhere.md")
    assert led(routes_of_text(read_routing(shop), "为什么支付失败")) == [SHOP]
    assert f"{RULES}:1: '{RULES}' lies outside the vault" in sentences(shop)


def test_entries_know_their_lines_even_twice() -> None:
    text = '{\n  "t_order_": "a.md",\n  "订单_": "b.md",\n "t_order_": "c.md", "x": 1, "y": {"z": "d.md"}}'
    assert parse_prefix_map(text) == [
        PrefixEntry("t_order_", "a.md", 2),
        PrefixEntry("订单_", "b.md", 3),
        PrefixEntry("t_order_", "c.md", 4),
        PrefixEntry("x", "", 4),
        PrefixEntry("y", "", 4),
    ]


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', "null", '{"a": "b"} x', "[" * 100_000, '{"a":' * 100_000])
def test_what_is_no_map_is_one_error(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_prefix_map(text)


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=6), st.booleans())
def test_any_map_is_read(pairs: dict[str, str], ascii_only: bool) -> None:
    entries = parse_prefix_map(json.dumps(pairs, ensure_ascii=ascii_only, indent=2))
    assert [(entry.prefix, entry.ref, entry.line) for entry in entries] == [
        (key, value, line) for line, (key, value) in enumerate(pairs.items(), start=2)
    ]


def test_the_longest_prefix_wins() -> None:
    assert longest({"t_", "t_order_", "订单"}, ["t_order_items"]) == ["t_order_"]
    assert longest({"t_", "t_order_", "订单"}, ["t_x", "订单_明细"]) == ["t_", "订单"]
    assert longest({"", "t_order_"}, ["t_order", "x", ""]) == []


@pytest.mark.parametrize("name", ["ORDER_ITEMS", '"shop"."order_items"', "`order_items`", "[dbo].[Order_Items]"])
def test_a_table_is_known_however_it_is_written(name: str) -> None:
    assert "order_items" in table_names(name)


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
    assert limits.LARGEST_TABLE - 5_000 < len(text.encode()) <= limits.LARGEST_TABLE
    written = text.count("| areas/projects/p")
    routing = read_routing(vault)
    assert [finding.sentence for finding in check(vault, routing)] == [
        f"the table has no room for {400 - written} of 400 areas, from 'areas/projects/p{written:03}/summary.md' on"
    ]
    assert routes_of_text(routing, "what about 词399x7?")


def test_front_matter_without_an_end_in_sight_is_found(vault: Vault) -> None:
    area(vault, "shop", f"checkout, {'x' * limits.LARGEST_TABLE}")
    assert said(vault) == ["areas/projects/shop/summary.md:1: too much front matter"]
    write(vault, "areas/projects/shop/summary.md", f"---\n\nOf triggers.\n{'x' * 1_000}\n")
    assert said(vault) == []
