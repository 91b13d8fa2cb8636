"""Calls of foreign libraries become spans: one library, one module, imported on use."""
