"""Every row on which we differ on purpose: which, what is ours, why.

The rows on which peers are wrong (`dup_*`, `greedy_*`, `sort_trap*`, `par_greedy_trap`) are compared under
our own defaults beside the adapters; UiPath's rows are given to the scorers and evaluators that we offer. A
row that differs and does not stand here fails the tests, and so does an entry that no row needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

RAISES = "raises"


@dataclass(frozen=True)
class Difference:
    """Rows with one of the labels (or the ends of their `source`) whose config holds `config`."""

    labels: Sequence[str]
    ours: Any
    theirs: Any
    reason: str
    metric: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)

    def covers(self, row):
        name = row.get("label") or row["source"]
        return (
            (not self.metric or self.metric == row.get("metric", row.get("evaluator")))
            and any(name == label or name.endswith(f"{end}{label}") for label in self.labels for end in "#:")
            and all(row["config"].get(key) == value for key, value in self.config.items())
            and row["score"] == self.theirs
        )


ONE_TO_ONE = "each call serves one expected call: one call is not two"
OPTIMAL = "the pairing is optimal: the first call that fits may be needed elsewhere"
COUNTED = "calls are counted as often as they were made"

PEERS = {
    "agentevals": [
        Difference(["greedy_super"], True, False, OPTIMAL),
        Difference(["greedy_super2"], True, False, OPTIMAL),
    ],
    "deepeval": [
        Difference(["dup_equal", "dup_equal_noargs"], 1.0, 0.5, "two equal calls are two, also in value"),
        Difference(["greedy_super2", "greedy_best"], 0.75, 0.5, OPTIMAL),
    ],
    "ragas": [
        Difference(["dup_missing_actual", "dup_extra_actual"], 0.6667, 1.0, COUNTED, "tool_call_f1"),
        Difference(["greedy_super2"], 1.0, 0.75, "calls are paired by how they agree, not by sorting them"),
    ],
    "strands": [
        Difference(
            [
                "dup_equal", "dup_equal_noargs", "dup_diff_args", "greedy_super", "greedy_super2",
                "greedy_best", "greedy_swap", "sort_trap", "sort_trap2",
            ],
            1.0, 0.5, COUNTED, "any_order_match_scorer",
        ),
    ],
    "bfcl": [Difference(["par_greedy_trap"], True, False, OPTIMAL)],
    "promptfoo": [
        Difference(["dup_missing_actual"], 0, 1, ONE_TO_ONE, "trajectory:tool-used"),
        Difference(["dup_missing_actual", "dup_extra_actual"], 2 / 3, 1, COUNTED, "tool-call-f1"),
    ],
    "tau2": [Difference(["dup_missing_actual"], 0.0, 1.0, ONE_TO_ONE)],
}  # fmt: skip
"""By peer; only rows with the labels on which peers are wrong."""

EMPTY = "an empty criterion compares nothing: an error, as UiPath's own pages say"
EXACT = "exact arguments are exact: without `subset`, no others may be there; {} is called without arguments"
TYPED = "values are compared as JSON: true is not 1"
DEEP = "listed arguments are compared at any depth"
NO_CALLS = "a tool that was never called counts 0, also on a run without calls"

UIPATH = [
    Difference(["empty_empty"], RAISES, 1.0, EMPTY, "tool_call_order"),
    Difference(["empty_expected"], RAISES, 0.0, EMPTY, "tool_call_order"),
    Difference(["empty_empty"], RAISES, 1.0, EMPTY, "tool_call_count"),
    Difference(["empty_expected"], RAISES, 0.0, EMPTY, "tool_call_count"),
    Difference(["empty_actual"], 1.0, 0.0, NO_CALLS, "tool_call_count", {"comparator": "<="}),
    Difference(["arg_extra_key", "args_vs_empty"], 0.0, 1.0, EXACT, "tool_call_args", {"subset": False}),
    Difference(["null_vs_missing"], 0.0, 1.0, EXACT, "tool_call_args", {"subset": False}),
    Difference(["bool_vs_int"], 0.0, 1.0, TYPED, "tool_call_args"),
    Difference(["nested_extra"], 1.0, 0.0, DEEP, "tool_call_args", {"subset": True}),
    Difference(["greedy_super"], 1.0, 0.5, OPTIMAL, "tool_call_args", {"strict": False}),
    Difference(["greedy_super"], 1.0, 0.0, OPTIMAL, "tool_call_args", {"strict": True}),
    Difference(["greedy_super2"], 1.0, 0.5, OPTIMAL, "tool_call_args", {"strict": False, "subset": True}),
]
"""UiPath's rows among the peers', given to our scorers."""

MISREAD = "a key or a type that cannot be understood is an error, not a guess"
STRUCTURED = "outputs are values: structured ones, and their text, compare as what they hold"
BY_NAME = "calls are matched by their names; ids are not compared"

EVALUATORS = [
    Difference(
        ["test_empty_both_lists", "order-both-empty-strict=False", "order-both-empty-strict=True"],
        RAISES, 1.0, EMPTY, "tool-call-order",
    ),
    Difference(
        ["test_empty_expected_list", "order-empty-expected-strict=False", "order-empty-expected-strict=True"],
        RAISES, 0.0, EMPTY, "tool-call-order",
    ),
    Difference(["test_empty_both_dicts", "count-both-empty"], RAISES, 1.0, EMPTY, "tool-call-count"),
    Difference(["test_empty_expected_dict", "count-empty-expected"], RAISES, 0.0, EMPTY, "tool-call-count"),
    Difference(
        [f"count-no-calls-{count}" for count in ("=0", "<=3", "<1", ">=0", "!=1")],
        1.0, 0.0, NO_CALLS, "tool-call-count",
    ),
    Difference(["order-criteria-typo-extra", "order-config-typo"], RAISES, 1.0, MISREAD, "tool-call-order"),
    Difference(["order-config-coerced"], RAISES, 0.0, MISREAD, "tool-call-order"),
    Difference(
        ["count-bad-operator", "count-bad-operator-empty-actual", "count-negative"],
        RAISES, 0.0, MISREAD, "tool-call-count",
    ),
    Difference(
        ["count-negative-ge", "count-coerce-str", "count-coerce-float"],
        RAISES, 1.0, MISREAD, "tool-call-count",
    ),
    Difference(
        ["test_args_score_matches_by_id_when_names_differ"], RAISES, 1.0, BY_NAME, "tool-call-args"
    ),
    Difference(["test_output_score_matches_by_id"], RAISES, 1.0, BY_NAME, "tool-call-output"),
    Difference(
        [
            "args-extra-actual-arg-subset=False-strict=False",
            "args-extra-actual-arg-subset=False-strict=True",
            "args-empty-expected-args",
        ],
        0.0, 1.0, EXACT, "tool-call-args",
    ),
    Difference(["args-bool-int"], 0.0, 1.0, TYPED, "tool-call-args"),
    Difference(["args-nested-extra-key"], 1.0, 0.0, DEEP, "tool-call-args", {"subset": True}),
    Difference(["args-greedy-not-optimal"], 1.0, 0.5, OPTIMAL, "tool-call-args"),
    Difference(
        ["Strict Mode - Exact Output Matching", "Multiple Tool Outputs", "Complex Nested Outputs"],
        1.0, None, STRUCTURED, "tool-call-output",
    ),
    Difference(["output-dict-expected"], 0.0, None, STRUCTURED, "tool-call-output"),
    Difference(
        [
            "output-extract-json-string", "output-extract-dict-no-content",
            "output-extract-content-dict-json", "output-extract-content-zero",
            "output-extract-content-false", "output-json-key-order",
        ],
        1.0, 0.0, STRUCTURED, "tool-call-output",
    ),
    Difference(
        ["output-extract-dict-no-content-empty", "output-extract-missing"],
        0.0, 1.0, "what was recorded is the output, not an empty text", "tool-call-output",
    ),
    Difference(
        ["output-strict-second-call-matches", "output-strict-swapped"],
        1.0, 0.0, "strict wants all outputs matched, by whichever calls", "tool-call-output",
    ),
]  # fmt: skip
"""UiPath's rows given to our evaluators in UiPath's shape."""

LCS = {
    "strict": "the longest common subsequence is told in strict mode too",
    "ids": BY_NAME,
}
"""Why `details.lcs` differs where the score does not."""


def _calls(row):
    return [*row["actual"], *row["expected"]]


def _values(row):
    return [value for call in _calls(row) for value in (call["args"] or {}).values()]


def _repeats(row):
    names = [[call["name"] for call in row[side]] for side in ("actual", "expected")]
    return any(len(set(side)) < len(side) for side in names)


def _other_names(row):
    actual, expected = ([call["name"] for call in row[side]] for side in ("actual", "expected"))
    return sorted(actual) != sorted(expected) or (row["config"].get("strict_order") and actual != expected)


def _empty_arguments(row):
    return any(call["args"] == {} for call in row["expected"])


_NOTHING_EXPECTED = (
    "Nothing expected, something called, is 0.0", lambda row: bool(row["actual"]) and not row["expected"]
)  # fmt: skip
_TYPED = ("`True` is not `1`", lambda row: any(isinstance(value, bool) for value in _values(row)))
_DEEP = (
    "Listed arguments are compared at any depth",
    lambda row: any(isinstance(value, dict | list) for value in _values(row)),
)
_ACCURACY, _F1 = "tool_call_accuracy", "tool_call_f1"

PUBLIC = {
    "agentevals": [
        _NOTHING_EXPECTED,
        _TYPED,
        _DEEP,
        (
            "calls of one message are compared in the order",
            lambda row: any("step" in one for one in _calls(row)),
        ),
        ("which greedy pairing denies", _repeats),
    ],
    "adk": [_NOTHING_EXPECTED, _TYPED],
    "deepeval": [
        _TYPED,
        ("because it collapses them; its pairing is greedy", _repeats),
        ("`type` is not compared", lambda row: any("type" in call for call in _calls(row))),
        ("breaks on a call without arguments", lambda row: any("args_none" in call for call in _calls(row))),
    ],
    "ragas": [
        _TYPED,
        _DEEP,
        ("makes Ragas' accuracy 0.0", lambda row: row["metric"] == _ACCURACY and _other_names(row)),
        ("expected as `{}`", lambda row: row["metric"] == _ACCURACY and _empty_arguments(row)),
        ("as values and not as text", lambda row: any(not isinstance(value, str) for value in _values(row))),
        ("partly agreeing arguments count in part", lambda row: row["metric"] == _F1),
        ("F1 counts duplicates", lambda row: row["metric"] == _F1 and _repeats(row)),
        ("nothing against nothing is 1.0", lambda row: row["metric"] == _F1 and not _calls(row)),
        ("Pairing is optimal", _repeats),
    ],
    "pydantic_evals": [
        _NOTHING_EXPECTED,
        _TYPED,
        _DEEP,
        ("looks at the first call of the tool, or at the last one", _repeats),
    ],
}
"""By peer: what docs/coming-from.md says where its scorers differ, and the rows that this explains."""
