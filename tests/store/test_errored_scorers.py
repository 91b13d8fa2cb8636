"""Traces in which a scorer errored are found, whatever the others said."""

import pytest

from agenttrace import Tracer
from agenttrace.core.query_parsing import parse
from agenttrace.scorers import ContainsScorer
from agenttrace.store.searched import reads_of


class Broken:
    name, threshold = "Broken", 0.5

    def score(self, example, trace):
        raise RuntimeError("no answer")


@pytest.mark.parametrize("where", ["memory", "traces.db"])
def test_errored_finds_traces_in_which_a_scorer_errored_beside_one_that_failed(tmp_path, where):
    tracer = Tracer("shop", store=where if where == "memory" else str(tmp_path / where))

    @tracer.observe(span_type="agent")
    def agent(scorers):
        tracer.async_evaluate(scorers, actual_output="x")

    agent([ContainsScorer("zzz"), Broken()])
    agent([ContainsScorer("x")])
    assert tracer.wait_for_evaluations(timeout=30)
    assert tracer.flush(timeout=30)
    reads = reads_of(tracer.store)

    def number(query):
        return reads.count_matches(parse(query)).number

    assert number("errored:Broken") == number("errored:*") == number("errored:Broken verdict:failed") == 1
    assert number("errored:Contains") == number("verdict:errored") == 0
    assert number("-errored:*") == 1
    tracer.shutdown()
