"""Consolidation: facts out of sessions, the weekly run, and what keeps the vault tidy."""
