"""The providers by name: their addresses, keys, default models and limits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest
from desk import NOW
from scripted_models import ModelServer, serve_models

from memtool import settings
from memtool.errors import ProviderMissing, Unavailable
from memtool.llm import EXTRACTIVE, Request, open_provider
from memtool.llm.call_log import CallLog
from memtool.llm.chain import limits_of
from memtool.settings import Keys
from memtool.settings.sections import ABOUT, ModelSettings
from memtool.settings.text_providers import VENDORS, Limits
from memtool.vault.layout import Vault

REQUEST = Request("You keep the memory.", "What happened? 发生了什么？", max_tokens=777)
COMPATIBLE = ("openai", "gemini", "openrouter", "ollama")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server that stands for all vendors."""
    with serve_models() as server:
        for name in COMPATIBLE:
            here = VENDORS[name]._replace(base_url=f"{server.url}/v1")
            monkeypatch.setitem(VENDORS, name, here)
        yield server


def test_every_provider_is_in_the_table_and_in_the_settings() -> None:
    assert all(find_spec(vendor.opens.partition(":")[0]) for vendor in VENDORS.values())
    assert set(ABOUT["llm.providers"].choices) == {*VENDORS, EXTRACTIVE}
    assert all(vendor.model for vendor in VENDORS.values() if vendor.base_url)  # a command may choose by itself
    assert get_args(ModelSettings.__annotations__["providers"])


@pytest.mark.parametrize("name", COMPATIBLE)
def test_each_is_asked_at_its_address_for_its_model_with_its_key(server: ModelServer, name: str) -> None:
    values = ModelSettings(ollama_base_url=f"{server.url}/v1")
    keys = Keys(openai="another", vendors={name: f"key-of-{name}"})
    answer = open_provider(name, values, keys).complete(REQUEST, 20)
    (asked,) = server.requests
    assert (answer.provider, answer.model) == (name, VENDORS[name].model)
    assert asked.headers["Authorization"] == f"Bearer key-of-{name}"
    assert asked.question["model"] == VENDORS[name].model


@pytest.mark.parametrize("name", ["openai", "gemini", "openrouter"])
def test_without_its_key_a_vendor_is_missing_and_the_variable_is_named(server: ModelServer, name: str) -> None:
    with pytest.raises(ProviderMissing, match="no key") as caught:
        open_provider(name, ModelSettings(), Keys(openai="another"))
    assert VENDORS[name].variables[0] in caught.value.hint
    assert server.requests == []


def test_the_key_of_a_vendor_does_not_go_to_another_address(server: ModelServer) -> None:
    chosen = ModelSettings(openai_base_url=f"{server.url}/v1", openai_model="m")
    open_provider("openai", chosen, Keys(vendors={"openai": "sk-own"})).complete(REQUEST, 20)
    assert "Authorization" not in server.requests[0].headers


def test_keys_come_from_the_usual_variables(tmp_path: Path) -> None:
    environ = {
        "MEMTOOL_CONFIG": str(tmp_path / "no.toml"),
        "GOOGLE_API_KEY": "g",
        "OPENROUTER_API_KEY": "",
        "OPENAI_API_KEY": "o",
    }
    assert settings.load(None, environ).keys.vendors == {"gemini": "g", "openai": "o"}
    assert settings.load(None, environ | {"GEMINI_API_KEY": "first"}).keys.vendors["gemini"] == "first"
    assert repr(settings.load(None, environ).keys) == "Keys(…)"


def test_settings_raise_the_limits_of_the_table() -> None:
    assert limits_of("gemini", ModelSettings()) == VENDORS["gemini"].limits
    raised = ModelSettings(calls_per_minute=1_000, calls_at_once=8)
    assert limits_of("gemini", raised) == Limits(1_000, 250, 8)


def calls(ledger: CallLog, count: int, at: datetime, limits: Limits, *, ended: bool = True) -> None:
    for _ in range(count):
        call = ledger.begin("gemini", REQUEST, "summary", at, limits)
        if ended:
            ledger.end(call, ProviderMissing("x"), 0.1)


@pytest.mark.parametrize(
    ("limits", "says", "over"),
    [
        (Limits(per_minute=2), "2 calls in the last minute", timedelta(seconds=61)),
        (Limits(per_day=2), "2 calls today", timedelta(days=1)),
    ],
)
def test_who_was_asked_often_enough_is_asked_later(vault: Vault, limits: Limits, says: str, over: timedelta) -> None:
    ledger = CallLog(vault, 0)
    calls(ledger, 2, NOW, limits)
    with pytest.raises(Unavailable, match=says):
        calls(ledger, 1, NOW, limits)
    assert ledger.begin("ollama", REQUEST, "summary", NOW, limits).provider == "ollama"
    calls(ledger, 1, NOW + over, limits)


def test_so_many_calls_are_under_way_at_once_and_one_that_was_killed_is_given_up(vault: Vault) -> None:
    ledger, limits = CallLog(vault, 0), Limits(at_once=1)
    calls(ledger, 1, NOW, limits, ended=False)
    with pytest.raises(Unavailable, match="1 call at once"):
        calls(ledger, 1, NOW, limits)
    calls(ledger, 2, NOW + timedelta(minutes=3), limits)
