"""Run the comparison: one example or many."""

import importlib

# Type checkers take it as true. Online evaluation, asked for on the agent's own thread, must not load what
# only whole runs need.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from agenttrace.evaluation.assertion import assert_test
    from agenttrace.evaluation.offline import run_evaluation
    from agenttrace.evaluation.requirement import Requirement

_HOME_OF = {"assert_test": "assertion", "run_evaluation": "offline", "Requirement": "requirement"}

__all__ = ["Requirement", "assert_test", "run_evaluation"]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
