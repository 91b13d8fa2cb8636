"""Whether the answer is JSON that fits a schema or a pydantic model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agenttrace.core.errors import MissingDependency, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.score import Score
from agenttrace.core.tagged import opened_throughout
from agenttrace.core.trace import Trace
from agenttrace.scorers.answer_scorer import AnswerScorer
from agenttrace.scorers.schema_patterns import bounded_keywords

if TYPE_CHECKING:
    from pydantic import BaseModel


class JSONCorrectnessScorer(AnswerScorer):
    """1.0 where `actual_output` is JSON that fits `json_schema`, else 0.0.

    `json_schema` is a pydantic model, or a JSON schema as a mapping (needs the extra ``jsonschema``).
    `actual_output` is JSON text, or data already read. Text that is not JSON is 0.0; so is text with NaN or
    Infinity, which JSON does not have. Documents that a schema refers to are not fetched.

    Raises:
        ScorerError: `json_schema` is neither, or not a valid schema.
        MissingDependency: it is a JSON schema, and the extra is not installed.
    """

    def __init__(
        self,
        json_schema: type[BaseModel] | Mapping[str, Any],
        threshold: float = 1.0,
        *,
        name: str = "JSON Correctness",
        gate: bool = True,
    ) -> None:
        super().__init__(name, threshold, gate)
        self.json_schema = json_schema
        self._faults = (
            _faults_by_schema(name, json_schema)
            if isinstance(json_schema, Mapping)
            else _faults_by_model(name, json_schema)
        )

    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Validate the answer.

        Raises:
            ScorerError: there is no answer, the schema refers to something that is not in it, or the search
                for one of its patterns does not end in time.
        """
        answer = self._whole(self._actual(example, trace))
        try:
            data = _read(answer)
        except (ValueError, RecursionError) as error:
            fault = f"not JSON: {error}"
            return self.scored(0.0, fault, {"faults": [fault]})
        if not isinstance(answer, str):
            data = opened_throughout(self._whole(data))
        faults = self._faults(data)
        count = f"{len(faults)} fault{'s' if len(faults) > 1 else ''}"
        reason = f"{count}: {'; '.join(faults[:5])}" if faults else "fits the schema"
        return self.scored(float(not faults), reason, {"faults": faults})

    def _expected(self, example: Example) -> Any:
        return self.json_schema


def _read(answer: Any) -> Any:
    return (
        json.loads(answer, parse_constant=_refuse)
        if isinstance(answer, str)
        else jsonable(answer, limit=None)
    )


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _faults_by_model(scorer: str, model: Any) -> Any:
    from pydantic import BaseModel, ValidationError

    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise ScorerError(f"{scorer}: json_schema is a pydantic model or a JSON schema, got {model!r}")

    def faults(data: Any) -> list[str]:
        try:
            model.model_validate_json(json.dumps(data))
        except ValidationError as error:
            return [f"{'.'.join(map(str, e['loc'])) or 'the value'}: {e['msg']}" for e in error.errors()]
        return []

    return faults


def _faults_by_schema(scorer: str, schema: Mapping[str, Any]) -> Any:
    try:
        import jsonschema
        import jsonschema.validators
        from referencing import Registry
        from referencing.exceptions import Unresolvable
    except ImportError:
        raise MissingDependency(
            f"{scorer} needs jsonschema for a JSON schema: pip install 'agenttrace-evals[jsonschema]',"
            " or give a pydantic model"
        ) from None
    kind = jsonschema.validators.validator_for(schema)
    try:
        kind.check_schema(dict(schema))
    except jsonschema.SchemaError as error:
        raise ScorerError(f"{scorer}: no valid JSON schema: {error.message}") from None
    keywords = bounded_keywords(kind.VALIDATORS, schema)
    kind = jsonschema.validators.extend(kind, keywords)  # type: ignore[no-untyped-call] # in its stubs
    # Without its dialect, which is known now: a $ref to it would go back to the dialect's own keywords.
    schema = {key: value for key, value in schema.items() if key != "$schema"}
    # A registry of its own: nothing is fetched for a $ref to another document.
    validator = kind(schema, registry=Registry())

    def faults(data: Any) -> list[str]:
        try:
            return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(data)]
        except Unresolvable as error:
            raise ScorerError(
                f"{scorer}: the JSON schema refers to {error.ref!r}, which is not in it"
            ) from None
        except ScorerError as error:  # a pattern
            raise ScorerError(f"{scorer}: {error}") from None

    return faults
