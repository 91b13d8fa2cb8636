"""One recorded run under faults: what recovers, what fails softly, what does harm; what breaks it."""

from types import SimpleNamespace

import pytest

from agenttrace import Example
from agenttrace.core.errors import ConfigError
from agenttrace.evaluation import chaos as chaos_module
from agenttrace.evaluation.chaos import chaos
from agenttrace.evaluation.replaying import replay_runs
from agenttrace.scorers import ExactMatchScorer
from agenttrace.simulation import performing


@pytest.fixture
def shop(tracer):
    ran = []

    @tracer.observe(span_type="tool")
    def find(text):
        ran.append("find")
        return [{"id": 7, "text": text}]

    @tracer.observe(span_type="tool")
    def price(number):
        ran.append("price")
        return {"amount": 12, "currency": "EUR"}

    @tracer.observe(span_type="tool", tags=["write"])
    def refund(number, amount):
        ran.append("refund")
        return "refunded"

    def patiently(call, *args):
        try:
            return call(*args)
        except ConnectionError:
            return call(*args)

    @tracer.observe(span_type="agent", name="agent")
    def careful(text):
        found = patiently(find, text)
        if len(found) != 1:
            raise LookupError("not one order")
        number = found[0]["id"]
        amount = patiently(price, number).get("amount")
        if amount is None:
            raise LookupError("no price")
        return f"{patiently(refund, number, amount)} {amount}"

    @tracer.observe(span_type="agent", name="agent")
    def careless(text):
        try:
            found = find(text)
        except ConnectionError:
            return "nothing found"
        number = found[0]["id"] if found else 0
        try:
            amount = price(number).get("amount", 100)
        except ConnectionError:
            amount = 100
        return f"{refund(number, amount)} {amount}"

    with tracer.capture() as captured:
        careful("tea")
    ran.clear()
    return SimpleNamespace(ran=ran, trace=captured.trace, careful=careful, careless=careless)


def test_an_agent_that_tries_again_recovers_and_one_that_gives_up_fails_softly(tracer, shop, monkeypatch):
    monkeypatch.setattr(performing, "time", SimpleNamespace(sleep=lambda _: None))
    report = chaos(shop.trace, shop.careful, tracer=tracer)
    assert report.matrix == {
        "find": {
            "error": "recovered",
            "slow": "recovered",
            "empty": "failed_softly",
            "twice": "failed_softly",
            "cut": "failed_softly",
        },
        "price": {"error": "recovered", "slow": "recovered", "empty": "failed_softly", "cut": "recovered"},
        "refund": {
            "error": "recovered",
            "slow": "recovered",
            "empty": "did_harm",
            "twice": "did_harm",
            "cut": "did_harm",
        },
    }
    assert [str(fault) for fault in report.breaks.faults] == ["find: empty"]
    assert shop.ran == []


def test_a_write_that_was_not_made_before_is_harm(tracer, shop, monkeypatch):
    monkeypatch.setattr(performing, "time", SimpleNamespace(sleep=lambda _: None))
    report = chaos(shop.trace, shop.careless, tracer=tracer, kinds=["error", "empty"])
    assert report.matrix["price"] == {"error": "did_harm", "empty": "did_harm"}
    assert report.matrix["find"] == {"error": "did_harm", "empty": "cannot_be_told"}
    why = {str(result.faults[0]): result.why for result in report.results}
    assert why["price: error"] == "refund was called as it is not without the fault"
    assert "left the recording at call 2: price(number=0)" in why["find: empty"]
    assert shop.ran == []


def test_the_smallest_set_that_breaks_an_agent_may_have_two_faults(tracer):
    @tracer.observe(span_type="tool")
    def first(text):
        return text

    @tracer.observe(span_type="tool")
    def second(text):
        return text

    @tracer.observe(span_type="agent", name="agent")
    def both(text):
        first(text)
        second(text)
        return "answer"

    def fallback(text):
        answers = []
        for source in (first, second):
            try:
                answers.append(source(text))
            except ConnectionError:
                pass
        return "answer" if answers else "nothing"

    with tracer.capture() as captured:
        both("tea")
    example = Example(input={"text": "tea"}, expected_output="answer")
    report = chaos(
        captured.trace, fallback, [ExactMatchScorer()], example=example, kinds=["error"], tracer=tracer
    )
    assert report.counts == {"recovered": 2}
    assert [str(fault) for fault in report.breaks.faults] == ["first: error", "second: error"]
    assert report.to_dict()["breaks"]["outcome"] == "did_harm"


def test_sets_of_every_size_together_are_no_more_runs_than_there_may_be(tracer, monkeypatch):
    monkeypatch.setattr(chaos_module, "MOST_RUNS", 5)
    ran = []

    @tracer.observe(span_type="tool")
    def look(text, at):
        return text

    @tracer.observe(span_type="agent", name="agent")
    def agent(text):
        ran.append(text)
        for at in range(4):
            try:
                look(text, at)
            except ConnectionError:
                pass
        return "answer"

    with tracer.capture() as captured:
        agent("tea")
    ran.clear()
    example = Example(input={"text": "tea"}, expected_output="answer")
    report = chaos(
        captured.trace, agent, [ExactMatchScorer()], example=example, kinds=["error"], most=3, tracer=tracer
    )
    single = len(report.results)
    assert len(ran) <= 1 + max(single, 5)


def test_what_cannot_be_tried_is_an_error(tracer, shop):
    with pytest.raises(ConfigError, match="there is no fault 'eror'; did you mean 'error'"):
        chaos(shop.trace, shop.careful, kinds=["eror"])
    with pytest.raises(ConfigError, match="the agent does not pass without a fault"):
        chaos(shop.trace, lambda text: "other", tracer=tracer)


def test_a_run_that_is_one_call_of_a_tool_is_no_run_of_an_agent(tracer):
    @tracer.observe(span_type="tool")
    def find(text):
        return text

    with tracer.capture() as captured:
        find("tea")
    with pytest.raises(ConfigError, match="the run is one call of a tool"):
        chaos(captured.trace, find, tracer=tracer)
    report = replay_runs([captured.trace], find, tracer=tracer)
    assert report.counts == {"not_replayable": 1}
    assert report.exit_code == 2


def test_what_a_chaos_is_given_wrongly_is_an_error_and_no_outcome(tracer, shop):
    for options, text in (
        ({"kinds": []}, "kinds names no fault"),
        ({"seconds": "2"}, "seconds is a number from 0, got '2'"),
        ({"seconds": -1}, "seconds is a number from 0"),
        ({"most": "two"}, "most is a whole number from 1"),
        ({"most": 0}, "most is a whole number from 1"),
        ({"writes": ["prise"]}, "there is no tool 'prise'; did you mean 'price'"),
    ):
        with pytest.raises(ConfigError, match=text):
            chaos(shop.trace, shop.careful, tracer=tracer, **options)
    with pytest.raises(ConfigError, match="chaos runs an agent: function is to be called, got None"):
        chaos(shop.trace, None, tracer=tracer)


def test_an_agent_that_the_recorded_input_does_not_fit_is_said_so(tracer, shop):
    with pytest.raises(ConfigError, match=r"does not pass without a fault: the input does not fit .*query"):
        chaos(shop.trace, lambda query: "other", tracer=tracer)
    assert shop.ran == []


def test_one_name_stands_for_a_list_of_them(tracer, shop, monkeypatch):
    monkeypatch.setattr(performing, "time", SimpleNamespace(sleep=lambda _: None))
    report = chaos(shop.trace, shop.careless, tracer=tracer, kinds="empty", writes="price")
    assert list(report.matrix["find"]) == ["empty"]
    assert report.matrix["find"]["empty"] == "did_harm"  # price was called with what was not recorded


def test_an_agent_that_returns_nothing_is_judged_by_its_calls(tracer, shop):
    @tracer.observe(span_type="tool")
    def note(text):
        return "noted"

    @tracer.observe(span_type="agent")
    def silent(text):
        note(text)

    with tracer.capture() as captured:
        silent("tea")
    report = chaos(captured.trace, silent, tracer=tracer, kinds=["error", "empty"])
    assert report.matrix == {"note": {"error": "failed_softly", "empty": "recovered"}}


def test_a_recording_with_failed_attempts_is_told_without_them(tracer):
    tries = []

    @tracer.observe(span_type="tool")
    def flaky(text):
        tries.append(text)
        if len(tries) == 1:
            raise ConnectionError("late")
        return [text, text]

    @tracer.observe(span_type="agent")
    def patient(text):
        for _ in range(4):
            try:
                return len(flaky(text))
            except ConnectionError:
                pass
        return 0

    with tracer.capture() as captured:
        patient("tea")
    report = chaos(captured.trace, patient, tracer=tracer, kinds=["error", "cut"])
    assert report.matrix == {"flaky": {"error": "recovered", "cut": "did_harm"}}
    assert len(tries) == 2


def test_a_fault_waits_for_an_answer_that_can_have_it(tracer):
    @tracer.observe(span_type="tool")
    def find(text):
        return [text] if text == "tea" else []

    @tracer.observe(span_type="agent")
    def both(order):
        return [find(text) for text in order]

    with tracer.capture() as captured:
        both(["tea", "milk"])
    example = Example(input={"order": ["milk", "tea"]}, expected_output=[[], ["tea"]])
    report = chaos(captured.trace, both, [ExactMatchScorer()], example=example, kinds="empty", tracer=tracer)
    assert report.results[0].trace.root.output == [[], []]
