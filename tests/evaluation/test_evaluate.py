import asyncio
import contextvars
import functools
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

from agenttrace.core.errors import ConfigError, ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.evaluation import run_evaluation, run_evaluation_async
from agenttrace.expectations import expect
from agenttrace.judges import AnswerRelevancyScorer
from agenttrace.scorers import ToolOrderScorer, ToolPermissionScorer
from agenttrace.store import MemoryStore
from agenttrace.tracer import Tracer
from tests.evaluation.evaluation_fakes import Answer, Calls, Does, MemoryResults, scored


def doubles(count):
    return [Example(input={"x": n}, expected_output=2 * n, name=f"n{n}") for n in range(count)]


def double(x):
    return 2 * x


def outcomes(report):
    return [result.outcome for result in report]


def test_a_mapping_becomes_keyword_arguments_a_text_the_argument_nothing_no_argument(tracer):
    seen = []

    def agent(*args, **kwargs):
        seen.append((args, kwargs))

    examples = [Example(input={"a": 1, "b": 2}), Example(input="hello"), Example()]
    run_evaluation(examples, [Answer()], function=agent, tracer=tracer)
    assert seen == [((), {"a": 1, "b": 2}), (("hello",), {}), ((), {})]


def test_results_keep_the_order_of_the_examples_though_later_ones_finish_first(tracer):
    def agent(x):
        time.sleep(0.02 * (5 - x))
        return 2 * x

    report = run_evaluation(doubles(5), [Answer()], function=agent, tracer=tracer, concurrency=5)
    assert [result.name for result in report] == ["n0", "n1", "n2", "n3", "n4"]
    assert report.passed


async def async_double(x):
    await asyncio.sleep(0)
    return 2 * x


class CallableAgent:
    async def __call__(self, x):
        return 2 * x


def returns_a_coroutine(x):
    return async_double(x)


@pytest.mark.parametrize(
    "function", [double, async_double, CallableAgent(), returns_a_coroutine, functools.partial(async_double)]
)
def test_plain_and_async_functions_are_run_alike(tracer, function):
    assert run_evaluation(doubles(3), [Answer()], function=function, tracer=tracer).passed


def test_the_output_of_a_generator_is_the_list_of_what_it_yields(tracer):
    @tracer.tool
    def step(n):
        return n

    def plain(x):
        for n in range(3):
            yield step(n)

    async def asynchronous(x):
        for n in range(3):
            yield step(n)

    for function in (plain, asynchronous, lambda x: plain(x), lambda x: asynchronous(x)):
        example = Example(input={"x": 1}, expected_output=[0, 1, 2], expected_tools=["step"] * 3)
        report = run_evaluation([example], [Answer(), Calls()], function=function, tracer=tracer)
        assert report.passed, function


def test_an_agent_that_raises_fails_its_example_and_the_others_go_on(tracer):
    def agent(x):
        if x == 1:
            raise RuntimeError("no such flight")
        return 2 * x

    report = run_evaluation(doubles(3), [Answer()], function=agent, tracer=tracer)
    assert outcomes(report) == ["passed", "failed", "passed"]
    assert "RuntimeError: no such flight" in report[1].error
    assert "isolation.py" not in report[1].error
    assert report[1].scores == ()


@pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, asyncio.CancelledError])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_agent_that_tries_to_leave_fails_its_example_only(tracer, kind, asynchronous):
    def agent(x):
        if x == 0:
            raise kind
        return 2 * x

    async def async_agent(x):
        return agent(x)

    report = run_evaluation(
        doubles(2), [Answer()], function=async_agent if asynchronous else agent, tracer=tracer
    )
    assert outcomes(report) == ["failed", "passed"]
    assert kind.__name__ in report[0].error


@pytest.mark.parametrize("asynchronous", [False, True])
def test_keyboard_interrupt_stops_the_run_and_keeps_what_was_finished(tracer, asynchronous):
    def agent(x):
        if x == 1:
            raise KeyboardInterrupt
        return 2 * x

    async def async_agent(x):
        return agent(x)

    tracer.store = MemoryResults()
    with pytest.raises(KeyboardInterrupt):
        run_evaluation(
            doubles(50), [Answer()], function=async_agent if asynchronous else agent, tracer=tracer
        )
    (report,) = tracer.store.reports
    assert report.metadata["interrupted"]
    assert len(report) < 50
    assert all(result.success for result in report)


def test_a_plain_agent_that_hangs_is_left_behind_with_what_it_recorded(tracer):
    release = threading.Event()

    @tracer.tool
    def look(x):
        return x

    def agent(x):
        look(x)
        if x == 1:
            release.wait(60)
        return 2 * x

    report = run_evaluation(doubles(3), [Answer()], function=agent, tracer=tracer, timeout=2)
    release.set()
    assert outcomes(report) == ["passed", "failed", "passed"]
    assert "did not return within its timeout of 2 s" in report[1].error
    assert [call.name for call in report[1].trace.tool_calls] == ["look"]


def test_an_async_agent_that_hangs_or_will_not_be_cancelled_is_left_behind(tracer):
    async def agent(x):
        while x == 1:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                x = 0  # it hides the cancellation and goes on
        if x == 2:
            await asyncio.sleep(60)
        return 2 * x

    report = run_evaluation(doubles(4), [Answer()], function=agent, tracer=tracer, timeout=2)
    assert outcomes(report) == ["passed", "failed", "failed", "passed"]


def test_an_async_agent_that_blocks_its_event_loop_does_not_block_the_next(tracer):
    release = threading.Event()

    async def agent(x):
        if x == 0:
            release.wait(60)
        return 2 * x

    report = run_evaluation(doubles(2), [Answer()], function=agent, tracer=tracer, timeout=2)
    release.set()
    assert outcomes(report) == ["failed", "passed"]


def test_an_endless_generator_ends_when_its_time_is_over(tracer):
    ended = threading.Event()

    def agent(x):
        try:
            while True:
                time.sleep(0.01)
                yield x
        finally:
            ended.set()

    report = run_evaluation(doubles(1), [Answer()], function=agent, tracer=tracer, timeout=1)
    assert outcomes(report) == ["failed"]
    assert ended.wait(60)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_as_many_agents_run_at_a_time_as_asked(tracer, asynchronous):
    running, most = 0, 0
    lock = threading.Lock()

    def enter(change):
        nonlocal running, most
        with lock:
            running += change
            most = max(most, running)

    def agent(x):
        enter(1)
        time.sleep(0.03)
        enter(-1)

    async def async_agent(x):
        enter(1)
        await asyncio.sleep(0.03)
        enter(-1)

    function = async_agent if asynchronous else agent
    run_evaluation(doubles(12), [Answer()], function=function, tracer=tracer, concurrency=4)
    assert most == 4
    most = 0
    run_evaluation(doubles(4), [Answer()], function=function, tracer=tracer)
    assert most == 1


def test_examples_that_run_side_by_side_do_not_mix_their_calls(tracer):
    @tracer.tool
    def look(x):
        return x

    def agent(x):
        for _ in range(5):
            time.sleep(0.002)
            look(x)

    def own_calls_only(example, trace):
        return scored(float([call.arguments["x"] for call in trace.tool_calls] == [example.input["x"]] * 5))

    report = run_evaluation(doubles(8), [Does(own_calls_only)], function=agent, tracer=tracer, concurrency=8)
    assert report.passed
    assert len({result.trace_id for result in report}) == 8


def test_what_scorers_record_is_no_part_of_the_trace(tracer):
    @tracer.tool
    def judge():
        return "fine"

    def score(example, trace):
        judge()
        return scored(1.0 if not trace.spans else 0.0)

    assert run_evaluation(doubles(1), [Does(score)], function=double, tracer=tracer).passed


def test_it_works_inside_a_running_event_loop(tracer):
    async def notebook():
        return run_evaluation(doubles(2), [Answer()], function=async_double, tracer=tracer)

    assert asyncio.run(notebook()).passed


def test_agents_see_the_context_variables_of_the_caller(tracer):
    setting = contextvars.ContextVar("setting", default=0)
    setting.set(2)

    async def async_agent(x):
        return x * setting.get()

    for function in (lambda x: x * setting.get(), async_agent):
        assert run_evaluation(doubles(2), [Answer()], function=function, tracer=tracer).passed


def test_an_agent_that_changes_its_input_changes_no_other_trial_nor_the_example(tracer):
    seen = []

    def agent(items):
        seen.append(list(items))
        items.append(99)
        return len(items)

    example = Example(input={"items": [1]}, expected_output=2)
    report = run_evaluation([example], [Answer()], function=agent, tracer=tracer, trials=3)
    assert seen == [[1], [1], [1]]
    assert [result.example.input for result in report] == [{"items": [1]}] * 3
    assert example.input == {"items": [1]}
    assert report.passed


def test_a_scorer_that_changes_the_example_changes_nothing_for_the_next(tracer):
    seen = []

    def spoil(example, trace):
        example.input["items"].clear()
        example.expected_output["deep"].append(1)
        example.actual_output = "spoilt"
        return scored(1)

    def look(example, trace):
        seen.append((example.input, example.expected_output, example.actual_output))
        return scored(1)

    example = Example(input={"items": [1]}, expected_output={"deep": []}, actual_output="x")
    report = run_evaluation([example], [Does(spoil, "Spoil"), Does(look)])
    was = ({"items": [1]}, {"deep": []}, "x")
    assert seen == [was]
    for kept in (report[0].example, example):
        assert (kept.input, kept.expected_output, kept.actual_output) == was


def test_plain_agents_run_on_the_executor_that_is_given(tracer):
    with ThreadPoolExecutor(1, thread_name_prefix="mine") as pool:
        example = Example(expected_output="mine_0")
        report = run_evaluation(
            [example],
            [Answer()],
            function=lambda: threading.current_thread().name,
            tracer=tracer,
            executor=pool,
        )
    assert report.passed


def test_an_executor_that_cannot_run_an_agent_is_told_before_anything_runs():
    ran = []
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    for executor, told in [(Pickling(), "cannot pickle it"), (closed, "shut down"), (4, "got int")]:
        with pytest.raises(ConfigError, match=told):
            run_evaluation([Example(input="a")], [Answer()], function=ran.append, executor=executor)
    assert ran == []


class Pickling(Executor):
    """An executor of processes that nobody knows."""

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        future.set_exception(TypeError("cannot pickle it"))
        return future


def test_an_executor_that_is_shut_down_meanwhile_ends_the_rest_as_errored(tracer):
    pool = ThreadPoolExecutor(1)

    def agent(x):
        pool.shutdown(wait=False, cancel_futures=True)

    report = run_evaluation(doubles(2), [Answer()], function=agent, tracer=tracer, executor=pool)
    assert outcomes(report) == ["errored", "errored"]
    assert "could not run the call" in report[1].error


def test_without_a_function_the_recorded_run_is_compared():
    called = Example(
        tools_called=["search"], expected_tools=["search"], actual_output="a", expected_output="a"
    )
    other = Example(tools_called=[], expected_tools=["search"], actual_output="a", expected_output="b")
    report = run_evaluation([called, other], [Calls(), Answer()])
    assert outcomes(report) == ["passed", "failed"]
    assert report[0].run_duration is None


def test_the_actual_output_is_data_that_later_changes_do_not_reach(tracer):
    history = []

    def agent(x):
        history.append((x, {"at": x}))
        return history

    report = run_evaluation(doubles(2), [Answer()], function=agent, tracer=tracer)
    assert [result.example.actual_output for result in report] == [
        [[0, {"at": 0}]],
        [[0, {"at": 0}], [1, {"at": 1}]],
    ]


def test_trials_repeat_each_example_and_stand_together(tracer):
    calls = []
    report = run_evaluation(
        doubles(2), [Answer()], function=lambda x: calls.append(x) or 2 * x, tracer=tracer, trials=3
    )
    assert [(result.position, result.trial, result.trials) for result in report] == [
        (0, 1, 3), (0, 2, 3), (0, 3, 3), (1, 1, 3), (1, 2, 3), (1, 3, 3),
    ]  # fmt: skip
    assert sorted(calls) == [0, 0, 0, 1, 1, 1]


def test_results_and_scores_are_stored_under_the_traces(tracer):
    tracer.store = MemoryResults()
    report = run_evaluation(
        doubles(2), [Answer()], function=double, tracer=tracer, eval_run_name="nightly", model="m"
    )
    assert tracer.store.reports == [report]
    assert (report.name, report.project, report.model) == ("nightly", "fake", "m")


def test_a_store_that_fails_loses_no_result(tracer, caplog):
    tracer.store = MemoryResults(broken=True)
    assert run_evaluation(doubles(1), [Answer()], function=double, tracer=tracer).passed
    assert "could not be stored" in caplog.text


def test_progress_hears_of_each_result_and_a_broken_one_only_once(tracer, caplog):
    heard = []
    run_evaluation(
        doubles(3),
        [Answer()],
        function=double,
        tracer=tracer,
        progress=lambda done, total, result: heard.append((done, total, result.outcome)),
    )
    assert heard == [(1, 3, "passed"), (2, 3, "passed"), (3, 3, "passed")]

    def broken(*_):
        raise OSError("no terminal")

    assert run_evaluation(doubles(3), [Answer()], function=double, tracer=tracer, progress=broken).passed
    assert caplog.text.count("is not called again") == 1


def test_an_input_that_does_not_fit_is_errored_before_the_function_is_called(tracer):
    calls = []

    def agent(prompt: str, days: int = 1):
        calls.append(prompt)

    examples = [
        Example(input={"promt": "x"}),
        Example(),
        Example(input={"prompt": "x"}, expected_output=None),
    ]
    report = run_evaluation(examples, [Answer()], function=agent, tracer=tracer)
    assert outcomes(report) == ["errored", "errored", "passed"]
    assert "does not fit" in report[0].error
    assert "agent(prompt, days=1): missing" in report[0].error
    assert "the input has 'promt'; did you mean 'prompt'" in report[0].error
    assert "has no input" in report[1].error
    assert calls == ["x"]


def test_nothing_recorded_while_tools_are_expected_is_errored_with_what_to_do(tracer):
    example = Example(input={"x": 1}, expected_tools=["search"])
    report = run_evaluation([example], [Calls()], function=double, tracer=tracer)
    assert outcomes(report) == ["errored"]
    assert "nothing was recorded while double ran; decorate the tools" in report[0].error


def test_an_expected_tool_that_nobody_has_is_errored_with_a_suggestion(tracer):
    @tracer.tool
    def get_weather(city):
        return city

    example = Example(input={"city": "Paris"}, expected_tools=[{"tool_name": "get_wether"}])
    report = run_evaluation([example], [ToolOrderScorer()], function=get_weather, tracer=tracer)
    assert outcomes(report) == ["errored"]
    assert "did you mean 'get_weather'" in report[0].scores[0].reason


def test_the_example_says_what_was_called_instead_of_what_an_older_run_called(tracer):
    @tracer.tool
    def look(x):
        return x

    examples = [Example(input={"x": 1}, tools_called=["old"])] * 2
    report = run_evaluation(examples, [Answer()], function=look, tracer=tracer)
    assert report[0].example.tools_called == ["look"]
    assert (
        run_evaluation(examples, [Answer()], function=double, tracer=tracer)[0].example.tools_called is None
    )
    assert examples[0].tools_called == ["old"]


def test_a_recorded_run_that_cannot_be_read_is_errored():
    example = Example(tools_called=["search"])
    example.tools_called.append(3)
    (result,) = run_evaluation([example], [Answer()])
    assert result.outcome == "errored"
    assert "tools_called cannot be read" in result.error


def test_without_any_word_of_calls_a_scorer_gets_no_trace():
    example = Example(expected_tools=["search"])
    (result,) = run_evaluation([example], [ToolOrderScorer()])
    assert result.outcome == "errored"
    assert result.trace is None
    assert "nothing says what was called" in result.scores[0].reason


def test_all_skipped_is_not_a_pass(tracer):
    skips = Does(lambda example, trace: Score.skipped("Does", 0.5, "nothing to judge"))
    report = run_evaluation(doubles(1), [skips], function=double, tracer=tracer)
    assert outcomes(report) == ["errored"]
    assert "every scorer skipped" in report[0].error
    assert run_evaluation(doubles(1), [skips, Answer()], function=double, tracer=tracer).passed


def test_a_failed_score_decides_over_a_broken_scorer(tracer):
    def breaks(example, trace):
        raise KeyError("x")

    fails = Does(lambda example, trace: scored(0.0), "Fails")
    passes = Does(lambda example, trace: scored(1.0), "Passes")
    for scorers, wanted in (
        ([Does(breaks), passes], "errored"),
        ([Does(breaks), fails], "failed"),
        ([passes, fails], "failed"),
    ):
        assert outcomes(run_evaluation(doubles(1), scorers, function=double, tracer=tracer)) == [wanted]


class Judge:
    threshold = 0.5

    def __init__(self, model=None):
        self.name = "Judge" if model is None else f"Judge ({model})"
        self.model = model

    def with_model(self, model):
        return Judge(self.model or model)

    def score(self, example, trace):
        return scored(1.0, reason=str(self.model))


def test_the_model_goes_to_the_scorers_that_take_one(tracer):
    report = run_evaluation(
        doubles(1), [Judge(), Judge("own"), Answer()], function=double, tracer=tracer, model="big"
    )
    assert [score.reason for score in report[0].scores[:2]] == ["big", "own"]


class NeedsExpectation(Answer):
    def check(self, example):
        if example.expected_output is None:
            raise ScorerError("Answer needs expected_output")


def test_a_scorer_without_the_field_it_needs_stops_before_any_agent_is_run(tracer):
    calls = []
    examples = [*doubles(1), Example(input={"x": 1}, name="bare")]
    with pytest.raises(ScorerError, match=r"example 2 \('bare'\): Answer needs expected_output"):
        run_evaluation(examples, [NeedsExpectation()], function=calls.append, tracer=tracer)
    assert calls == []


def test_a_judge_without_a_model_is_the_same_error_here_as_in_production(tracer, monkeypatch):
    monkeypatch.delenv("AGENTTRACE_JUDGE_MODEL", raising=False)
    examples = [Example(input="a", actual_output="b")]
    with pytest.raises(ConfigError, match=r"example 1: .*no model to ask"):
        run_evaluation(examples, [AnswerRelevancyScorer()], tracer=tracer)
    with pytest.raises(ConfigError, match="no model to ask"):
        tracer.async_evaluate([AnswerRelevancyScorer()], input="a", actual_output="b")


def test_an_expectation_that_cannot_be_understood_is_the_same_error_as_from_the_scorer(tracer):
    class Refuses(Answer):
        def check(self, example):
            raise ExpectationError("cannot be understood")

    with pytest.raises(ExpectationError, match=r"example 1.*cannot be understood"):
        run_evaluation(doubles(1), [Refuses()], function=double, tracer=tracer)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"examples": []}, "there are no examples"),
        ({"examples": Example()}, r"examples=\[example\]"),
        ({"examples": "tests.yaml"}, "test_file="),
        ({"examples": [{"input": "x"}]}, r"write Example\(\*\*fields\)"),
        ({"scorers": []}, "there are no scorers"),
        ({"scorers": Answer()}, r"scorers=\[…\]"),
        ({"scorers": [Answer]}, r"call it: Answer\(\)"),
        ({"scorers": ["Answer"]}, "'Answer' is not a scorer"),
        ({"scorers": [Does(scored, name="")]}, "needs a name"),
        ({"function": CallableAgent}, "is the class CallableAgent"),
        ({"function": "agent.run"}, "must be callable, got str"),
        ({"tracer": "my_project"}, "tracer is a Tracer, got str"),
        ({"concurrency": 0}, "concurrency is a whole number from 1"),
        ({"trials": 1.5}, "trials is a whole number from 1"),
        ({"timeout": -1}, "timeout is a number of seconds above 0"),
    ],
)
def test_wrong_use_says_what_to_do_before_anything_runs(tracer, arguments, said):
    calls = []
    given = {"examples": doubles(1), "scorers": [Answer()], "function": calls.append, "tracer": tracer}
    with pytest.raises((ConfigError, ScorerError), match=said):
        run_evaluation(**{**given, **arguments})
    assert calls == []


def test_two_scorers_of_one_name_are_told_apart_by_their_options_or_their_number():
    same = [ToolOrderScorer(), ToolOrderScorer(exact_match=True), ToolOrderScorer(), ToolOrderScorer(0.5)]
    report = run_evaluation([Example(expected_tools=["a"], tools_called=["a", "b"])], same)
    assert report.means == {
        "Tool Order": 1.0,
        "Tool Order (exact_match=True)": 0.0,
        "Tool Order 2": 1.0,
        "Tool Order (threshold=0.5)": 1.0,
    }
    assert [scorer.name for scorer in same] == ["Tool Order"] * 4
    own = [ToolOrderScorer(), ToolOrderScorer(exact_match=True, name="Exact Tool Order")]
    report = run_evaluation([Example(expected_tools=["a"], tools_called=["a", "b"])], own)
    assert report.means == {"Tool Order": 1.0, "Exact Tool Order": 0.0}


def test_two_scorers_of_one_name_that_takes_no_other_are_an_error_that_says_how_to_tell_them_apart():
    class Fixed:
        name = property(lambda self: "Fixed")
        threshold = 0.5

        def score(self, example, trace):
            return scored(1.0)

    with pytest.raises(ScorerError, match=r"two scorers are called 'Fixed'.* name='Fixed 2'\)"):
        run_evaluation([Example(actual_output="x")], [Fixed(), Fixed()])


def test_scores_go_by_the_names_of_their_scorers_whatever_name_a_score_has():
    class Own:
        threshold = 0.5

        def __init__(self, name, value):
            self.name, self.value = name, value

        def score(self, example, trace):
            return Score.of("quality", self.value, self.threshold)

    report = run_evaluation([Example(actual_output="x")], [Own("one", 1.0), Own("other", 0.0)])
    assert report.means == {"one": 1.0, "other": 0.0}


@pytest.mark.parametrize("expected", [[], ["a"], expect(never="delete")])
def test_with_recording_switched_off_nothing_can_be_said_of_tools_whatever_is_expected(expected):
    tracer = Tracer("off", store=MemoryStore(), enabled=False)
    report = run_evaluation(
        [Example(expected_tools=expected)], [ToolOrderScorer()], function=lambda: None, tracer=tracer
    )
    assert outcomes(report) == ["errored"]
    assert "recording is switched off" in report[0].error
    tracer.shutdown()


def test_with_recording_switched_off_answers_are_compared_and_calls_are_not(monkeypatch):
    monkeypatch.setenv("AGENTTRACE_ENABLED", "0")
    report = run_evaluation(doubles(1), [Answer(), ToolPermissionScorer(deny="x")], function=double)
    assert [score.outcome for score in report[0].scores] == ["passed", "errored"]


def test_an_option_of_assert_test_is_an_error_that_says_so():
    example = Example(actual_output=1, expected_output=1)
    for option in ({"require": "pass_rate >= 0.5"}, {"baseline": "main"}):
        with pytest.raises(ConfigError, match="is an option of assert_test"):
            run_evaluation([example], [Answer()], **option)
        with pytest.raises(ConfigError, match="is an option of assert_test"):
            asyncio.run(run_evaluation_async([example], [Answer()], **option))
    with pytest.raises(TypeError, match="unexpected keyword argument 'trails'; did you mean 'trials'"):
        asyncio.run(run_evaluation_async([example], [Answer()], trails=3))


def test_a_measure_that_gives_no_mapping_is_an_error_that_says_where_the_report_is():
    from agenttrace import ConfigError, Example, Tracer, run_evaluation
    from agenttrace.scorers import ContainsScorer

    tracer = Tracer("p", store="memory")
    options = {"function": lambda x: "hi", "tracer": tracer}
    with pytest.raises(ConfigError, match="measure returns a mapping") as raised:
        run_evaluation([Example(input="x")], [ContainsScorer("h")], measure=lambda report: None, **options)
    (run,) = tracer.store.runs()
    assert run.run_id[:12] in raised.value.__notes__[0]
    with pytest.raises(ZeroDivisionError) as broken:
        run_evaluation([Example(input="x")], [ContainsScorer("h")], measure=lambda report: 1 / 0, **options)
    assert "the report is kept" in broken.value.__notes__[0]
    tracer.shutdown()


@pytest.mark.parametrize("metadata", ["v7", ["v7"]])
def test_metadata_that_is_no_mapping_is_refused_before_any_agent_runs(metadata):
    from agenttrace import ConfigError, Example, run_evaluation
    from agenttrace.scorers import ContainsScorer

    with pytest.raises(ConfigError, match="metadata is a mapping"):
        run_evaluation([Example(input="x")], [ContainsScorer("h")], function=pytest.fail, metadata=metadata)


def test_a_report_is_json_safe_whatever_its_metadata_and_scores_hold():
    import datetime
    import json

    from agenttrace import Example, run_evaluation, scorer

    @scorer
    def dated(example):
        return Score.of("dated", 1.0, 0.5, details={"day": datetime.date(2026, 1, 2), "all": {1}})

    metadata = {"day": datetime.date(2026, 1, 2), "none": float("nan")}
    report = run_evaluation([Example(input="x")], [dated], function=lambda x: "hi", metadata=metadata)
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["metadata"]["day"] == "2026-01-02"
    assert data["results"][0]["scores"][0]["details"]["day"] == "2026-01-02"
