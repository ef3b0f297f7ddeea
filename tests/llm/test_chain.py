from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from desk import NOW
from scripted_models import ModelServer, refusal, serve_models

from memtool.errors import MemtoolError, ProviderFailed, ProviderMissing, Unavailable
from memtool.llm import Answer, OutOfTime, Provider, Request, Wasted
from memtool.llm.call_log import CallLog, usage
from memtool.llm.chain import Chain, ChainOutcome, Clock
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings
from memtool.vault.layout import Vault

REQUEST = Request("system", "prompt")


class Scripted:
    """A provider that does what is in store for it; one second passes at each call."""

    def __init__(self, time: Time, *outcomes: str | MemtoolError | BaseException) -> None:
        self._time = time
        self._outcomes = list(outcomes)
        self.timeouts: list[float] = []

    def complete(self, request: Request, timeout: float) -> Answer:
        assert request == REQUEST
        self._time.seconds += 1
        self.timeouts.append(timeout)
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return Answer(outcome, "scripted", "m", 10, 5)


class Time:
    """A clock that moves only when someone waits."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds

    def clock(self) -> Clock:
        return Clock(lambda: NOW, lambda: self.seconds, self.pause)


@pytest.fixture
def time() -> Time:
    return Time()


Run = Callable[..., ChainOutcome[int]]


@pytest.fixture
def run(vault: Vault, time: Time) -> Run:
    """Ask a chain for a number: providers in order, each a Scripted or what opening it raises."""

    def run(
        *providers: Provider | MemtoolError, daily_tokens: int = 0, names: tuple[str, ...] = ()
    ) -> ChainOutcome[int]:
        waiting = list(providers)

        def open_provider(_name: str, _settings: ModelSettings, _keys: Keys) -> Provider:
            provider = waiting.pop(0)
            if isinstance(provider, MemtoolError):
                raise provider
            return provider

        settings = ModelSettings(providers=names or ("claude", "anthropic", "openai")[: len(providers)])
        chain = Chain(settings, Keys(), CallLog(vault, daily_tokens), time.clock(), open_provider)
        return chain.complete(REQUEST, number, purpose="a test")

    return run


def number(text: str) -> int:
    if not text.isdigit():
        raise ProviderFailed("the answer is no number")
    return int(text)


@pytest.mark.slow
def test_the_first_good_answer_is_taken(run: Run, time: Time) -> None:
    second = Scripted(time, "8")
    outcome = run(Scripted(time, "7"), second)
    assert outcome == ChainOutcome(7, Answer("7", "scripted", "m", 10, 5, seconds=1.0), (), retry_may_help=False)
    assert second.timeouts == []


@pytest.mark.slow
def test_each_has_the_timeout_to_itself(run: Run, time: Time) -> None:
    first, second = Scripted(time, ProviderFailed("it broke")), Scripted(time, "8")
    run(first, second)
    assert (first.timeouts, second.timeouts) == ([30], [30])


def test_a_failure_a_missing_one_and_a_bad_answer_are_passed_over_with_a_sentence(run: Run, time: Time) -> None:
    outcome = run(ProviderMissing("there is no command 'claude'"), Scripted(time, "seven"), Scripted(time, "8"))
    assert outcome.value == 8
    assert outcome.reasons == ("claude: there is no command 'claude'", "anthropic: the answer is no number")


@pytest.mark.slow
def test_when_all_fail_the_reasons_remain(run: Run, time: Time, vault: Vault) -> None:
    outcome = run(Scripted(time, ProviderFailed("it broke")), Scripted(time, "seven"))
    assert outcome == ChainOutcome(
        None, None, ("claude: it broke", "anthropic: the answer is no number"), retry_may_help=False
    )
    assert [(row.provider, row.failed, row.input_tokens) for row in usage(vault)] == [
        ("anthropic", 1, 10),
        ("claude", 1, 0),
    ]


def test_nobody_is_asked_behind_extractive(run: Run, time: Time) -> None:
    never = Scripted(time, "7")
    assert run(never, names=("extractive", "claude")) == ChainOutcome()
    assert never.timeouts == []


@pytest.mark.slow
@pytest.mark.parametrize("error", [Unavailable("busy"), OutOfTime("it", REQUEST, 30)])
def test_what_may_pass_is_told_apart(run: Run, time: Time, error: MemtoolError) -> None:
    assert run(ProviderMissing("no key"), Scripted(time, error, error)).retry_may_help
    assert not run(ProviderMissing("no key"), Scripted(time, "seven")).retry_may_help


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "waited"), [(0.0, 1.0), (0.2, 1.0), (5.0, 5.0)])
def test_it_asks_a_second_time_after_as_long_as_it_is_told_to_wait(
    run: Run, time: Time, asked: float, waited: float
) -> None:
    provider = Scripted(time, Unavailable("busy", asked), "7")
    assert run(provider).value == 7
    assert time.pauses == [waited]
    assert provider.timeouts == [30, 30 - 1 - waited]  # in all, still thirty seconds


def test_a_spent_budget_ends_the_chain(run: Run, time: Time, vault: Vault) -> None:
    assert run(Scripted(time, "7"), daily_tokens=20).value == 7
    never = Scripted(time, "8")
    outcome = run(never, never, daily_tokens=16)
    assert outcome.value is None
    assert len(outcome.reasons) == 1
    assert "the day's budget of 16 tokens is spent" in outcome.reasons[0]
    assert never.timeouts == []
    assert usage(vault)[0].calls == 1


def test_without_a_ledger_nobody_is_asked(run: Run, time: Time, vault: Vault) -> None:
    (vault.state_path / "model-calls.jsonl").mkdir(parents=True)
    never = Scripted(time, "7")
    assert "cannot be kept" in run(never, never).reasons[0]
    assert never.timeouts == []


def test_an_interrupt_passes_and_the_call_stays_counted(run: Run, time: Time, vault: Vault) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Scripted(time, KeyboardInterrupt()))
    (row,) = usage(vault)
    assert (row.calls, row.failed, row.input_tokens) == (1, 1, REQUEST.tokens)


def test_the_ledger_says_what_each_call_was(run: Run, time: Time, vault: Vault) -> None:
    run(Scripted(time, Wasted("cut off", 10, 4, 0.1)), Scripted(time, "7"))
    lines = [json.loads(line) for line in (vault.state_path / "model-calls.jsonl").read_text().splitlines()]
    ended = [{name: line[name] for name in ("provider", "purpose", "seconds", "failure")} for line in lines[1::2]]
    assert ended == [
        {"provider": "claude", "purpose": "a test", "seconds": 1.0, "failure": "cut off"},
        {"provider": "anthropic", "purpose": "a test", "seconds": 1.0, "failure": ""},
    ]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve_models() as server:
        yield server


@pytest.mark.slow
def test_it_works_from_end_to_end(vault: Vault, server: ModelServer) -> None:
    pytest.importorskip("anthropic")
    server.text = "42"
    server.replies.extend([refusal(529), refusal(529), refusal(500)])
    settings = ModelSettings(
        providers=("anthropic", "openai", "extractive"), anthropic_base_url=server.url,
        openai_base_url=f"{server.url}/v1", openai_model="small",
    )  # fmt: skip
    clock = Clock(lambda: NOW, pause=lambda _seconds: None)
    outcome = Chain(settings, Keys(anthropic="k"), CallLog(vault, 0), clock).complete(REQUEST, number, purpose="a test")
    assert outcome.value == 42
    assert "answered 529" in outcome.reasons[0]
    assert [request.path for request in server.requests] == ["/v1/messages"] * 2 + ["/v1/chat/completions"] * 2
