"""Bring expectations up to date with what ran, in the files that hold them."""

from agenttrace.updates.update import Update, updated

__all__ = ["Update", "updated"]
