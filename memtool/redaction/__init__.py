"""Removing secrets from a text before it is written or sent. Importing this compiles nothing."""

from memtool.redaction.blocks import CONTEXT_TAG
from memtool.redaction.redactor import Redactor, make_redactor

__all__ = ["CONTEXT_TAG", "Redactor", "make_redactor"]
