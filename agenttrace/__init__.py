"""Trace, test and monitor LLM agents: one decorator, no account, no server, no key."""
