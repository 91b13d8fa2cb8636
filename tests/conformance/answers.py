"""Answers of public benchmarks as expectations, with runs that fulfil them and runs that do not."""

import copy
import gzip
import json
import re
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
WRONG = "≠ not an allowed value"
REF = re.compile(r"\$(var\d+)\.([^$]+)\$")


def tasks(name):
    """The records of a file of tasks; skips, visibly, where the data is not there."""
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("the real data is not beside the project")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def literal(value):
    """A value as an expectation's data holds it: a key that begins with $ is escaped."""
    if isinstance(value, dict):
        return {f"${key}" if key.startswith("$") else key: literal(item) for key, item in value.items()}
    return [literal(item) for item in value] if isinstance(value, list) else value


def allowed(values):
    """BFCL's list of allowed values: ``""`` among them lets the parameter be left out."""
    options = [_option(value) for value in values if value != ""]
    if "" not in values:
        return {"$in": options}
    if len(options) == 1:
        return {"$default": options[0]}
    return {"$in": [*options, {"$absent": True}]}


def _option(value):
    """An allowed value; mappings in it hold lists of allowed values again."""
    if isinstance(value, dict):
        return {key: allowed(values) for key, values in value.items()}
    return [_option(item) for item in value] if isinstance(value, list) else value


def answer(values, *, brief):
    """The first allowed value, or None for leaving it out, as `brief` does wherever that is allowed."""
    if "" in values and (brief or len(values) == 1):
        return None
    return _concrete(next(value for value in values if value != ""), brief=brief)


def _concrete(value, *, brief):
    if isinstance(value, dict):
        return arguments(value, brief=brief)
    return [_concrete(item, brief=brief) for item in value] if isinstance(value, list) else value


def arguments(args_any, *, brief=False):
    """Arguments that BFCL's answer allows."""
    chosen = {key: answer(values, brief=brief) for key, values in args_any.items()}
    return {key: value for key, value in chosen.items() if value is not None}


def bfcl_expectation(task):
    """The calls of an answer, in any order, with nothing else."""
    calls = [
        {"tool_name": call["name"], "parameters": {k: allowed(v) for k, v in call["args_any"].items()}}
        for call in task["expected"]
    ]
    return {"path": [{"par": calls}], "mode": "any_order"}


def nestful_expectation(task):
    """The calls of an answer in order; a value that stands for an earlier result is a `$ref`."""
    return [
        {"tool_name": call["name"], "parameters": _referring(call["args"]), "as": call["label"]}
        for call in task["expected"]
    ]


def _referring(value):
    if isinstance(value, dict):
        return {key: _referring(item) for key, item in literal(value).items()}
    if isinstance(value, list):
        return [_referring(item) for item in value]
    if not isinstance(value, str) or not REF.search(value):
        return value
    whole = REF.fullmatch(value)
    if whole:
        return {"$ref": f"{whole[1]}.output.{whole[2]}"}
    # A reference inside a text: what stands around it is compared.
    return {"$re": "^" + ".+".join(re.escape(part) for part in REF.split(value)[::3]) + "$"}


def nestful_run(task):
    """A run that fulfils the answer: outputs are made up, references resolved."""
    outputs = {call["label"]: {} for call in task["expected"]}
    for call in task["expected"]:
        for label, path in _references(call["args"]):
            _put(outputs[label], path, f"{label} {path} of this run")
    return [
        {"name": c["name"], "args": _resolved(c["args"], outputs), "output": outputs[c["label"]]}
        for c in task["expected"]
    ]


def _references(value):
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _references(item)
    elif isinstance(value, str):
        yield from REF.findall(value)


def _steps(path):
    return [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]


def _put(output, path, value):
    """Put a value at a path like ``author[0].id``; what stands there already stays."""
    *above, last = _steps(path)
    for step, following in zip(above, [*above, last][1:], strict=True):
        if isinstance(step, int):
            while len(output) <= step:
                output.append([] if isinstance(following, int) else {})
        elif not isinstance(output.get(step), dict | list):
            output[step] = [] if isinstance(following, int) else {}
        output = output[step]
    if isinstance(last, int):
        output.extend([None] * (last + 1 - len(output)))
        output[last] = value
    elif not isinstance(output.get(last), dict | list):
        output[last] = value


def _resolved(value, outputs):
    if isinstance(value, dict):
        return {key: _resolved(item, outputs) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, outputs) for item in value]
    if not isinstance(value, str):
        return value
    whole = REF.fullmatch(value)
    if whole:
        return _at(outputs[whole[1]], whole[2])
    return REF.sub(lambda found: str(_at(outputs[found[1]], found[2])), value)


def _at(output, path):
    for step in _steps(path):
        output = output[step]
    return output


def mutations(calls, required):
    """(kind, the same run with one thing wrong): a wrong value, a required parameter missing, one too many.

    `required` are the names of the required parameters of each call.
    """
    for number, call in enumerate(calls):
        for key in call["args"]:
            yield "wrong value", _changed(calls, number, {**call["args"], key: WRONG})
        for key in required[number]:
            yield "missing", _changed(calls, number, {k: v for k, v in call["args"].items() if k != key})
        yield "extra", _changed(calls, number, {**call["args"], "a parameter too many": 1})
    yield "missing call", calls[:-1]


def _changed(calls, number, args):
    changed = copy.copy(calls)
    changed[number] = {**calls[number], "args": args}
    return changed
