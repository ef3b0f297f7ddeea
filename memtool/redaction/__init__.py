"""Removing secrets from a text before it is written or sent: all rules, one after the other.

Blocks go first, whatever they hold. Then each rule is run on the text and on its decoded forms (`views`). What was
redacted before is left alone, so that redacting twice changes nothing. Importing this compiles nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from memtool.errors import BadSetting
from memtool.redaction.assignments import find_assigned
from memtool.redaction.known import HashedTexts, KnownSecrets
from memtool.redaction.places import CONTEXT_TAG, PLACES, find_blocks, find_private_keys
from memtool.redaction.randomness import find_in_links, find_random, find_rest, is_public
from memtool.redaction.sentences import find_beside, find_in_sentences, is_answer
from memtool.redaction.structured import find_in_columns, find_in_manifests
from memtool.redaction.vendors import VENDORS, find_shapes
from memtool.redaction.views import (
    Finding,
    View,
    joined,
    long_words,
    merge,
    replace,
    spelled_out,
    unwrapped,
    without_markers,
)
from memtool.settings.sections import RedactSettings

__all__ = ["CONTEXT_TAG", "Redactor", "make_redactor"]

CUSTOM, PURGED = "custom", "purged"
Rule = Callable[[str], Iterable[Finding]]


class Redactor:
    """A callable that takes a text and returns it without secrets. It never fails, whatever the text.

    Its time grows with the length of the text and no faster, as far as memtool's own rules go; the patterns of the
    user's own settings are as fast as they are written.

    Attributes:
        counts: how many secrets of each kind were removed since it was made.
        known: the secrets that were found, where these are masked wherever they occur again; else None.
    """

    def __init__(
        self,
        patterns: Iterable[re.Pattern[str]],
        allowed: Iterable[re.Pattern[str]],
        known: KnownSecrets | None = None,
        purged: HashedTexts = HashedTexts(),  # noqa: B008  (never changed)
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.known = known
        self._patterns = tuple(patterns)
        self._allowed = tuple(allowed)
        self._purged = purged
        self._clean: set[str] = set()  # some short texts that come again and again: names of files, commands

    def __call__(self, text: str) -> str:
        """Return *text* with `[redacted: kind]` for each secret and without memtool's own context blocks."""
        if text in self._clean:
            return text
        cleaner = text
        for _ in range(8):  # what is left may be a secret in its turn: mostly one pass is enough
            before, cleaner = cleaner, self._one_pass(cleaner)
            if cleaner == before:
                break
        if cleaner == text and len(text) <= 200 and len(self._clean) < 4_096:
            self._clean.add(text)
        return cleaner

    def of_session(self) -> Redactor:
        """Return a redactor by the same rules that masks what it finds once in all texts of one session."""
        return Redactor(self._patterns, self._allowed, KnownSecrets(), self._purged)

    def learn_answer(self, question: str, text: str) -> None:
        """Remember *text* if it is one token that answers a *question* for a password."""
        if self.known is not None and is_answer(question, text):
            self.known.learn(text.strip(), "password")
            self._clean.clear()

    @property
    def found(self) -> int:
        """The number of secrets that are known."""
        return len(self.known or ())

    def mask(self, text: str) -> str:
        """Return *text* without the known secrets, and with all else in it."""
        return replace(text, merge(list(self.known.find(text)))) if self.known else text

    def _one_pass(self, text: str) -> str:
        """Return *text* after one pass of all rules."""
        blocks = find_blocks(text)
        self._learn(text, blocks)
        text = self._without(text, blocks)
        plain = without_markers(View(text))
        views = [plain]  # then with one level of escapes less each: JSON within JSON
        while len(views) <= 3 and (spelled := spelled_out(views[-1])):
            views.append(spelled)
        views += [whole for view in views if (whole := joined(view))]  # and with the parts of a text put together
        words = [long_words(view) for view in views]  # what may be a token by its length
        tokens = [*words, *(long_words(unbroken) for unbroken in [unwrapped(plain)] if unbroken)]
        findings = [
            *_find(lambda seen: find_shapes(seen, VENDORS), tokens),
            *_find(find_private_keys, [plain]),
            *_find(lambda seen: find_shapes(seen, PLACES), views),
            *_find(find_in_links, tokens),
            *_find(find_assigned, views),
            *_find(find_beside, views),
            *_find(find_in_sentences, views),
            *_find(find_in_columns, views),
            *_find(find_in_manifests, [plain]),
            *_find(self._find_custom, [plain]),
            *_find(lambda seen: self._purged.find(seen, PURGED), views),
            *(found for found in _find(find_random, words) if not is_public(text, found.start)),
        ]
        findings += find_rest(text, merge(findings))
        findings = [finding for finding in findings if not self._is_allowed(text, finding)]
        if self.known is not None:
            self._learn(text, findings)
            findings += [found for found in self.known.find(text) if not self._is_allowed(text, found)]
        return self._without(text, findings)

    def _learn(self, text: str, findings: Iterable[Finding]) -> None:
        if self.known is None:
            return
        before = len(self.known)
        for start, end, kind in findings:
            if kind:
                self.known.learn(text[start:end], kind)
        if len(self.known) > before:
            self._clean.clear()

    def _find_custom(self, text: str) -> Iterator[Finding]:
        for pattern in self._patterns:
            group = "secret" if "secret" in pattern.groupindex else 0
            yield from (Finding(*found.span(group), CUSTOM) for found in pattern.finditer(text) if found[group])

    def _is_allowed(self, text: str, finding: Finding) -> bool:
        return any(pattern.fullmatch(text, finding.start, finding.end) for pattern in self._allowed)

    def _without(self, text: str, findings: list[Finding]) -> str:
        merged = merge(findings)
        self.counts.update(finding.kind for finding in merged if finding.kind)
        return replace(text, merged) if merged else text


def make_redactor(settings: RedactSettings, purged: HashedTexts = HashedTexts()) -> Redactor:  # noqa: B008  (the same)
    """Return a redactor for memtool's own rules and the user's, and for what was *purged*.

    In a pattern of the user, a group called `secret` marks what goes; without one, all that matches goes.

    Raises:
        BadSetting: a pattern or an exception is no regular expression.
    """
    patterns = [_user_pattern("redact.patterns", pattern) for pattern in settings.patterns]
    return Redactor(patterns, [_user_pattern("redact.allow", pattern) for pattern in settings.allow], purged=purged)


def _user_pattern(setting: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadSetting(f"'{pattern}' in '{setting}' is no regular expression: {error}") from None


def _find(rule: Rule, views: list[View]) -> list[Finding]:
    return [view.original(finding) for view in views for finding in rule(view.text)]
