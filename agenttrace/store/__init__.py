"""Spans that stay."""
