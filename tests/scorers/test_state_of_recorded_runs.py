"""The verdicts of tau-bench and tau2-bench on end states, reproduced from what their runs recorded.

A run is *not judged* where the benchmark says nothing of its end state: it was broken off, or its reward was
decided by the required answers. The telecom runs hold no state: what a phone is set to is never read whole.
"""

import gzip
import json
from collections import Counter
from copy import deepcopy
from pathlib import Path

import pytest
from benchmark_tools import AIRLINE, RETAIL, database, succeeded

from agenttrace import Example, StateScorer, Tracer

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
NEVER_READ = "a row was never read"


def rows_of(db, run, tables):
    """The rows that a run and its task may touch: those that they name, and the users that these name."""
    text = json.dumps([run["input"], run["actual"], run["expected"]])
    touched = {table: {name: row for name, row in db[table].items() if name in text} for table in tables}
    for table in tables[1:]:
        for row in touched[table].values():
            user = row["user_id"]
            touched["users"][user] = db["users"][user]
    return deepcopy(touched)


def verdict(tracer, db, run, tools, keeps_cabin):
    """Whether the run left behind what the expected calls would have; None where a row was never read."""
    fixed = {"flights": db["flights"], "variants": db["variants"], "keeps cabin": keeps_cabin}
    tables = ["users", "reservations"] if tools is AIRLINE else ["users", "orders"]
    expected = [call for call in run["expected"] if call["name"] in tools]
    try:
        state = rows_of(db, run, tables)
        with tracer.capture() as captured, tracer.span("agent"):
            tracer.state("db", state)
            for call in run["actual"]:
                if call["name"] in tools and succeeded(call):
                    tools[call["name"]]({**fixed, **state}, **deepcopy(call["args"]))
    except KeyError:
        return None
    replay = {
        name: lambda state, /, _tool=tool, **arguments: _tool({**fixed, **state}, **arguments)
        for name, tool in tools.items()
    }
    calls = [{"tool_name": call["name"], "parameters": call["args"]} for call in expected]
    example = Example(expected_state={"db": {"state_from": calls}})
    try:
        score = StateScorer(replay=replay).score(example, captured.trace)
    except Exception as error:
        if "KeyError" in str(error):
            return None
        raise
    assert score.outcome in ("passed", "failed"), score.reason
    return score.outcome == "passed"


def recorded(run):
    """What the benchmark itself said of the end state; None where it did not say."""
    detail = run["meta"].get("reward_detail")
    said = run["meta"].get("db_match") if detail is None else detail.get("r_actions")
    return None if said is None else bool(said)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "tools", "keeps_cabin", "figures"),
    [
        ("tau_bench_airline_gpt-4o", AIRLINE, False, {"same": 166, NEVER_READ: 16, "not judged": 18}),
        ("tau_bench_retail_grok-3_faults", RETAIL, False, {"same": 73, NEVER_READ: 5, "not judged": 37}),
        ("tau2_airline_trajectories", AIRLINE, True, {"same": 468, "not judged": 16}),
    ],
)
def test_the_end_state_of_each_recorded_run_is_judged_as_the_benchmark_judged_it(
    file, tools, keeps_cabin, figures
):
    path = DATA / f"{file}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        runs = [json.loads(line) for line in lines]
    tracer, db, counts = Tracer("benchmarks", store="memory"), database(runs), Counter()
    for run in runs:
        ours, theirs = verdict(tracer, db, run, tools, keeps_cabin), recorded(run)
        if theirs is None:
            counts["not judged"] += 1
        elif ours is None:
            counts[NEVER_READ] += 1
        else:
            counts["same" if ours is theirs else "other"] += 1
    tracer.shutdown()
    assert counts == figures
