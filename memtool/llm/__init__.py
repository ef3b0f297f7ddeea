"""Providers of text: who may write a summary."""
