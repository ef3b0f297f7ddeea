"""Search: words and meaning, merged into one ranking with its reasons; without words, all that a filter leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.errors import MemtoolError
from memtool.index import limits, ranking
from memtool.index.engine import Index
from memtool.index.filters import SHIPPED, Filter
from memtool.index.lexical import Lexical, completed_terms, coverage, lexical_search
from memtool.index.ranking import SearchResult
from memtool.index.tables import Semantic
from memtool.text.tokens import is_stop_word, query_terms, term_spans
from memtool.vault.memory import Found, Location, Memory

if TYPE_CHECKING:
    from memtool.index.semantic import Vectors, VectorSource
    from memtool.index.tables import Tables

_FIELDS = (
    "c.id, c.start_line, c.end_line, c.heading, c.text, c.kind, c.project, c.date, c.category, c.fact_id, c.author,"
    " c.tags, c.expires, c.status, n.ref AS path, n.title"
)
_DAY = "CASE WHEN c.date <> '' THEN c.date ELSE date(n.mtime_ns / 1000000000, 'unixepoch', 'localtime') END"


class Snippet(NamedTuple):
    """Lines of text, as the note has them, and the spans in them that match."""

    text: str
    marks: tuple[tuple[int, int], ...]

    @property
    def line(self) -> str:
        """The text on one line."""
        return self.text.replace("\n", " ")


def ask(
    source: VectorSource, text: str, wanted: Filter, *, limit: int, mode: str = "", fusion: str = ""
) -> SearchResult:
    """Return what answers *text* in the index of *source*: by words and by meaning, as far as there are vectors.

    Every interface asks here. *mode* and *fusion* are those of the settings unless they are given.

    Raises:
        MemtoolError: the mode is `vector`, and there are no vectors.
    """
    settings, index = source.settings.search, source.index
    chosen = source.choose(text, mode or settings.mode)
    found = search(
        index, text, wanted, limit=limit, mode=chosen.mode, fusion=fusion or settings.fusion, vectors=chosen.vectors
    )
    notices = (*index.notices(), *found.notices, *unknown_names(index, wanted))
    return found._replace(notices=notices, lasting=chosen.lasting, passing=chosen.passing)


class Ranking(NamedTuple):
    """Chunks, best first, with their final score; *weight* is that of words beside meaning."""

    scores: dict[int, float]
    mode: str
    lexical: Lexical
    semantic: Semantic | None = None
    weight: float = 1.0


def search(
    index: Index,
    text: str,
    wanted: Filter,
    *,
    limit: int,
    mode: str = "bm25",
    fusion: str = "adaptive",
    vectors: Vectors | None = None,
) -> SearchResult:
    """Return the chunks of *index* that answer *text*, and the turns of sessions that do so better.

    Args:
        index: an open index.
        text: what is looked for, in any language; it is never syntax.
        wanted: what to search in.
        limit: how many hits to give.
        mode: `bm25`, `vector` or `hybrid`; the last two need *vectors*.
        fusion: how `hybrid` merges: `adaptive` or `rrf`.
        vectors: the embedder and its vectors.
    """
    notices = []
    if len(text) > limits.LONGEST_QUERY:
        notices.append(f"the query is long: only its first {limits.LONGEST_QUERY:,} characters were used")
        text = text[: limits.LONGEST_QUERY]
    depth = max(limit, limits.CANDIDATES)
    with index.db.one_state():
        try:
            ranked = _rank(index.db, text, wanted, mode, fusion, vectors, depth=depth)
        except MemtoolError as error:  # an endpoint that answered before may fail now
            if mode != "hybrid":
                raise
            notices.append(f"searched by words only: {error}")
            ranked = _rank(index.db, text, wanted, "bm25", fusion, None, depth=depth)
        hits = _hits(index.db, ranked, query_terms(text), limit)
    if ranked.lexical.dropped:
        notices.append("the query is long: only its rarest words were used")
    for word, completions in ranked.lexical.completed.items():
        notices.append(f"'{word}' occurs nowhere; searched for {', '.join(completions[:5])}")
    found = SearchResult(tuple(hits), ranked.mode, tuple(notices))
    if wanted.transcripts == "no" or not text.strip():
        return found
    from memtool.index.turns import with_turns

    return with_turns(index, found, text, wanted, limit=limit)


def _rank(
    db: Tables, text: str, wanted: Filter, mode: str, fusion: str, vectors: Vectors | None, *, depth: int
) -> Ranking:
    lexical = lexical_search(db, text, wanted, depth=depth)
    words = {hit.chunk_id: hit.score for hit in lexical.hits}
    if mode == "bm25" or vectors is None or not text.strip():
        return Ranking(words, "bm25", lexical)
    semantic = vectors.store.semantic(db, vectors.embedder.embed_query(text), wanted, words)
    if mode == "vector":
        return Ranking(_best_first(semantic.scores), mode, lexical, semantic, weight=0.0)
    if fusion == "rrf":
        merged = ranking.reciprocal_rank_fusion([list(words), list(_best_first(semantic.scores))])
        return Ranking(_best_first(merged), mode, lexical, semantic)
    weight = ranking.lexical_weight(coverage(db, lexical.terms, lexical.best) if lexical.hits else 0.0)
    merged = ranking.adaptive_fusion(words, semantic, weight)
    return Ranking(_best_first(merged), mode, lexical, semantic, weight)


def _best_first(scores: Mapping[int, float]) -> dict[int, float]:
    return dict(sorted(scores.items(), key=lambda scored: (-scored[1], scored[0])))


def _hits(db: Tables, ranked: Ranking, terms: Sequence[str], limit: int) -> list[Found]:
    scores = ranking.yielding(ranked.scores, ranking.sessions_of_days(db, list(ranked.scores)))
    order = list(scores)
    kept = ranking.without_near_duplicates(order, _reader_of_texts(db, order, limit), limit)
    rows = {row["id"]: row for row in _chunk_rows(db, f"WHERE c.id IN ({', '.join(map(str, kept))})")}
    spelt = [part for form in ranked.lexical.spelt for part in form.split(" ") if not is_stop_word(part)]
    marked = frozenset([*terms, *spelt, *completed_terms(ranked.lexical.completed)])
    reasons = _Reasons(ranked)
    return [
        Found(_memory(rows[chunk_id]), round(scores[chunk_id], 4), reasons.of(chunk_id), marked) for chunk_id in kept
    ]


def _reader_of_texts(db: Tables, order: Sequence[int], at_once: int) -> Callable[[int], str]:
    """Return what gives the text of a chunk of *order*, and reads those behind it at the same time."""
    texts: dict[int, str] = {}

    def text_of(chunk_id: int) -> str:
        if chunk_id not in texts:
            start = order.index(chunk_id)
            ids = ", ".join(map(str, order[start : start + at_once]))
            texts.update(db.execute(f"SELECT id, text FROM chunk WHERE id IN ({ids})").fetchall())
        return texts[chunk_id]

    return text_of


class _Reasons:
    """The parts of each chunk's score: its rank and score in each list, and every factor."""

    def __init__(self, ranked: Ranking) -> None:
        self._ranked = ranked
        self._words = {hit.chunk_id: (rank, hit) for rank, hit in enumerate(ranked.lexical.hits, 1)}
        self._best = max((hit.score for hit in ranked.lexical.hits), default=1.0) or 1.0
        order = _best_first(ranked.semantic.scores) if ranked.semantic else {}
        self._meaning = {chunk_id: (rank, score) for rank, (chunk_id, score) in enumerate(order.items(), 1)}

    def of(self, chunk_id: int) -> dict[str, Any]:
        why: dict[str, Any] = {}
        rank, hit = self._words.get(chunk_id, (0, None))
        if hit:
            factors = {name: round(value, 4) for name, value in hit.factors.items() if value}
            why["bm25"] = {"rank": rank, "score": round(hit.bm25, 4), **factors}
        if chunk_id in self._meaning:
            rank, likeness = self._meaning[chunk_id]
            why["vector"] = {"rank": rank, "score": round(likeness, 4)}
        if self._ranked.mode == "hybrid":
            weight = self._ranked.weight
            why["lexical_weight"] = round(weight, 3)
            if weight < 1.0:  # else ranks were merged, not scores
                words = weight * hit.score / self._best if hit else 0.0
                why |= {"by_words": round(words, 4), "by_meaning": round(self._ranked.scores[chunk_id] - words, 4)}
        return why


def _chunk_rows(db: Tables, which: str, values: Sequence[Any] = ()) -> Iterator[Mapping[str, Any]]:
    """Give the rows of the chunks `c` of notes `n` that the clauses *which* select."""
    cursor = db.execute(f"SELECT {_FIELDS} FROM chunk AS c JOIN note AS n ON n.id = c.note_id {which}", values)
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


def _memory(row: Mapping[str, Any]) -> Memory:
    """Return the memory in a row of `_FIELDS`."""
    place = Location(row["path"], row["start_line"], row["end_line"])
    return Memory(
        row["fact_id"] or place.path, row["text"], row["kind"], place,
        title=row["title"], heading=row["heading"], author=row["author"], project=row["project"],
        category=row["category"], date=row["date"], tags=tuple(row["tags"].split()), expires=row["expires"],
        status=row["status"] if row["status"] in ("superseded", "archived") else "",
    )  # fmt: skip


class Page(NamedTuple):
    """Some of the notes and facts that a filter leaves, newest first, and how many there are in all."""

    hits: tuple[Found, ...]
    total: int


def newest(index: Index, wanted: Filter, *, limit: int, page: int = 1) -> Page:
    """Return page number *page*, of *limit* notes and facts, of what *wanted* leaves. A note is listed once.

    What `memtool init` wrote is listed once somebody has added to it: until then its text is but its title.
    """
    where, values = wanted.where()
    first = (
        "SELECT min(c.id) AS id FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
        f" WHERE {where} AND NOT (c.text = n.title AND n.ref IN {SHIPPED}) GROUP BY c.note_id, c.fact_id"
    )
    total = index.db.execute(f"SELECT count(*) FROM ({first}) AS listed", values).fetchone()[0]
    order = f"ORDER BY {_DAY} DESC, n.mtime_ns DESC, n.ref, c.id LIMIT ? OFFSET ?"
    rows = _chunk_rows(index.db, f"WHERE c.id IN ({first}) {order}", [*values, limit, limit * (page - 1)])
    return Page(tuple(Found(_memory(row), shown=_decisions(row, wanted)) for row in rows), int(total))


def unknown_names(index: Index, wanted: Filter) -> Iterator[str]:
    """Give a sentence for each project and category of *wanted* that no note bears, with the nearest that one does."""
    projects = () if "" in wanted.projects else wanted.projects  # else they are within reach, and not asked for by name
    for column, names in (("project", projects), ("category", wanted.categories)):
        rows = index.db.execute(f"SELECT DISTINCT {column} FROM chunk WHERE {column} <> ''") if names else ()
        known = {row[0].casefold(): row[0] for row in rows}
        for name in names:
            if name and name.casefold() not in known:
                from difflib import get_close_matches  # takes milliseconds, and mostly there is nothing to say

                from memtool.vault.memory import CATEGORIES

                names_there_are = [*known, *(CATEGORIES if column == "category" else ())]
                near = [known.get(each, each) for each in get_close_matches(name.casefold(), names_there_are, 1)]
                some = ", ".join(sorted(islice(known.values(), 9)))
                told = f"did you mean '{near[0]}'?" if near else f"there are {some}"
                yield f"no note has the {column} '{name}'; {told if known else 'none has any'}"


def _decisions(row: Mapping[str, Any], wanted: Filter) -> str:
    """Return the decisions in a session's chunk, if it is they that are asked for: then the list shows them."""
    if row["kind"] != "session" or "decision" not in {*wanted.kinds, *wanted.categories}:
        return ""
    from memtool.vault.memory import DECISION
    from memtool.vault.sessions import lines_of

    return "\n".join(line.text for line in lines_of(row["text"], row["heading"]) if line.role == DECISION)


def snippet_of(found: Found) -> Snippet:
    """Return the part of a memory to show; made when it is shown, as it takes longer than to find the memory."""
    width = max(limits.SNIPPET, min(len(found.shown), limits.LONGEST_SHOWN))
    return snippet(found.shown or found.memory.text, found.terms, width)


def snippet(text: str, terms: frozenset[str], width: int = limits.SNIPPET) -> Snippet:
    """Return about *width* characters of *text*, each line of it on its own, and the spans in them that match."""
    lines = [line for each in text.split("\n") if (line := " ".join(each.split()))]
    below = [line for line in lines if not line.startswith("#")]  # the headings are above the snippet
    shown = "\n".join(below or lines)
    flat = shown.replace("\n", " ")  # of the same length
    spans = list(term_spans(flat, terms))
    start = _densest(spans, width, len(flat))
    begin = shown.rfind("\n", 0, start) + 1
    if start - begin <= width // 4:
        start = begin
    elif start:  # a short word that is cut here is left out
        start = flat.find(" ", start - 1, start + 20) + 1 or start
    end = min(len(flat), start + width)
    before = "… " if start and shown[start - 1] != "\n" else ""
    after = " …" if end < len(flat) else ""
    shift = len(before) - start
    inside = ((max(a, start) + shift, min(b, end) + shift) for a, b in spans if a < end and b > start)
    return Snippet(f"{before}{shown[start:end]}{after}", tuple(inside))


def _densest(spans: list[tuple[int, int]], width: int, length: int) -> int:
    """Return where the window that holds most matches begins, a little before the first of them."""
    if length <= width or not spans:
        return 0
    best, most, last = spans[0][0], 0, 0
    for first, (start, _) in enumerate(spans):
        while last < len(spans) and spans[last][1] <= start + width:
            last += 1
        if last - first > most:
            best, most = start, last - first
    return max(0, min(best - width // 6, length - width))
