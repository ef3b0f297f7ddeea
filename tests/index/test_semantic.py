from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from index.notebook import TODAY, Notebook, fill
from scripted_embeddings import EmbeddingServer, refusal, serve_embeddings
from tiny_model import make_tiny_model

from memtool.embeddings import open_embedder
from memtool.errors import MemtoolError, ProviderFailed, ProviderMissing
from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.ranking import SearchResult
from memtool.index.search import ask
from memtool.index.semantic import VectorSource, embed, open_vectors
from memtool.settings import Settings
from memtool.settings.sections import EmbeddingSettings

needs_fastembed = pytest.mark.skipif(find_spec("fastembed") is None, reason="the extra `vectors` is not installed")

ON_BOTH_ENGINES = True


class Finder:
    """Searches a notebook as the command line does, with the embedder that the settings name."""

    def __init__(self, notebook: Notebook, embeddings: EmbeddingSettings, cache: Path) -> None:
        self.notebook = notebook
        self.settings = Settings(embeddings=embeddings)
        self.cache = cache

    def search(self, text: str, mode: str = "hybrid", *, fusion: str = "adaptive", **wanted: object) -> SearchResult:
        def run(index: Index) -> SearchResult:
            asked = Filter(TODAY, **wanted)  # type: ignore[arg-type]
            source = VectorSource(index, self.settings, self.cache)
            return ask(source, text, asked, limit=6, mode=mode, fusion=fusion)

        return self.notebook.use(run)

    def index(self) -> None:
        embedder = open_embedder(self.settings.embeddings, "", self.cache, may_download=False)

        def run(index: Index) -> None:
            with open_vectors(index, embedder) as store:
                embed(index, embedder, store)

        self.notebook.use(run)


@pytest.fixture
def local(notebook: Notebook, tmp_path: Path) -> Finder:
    """With a tiny English model on this machine."""
    notebook.write("car.md", "the car needs a new key")
    notebook.write("database.md", "the database keeps every session")
    notebook.write("chinese.md", "数据库 每晚 备份")
    return Finder(notebook, EmbeddingSettings(path=str(make_tiny_model(tmp_path / "tiny"))), tmp_path / "cache")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serve_embeddings() as running:
        yield running


@pytest.fixture
def remote(notebook: Notebook, tmp_path: Path, server: EmbeddingServer) -> Finder:
    """With an endpoint on the loopback that embeds any language."""
    fill(notebook, 4)
    settings = EmbeddingSettings(provider="openai", base_url=server.base_url, model="tiny")
    return Finder(notebook, settings, tmp_path / "cache")


@needs_fastembed
def test_without_a_model_the_words_are_searched_and_that_is_worth_saying_once(
    notebook: Notebook, tmp_path: Path
) -> None:
    fill(notebook, 3)
    finder = Finder(notebook, EmbeddingSettings(path=str(tmp_path / "nowhere")), tmp_path)

    found = finder.search("word2")

    assert (found.mode, found.hits[0].memory.path) == ("bm25", "n2.md")
    assert "nowhere' does not exist" in found.lasting[0]
    assert found.passing == ()
    with pytest.raises(ProviderMissing, match="does not exist"):
        finder.search("word2", "vector")


def test_who_switched_vectors_off_hears_of_them_only_where_they_are_asked_for(
    notebook: Notebook, tmp_path: Path
) -> None:
    finder = Finder(notebook, EmbeddingSettings(provider="none"), tmp_path)

    assert finder.search("word2").all_notices == ()
    with pytest.raises(ProviderMissing, match="no embedder is set up"):
        finder.search("word2", "vector")


@pytest.mark.slow
@needs_fastembed
def test_a_few_missing_vectors_are_made_on_the_way(local: Finder) -> None:
    found = local.search("automobile")

    assert (found.mode, found.lasting + found.passing) == ("hybrid", ())
    assert found.hits[0].memory.path == "car.md"
    assert found.hits[0].why["vector"]["rank"] == 1
    assert local.search("automobile", "bm25").hits == ()


@pytest.mark.slow
@needs_fastembed
@pytest.mark.parametrize("fusion", ["adaptive", "rrf"])
def test_words_and_meaning_are_merged(local: Finder, fusion: str) -> None:
    found = local.search("session of the automobile", fusion=fusion)

    assert {hit.memory.path for hit in found.hits[:2]} == {"car.md", "database.md"}
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    assert ("lexical_weight" in found.hits[0].why) is (fusion == "adaptive") or fusion == "rrf"
    for hit in found.hits if fusion == "adaptive" else ():
        assert hit.why["by_words"] + hit.why["by_meaning"] == pytest.approx(hit.score, abs=2e-4)


@needs_fastembed
def test_filters_hold_for_meaning_too(local: Finder) -> None:
    local.notebook.write("archive/old.md", "an old car")
    local.notebook.write("gone.md", "---\nstatus: superseded\nproject: shop\n---\nanother car")

    paths = [hit.memory.path for hit in local.search("automobile", "vector").hits]

    assert "car.md" in paths
    assert not {"archive/old.md", "gone.md"} & set(paths)
    assert [
        hit.memory.path for hit in local.search("automobile", "vector", projects=("shop",), everything=True).hits
    ] == ["gone.md"]


@pytest.mark.slow
@needs_fastembed
def test_a_narrow_filter_finds_what_is_far_from_the_query_too(local: Finder) -> None:
    for number in range(30):
        cars = "\n".join(f"- the car {number}x{line}" for line in range(40))
        local.notebook.write(f"{number}.md", f"---\nproject: cart\n---\n{cars}")
    local.notebook.write("far.md", "---\nproject: shop\n---\ndatabase")
    local.index()

    found = local.search("automobile", "vector", projects=("shop",))

    assert [hit.memory.path for hit in found.hits] == ["far.md"]


@needs_fastembed
def test_a_query_in_a_language_the_model_does_not_know_is_searched_by_words(local: Finder) -> None:
    local.index()

    found = local.search("数据库备份")

    assert (found.mode, found.hits[0].memory.path) == ("bm25", "chinese.md")
    assert found.passing == ("searched by words only: the model does not know the query's language",)
    assert found.lasting == ()
    assert local.search("数据库备份", "vector").mode == "vector"


@pytest.mark.slow
@needs_fastembed
def test_too_many_missing_vectors_wait_for_the_index_command(local: Finder) -> None:
    for number in range(120):
        local.notebook.write(f"{number}.md", f"note {number}")

    found = local.search("key of the automobile")
    assert found.mode == "bm25"
    assert found.lasting == ("search is by words only: there are no vectors yet. Run `memtool index` to make them.",)
    with pytest.raises(ProviderMissing, match="no vectors yet"):
        local.search("automobile", "vector")

    local.index()
    for number in range(120):
        local.notebook.write(f"{number}.md", f"changed {number}")

    found = local.search("key of the automobile")
    assert found.mode == "hybrid"
    assert found.passing == ("20 chunks have no vector yet: run `memtool index`",)  # a search makes a hundred


@pytest.mark.of_sqlite
@pytest.mark.slow
@needs_fastembed
def test_damaged_vectors_are_said_and_made_anew(local: Finder) -> None:
    for number in range(120):
        local.notebook.write(f"{number}.md", f"note {number}")
    local.index()
    for path in (local.notebook.place.folder / "vectors").glob("*.f32"):
        path.write_bytes(b"garbage" * 1000)

    found = local.search("key")
    assert found.mode == "bm25"
    assert "unusable" in found.lasting[0]
    assert "memtool index" in found.lasting[0]

    local.index()
    assert local.search("automobile").hits[0].memory.path == "car.md"


def test_an_endpoint_that_fails_during_the_search_leaves_the_words(remote: Finder, server: EmbeddingServer) -> None:
    remote.index()
    server.answers.append(refusal(401))

    found = remote.search("word2")

    assert (found.mode, found.hits[0].memory.path) == ("bm25", "n2.md")
    assert found.notices[0].startswith("searched by words only: ")
    assert "refuses the key" in found.notices[0]
    server.answers.append(refusal(401))
    with pytest.raises(ProviderFailed):
        remote.search("word2", "vector")


def test_an_endpoint_that_is_down_is_not_asked_for_notes(remote: Finder, server: EmbeddingServer) -> None:
    remote.index()
    remote.notebook.write("new.md", "new")
    before = len(server.requests)
    server.answers.append(refusal(401))

    found = remote.search("word2")

    assert (found.mode, found.hits[0].memory.path) == ("bm25", "n2.md")
    assert "refuses the key" in found.lasting[0]
    assert [request.question["input"] for request in server.requests[before:]] == [["word2"]]


def test_an_endpoint_that_takes_no_more_notes_serves_those_it_has(remote: Finder, server: EmbeddingServer) -> None:
    remote.index()
    remote.notebook.write("new.md", "new")
    true = server.answer
    server.answer = lambda request: (  # type: ignore[method-assign]
        refusal(400) if "new" in str(request.question["input"]) else true(request)
    )

    found = remote.search("word2")

    assert (found.mode, found.hits[0].memory.path) == ("hybrid", "n2.md")
    assert found.passing == ("1 chunks have no vector yet: run `memtool index`",)


def test_the_first_question_to_an_endpoint_that_is_down_is_answered_by_words(
    remote: Finder, server: EmbeddingServer
) -> None:
    server.answers.extend([refusal(401)] * 3)

    found = remote.search("word2")

    assert found.hits[0].memory.path == "n2.md"
    assert "refuses the key" in found.lasting[0]


def test_what_was_asked_for_decides_what_a_failure_is(remote: Finder, server: EmbeddingServer) -> None:
    server.answers.extend([refusal(401)] * 3)

    with pytest.raises(MemtoolError):
        remote.search("word2", "vector")
