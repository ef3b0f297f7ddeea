"""The title of a session that no model wrote. Pure.

A commit or a plan that was carried out names it; else what the agent says was done, or what it wrote; else what the
user asked for. Of several the one that shares most with what was typed, answered and edited.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memtool.capture import limits
from memtool.capture.decisions import own_words
from memtool.capture.outcomes import (
    PROBLEM,
    bare,
    base_name,
    gone_in,
    is_closed,
    is_question,
    names_something,
    result_of,
    telling_words,
)
from memtool.capture.turns import Turn
from memtool.text.languages import gives_order, labels, leads, pattern_of, starts_with, without_openings
from memtool.text.lines import shortened, width
from memtool.text.statements import plain, sentences, statements

_LEAST = 20  # columns of a title
_TELLS_FROM = 24  # bytes, eight Chinese characters; a shorter prompt ("yes", "commit") tells nothing
_TELLS_LITTLE = 32  # columns of a prompt that does not say where
_FIRST = 6  # sentences of an answer
_TELLING = 3  # words of a title that tell something
_CLAUSE_END = re.compile(r"(?<=[.!?])\s|[,;:] |[，。；：！？、]| [-–—] | \(")
_COLONS = (":", "：")
_UNTOLD_BRANCHES = frozenset({"main", "master", "develop", "trunk", "HEAD"})
_CLAUSES = (
    re.compile(r"[;；，。]| [-–—] |——|, "),
    re.compile(r" (?:but|to|by|so|for|with|using|because|even|since|that|which|where|while|after|before|without) "),
)
_UNFINISHED = re.compile(
    r"\b(?:an?|and|are|at|from|in|is|of|on|or|the|to|with)$|\b(?:between|both|either|neither|only|not)\b"
)
_HEADING = re.compile(r"(?m)^#{1,6}\s+(?:\d+\W+)?(\S.*)")
_MENTION = re.compile(r"@\S+\s+")
_HANGING = re.compile(r"(?:I|We|You|Here|When|If|After|Before|Since|While|Because|Although)\b")
_PAST = re.compile(r"^(?:[A-Z]?[a-z]+ed|Built|Made|Wr[io]t\w+|Found|Set)\b|\bnow\b|已|完成")
_LABEL = re.compile(r"^\S+(?: \([^()]*\))?: ")  # "cart.py: …"
_LABELLED = re.compile(r"\W|\d+\.|[^:：]{1,24}[:：]\s|[\w/.-]+/[\w/.-]+ ")  # "Option 1: …", a path


def title_of(turns: Sequence[Turn], branch: str = "", language: str = "en") -> str:
    """Return the title of *turns*; the *branch* as words where nothing else names them."""
    counts = _counts(turns)

    def best(titles: Iterable[str]) -> str:
        return max(filter(None, titles), key=lambda title: _share(title, counts), default="")

    subjects, demands = list(_named(turns)), list(_asked_for(turns))
    title = max(subjects, default=(False, 0, 0, ""))[-1] or _planned(turns, language)
    title = title or best(_headings_in(turns)) or best(_done_in(turns))
    title = title or next((commit for turn in turns for commit in turn.commits), "")
    whole = [demand for demand in demands if not (demand.endswith("…") or is_question(demand))]
    title = title or (whole or [""])[0] or best(_found_in(turns))
    words = "" if branch in _UNTOLD_BRANCHES else re.sub(r"[-_]+", " ", branch.rsplit("/", 1)[-1])
    title = title.rstrip(".。")
    return shortened(title or (demands or [""])[0] or words or own_words(next(iter(turns), Turn())), limits.TITLE)


def _planned(turns: Sequence[Turn], language: str) -> str:
    """Return the heading of the plan with which the session ends and of which nothing was done."""
    last = turns[-1] if turns else Turn()
    is_begun = last.files or not last.plans or last.plans[-1].fate == "approved"
    return "" if is_begun else labels("summary", language)["planned"].format(heading(last.plans[-1].text))


def heading(text: str) -> str:
    """Return the first line of the document *text*, without a word for what it is ("Plan: …")."""
    return plain(re.sub(r"^#*\s*(?:\w+[:：]\s*)?", "", text.strip().split("\n", 1)[0]))[0]


def tells(turn: Turn) -> bool:
    """Return whether the prompt of *turn* tells something; another one goes on with the turn before."""
    return len(own_words(turn).encode()) >= _TELLS_FROM


def lines_edited(turns: Sequence[Turn]) -> int:
    """Return how many lines were added and removed in *turns*."""
    return sum(edit.added + edit.removed for turn in turns for edit in turn.edits if not edit.stopped)


def _counts(turns: Sequence[Turn]) -> Mapping[str, int]:
    """Return the words of what was typed, answered and edited; what was typed counts twice."""
    counts: Counter[str] = Counter()
    for turn in turns:
        files = re.sub(r"[_.-]", " ", " ".join(map(base_name, turn.files)))
        counts.update(telling_words(result_of(turn)))
        counts.update(telling_words(files))
        counts.update(2 * list(telling_words(own_words(turn))))
    return counts


def _share(text: str, counts: Mapping[str, int]) -> float:
    told = telling_words(text)
    return sum(counts[word] for word in told) / math.sqrt(len(told) + 3) * (1.5 if names_something(text) else 1.0)


def _named(turns: Sequence[Turn]) -> Iterator[tuple[bool, int, int, str]]:
    """Give the subjects of commits and the headings of plans that were carried out, with how many lines each covers.

    A commit after which more was edited than before does not name the session.
    """
    since = 0
    for at, turn in enumerate(turns):
        plans = [plan.text for plan in turn.plans if plan.fate == "approved"]
        plans += [turn.typed] if turn.typed.startswith("# ") and not turn.pasted else []
        covers = lines_edited(turns[since : at + 1])
        is_late = lines_edited(turns[at + 1 :]) <= lines_edited(turns[: at + 1])
        for text in (*map(heading, plans), *(turn.commits if is_late else ())):
            if not gives_order(text):
                fits = width(text.rstrip(".")) <= limits.TITLE
                yield fits, covers if fits else 0, at, text.rstrip(".")
        since = at + 1 if turn.commits else since


def _headings_in(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the headings of what was said of the most work, and of what was written in two drafts or more."""
    gone, headings = gone_in(turns), [_HEADING.findall(result_of(turn)) for turn in turns]
    drafts, busiest = Counter(found for each in headings for found in each[:1]), _busiest(turns)
    for at, turn in enumerate(turns):
        if at not in gone and is_closed(turn):
            is_main = bool(turn.files) and turn == busiest
            first = [plain(found)[0] for found in headings[at][:1] if is_main or drafts[found] > 1]
            yield from (
                _whole(text) for text in first if not re.search(r"\w[/.]\w", text) and not PROBLEM.match(f"#{text}")
            )


def _done_in(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the first statements that say what was done."""
    gone, about, busiest = gone_in(turns), telling_words(own_words(_first(turns))), _busiest(turns)
    for at, turn in enumerate(turns):
        if turn.files and at not in gone and is_closed(turn):
            for text, is_listed in _sentences(result_of(turn)):
                if _PAST.search(text) and (turn == busiest or telling_words(text) & about):
                    yield _whole(text) if is_listed else _in_file(_whole(text), turn)


def _sentences(message: str) -> Iterator[tuple[str, bool]]:
    """Give the first statements of *message*, and whether they are in a list.

    Those are given with the line above it, and without their own labels.
    """
    for each in statements(message)[:_FIRST]:
        if each.is_listed:
            yield f"{each.lead}: {each.text}" if each.lead else each.text, True
            yield _LABEL.sub("", each.text), True
        else:
            yield bare(each.text), False


def _found_in(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the first sentence of each answer that says something by itself."""
    gone = gone_in(turns)
    for at, turn in enumerate(turns):
        told = [
            bare(each.text if turn.files else each.text.rstrip(" :："))
            for each in statements(result_of(turn))
            if not each.is_listed
        ]
        yield "" if at in gone else next(filter(None, map(_whole, told[:_FIRST])), "")


def _whole(text: str) -> str:
    """Return *text* as a title, if it says something by itself; else nothing."""
    if len(telling_words(text)) < _TELLING or gives_order(text) or not _says_by_itself(text):
        return ""
    return _head(text)


def _says_by_itself(text: str) -> bool:
    if re.match(pattern_of("status_line"), text, re.IGNORECASE):
        return False
    if is_question(text) or _LABELLED.match(text) or _HANGING.match(text) or leads("deictic", text):
        return False
    return not any(starts_with(kind, text) for kind in ("announcement", "admission", "consent"))


def _first(turns: Sequence[Turn]) -> Turn:
    """Return the first turn whose prompt tells something."""
    return next(filter(tells, turns), Turn())


def _busiest(turns: Sequence[Turn]) -> Turn:
    """Return the turn that edited most of those of which something holds."""
    gone = gone_in(turns)
    kept = [turn for at, turn in enumerate(turns) if at not in gone and is_closed(turn)]
    return max(kept, key=lambda turn: lines_edited([turn]), default=Turn())


def _asked_for(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the first order of the first prompt that tells something, else of that with most work, else the question."""
    first, busiest = _first(turns), _busiest(turns)
    everything = Turn(edits=tuple(edit for turn in turns for edit in turn.edits))
    questions = []
    for turn in (first, busiest) if busiest.files else (first,):
        for text in sentences(own_words(turn))[:3]:
            own = _without_plea(text)
            cut = to_clause(own, limits.TITLE)
            if len(telling_words(cut)) < _TELLING or re.match(r"\d+\s*[-.)]", text):
                continue
            if own == text and is_question(cut):
                questions.append(cut)
            else:
                yield _in_file(cut, everything) if width(cut) < _TELLS_LITTLE else cut
                break
    yield from questions


def _without_plea(text: str) -> str:
    """Return *text* without mentions of files and words that only ask before it: "can you please …"."""
    plea, own = re.compile(pattern_of("plea"), re.IGNORECASE), without_openings(text)
    while (match := _MENTION.match(own) or plea.match(own)) and width(own[match.end() :]) >= _LEAST:
        own = own[match.end() :]
    return own if own == text else own[:1].upper() + own[1:]


def to_clause(text: str, widest: int) -> str:
    """Return the beginning of *text* to the end of a sentence or of a clause, so that no condition is cut in two."""
    if width(text) <= widest:
        return text
    heads = [text[: match.start()] for match in _CLAUSE_END.finditer(text)]
    fit = [head for head in heads if _LEAST // 2 <= width(head) < widest]
    if not fit:
        return shortened(text, widest)
    return fit[-1] if is_question(fit[-1]) else f"{fit[-1].rstrip('.。')}…"


def _in_file(head: str, turn: Turn) -> str:
    """Return *head* behind the file that was edited most in *turn*, if it names none of them and there is room."""
    names = [base_name(file) for file in turn.files]
    if not head or not names or any(name.split(".")[0].casefold() in head.casefold() for name in names):
        return head
    sizes: Counter[str] = Counter()
    for edit in turn.edits:
        sizes[base_name(edit.file)] += 0 if edit.stopped else 1 + math.isqrt(edit.added + edit.removed)
    named = f"{sizes.most_common(1)[0][0]}: {head}"
    return named if width(named) <= limits.TITLE else head


def _head(text: str) -> str:
    """Return *text*, or its first clause, if that can be a title; else nothing."""
    whole = text.rstrip(" :：.。!！")
    if width(whole) <= limits.TITLE:
        return whole if _is_title(whole) and not text.endswith((":", "：")) else ""
    for clause in () if leads("deictic", whole) else _CLAUSES:
        heads = [whole[: match.start()] for match in clause.finditer(whole)]
        fit = [head for head in heads if width(head) >= _LEAST and _is_title(head) and not _UNFINISHED.search(head)]
        if fit:
            return fit[-1]
    return ""


def _is_title(text: str) -> bool:
    is_whole = text.count("(") == text.count(")") and text.count("“") == text.count("”") and text.count('"') % 2 == 0
    return _LEAST <= width(text) <= limits.TITLE and is_whole and not re.search("[→·]|….", text)
