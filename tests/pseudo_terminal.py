"""Runs a command with a pseudo terminal for all its streams."""

import os
import pty
import subprocess


def run_on_a_terminal(command, directory, environment):
    """What the command printed there, and its exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=directory, env=environment
    )
    os.close(theirs)
    printed = b""
    try:
        while chunk := os.read(ours, 65_536):
            printed += chunk
    except OSError:  # Linux says so when the other side has gone
        pass
    os.close(ours)
    return printed.decode(), process.wait(timeout=30)
