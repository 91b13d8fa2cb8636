"""`ComparingScorer`: the base of scorers that compare a run with an expectation of any kind.

With a judge (``ask=``) a scorer returns an awaitable, without one the score itself. The type says which:
``ToolOrderScorer()`` is a ``ToolOrderScorer[Score]``, and so is one that is written without brackets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import TYPE_CHECKING, ClassVar, Generic, cast

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.tool_call import ArgumentMode
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Expectation, Mode, check_options
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.reading import in_both_readings
from agenttrace.matching.answers import Answers, Ask, judged
from agenttrace.matching.comparators import checked_comparators
from agenttrace.matching.compare import compare
from agenttrace.matching.compared import Comparators
from agenttrace.matching.comparison import Comparison
from agenttrace.matching.selection import actual_calls, check_scored
from agenttrace.matching.weights import Credit
from agenttrace.scorers.call_scorer import CallOptions, CallScorer

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ScoreOrAwaitable = TypeVar("ScoreOrAwaitable", bound=Score | Awaitable[Score], default=Score)
else:
    from typing import TypeVar

    ScoreOrAwaitable = TypeVar("ScoreOrAwaitable")  # Python has defaults from 3.13 on


class ComparingScorer(CallScorer, ABC, Generic[ScoreOrAwaitable]):
    """Compares a run with the example's expected_tools, or with an expectation of its own.

    `credit` says whether numbers count agreement or calls that agree fully; `needs` ends the error's text
    where nothing is expected.
    """

    credit: ClassVar[Credit] = "partial"
    needs: ClassVar[str]
    expected: Expectation | None = None

    def __init__(
        self,
        name: str,
        threshold: float,
        options: CallOptions,
        *,
        mode: Mode,
        parameters: ArgumentMode,
        comparators: Comparators | None,
        ask: Ask | None,
    ) -> None:
        super().__init__(name, threshold, options)
        check_options(mode, parameters)
        self.mode: Mode = mode
        self.parameters: ArgumentMode = parameters
        self.comparators = checked_comparators(comparators, name)
        self.ask = ask

    def check(self, example: Example) -> None:
        """Raise ScorerError or ExpectationError where nothing readable says what is expected."""
        self._expectation(example)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> ScoreOrAwaitable:
        """Compare the run; returns an awaitable where a judge (`ask`) decides `semantic`.

        Raises:
            ScorerError: nothing says what is expected, or what was called.
            ExpectationError: the expectation cannot be understood, or names an unknown tool or parameter.
        """
        check_scored(example, trace)
        expectation = self._expectation(example)
        actual = actual_calls(example, trace)

        def compared(answers: Answers | None) -> Comparison:
            return compare(
                expectation,
                actual,
                mode=self.mode,
                match=self.parameters,
                credit=self.credit,
                selection=self.selection,
                comparators=self.comparators,
                answers=answers,
            )

        async def judged_score(ask: Ask) -> Score:
            return self._score(await judged(compared, ask))

        score = self._score(compared(None)) if self.ask is None else judged_score(self.ask)
        return cast(ScoreOrAwaitable, score)

    def _expectation(self, example: Example) -> Expectation:
        if self.expected is not None:
            return self.expected
        if example.expected_tools is None:
            raise ScorerError(f"{self.name} needs {self.needs}")
        return parse_expectation(example.expected_tools, example.source)

    @abstractmethod
    def _score(self, comparison: Comparison) -> Score:
        """The score of the comparison."""
