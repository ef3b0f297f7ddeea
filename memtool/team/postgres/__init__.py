"""The index in PostgreSQL, for vaults that many share: the extra `[postgres]`, and `[index] engine = "postgres"`."""
