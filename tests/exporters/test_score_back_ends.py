"""Scores over the own API of Phoenix, MLflow and Langfuse: servers on loopback that answer as those do."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time

import pytest

from agenttrace import ConfigError, ContainsScorer, OTLPExporter, Score, Tracer
from agenttrace.core.batch import Destination, ScoreRow, Unsent
from agenttrace.exporters import score_client, sender
from agenttrace.exporters.otlp_settings import signal_settings
from agenttrace.exporters.score_backends import BACK_ENDS
from agenttrace.exporters.score_client import ScoreClient
from agenttrace.exporters.score_facts import facts_of
from agenttrace.version import __version__

SECRET = "sk-VERYSECRETKEY123"
PATIENCE = 60.0
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(sender, "LINGER_SECONDS", 0.02)
    monkeypatch.setattr(sender, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(sender, "LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(score_client, "FIRST_WAIT", 0.001)


class FakePhoenix:
    """Keeps annotations by span, name and identifier; knows spans once `knows` is true."""

    def __init__(self, respond):
        self.respond = respond
        self.knows = True
        self.kept = {}
        self.bad = None

    def __call__(self, request):
        if request.path.endswith("/v1/traces"):
            return self.respond(b"")
        if request.path.endswith("/arize_phoenix_version"):
            return self.respond(b"20.26.1")
        match = re.fullmatch(r"/v1/(span|trace)_annotations\?sync=true", request.path)
        if match is None:
            return self.respond(b"Method Not Allowed", status=405)
        entries = request.json["data"]
        if self.bad is not None and any(entry["name"] == self.bad for entry in entries):
            return self.respond({"detail": "no"}, status=422)
        if not self.knows:
            return self.respond(b"Spans with IDs b7ad do not exist.", status=404)
        for entry in entries:
            self.kept[entry[f"{match[1]}_id"], entry["name"], entry["identifier"]] = entry
        return self.respond({"data": [{"id": "x"} for _ in entries]})


class FakeMLflow:
    """Keeps every assessment that it is given, twice what it is given twice."""

    def __init__(self, respond):
        self.respond = respond
        self.knows = True
        self.kept = []
        self.loses_answers = 0

    def __call__(self, request):
        if request.path == "/v1/traces":
            return self.respond(b"")
        if request.path.startswith("/api/2.0/mlflow/experiments/get"):
            return self.respond({"experiment": {"experiment_id": "0"}})
        if request.path.startswith("/api/3.0/mlflow/traces/"):
            if not self.knows:
                return self.respond({"error_code": "RESOURCE_DOES_NOT_EXIST"}, status=404)
            if not request.path.endswith("/assessments"):
                return self.respond({"trace": {"trace_info": {"assessments": self.kept}}})
            self.kept.append(request.json["assessment"])
            if self.loses_answers:
                self.loses_answers -= 1
                return [b"HTTP/1.1 200 OK\r\ncontent-le", b""]
            return self.respond({"assessment": self.kept[-1]})
        return self.respond(b"<title>404 Not Found</title>", status=404)


class FakeLangfuse:
    def __init__(self, respond):
        self.respond = respond
        self.kept = {}

    def __call__(self, request):
        if request.path == "/api/public/otel/v1/traces":
            return self.respond(b"")
        if request.path == "/api/public/health":
            return self.respond({"status": "OK", "version": "3.120.0"})
        if request.path == "/api/public/scores":
            self.kept[request.json["id"]] = request.json
            return self.respond({"id": request.json["id"]})
        return self.respond(b"<html>", status=404)


@pytest.fixture
def exporting(tmp_path):
    made = []

    def make(url, **options):
        exporter = OTLPExporter(url, **{"timeout": 2.0, **options})
        made.append(Tracer("travel", store=tmp_path / "traces.db", exporters=[exporter]))
        return made[-1], exporter

    yield make
    for tracer in made:
        tracer.shutdown()


def eventually(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


def scored(tracer, *names, reason="because"):
    """One span with a score of each name; returns its ids."""
    with tracer.span("answer") as span:
        ids = span.trace_id, span.span_id
        for name in names:
            tracer.score_current_span(name, 1.0, reason=reason)
    tracer.flush()
    return ids


def of_scores(exporter, word):
    return exporter.stats()["logs"].get(word)


def paths(server):
    return [request.path for request in server.requests if request.path != "/v1/traces"]


def test_phoenix_is_found_and_has_the_score_on_its_span(endpoint, respond, exporting):
    phoenix = FakePhoenix(respond)
    server = endpoint(phoenix)
    tracer, exporter = exporting(server.url)
    _, span_id = scored(tracer, "thumbs")
    eventually(lambda: of_scores(exporter, "sent") == 1)
    [entry] = phoenix.kept.values()
    identifier = entry.pop("identifier")
    assert re.fullmatch("agenttrace-[0-9a-f]{32}", identifier)
    assert entry == {
        "span_id": span_id,
        "name": "thumbs",
        "annotator_kind": "CODE",
        "result": {"label": "passed", "score": 1.0, "explanation": "because"},
        "metadata": {"outcome": "passed", "threshold": 0.0, "range": "0 to 1", "lower_is_better": False},
    }
    assert of_scores(exporter, "back_end") == "phoenix"
    assert of_scores(exporter, "trouble") is None


def test_what_was_found_out_is_remembered(endpoint, respond, exporting):
    server = endpoint(FakePhoenix(respond))
    tracer, exporter = exporting(server.url)
    scored(tracer, "first")
    eventually(lambda: of_scores(exporter, "sent") == 1)
    scored(tracer, "second")
    eventually(lambda: of_scores(exporter, "sent") == 2)
    exporter.after_fork()
    assert of_scores(exporter, "back_end") == "phoenix"
    annotations = "/v1/span_annotations?sync=true"
    assert paths(server) == ["/v1/logs", "/arize_phoenix_version", annotations, annotations]


def test_mlflow_is_found_and_has_the_score_on_its_span(endpoint, respond, exporting):
    mlflow = FakeMLflow(respond)
    server = endpoint(mlflow)
    tracer, exporter = exporting(server.url)
    trace_id, span_id = scored(tracer, "thumbs")
    eventually(lambda: of_scores(exporter, "sent") == 1)
    [entry] = mlflow.kept
    assert entry.pop("create_time") == entry.pop("last_update_time")
    assert entry.pop("metadata").keys() >= {"agenttrace.identifier", "agenttrace.range"}
    assert entry == {
        "assessment_name": "thumbs",
        "trace_id": f"tr-{trace_id}",
        "span_id": span_id,
        "source": {"source_type": "CODE", "source_id": "thumbs"},
        "feedback": {"value": 1.0},
        "rationale": "because",
    }
    assert of_scores(exporter, "back_end") == "mlflow"


def test_langfuse_is_found_below_its_address_for_otlp(endpoint, respond, exporting):
    langfuse = FakeLangfuse(respond)
    server = endpoint(langfuse)
    tracer, exporter = exporting(f"{server.url}/api/public/otel", headers={"authorization": "Basic cGs6c2s="})
    trace_id, span_id = scored(tracer, "thumbs")
    eventually(lambda: of_scores(exporter, "sent") == 1)
    [entry] = langfuse.kept.values()
    told = {
        name: entry[name] for name in ("traceId", "observationId", "name", "value", "dataType", "comment")
    }
    assert told == {
        "traceId": trace_id,
        "observationId": span_id,
        "name": "thumbs",
        "value": 1.0,
        "dataType": "NUMERIC",
        "comment": "because",
    }
    assert {request.headers["authorization"] for request in server.requests} == {"Basic cGs6c2s="}


def test_a_server_that_takes_logs_is_asked_nothing_else(endpoint, respond, exporting):
    server = endpoint(lambda _: respond(b""))
    tracer, exporter = exporting(server.url)
    scored(tracer, "thumbs")
    eventually(lambda: of_scores(exporter, "sent") == 1)
    assert paths(server) == ["/v1/logs"]


def test_an_unknown_server_is_asked_three_questions_and_the_score_waits(endpoint, respond, exporting, caplog):
    def answer(request):
        return respond(b"") if request.path == "/v1/traces" else respond(b"<html>", status=404)

    server = endpoint(answer)
    tracer, exporter = exporting(server.url)
    with caplog.at_level(logging.WARNING, logger="agenttrace"):
        scored(tracer, "thumbs")
        eventually(lambda: of_scores(exporter, "trouble"))
        eventually(lambda: paths(server).count("/v1/logs") >= 3)
    assert paths(server)[:4] == [
        "/v1/logs",
        "/arize_phoenix_version",
        "/api/2.0/mlflow/experiments/get?experiment_id=0",
        "/api/public/health",
    ]
    assert of_scores(exporter, "waiting") == 1
    assert "neither Phoenix, MLflow nor Langfuse" in of_scores(exporter, "trouble")
    assert len([one for one in caplog.records if "answered 404" in one.message]) == 1


@pytest.mark.parametrize("name", ["phoenix", "mlflow"])
def test_a_score_that_overtakes_its_span_arrives(endpoint, respond, exporting, name):
    fake = {"phoenix": FakePhoenix, "mlflow": FakeMLflow}[name](respond)
    fake.knows = False
    server = endpoint(fake)
    tracer, exporter = exporting(server.url, scores=name)
    scored(tracer, "thumbs", "stars")
    eventually(lambda: of_scores(exporter, "trouble"))
    assert "wait for their spans" in of_scores(exporter, "trouble")
    fake.knows = True
    eventually(lambda: of_scores(exporter, "sent") == 2)
    assert len(fake.kept) == 2


def test_a_score_whose_span_never_comes_is_refused_and_can_be_sent_again(
    endpoint, respond, exporting, monkeypatch
):
    monkeypatch.setattr(score_client, "PATIENCE_SECONDS", 0.0)
    phoenix = FakePhoenix(respond)
    phoenix.knows = False
    tracer, exporter = exporting(endpoint(phoenix).url, scores="phoenix")
    scored(tracer, "thumbs")
    eventually(lambda: of_scores(exporter, "refused") == 1)
    phoenix.knows = True
    assert exporter.resend() == 1
    eventually(lambda: len(phoenix.kept) == 1)


def test_one_bad_score_does_not_hold_up_the_others(endpoint, respond, exporting):
    phoenix = FakePhoenix(respond)
    phoenix.bad = "b"
    tracer, exporter = exporting(endpoint(phoenix).url, scores="phoenix")
    scored(tracer, "a", "b", "c")
    eventually(lambda: of_scores(exporter, "sent") == 2)
    assert of_scores(exporter, "refused") == 1
    assert {name for _, name, _ in phoenix.kept} == {"a", "c"}


def test_a_score_whose_answer_was_lost_is_not_kept_twice(endpoint, respond, exporting):
    mlflow = FakeMLflow(respond)
    mlflow.loses_answers = 1
    tracer, exporter = exporting(endpoint(mlflow).url, scores="mlflow")
    scored(tracer, "a", "b")
    eventually(lambda: of_scores(exporter, "sent") == 2)
    assert sorted(entry["assessment_name"] for entry in mlflow.kept) == ["a", "b"]


def test_what_is_sent_again_has_the_same_identifier(endpoint, respond, exporting):
    langfuse = FakeLangfuse(respond)
    statuses = iter([503, 503])

    def answer(request):
        kept = langfuse(request)
        status = next(statuses, 200) if request.path == "/api/public/scores" else 200
        return kept if status == 200 else respond(b"", status=status)

    server = endpoint(answer)
    tracer, exporter = exporting(f"{server.url}/api/public/otel", scores="langfuse")
    scored(tracer, "thumbs")
    eventually(lambda: of_scores(exporter, "sent") == 1)
    posted = [request for request in server.requests if request.path == "/api/public/scores"]
    assert (len(posted), len(langfuse.kept)) == (3, 1)


def test_a_wrong_key_stops_this_process_and_is_in_no_log(endpoint, respond, exporting, caplog):
    def answer(request):
        if request.path == "/v1/traces":
            return respond(b"")
        return respond(f"no such key: {SECRET}".encode(), status=401)

    server = endpoint(answer)
    headers = {"authorization": f"Bearer {SECRET}"}
    tracer, exporter = exporting(server.url, scores="phoenix", headers=headers)
    scored(tracer, "thumbs")
    eventually(lambda: of_scores(exporter, "trouble"))
    assert of_scores(exporter, "trouble").startswith("phoenix answered 401")
    assert SECRET not in of_scores(exporter, "trouble") + caplog.text
    assert (of_scores(exporter, "waiting"), len(paths(server))) == (1, 1)


def test_without_content_a_score_goes_without_its_explanation(endpoint, respond, exporting):
    phoenix = FakePhoenix(respond)
    tracer, exporter = exporting(endpoint(phoenix).url, scores="phoenix", content=False)
    scored(tracer, "thumbs", reason="S3CRET")
    eventually(lambda: of_scores(exporter, "sent") == 1)
    assert "S3CRET" not in json.dumps(list(phoenix.kept.values()))


def test_a_secret_in_an_explanation_was_redacted_before(endpoint, respond, exporting):
    phoenix = FakePhoenix(respond)
    tracer, exporter = exporting(endpoint(phoenix).url, scores="phoenix")
    scored(tracer, "thumbs", reason="it used sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
    eventually(lambda: of_scores(exporter, "sent") == 1)
    assert "abcdefghijklmnop" not in json.dumps(list(phoenix.kept.values()))


def test_a_back_end_that_is_named_is_used_where_only_the_address_for_spans_is_known(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9/v1/traces")
    assert "logs" not in OTLPExporter().stats()
    assert OTLPExporter(scores="mlflow").stats()["logs"]["back_end"] == "mlflow"


@pytest.mark.parametrize("options", [{"scores": "arize"}, {"scores": None}, {"semconv": "otel"}])
def test_a_word_that_is_none_of_them_is_an_error_at_once(options):
    with pytest.raises(ConfigError, match="is one of"):
        OTLPExporter("http://127.0.0.1:9", **options)


def unsent_of(*scores, times=None):
    rows = [score if isinstance(score, ScoreRow) else ScoreRow(TRACE, SPAN, score) for score in scores]
    times = times or [time.time_ns()] * len(rows)
    return Unsent(destination=Destination("x", "scores"), ranges=[(1, len(rows))], items=rows, times=times)


def client_of(url, name, **options):
    settings = signal_settings("logs", url, timeout=2.0)
    return ScoreClient(settings, BACK_ENDS[name], **{"content": True, **options})


def sent(client, unsent, max_bytes=1_000_000):
    return asyncio.run(client.send(unsent, max_bytes))


def test_a_request_that_would_be_too_large_goes_in_parts(endpoint, respond):
    phoenix = FakePhoenix(respond)
    server = endpoint(phoenix)
    scores = [Score.of(f"s{number}", 1.0, 1.0, reason="x" * 500) for number in range(8)]
    result = sent(client_of(server.url, "phoenix"), unsent_of(*scores), 2_000)
    assert (result.sent, len(phoenix.kept)) == (8, 8)
    assert 4 <= len(server.requests) <= 8
    assert all(len(request.body) <= 2_000 for request in server.requests)


def test_scores_of_whole_traces_and_of_nothing(endpoint, respond):
    phoenix = FakePhoenix(respond)
    server = endpoint(phoenix)
    score = Score.of("s", 1.0, 1.0)
    rows = unsent_of(ScoreRow(TRACE, None, score), ScoreRow(None, None, score), ScoreRow(TRACE, SPAN, score))
    result = sent(client_of(server.url, "phoenix"), rows)
    assert {key for key, *_ in phoenix.kept} == {TRACE, SPAN}
    assert (result.sent, [(one.start, one.stop) for one in result.refused]) == (2, [(1, 2)])
    assert "it is about no trace" in result.refused[0].reason


def test_an_errored_score_says_so_in_each_back_ends_own_way(endpoint, respond):
    rows = unsent_of(Score.errored("judge", 0.5, "no answer"), Score.skipped("other", 0.5, "nothing to do"))
    phoenix, mlflow, langfuse = FakePhoenix(respond), FakeMLflow(respond), FakeLangfuse(respond)
    for name, fake in (("phoenix", phoenix), ("mlflow", mlflow), ("langfuse", langfuse)):
        assert sent(client_of(endpoint(fake).url, name), rows).sent == 2
    assert [one["result"] for one in phoenix.kept.values()] == [
        {"label": "errored", "explanation": "no answer"},
        {"label": "skipped", "explanation": "nothing to do"},
    ]
    assert [one["feedback"] for one in mlflow.kept] == [
        {"error": {"error_code": "SCORER_ERROR", "error_message": "no answer"}},
        {"value": "skipped"},
    ]
    assert [(one["value"], one["dataType"]) for one in langfuse.kept.values()] == [
        ("errored", "CATEGORICAL"),
        ("skipped", "CATEGORICAL"),
    ]


def test_what_waits_from_before_version_0_2_is_refused_with_the_reason():
    unsent = Unsent(destination=Destination("x", "scores"), ranges=[(1, 1)], body=b"\n", content_type="a/b")
    result = sent(client_of("http://127.0.0.1:9", "phoenix"), unsent)
    assert "by an earlier version" in result.refused[0].reason


def fact(**fields):
    return facts_of(ScoreRow(TRACE, SPAN, Score.of("s", 0.5, 0.5, **fields)), 7, content=True)


def test_who_gave_a_score_is_a_person_a_model_or_code():
    human = Score.of("Human: Faithfulness", 1.0, 0.5)
    assert facts_of(ScoreRow(TRACE, SPAN, human), 7, content=True).kind == "HUMAN"
    assert (fact(model="gpt-5").kind, fact(model="gpt-5").judge) == ("LLM", "gpt-5")
    assert (fact().kind, fact().judge) == ("CODE", "s")


def test_versions_stand_beside_the_score():
    metadata = fact(metadata={"scorer_version": "3", "dataset_version": 2, "other": "x"}).metadata
    assert (metadata["scorer_version"], metadata["dataset_version"]) == ("3", 2)
    assert "other" not in metadata


def test_the_same_stored_score_has_one_identifier_and_another_has_another():
    same, later = fact().identifier, facts_of(ScoreRow(TRACE, SPAN, Score.of("s", 0.5, 0.5)), 8, content=True)
    assert same == fact().identifier
    assert len({same, later.identifier, fact(reason="x").identifier}) == 3


def test_an_online_score_says_the_versions_of_its_scorer_and_dataset(endpoint, respond, exporting):
    class Polite(ContainsScorer):
        version = "2025-06"

    phoenix = FakePhoenix(respond)
    tracer, exporter = exporting(endpoint(phoenix).url)
    with tracer.span("answer"):
        scorers = [ContainsScorer("five"), Polite("please", name="Polite")]
        about = {"dataset_version": 2}
        tracer.async_evaluate(scorers, actual_output="five days", additional_metadata=about)
    assert tracer.wait_for_evaluations(PATIENCE)
    tracer.flush()
    eventually(lambda: of_scores(exporter, "sent") == 2)
    versions = {entry["name"]: entry["metadata"]["scorer_version"] for entry in phoenix.kept.values()}
    assert versions == {"Contains": f"agenttrace {__version__}", "Polite": "2025-06"}
    assert {entry["metadata"]["dataset_version"] for entry in phoenix.kept.values()} == {2}
