"""Threads and child processes, warnings, and what happens when this process forks or ends."""
