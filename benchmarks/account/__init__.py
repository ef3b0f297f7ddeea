"""An account of weights and word lists: each has a row that says what it wins (docs/account.md)."""
