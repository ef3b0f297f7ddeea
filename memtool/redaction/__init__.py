"""Removing secrets from a text before it is written or sent."""
