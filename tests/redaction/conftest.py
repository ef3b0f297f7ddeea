from __future__ import annotations

import pytest

from memtool.redaction import Redactor, make_redactor
from memtool.settings.sections import RedactSettings


@pytest.fixture
def redact() -> Redactor:
    """A redactor as it comes, without settings of the user."""
    return make_redactor(RedactSettings())
