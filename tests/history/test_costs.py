"""What a use case costs: git processes, walks over the vault, and parses of notes and facts."""

from __future__ import annotations

import pytest

from scripts.journeys import traced


@pytest.mark.slow
@pytest.mark.parametrize(
    ("journey", "git", "walks", "parses"),
    [("remember", 5, 1, 4), ("session", 10, 1, 20), ("consolidate", 12, 1, 23)],
)
def test_a_use_case_costs_few_processes_one_walk_and_few_parses(
    journey: str, git: int, walks: int, parses: int
) -> None:
    _, costs = traced(journey)
    assert costs["git"] <= git
    assert costs["walks"] <= walks
    assert costs["parses"] <= parses
