import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.identity import new_span_key, new_trace_key
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.scorers import BudgetScorer

KEY, ROOT = new_trace_key(), new_span_key()


def span(**fields):
    return Span(trace_key=KEY, span_key=new_span_key(), parent_key=ROOT, **fields)


RUN = Trace(
    [
        Span(trace_key=KEY, span_key=ROOT, name="run", start_ns=0, end_ns=2_500_000_000),
        span(name="llm", span_type="llm", usage={"input_tokens": 1_000, "output_tokens": 234, "cost": 0.01}),
        span(name="llm", span_type="llm", usage={"total_tokens": 1_000_000, "cost": 0.005}),
        span(name="find", span_type="tool"),
        span(name="find", span_type="tool"),
        span(name="pay", span_type="tool"),
    ]
)


def scored(trace=RUN, **limits):
    return BudgetScorer(**limits).score(Example(), trace)


def test_the_score_is_the_share_of_limits_that_were_kept():
    score = scored(calls=2, seconds=3, tokens=2_000_000, cost=0.01)
    assert score.value == 0.5
    assert score.reason == (
        "2 of 4 limits kept: calls 3 of 2, seconds 2.5 of 3, "
        "tokens 1,001,234 of 2,000,000, cost 0.015 of 0.01"
    )
    assert score.details["calls"] == {"spent": 3, "limit": 2, "held": False}


def test_a_budget_used_up_to_the_last_is_kept():
    assert scored(calls=3, seconds=2.5, cost=0.015).value == 1.0


def test_only_chosen_calls_are_counted():
    assert scored(calls=1, tools="pay").value == 1.0


@pytest.mark.parametrize("word", ["seconds", "tokens", "cost"])
def test_a_limit_on_what_the_trace_does_not_tell_is_an_error(word):
    plain = Trace.from_calls(["find"])
    assert scored(plain, calls=1).value == 1.0
    with pytest.raises(ScorerError, match=f"limits {word}, and the trace does not tell"):
        scored(plain, **{word: 1})


@pytest.mark.parametrize(
    "given", [{}, {"calls": -1}, {"tokens": "10"}, {"cost": float("nan")}, {"calls": True}]
)
def test_limits_that_are_none_are_refused(given):
    with pytest.raises(ScorerError, match=r"needs a limit|is a number from 0"):
        BudgetScorer(**given)


def llm(usage=None, **fields):
    return span(name="chat", span_type="llm", usage=usage, **fields)


def run_of(*spans, **fields):
    root = Span(trace_key=KEY, span_key=ROOT, name="run", span_type="agent", end_ns=9, **fields)
    return Trace([root, *spans])


SAYS = {"input_tokens": 60, "output_tokens": 40, "cost": 0.01}
SILENT = llm(attributes={"gen_ai.request.model": "my-model"})
UNPRICED = llm({"input_tokens": 9, "output_tokens": 9}, attributes={"gen_ai.response.model": "my-model"})


@pytest.mark.parametrize(
    ("limits", "spans", "advice"),
    [
        ({"tokens": 100}, [llm(SAYS), SILENT], "include_usage"),
        ({"cost": 0.01}, [llm(SAYS), SILENT], "include_usage"),
        ({"cost": 0.01}, [llm(SAYS), UNPRICED], "set_price"),
    ],
)
def test_calls_to_models_that_do_not_tell_what_they_used_cannot_keep_a_limit(limits, spans, advice):
    (word,) = limits
    text = rf"1 of 2 calls to models report none \(the first is of 'my-model'\): .*{advice}"
    with pytest.raises(ScorerError, match=f"Budget limits {word}, and {text}"):
        scored(run_of(*spans), **limits)


def test_what_the_other_calls_used_is_enough_to_break_a_limit():
    score = scored(run_of(llm(SAYS), SILENT), tokens=99)
    assert (score.value, score.reason) == (0.0, "0 of 1 limits kept: tokens at least 100 of 99")
    assert score.details["tokens"] == {"spent": 100, "limit": 99, "held": False, "untold": 1}
    assert scored(run_of(llm(SAYS), UNPRICED), cost=0.009).value == 0.0


def test_a_call_that_failed_and_says_nothing_is_not_told_either():
    failed = llm(status="error")
    with pytest.raises(ScorerError, match="1 of 2 calls to models"):
        scored(run_of(llm(SAYS), failed), tokens=100)


def test_a_stream_that_was_left_before_its_end_tells_its_tokens_up_to_there():
    left = {"gen_ai.operation.name": "chat"}
    with pytest.raises(ScorerError, match="1 of 1 calls"):
        scored(run_of(llm(SAYS, status="abandoned", attributes=left)), tokens=100)
    ended = {**left, "gen_ai.response.finish_reasons": ["stop"]}
    assert scored(run_of(llm(SAYS, status="error", attributes=ended)), tokens=100).value == 1.0


def test_an_answer_of_which_one_kind_of_tokens_is_told_is_not_told():
    with pytest.raises(ScorerError, match="1 of 1 calls"):
        scored(run_of(llm({"input_tokens": 60})), tokens=100)
    assert scored(run_of(llm({"input_tokens": 160})), tokens=100).value == 0.0
    assert scored(run_of(llm({"total_tokens": 60})), tokens=100).value == 1.0


@pytest.mark.parametrize("usages", [(SAYS, None), (None, SAYS), (SAYS, SAYS)])
def test_of_two_spans_of_one_call_one_is_enough(usages):
    outer, inner = usages
    spans = [llm(outer)]
    between = span(name="node", span_type="chain")
    between.parent_key = spans[0].span_key
    spans += [between, llm(inner)]
    spans[2].parent_key = between.span_key
    assert scored(run_of(*spans), tokens=100, cost=0.01).details["tokens"]["spent"] == 100


def test_a_call_below_a_tool_that_a_model_called_is_another_call():
    spans = [SILENT, span(name="ask_expert", span_type="tool")]
    spans[1].parent_key = SILENT.span_key
    spans.append(llm(SAYS))
    spans[2].parent_key = spans[1].span_key
    with pytest.raises(ScorerError, match="1 of 2 calls"):
        scored(run_of(*spans), tokens=100)


def test_a_total_above_tells_for_calls_that_tell_nothing():
    assert scored(run_of(SILENT, SILENT, usage={"total_tokens": 50}), tokens=100).value == 1.0
    assert scored(run_of(UNPRICED, usage={"cost": 0.5}), cost=0.5, tokens=18).value == 1.0


@pytest.mark.parametrize(
    ("total", "spans"), [({"total_tokens": 0}, [SILENT]), ({"total_tokens": 100}, [llm(SAYS), SILENT])]
)
def test_a_total_that_may_have_been_summed_from_what_is_told_tells_nothing_more(total, spans):
    with pytest.raises(ScorerError, match=r"1 of \d calls to models report none"):
        scored(run_of(*spans, usage=total), tokens=100)


def test_a_run_of_plain_data_tells_nothing_of_what_it_used():
    chat = Trace.from_messages([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}])
    with pytest.raises(ScorerError, match=r"the trace does not tell them$"):
        scored(chat, tokens=100)


def test_amounts_below_nothing_tell_nothing():
    with pytest.raises(ScorerError, match="1 of 2 calls"):
        scored(run_of(llm({"cost": float("nan")}), llm({"cost": 1})), cost=1)


def test_parents_that_form_a_loop_end_the_search():
    first, second = llm(SAYS), llm()
    first.parent_key, second.parent_key = second.span_key, first.span_key
    assert scored(run_of(first, second), cost=0.001).value == 0.0
