"""A team's service with a model: it makes the vectors of all vaults, and searches by meaning, alone and together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scripted_embeddings import EmbeddingServer, refusal, serve_embeddings
from team.team_server import TeamServer

pytestmark = pytest.mark.slow


@pytest.fixture
def model() -> Iterator[EmbeddingServer]:
    with serve_embeddings() as model:
        yield model


@pytest.fixture
def server(
    tmp_path_factory: pytest.TempPathFactory, module_database: str, model: EmbeddingServer
) -> Iterator[TeamServer]:
    server = TeamServer(
        tmp_path_factory.mktemp("team"),
        module_database,
        ("shop", "api"),
        MEMTOOL_EMBEDDINGS_PROVIDER="openai",
        MEMTOOL_EMBEDDINGS_BASE_URL=model.base_url,
        MEMTOOL_EMBEDDINGS_MODEL="tiny",
    )
    try:
        yield server
    finally:
        server.end()


def test_what_is_saved_is_soon_found_by_meaning_in_one_vault_and_in_all(server: TeamServer) -> None:
    texts = {
        ("shop", "zoo"): "The okapi of our zoo is striped 斑马.",
        ("shop", "steppe"): "No striped horse was seen from the tower in March.",
        ("api", "zoo"): "Visitors feed an okapi between nine and ten.",
        ("api", "steppe"): "Grass burns when lightning comes before rain.",
    }
    for (name, project), text in texts.items():
        asked = {"content": text, "project": project}
        assert server.ask("POST", f"/vaults/{name}/save", asked).fields["stored"]

    def found(path: str, token: str = "") -> list[dict[str, object]]:
        asked = {"query": "striped okapi", "mode": "vector", "limit": 10}
        answer = server.ask("POST", path, asked, token=token or server.operator)
        return list(answer.fields["memories"]) if answer.status == 200 else []

    def places(path: str, token: str = "") -> set[tuple[object, object]]:
        return {(each["vault"], each["project"]) for each in found(path, token)}

    server.until(lambda: places("/search") >= set(texts))
    assert {each["vault"] for each in found("/vaults/api/search")} == {"api"}
    guest = server.token(vaults=("*",), projects=("zoo",))
    assert places("/search", guest) == {("shop", "zoo"), ("api", "zoo")}
    assert [each["project"] for each in found("/vaults/api/search", guest)] == ["zoo"]
    both = server.ask("POST", "/search", {"query": "striped okapi"}).fields
    assert (both["mode"], both["notices"]) == ("hybrid", [])


def test_without_its_model_the_service_finds_words(server: TeamServer, model: EmbeddingServer) -> None:
    assert server.ask("POST", "/vaults/shop/save", {"content": "The tapir is shy."}).fields["stored"]
    model.answers.extend([refusal(500)] * 1000)
    answer = server.ask("POST", "/vaults/shop/search", {"query": "tapir"})
    assert [each["summary"].startswith("The tapir") for each in answer.fields["memories"]] == [True]
