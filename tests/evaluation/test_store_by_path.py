"""`store=` of an evaluation takes what a tracer takes: a path, or a store."""

import pytest

from agenttrace import Example, run_evaluation
from agenttrace.core.errors import ConfigError
from agenttrace.scorers import ExactMatchScorer
from agenttrace.store import open_store

EXAMPLE = Example(input="a", expected_output="done")


def test_a_path_names_the_store_of_the_results(tmp_path):
    for path in (str(tmp_path / "ci.db"), tmp_path / "ci.db"):
        run_evaluation([EXAMPLE], [ExactMatchScorer()], function=lambda text: "done", store=path)
    store = open_store(tmp_path / "ci.db")
    assert len(list(store.runs())) == 2


def test_what_is_no_store_is_refused_before_the_first_run():
    calls = []
    with pytest.raises(ConfigError, match="store is a path, 'memory' or a Store, got 5"):
        run_evaluation([EXAMPLE], [ExactMatchScorer()], function=calls.append, store=5)
    assert calls == []
