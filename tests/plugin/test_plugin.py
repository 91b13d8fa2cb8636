"""The pytest plugin in projects of its own, run as subprocesses: what users, JUnit and summaries see."""

import re
from pathlib import Path

import pytest

from agenttrace.core.report import EvaluationReport
from agenttrace.store import open_store
from tests.plugin.project import EXAMPLES, MARKED, RAISES, SHOP


def properties(case):
    return {one.get("name"): one.get("value") for one in case.iter("property")}


class TestOneTestPerExample:
    def test_has_its_name_and_says_first_what_is_wrong(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        lines = project.run("--junit-xml=junit.xml")
        assert project.code == 1
        (failed,) = [line for line in lines if line.startswith("FAILED")]
        assert failed == (
            "FAILED test_shop.py::test_refund[wrong] - Failed: wrong: 0 of 1 expected calls aligned "
            "(in_order); amount: expected 12, got 12.5"
        )
        assert "1 failed, 1 passed" in lines[-1]
        cases = project.cases()
        assert properties(cases["test_refund[right]"])["agenttrace:score:Tool Order"] == "1 passed"
        assert properties(cases["test_refund[wrong]"])["agenttrace:score:Tool Order"] == "0 failed"
        assert "Tool Order  0.50 over 2 of 2  1 passed, 1 failed" in lines

    def test_of_ones_own_says_in_the_summary_why_it_failed(self, project):
        """Behind the whole name of the exception there was no room for it in 80 columns."""
        project.write(
            "test_shop.py",
            SHOP
            + """
from agenttrace import assert_test

def test_x():
    assert_test([Example(name="one", expected_tools=["refund"], tools_called=[])], [ToolOrderScorer()])

def test_y(agenttrace):
    agenttrace.check(["refund"])
""",
        )
        lines = project.run("--junit-xml=junit.xml")
        failed = [line for line in lines if line.startswith("FAILED")]
        assert failed[0].startswith("FAILED test_shop.py::test_x - one: 0 of 1 expected calls aligned")
        assert failed[1].startswith("FAILED test_shop.py::test_y - test_y: tools are expected, but")
        assert any("agenttrace.EvaluationFailed: one: 0 of 1 " in line for line in lines)
        message = project.cases()["test_x"].find("failure").get("message")
        assert message.startswith("one: 0 of 1 expected calls")

    def test_says_where_a_guard_names_no_known_tool(self, project):
        project.write(
            "test_shop.py",
            SHOP
            + """
@pytest.mark.agenttrace(
    [Example(name="one", expected_tools={"path": ["refund"], "never": ["refnd"]})], [ToolOrderScorer()]
)
def test_guarded(example):
    refund(1, 2)

def test_inside(agenttrace):
    refund(1, 2)
    agenttrace.check({"path": ["refund"], "never": ["delete"]})
""",
        )
        lines = project.run()
        assert "2 passed" in lines[-1]
        assert any(line.startswith("? Tool Order: never refnd: vacuous in 1 of 2") for line in lines), lines
        assert any("UserWarning: Tool Order: never refnd: vacuous" in line for line in lines)
        assert any("UserWarning: Tool Order: never delete: vacuous" in line for line in lines)

    def test_is_chosen_by_its_name(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        assert "1 passed, 1 deselected" in project.run("-k", "right")[-1]
        project.write("refunds.yaml", EXAMPLES.replace("- name: right", "- name: right\n  tags: [money]"))
        assert "1 passed, 1 deselected" in project.run("-k", "money")[-1]
        assert project.code == 0

    def test_takes_the_example_itself_a_text_or_examples_in_python(self, project):
        project.write(
            "test_shop.py",
            SHOP
            + """
@pytest.mark.agenttrace([Example(name="text", input="7", expected_tools=["refund"])], [ToolOrderScorer()])
def test_text(question):
    refund(question, 1)

@pytest.mark.agenttrace([Example(expected_tools=["refund"])], [ToolOrderScorer()], tracer=tracer)
def test_example(example, tmp_path):
    assert example.expected_tools == ["refund"] and tmp_path.exists()
    refund(1, 1)
""",
        )
        lines = project.run("-vv")
        assert "2 passed" in lines[-1]
        assert any("test_text[text] PASSED" in line for line in lines)
        assert any("test_example[example 1] PASSED" in line for line in lines)

    def test_raises_what_the_function_raises(self, project):
        project.write(
            "test_shop.py", SHOP + MARKED.replace("return refund", "assert order == 7\n    return refund")
        )
        lines = project.run()
        assert any("test_refund[wrong] - assert 8 == 7" in line for line in lines)

    def test_is_one_section_over_all_workers(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        lines = project.run("-n", "2", "--junit-xml=junit.xml")
        assert "Tool Order  0.50 over 2 of 2  1 passed, 1 failed" in lines
        heads = [line for line in lines if line.strip("= ") == "agenttrace"]
        assert len(heads) == 1
        assert {"test_refund[right]", "test_refund[wrong]"} == set(project.cases())

    def test_writes_the_step_summary_where_the_ci_names_one(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        project.run(GITHUB_STEP_SUMMARY=str(project.path / "summary.md"))
        assert (
            "| Tool Order | 0.50 over 2 of 2 | 1 passed, 1 failed |"
            in (project.path / "summary.md").read_text()
        )

    def test_runs_as_often_as_the_marker_or_the_option_says(self, project):
        project.write(
            "test_shop.py",
            SHOP
            + """
turns = iter(range(100))

@pytest.mark.agenttrace([Example(name="one", expected_tools=["refund"])], [ToolOrderScorer()], trials=3,
                        require="pass_rate >= 0.3")
def test_flaky(example):
    if next(turns) % 2 == 0:
        refund(1, 1)
    else:
        with tracer.span("nothing"):
            pass
""",
        )
        assert "1 passed" in project.run()[-1]
        assert "over 3 of 3" in project.out
        assert "1 passed" in project.run("--agenttrace-trials=5")[-1]
        assert "over 5 of 5" in project.out

    @pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])
    def test_is_a_result_of_one_run_where_the_option_says(self, project, workers):
        project.write("test_shop.py", SHOP + MARKED)
        project.write("test_raises.py", SHOP + RAISES)
        lines = project.run("--agenttrace-store=results.db", *workers)
        store = open_store(str(project.path / "results.db"))
        (summary,) = store.runs()
        assert (summary.passed, summary.failed, summary.errored) == (1, 2, 0)
        assert f"run {summary.run_id[:8]} in results.db" in lines
        results = EvaluationReport.from_dict(store.run(summary.run_id)).results
        assert [(result.name, result.position, result.outcome) for result in results] == [
            ("test_raises.py::test_raises[one]", 0, "failed"),
            ("test_shop.py::test_refund[right]", 1, "passed"),
            ("test_shop.py::test_refund[wrong]", 2, "failed"),
        ]
        assert "KeyError: 'no such order'" in results[0].error

    def test_of_several_trials_goes_on_where_one_raises(self, project):
        project.write(
            "test_raises.py",
            SHOP + RAISES.replace("scorers=", 'trials=4, require="pass_rate >= 0.5", scorers='),
        )
        assert "1 passed" in project.run()[-1]


ASYNC = """
import asyncio
import pytest_asyncio

@pytest_asyncio.fixture(loop_scope="{scope}", scope="{scope}")
async def client():
    loop = asyncio.get_running_loop()
    queue = asyncio.Queue()

    async def serve():
        while True:
            future, value = await queue.get()
            future.set_result(value)

    task = loop.create_task(serve())

    async def ask(value):
        assert asyncio.get_running_loop() is loop
        future = loop.create_future()
        await queue.put((future, value))
        return await future

    yield ask
    task.cancel()

@pytest.mark.asyncio(loop_scope="{scope}")
@pytest.mark.agenttrace("refunds.yaml", [ToolOrderScorer()])
async def test_refund(order, amount, client):
    return refund(order, await client(amount))
"""


def test_the_examples_of_the_page_are_tests(project):
    page = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()
    for name, text in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```", page, re.M | re.S):
        project.write(name, text)
    assert "1 passed, 1 xfailed" in project.run("test_refunds.py")[-1]


class TestAsync:
    @pytest.mark.parametrize("scope", ["function", "module"])
    def test_functions_run_on_the_loop_of_pytest_asyncio_with_its_fixtures(self, project, scope):
        project.write("test_shop.py", SHOP + ASYNC.replace("{scope}", scope))
        lines = project.run()
        assert "1 failed, 1 passed" in lines[-1]
        assert any("wrong: 0 of 1 expected calls aligned" in line for line in lines)

    def test_functions_run_under_anyio(self, project):
        project.write(
            "test_shop.py",
            SHOP
            + """
import asyncio

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.fixture
async def loop(anyio_backend):
    return asyncio.get_running_loop()

@pytest.mark.anyio
@pytest.mark.agenttrace("refunds.yaml", [ToolOrderScorer()])
async def test_refund(order, amount, loop):
    assert asyncio.get_running_loop() is loop
    return refund(order, amount)
""",
        )
        assert "1 failed, 1 passed" in project.run("-p", "no:asyncio")[-1]

    def test_one_client_of_the_module_serves_fifty_tests(self, project):
        project.write(
            "test_shop.py",
            SHOP
            + ASYNC.replace("{scope}", "module").replace(
                '"refunds.yaml"',
                '[Example(name=str(n), input={"order": n, "amount": n}, expected_tools=["refund"]) '
                "for n in range(50)]",
            ),
        )
        assert "50 passed" in project.run()[-1]

    def test_an_openai_client_of_the_module_serves_fifty_tests_and_fifty_evaluations(self, project):
        pytest.importorskip("openai")
        project.write("test_shop.py", SHOP + OPENAI)
        lines = project.run("-x")
        assert "100 passed" in lines[-1], project.out


OPENAI = """
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import openai
from agenttrace import assert_test

FUNCTION = {"name": "refund", "arguments": '{"order": 7, "amount": 12}'}
CALL = {"id": "1", "type": "function", "function": FUNCTION}
REPLY = {
    "id": "r", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "tool_calls",
                 "message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}],
}

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # the client keeps its connection, which belongs to one loop
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
def agent_with(client):
    async def agent(number):
        messages = [{"role": "user", "content": str(number)}]
        reply = await client.chat.completions.create(model="m", messages=messages)
        for call in reply.choices[0].message.tool_calls:
            refund(**json.loads(call.function.arguments))
    return agent

def new_client():
    url = f"http://127.0.0.1:{server.server_port}/v1"
    return openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)

agent, other_agent = agent_with(new_client()), agent_with(new_client())

EXAMPLES = [
    Example(name=str(n), input={"number": n}, expected_tools=[{"refund": {"order": 7, "amount": 12}}])
    for n in range(50)
]

@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.agenttrace(EXAMPLES, [ToolOrderScorer()], tracer=tracer)
async def test_refund(number):
    await agent(number)

def make(example):
    def test():
        assert_test([example], [ToolOrderScorer()], function=other_agent, tracer=tracer)
    return test

for one in EXAMPLES:
    globals()[f"test_one_{one.name}"] = make(one)
"""


class TestWhatTheExampleSays:
    def test_skip_xfail_and_quarantine(self, project):
        project.write(
            "refunds.yaml",
            """
            examples:
            - {name: skipped, skip: not yet, input: {order: 1, amount: 1}}
            - {name: known, xfail: ticket 7, input: {order: 1, amount: 1}, expected_tools: [refund, refund]}
            - name: quarantined
              quarantine: "Ada until 2999-01-15: the tool rounds"
              input: {order: 1, amount: 1}
              expected_tools: [refund, refund]
            - name: healed
              quarantine: "Ada until 2999-01-15: the tool rounds"
              input: {order: 1, amount: 1}
              expected_tools: [refund]
            - name: over
              quarantine: "Ada until 2001-01-15: the tool rounds"
              input: {order: 1, amount: 1}
              expected_tools: [refund]
            """,
        )
        project.write("test_shop.py", SHOP + MARKED)
        lines = project.run("-rfsxX")
        assert "1 failed, 1 passed, 1 skipped, 2 xfailed" in lines[-1]
        (failed,) = [line for line in lines if line.startswith("FAILED")]
        assert "the quarantine ended on 2001-01-15 (Ada: the tool rounds); the example passes" in failed
        assert any("in quarantine until 2999-01-15 (Ada: the tool rounds); quar" in x for x in lines)

    def test_a_quarantine_is_for_what_raises_too(self, project):
        project.write(
            "test_shop.py",
            SHOP
            + """
@pytest.mark.agenttrace(
    [
        Example(name="known", quarantine="Ada until 2999-01-15: no such order", expected_tools=["refund"]),
        Example(name="over", quarantine="Ada until 2001-01-15: no such order", expected_tools=["refund"]),
        Example(name="free", expected_tools=["refund"]),
    ],
    [ToolOrderScorer()],
    require="pass_rate >= 0",
)
def test_raises(example):
    raise KeyError("no such order")
""",
        )
        lines = project.run("-rfsxX")
        assert "2 failed, 1 xfailed" in lines[-1]
        assert any("in quarantine until 2999-01-15 (Ada: no such order); " in line for line in lines)
        over, free = [line for line in lines if line.startswith("FAILED")]
        assert "[over] - Failed: the quarantine ended on 2001-01-15 (Ada: no such order); " in over
        assert "[free] - KeyError: 'no such order'" in free

    def test_what_is_errored_is_no_failure_that_was_expected(self, project):
        project.write(
            "test_shop.py",
            SHOP
            + """
from agenttrace import scorer

@scorer
def broken(output):
    raise RuntimeError("no such model")

SAYS = {"known": {"xfail": "ticket 7"}, "quarantined": {"quarantine": "Ada until 2999-01-15: flaky"}}

@pytest.mark.agenttrace([Example(name=name, **says) for name, says in SAYS.items()], [broken])
def test_scored(example):
    return "done"

@pytest.mark.agenttrace([Example(name="late", xfail=True)], [broken])
def test_raises(example):
    raise KeyError("no such order")
""",
        )
        lines = project.run("-rfsxX")
        assert "2 failed, 1 xfailed" in lines[-1]
        failed = [line for line in lines if line.startswith("FAILED")]
        assert all("RuntimeError: no such model" in line for line in failed)

    @pytest.mark.parametrize(
        "text", ["Ada: why", "until 2999-01-15: why", "Ada until soon: why", "Ada until 2999-01-15"]
    )
    def test_a_quarantine_without_owner_day_or_reason_is_an_error_of_the_collection(self, project, text):
        project.write(
            "refunds.yaml", f"examples:\n- {{input: {{order: 1, amount: 1}}, quarantine: '{text}'}}\n"
        )
        project.write("test_shop.py", SHOP + MARKED)
        project.run()
        assert project.code not in (0, 1)
        assert "refunds.yaml:2: quarantine is written 'OWNER until YYYY-MM-DD: WHY'" in project.out


class TestBesideOtherMarkers:
    def test_parametrize_and_a_fixture_with_params_multiply_the_examples(self, project):
        project.write(
            "test_shop.py",
            SHOP
            + """
@pytest.fixture(params=["eur", "usd"])
def currency(request):
    return request.param

@pytest.mark.parametrize("model, seed", [("a", 1), ("b", 2)])
@pytest.mark.agenttrace(
    [Example(name="one", input={"order": 1}, expected_tools=["refund"])], [ToolOrderScorer()]
)
def test_refund(order, model, seed, currency):
    refund(order, currency)
""",
        )
        assert "4 passed" in project.run()[-1]


class TestWrongUse:
    def test_a_test_case_of_unittest_takes_no_examples(self, project):
        method = MARKED.replace("def test_refund(", "def test_refund(self, ").replace("\n", "\n    ")
        project.write("test_shop.py", SHOP + "import unittest\nclass TestShop(unittest.TestCase):" + method)
        project.run()
        assert project.code == 4
        assert "TestShop::test_refund: @pytest.mark.agenttrace marks functions" in project.out

    def test_a_marker_that_stands_twice_is_an_error_of_the_collection(self, project):
        twice = MARKED.replace("@pytest", MARKED.strip().splitlines()[0] + "\n@pytest", 1)
        project.write("test_shop.py", SHOP + twice)
        project.run()
        assert project.code == 2
        assert "test_refund: @pytest.mark.agenttrace stands twice" in project.out

    def test_scorers_that_can_be_read_once_are_an_error_of_the_collection(self, project):
        project.write(
            "test_shop.py", SHOP + MARKED.replace("[ToolOrderScorer()]", "iter([ToolOrderScorer()])")
        )
        project.run()
        assert project.code == 2
        assert "scorers is a list: each test reads it anew" in project.out

    @pytest.mark.parametrize("option", ["coverage-fail-under=abc", "coverage-fail-under=101", "store=."])
    def test_an_option_that_cannot_be_used_is_an_error_before_any_test(self, project, option):
        project.write("test_shop.py", SHOP + MARKED)
        project.run(f"--agenttrace-{option}")
        assert project.code == 4
        assert "Traceback" not in project.out

    @pytest.mark.parametrize(
        ("marked", "message"),
        [
            (
                MARKED.replace("refunds.yaml", "none.yaml"),
                "none.yaml; a path is relative to the test's own directory",
            ),
            (MARKED.replace("scorers=", "scorer="), "no option 'scorer'; did you mean 'scorers'"),
            (MARKED.replace("scorers=", "require='pas_rate >= 1', scorers="), "no measure 'pas_rate'"),
            (MARKED.replace("(order, amount)", "(order, sum)", 1), "['order', 'sum'] beside its fixtures"),
            (MARKED.replace("[ToolOrderScorer()]", "[]"), "scorers"),
            (
                "@pytest.mark.agenttrace('refunds.yaml', [ToolOrderScorer()])\nclass TestAll:\n"
                "    def test_one(self, order, amount):\n        pass\n",
                "marks a function",
            ),
            (
                MARKED.replace('examples="refunds.yaml"', "examples=[Example(name='a'), Example(name='a')]"),
                "2 examples are called 'a'",
            ),
        ],
    )
    def test_is_an_error_of_the_collection(self, project, marked, message):
        project.write("test_shop.py", SHOP + marked)
        project.run()
        assert project.code not in (0, 1)
        assert message in project.out


class TestTheFixture:
    def test_checks_what_was_recorded_and_attaches_it(self, project):
        project.write(
            "test_shop.py",
            SHOP
            + """
def test_check(agenttrace):
    refund(1, 2)
    agenttrace.check(["refund"])
    with agenttrace.capture() as captured:
        refund(3, 4)
    agenttrace.check([call("refund", order=3, amount=4)])
    assert captured.trace is agenttrace.trace
    agenttrace.attach()
    agenttrace.check([call("refund", order=3, amount=5)])
""",
        )
        lines = project.run("--junit-xml=junit.xml")
        assert any(
            line.endswith("test_check: 0 of 1 expected calls aligned (in_order); amount: expected 5, got 4")
            for line in lines
        )
        assert any("refund" in line and "tool" in line for line in lines)


def test_a_run_that_uses_nothing_of_it_imports_nothing_of_it(project):
    project.write(
        "test_plain.py",
        "import sys\ndef test_plain():\n"
        "    ours = sorted(name for name in sys.modules if name.startswith('agenttrace'))\n"
        "    assert ours == ['agenttrace', 'agenttrace.pytest_plugin', 'agenttrace.version'], ours\n",
    )
    assert "1 passed" in project.run()[-1]


class TestSimulated:
    def test_an_examples_tools_are_answered_in_its_test(self, project):
        simulated = EXAMPLES.replace(
            "- name: right", "- name: right\n  simulate: {refund: {$raise: KeyError}}"
        )
        simulated = simulated.replace(
            "- name: wrong", "- name: wrong\n  simulate: {refund: {$sequence: [1]}}"
        )
        project.write("refunds.yaml", simulated)
        project.write(
            "test_shop.py",
            SHOP
            + """
@pytest.mark.agenttrace(examples="refunds.yaml", scorers=[ToolOrderScorer(attempts="count")])
def test_refund(order, amount):
    if order == 7:
        with pytest.raises(KeyError):
            refund(order, amount)
    else:
        assert refund(order, 12) == 1
        try:
            refund(order, 12)
        except Exception:
            pass
""",
        )
        lines = "\n".join(project.run())
        assert "1 failed, 1 passed" in lines
        assert "the simulation: refund(order=8, amount=12) is not answered" in lines
