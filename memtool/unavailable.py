"""A failure of a provider that may be over soon; a module of its own, so that it costs no client of HTTP."""

from __future__ import annotations

from memtool.errors import ProviderFailed

LONGEST_WAIT = 30.0  # seconds that a provider may ask us to wait


class Unavailable(ProviderFailed):
    """A failure that may be over soon. *wait* is the seconds that the provider asks for, 0 if it names none."""

    hint = "Try again later."

    def __init__(self, sentence: str, wait: float = 0.0) -> None:
        super().__init__(sentence, hint=f"It asks to wait {wait:.0f} seconds." if wait > LONGEST_WAIT else None)
        self.wait = wait
