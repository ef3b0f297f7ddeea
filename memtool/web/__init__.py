"""The service: one small process for a vault, which answers over HTTP. Only this package imports fastapi."""
