"""Forks, the end, threads and warnings are known in `process/` alone; each test lists every offender."""

import ast

from package_sources import trees

REGISTRY = "process/fork_and_exit.py"
FORKS_AND_EXITS = {"register_at_fork", "atexit", "Finalize", "_register_atexit"}
OTHER_FORKS_AND_EXITS = {
    "core/identity.py",  # core/ knows no room; to drop a block of random numbers needs no order
    "store/writer.py",  # keeps an inherited connection open in a forked child; needs no order either
}

STARTS_THREADS = {"Thread", "Timer", "start_new_thread", "start_joinable_thread", "ThreadPoolExecutor"}

WARNS = {"warning", "error", "exception", "critical"}
OTHER_WARNINGS = {
    "evaluation/engine.py",  # the callback that raised is not called again
    "exporters/otlp_request.py",  # once a process
    "online/alerts.py",  # what `log_alert` is for
    "store/health.py",  # its causes are among the numbers of the store's health
}


def named(tree):
    """The last part of every name that a module uses, calls or imports, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, alias.name


def called(tree):
    """The last part of the name of every function or class that a module calls, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.lineno, getattr(node.func, "attr", None) or getattr(node.func, "id", None)


def logged(tree):
    """Every line above the level of information that a module writes to the log."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node.attr not in WARNS:
            continue
        if getattr(node.value, "id", "").strip("_").startswith("log"):
            yield node.lineno, node.attr


def test_every_callback_at_a_fork_or_at_the_end_goes_through_one_registry():
    offenders = [
        f"{name}:{line} {word}"
        for name, tree in trees().items()
        for line, word in named(tree)
        if word in FORKS_AND_EXITS and name not in {REGISTRY, *OTHER_FORKS_AND_EXITS}
    ]
    assert offenders == []


def test_every_thread_is_started_in_one_room():
    offenders = [
        f"{name}:{line} {word}"
        for name, tree in trees().items()
        for line, word in called(tree)
        if word in STARTS_THREADS and not name.startswith("process/")
    ]
    assert offenders == []


def test_every_warning_is_logged_once_a_cause():
    offenders = [
        f"{name}:{line} {word}"
        for name, tree in trees().items()
        for line, word in logged(tree)
        if name not in {"process/said_once.py", *OTHER_WARNINGS}
    ]
    assert offenders == []


def test_every_exception_is_still_needed():
    needed = {
        name: {word for _, word in named(tree)} & FORKS_AND_EXITS or {word for _, word in logged(tree)}
        for name, tree in trees().items()
    }
    assert [name for name in OTHER_FORKS_AND_EXITS | OTHER_WARNINGS if not needed[name]] == []
