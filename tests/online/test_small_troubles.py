"""Loops that scorers stop, children that they fork, addresses of webhooks, exporters that exit."""

import asyncio
import os
import subprocess
import sys
import textwrap

import pytest

from agenttrace import Example, Score, Tracer, run_evaluation
from agenttrace.core.errors import ConfigError


class Base:
    threshold = 0.5

    def __init__(self, name):
        self.name = name


class Stops(Base):
    async def score(self, example, trace):
        asyncio.get_running_loop().stop()
        return Score.of(self.name, 1.0, self.threshold)


class Fine(Base):
    async def score(self, example, trace):
        await asyncio.sleep(0)
        return Score.of(self.name, 1.0, self.threshold)


def test_a_scorer_that_stops_its_loop_harms_no_later_one():
    tracer = Tracer("stop", store="memory")
    for _ in range(3):
        tracer.async_evaluate([Stops("stops")], actual_output="a").result(60)
        assert tracer.async_evaluate([Fine("fine")], actual_output="a").result(60)[0].outcome == "passed"
    tracer.shutdown()


def test_an_offline_run_goes_on_after_a_scorer_or_an_agent_that_stops_its_loop():
    async def agent(text):
        if text == "0":
            asyncio.get_running_loop().stop()
        return text

    examples = [Example(input={"text": str(number)}) for number in range(4)]
    report = run_evaluation(examples, [Stops("stops"), Fine("fine")], function=agent)
    assert [
        score.outcome for result in report.results for score in result.scores if score.name == "fine"
    ] == ["passed"] * 4


FORKS = """
import os, sys
from agenttrace import Example, Score, Tracer, run_evaluation

class Forks:
    name, threshold = "forks", 0.5
    def score(self, example, trace):
        child = os.fork()
        if child:
            print("child", child, flush=True)
        return Score.of(self.name, 1.0, 0.5)

way = sys.argv[1]
if way == "online":
    tracer = Tracer("forks", store="memory")
    print(tracer.async_evaluate([Forks()], actual_output="a").result(60)[0].outcome)
else:
    report = run_evaluation([Example(input={"a": 1}, actual_output="x")], [Forks()])
    print(report.results[0].scores[0].outcome)
for line in range(200):
    try:
        done, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        break
    if done:
        print("ended", done)
        break
    import time; time.sleep(0.05)
"""


@pytest.mark.parametrize("way", ["online", "offline"])
def test_a_scorer_that_forks_and_returns_in_the_child_leaves_no_child_behind(way):
    process = subprocess.Popen(
        [sys.executable, "-c", FORKS, way], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        output, _ = process.communicate(timeout=40)
    finally:
        process.kill()
    children = [int(line.split()[1]) for line in output.splitlines() if line.startswith("child")]
    ended = [int(line.split()[1]) for line in output.splitlines() if line.startswith("ended")]
    for child in set(children) - set(ended):
        try:
            os.kill(child, 9)
        except ProcessLookupError:
            pass
    assert output.count("passed") == 1, output
    assert children
    assert ended == children


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:99999/a",
        "http://127.0.0.1:0/a",
        "http://127.0.0.1:port/a",
        "http:///a",
        "http://",
        "http://169.254.169.254/latest",
        "http://[::1/a",
        "https:// /a",
        "ftp://example.com/a",
        7,
    ],
)
def test_the_address_of_a_webhook_is_checked_when_it_is_made(url):
    from agenttrace import webhook

    with pytest.raises(ConfigError) as error:
        webhook(url)
    assert "latest" not in str(error.value)


@pytest.mark.parametrize("url", ["https://example.com/hook?key=secret#a", "http://user:pw@127.0.0.1:1/a"])
def test_the_address_of_a_webhook_may_hold_its_secret(url):
    from agenttrace import webhook

    assert callable(webhook(url))


LEAVES = """
import sys
from agenttrace import Tracer
from agenttrace.tracing import process_end

process_end.PATIENCE = process_end.MOST = 30.0  # all three share it, and the machine may be busy

class Leaves:
    def export(self, spans): pass
    def flush(self, timeout):
        raise {error}
    def close(self): raise {error}

first = Tracer("first", store={path!r}, exporters=[Leaves()])
second = Tracer("second", store={path!r})
third = Tracer("third", store={path!r}, exporters=[Leaves()])
tools = [tracer.observe(name=tracer.project_name)(lambda: 1) for tracer in (first, second, third)]
for tool in tools:
    tool()
"""


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt", "GeneratorExit"])
def test_an_exporter_that_leaves_the_program_at_its_end_does_not_keep_others_from_storing(tmp_path, error):
    from agenttrace.store import SQLiteStore

    path = str(tmp_path / "traces.db")
    code = textwrap.dedent(LEAVES).format(error=error, path=path)
    subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True)
    assert sorted(summary.name for summary in SQLiteStore(path).traces()) == ["first", "second", "third"]
