"""The scorers that docs/coming-from.md puts in the place of a peer's metric, by the row."""

from agenttrace.core.example import Example
from agenttrace.expectations import call
from agenttrace.scorers import ToolCallArgsScorer, ToolOrderScorer, TrajectoryScorer

NAMES = {"parameters": "ignore"}


def scorer_of(row):
    """The scorer, or None where the page names none for this row."""
    config = row["config"]
    if "actual_turns" in row or "roles_actual" in config or "tool_args_match_overrides" in config:
        return None
    return MAPPINGS[row["peer"]](row, config)


def value_of(row):
    """The scorer's value; None where the page names none."""
    scorer = scorer_of(row)
    if scorer is None:
        return None
    calls = [{"name": one["name"], "arguments": one["args"]} for one in row["actual"]]
    expected = [call(one["name"], one["args"]) for one in row["expected"]]
    return scorer.score(Example(expected_tools=expected, tools_called=calls)).value


def _agentevals(row, config):
    modes = {"strict": "exact", "unordered": "any_order", "superset": "contains", "subset": "only"}
    mode, arguments = config["trajectory_match_mode"], config["tool_args_match_mode"]
    if arguments == "subset" or (arguments == "superset" and mode != "superset"):
        return None
    parameters = {"superset": "listed"}.get(arguments, arguments)
    return TrajectoryScorer(metric="holds", mode=modes[mode], parameters=parameters)


def _adk(row, config):
    parameters = "ignore" if config["ignore_args"] else "exact"
    if config["match_type"] == "ANY_ORDER":
        return TrajectoryScorer(metric="holds", mode="contains", parameters=parameters)
    return ToolOrderScorer(exact_match=config["match_type"] == "EXACT", parameters=parameters)


def _deepeval(row, config):
    if config.get("strict_mode") or any("output" in word for word in config["evaluation_params"]):
        return None
    parameters = "exact" if config["evaluation_params"] else "ignore"
    if config["should_exact_match"]:
        return ToolOrderScorer(exact_match=True, parameters=parameters)
    mode = "in_order" if config["should_consider_ordering"] else "contains"
    return TrajectoryScorer(mode=mode, parameters=parameters)


def _ragas(row, config):
    if row["metric"] == "tool_call_f1":
        return TrajectoryScorer(metric="f1", mode="any_order")
    return TrajectoryScorer(mode="in_order" if config["strict_order"] else "contains", parameters="listed")


def _pydantic_evals(row, config):
    if row["metric"] == "ToolCorrectness":
        mode = "contains" if config["allow_extra"] else "any_order"
        return TrajectoryScorer(metric="holds", mode=mode, **NAMES)
    if row["metric"] == "ArgumentCorrectness":
        return ToolCallArgsScorer(mode="listed" if config["match_mode"] == "subset" else "exact")
    if config["order"] == "exact":
        return ToolOrderScorer(exact_match=True, **NAMES)
    return TrajectoryScorer(metric="f1", mode=config["order"], **NAMES)


MAPPINGS = {
    "agentevals": _agentevals,
    "adk": _adk,
    "deepeval": _deepeval,
    "ragas": _ragas,
    "pydantic_evals": _pydantic_evals,
}
