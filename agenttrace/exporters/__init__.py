"""Spans that go out."""
