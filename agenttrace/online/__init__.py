"""Evaluate in production, off the agent's threads."""
