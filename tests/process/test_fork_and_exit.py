"""What is called at a fork and at the end of the process, in the order of the parts."""

import gc
import os
import subprocess
import sys
import weakref

import pytest

from agenttrace.process import fork_and_exit
from agenttrace.process.fork_and_exit import at_exit, at_fork

BEGIN = """
import atexit, os, sys
atexit.register(lambda: print("of the user"))
from agenttrace.process.fork_and_exit import at_exit, at_fork
"""


def lines(code):
    done = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, timeout=60)
    return done.stdout.split("\n")[:-1], done.stderr


def test_at_the_exit_evaluations_come_first_and_searches_last():
    code = (
        "for part in ('pipelines', 'evaluations', 'searches'): at_exit(part, lambda part=part: print(part))"
    )
    assert lines(code) == (["evaluations", "pipelines", "searches", "of the user"], "")


def test_an_error_in_one_part_does_not_stop_the_next():
    printed, errors = lines(
        "at_exit('evaluations', lambda: 1 / 0); at_exit('pipelines', lambda: print('end'))"
    )
    assert printed == ["end", "of the user"]
    assert "ZeroDivisionError" in errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_before_a_fork_the_order_is_that_of_the_exit_and_after_it_the_opposite_one():
    code = """
for part in ("stores", "evaluations"):
    at_fork(
        part,
        before=lambda part=part: os.write(1, f"before {part}\\n".encode()),  # in one step, from two processes
        in_parent=lambda part=part: os.write(1, f"parent {part}\\n".encode()),
        in_child=lambda part=part: os.write(1, f"child {part}\\n".encode()),
    )
if not os.fork(): os._exit(0)
os.wait()
"""
    printed, _ = lines(code)
    for moment, parts in {
        "before": ["evaluations", "stores"],
        "parent": ["stores", "evaluations"],
        "child": ["stores", "evaluations"],
    }.items():
        assert [line for line in printed if line.startswith(moment)] == [f"{moment} {part}" for part in parts]


def test_an_object_is_not_kept_alive_by_its_methods():
    class Owner:
        def end(self):
            """Nothing to do."""

    owner = Owner()
    of_owner = weakref.ref(owner)

    def registered():  # what other tests left is collected at any time: it is not counted
        calls = [call for calls in fork_and_exit._calls.values() for call in calls]
        return [call for call in calls if isinstance(call, fork_and_exit._Method) and call._owner == of_owner]

    at_exit("stores", owner.end)
    at_fork("stores", before=owner.end, in_parent=owner.end, in_child=owner.end)
    methods = registered()
    assert len(methods) == 4
    del owner
    gc.collect()
    assert of_owner() is None
    assert not any(method in calls for method in methods for calls in fork_and_exit._calls.values())
