"""The first evaluation of a process that can open no file."""

import subprocess
import sys

CHILD = """
import os, resource
from agenttrace import Score, Tracer

tracer = Tracer("poor", store="memory")


class Fixed:
    name, threshold = "Fixed", 0.5

    def score(self, example, trace):
        return Score.of("Fixed", 1.0, 0.5)


@tracer.observe
def answer():
    return tracer.async_evaluate(scorers=[Fixed()], input="a", actual_output="b")


least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
place = os.dup(0)
os.close(place)
resource.setrlimit(resource.RLIMIT_NOFILE, (place, most))
first, second = answer(), answer()
resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
print(first.state, first.result(60)[0].error)
print(second.state)
print(answer().result(60)[0].value)
"""


def test_reaches_the_agent_as_a_dropped_one_and_the_next_is_evaluated():
    child = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=60)
    assert child.returncode == 0, child.stderr
    lines = child.stdout.splitlines()
    assert lines[0].startswith("dropped online evaluation could not begin: [Errno 24] Too many open files")
    assert lines[1:] == ["dropped", "1.0"]
    assert child.stderr.count("evaluations are dropped: they cannot begin") == 1
