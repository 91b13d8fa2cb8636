"""How Phoenix, MLflow and Langfuse take scores: a table of paths and bodies, one back end a class.

Each back end turns scores into the posts that carry them. Facts as of Phoenix 20, MLflow 3.17 and Langfuse 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from agenttrace.core.json_reader import lenient_json
from agenttrace.exporters.otlp_encoding import json_text
from agenttrace.exporters.score_facts import ScoreFacts
from agenttrace.http.transport import Answer

BackEndName = Literal["phoenix", "mlflow", "langfuse"]


@dataclass(frozen=True, slots=True)
class Post:
    """A request to a path below the back end's address, with the places of the scores that it carries."""

    path: str
    places: tuple[int, ...]


class BackEnd(Protocol):
    """A server that takes scores over an API of its own."""

    name: BackEndName

    def is_unknown(self, answer: Answer) -> bool:
        """Whether an answer says that a score's span, or its trace, is not there (yet)."""
        ...

    def root(self, base: str) -> str:
        """The address below which its API lies, of the one to which OTLP goes without ``/v1/logs``."""
        ...

    def posts(self, scores: Sequence[ScoreFacts]) -> list[Post]:
        """The requests that carry scores; those that it cannot take are in none."""
        ...

    def body(self, scores: Sequence[ScoreFacts]) -> bytes:
        """The body of a post."""
        ...

    def lookup(self, score: ScoreFacts) -> str | None:
        """The path that tells which scores a score's trace has, where sending one twice would double it."""
        ...

    def identifiers_in(self, body: bytes) -> frozenset[str]:
        """The identifiers of our scores in the answer to a look-up."""
        ...


class _Once:
    """A back end that keeps one score for each identifier."""

    def lookup(self, score: ScoreFacts) -> str | None:
        return None

    def identifiers_in(self, body: bytes) -> frozenset[str]:
        return frozenset()


class Phoenix(_Once):
    """Annotations of spans, or of traces; a second one under the same identifier replaces the first."""

    name: BackEndName = "phoenix"

    def is_unknown(self, answer: Answer) -> bool:
        """See `BackEnd`."""
        return answer.status == 404 and b"do not exist" in answer.body

    def root(self, base: str) -> str:
        """See `BackEnd`."""
        return base

    def posts(self, scores: Sequence[ScoreFacts]) -> list[Post]:
        """See `BackEnd`."""
        of_spans = tuple(place for place, score in enumerate(scores) if score.span_id)
        of_traces = tuple(place for place, score in enumerate(scores) if score.trace_id and not score.span_id)
        # sync: otherwise the answer is 200 even where the span is not known, and the score is gone.
        posts = [
            Post("/v1/span_annotations?sync=true", of_spans),
            Post("/v1/trace_annotations?sync=true", of_traces),
        ]
        return [post for post in posts if post.places]

    def body(self, scores: Sequence[ScoreFacts]) -> bytes:
        """See `BackEnd`."""
        return json_text({"data": [self._annotation(score) for score in scores]}).encode()

    def _annotation(self, score: ScoreFacts) -> dict[str, Any]:
        about = {"span_id": score.span_id} if score.span_id else {"trace_id": score.trace_id}
        result = {"label": score.label, "score": score.value, "explanation": score.explanation}
        return {
            **about,
            "name": score.name,
            "annotator_kind": score.kind,
            "result": {name: value for name, value in result.items() if value is not None},
            "metadata": score.metadata,
            "identifier": score.identifier,
        }


class MLflow:
    """Assessments of a trace, on one of its spans; it knows no identifiers, so what is there is asked for."""

    name: BackEndName = "mlflow"

    def is_unknown(self, answer: Answer) -> bool:
        """See `BackEnd`."""
        return answer.status == 404 and b"RESOURCE_DOES_NOT_EXIST" in answer.body

    def root(self, base: str) -> str:
        """See `BackEnd`."""
        return base

    def posts(self, scores: Sequence[ScoreFacts]) -> list[Post]:
        """See `BackEnd`."""
        return [
            Post(f"/api/3.0/mlflow/traces/tr-{score.trace_id}/assessments", (place,))
            for place, score in enumerate(scores)
            if score.trace_id
        ]

    def body(self, scores: Sequence[ScoreFacts]) -> bytes:
        """See `BackEnd`."""
        (score,) = scores
        feedback: dict[str, Any] = {"value": score.label if score.value is None else score.value}
        if score.label == "errored":
            error = {"error_code": "SCORER_ERROR", "error_message": score.explanation or "the scorer broke"}
            feedback = {"error": error}
        metadata = {**score.metadata, "identifier": score.identifier}
        assessment = {
            "assessment_name": score.name,
            "trace_id": f"tr-{score.trace_id}",
            "span_id": score.span_id,
            "source": {"source_type": _MLFLOW_SOURCES[score.kind], "source_id": score.judge},
            "create_time": _iso(score.time_ns),
            "last_update_time": _iso(score.time_ns),
            "feedback": feedback,
            "rationale": score.explanation,
            "metadata": {f"agenttrace.{name}": _plain(value) for name, value in metadata.items()},
        }
        return json_text(
            {"assessment": {name: value for name, value in assessment.items() if value is not None}}
        ).encode()

    def lookup(self, score: ScoreFacts) -> str | None:
        """See `BackEnd`."""
        return f"/api/3.0/mlflow/traces/tr-{score.trace_id}"

    def identifiers_in(self, body: bytes) -> frozenset[str]:
        """See `BackEnd`."""
        assessments = _at(lenient_json(body), "trace", "trace_info", "assessments")
        entries = assessments if isinstance(assessments, list) else []
        texts = (_at(entry, "metadata", "agenttrace.identifier") for entry in entries)
        return frozenset(text for text in texts if isinstance(text, str))


class Langfuse(_Once):
    """Scores of a trace or an observation, one a request; the same id again replaces it."""

    name: BackEndName = "langfuse"

    def is_unknown(self, answer: Answer) -> bool:
        """See `BackEnd`. It takes a score before its trace."""
        return False

    def root(self, base: str) -> str:
        """See `BackEnd`."""
        return base.removesuffix("/api/public/otel")

    def posts(self, scores: Sequence[ScoreFacts]) -> list[Post]:
        """See `BackEnd`."""
        return [Post("/api/public/scores", (place,)) for place, score in enumerate(scores) if score.trace_id]

    def body(self, scores: Sequence[ScoreFacts]) -> bytes:
        """See `BackEnd`."""
        (score,) = scores
        score_body = {
            "id": score.identifier,
            "traceId": score.trace_id,
            "observationId": score.span_id,
            "name": score.name,
            "value": score.label if score.value is None else score.value,
            "dataType": "CATEGORICAL" if score.value is None else "NUMERIC",
            "comment": score.explanation,
            "metadata": {**score.metadata, "annotator_kind": score.kind},
        }
        return json_text({name: value for name, value in score_body.items() if value is not None}).encode()


BACK_ENDS: Mapping[BackEndName, BackEnd] = {
    "phoenix": Phoenix(),
    "mlflow": MLflow(),
    "langfuse": Langfuse(),
}

_MLFLOW_SOURCES = {"CODE": "CODE", "LLM": "LLM_JUDGE", "HUMAN": "HUMAN"}


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _plain(value: str | float | bool) -> str:
    return value if isinstance(value, str) else json_text(value)


def _iso(time_ns: int) -> str:
    """A time as MLflow's JSON has it, to the millisecond."""
    moment = datetime.fromtimestamp(time_ns / 1e9, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
