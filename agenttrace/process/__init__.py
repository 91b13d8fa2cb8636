"""Threads and child processes, and what happens when this process forks or ends."""
