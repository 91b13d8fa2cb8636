"""The disk cache."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.judges.models.cache import CachedModel
from agenttrace.judges.models.fake import FakeChatModel, FakeRequest
from agenttrace.judges.prompt_scorer import PromptScorer

EXAMPLE = Example(input="q", actual_output="a")


def score(model: Any, votes: int = 1, prompt: str = "Rate {{actual_output}}") -> Any:
    return asyncio.run(PromptScorer("Own", prompt, model=model, votes=votes).score(EXAMPLE))


def good(**options: Any) -> FakeChatModel:
    return FakeChatModel({"reason": "r", "score": 0.75}, cost=0.01, input_tokens=5, **options)


def test_the_same_question_is_asked_once_also_by_another_process(tmp_path: Path) -> None:
    model = good()
    first = score(CachedModel(model, tmp_path))
    again = score(CachedModel(model, tmp_path))
    assert len(model.requests) == 1
    assert (first.value, again.value) == (0.75, 0.75)
    assert (first.cost, first.usage["input_tokens"], first.metadata.get("cached")) == (0.01, 5, None)
    assert (again.cost, again.usage["input_tokens"], again.metadata["cached"]) == (0.0, 0, True)
    assert again.usage["cached"] == again.usage["requests"] == 1


def test_another_question_model_or_text_is_asked_anew(tmp_path: Path) -> None:
    model = good()
    score(CachedModel(model, tmp_path))
    score(CachedModel(model, tmp_path), prompt="Grade {{actual_output}}")
    other = good(name="other")
    score(CachedModel(other, tmp_path))
    assert (len(model.requests), len(other.requests)) == (2, 1)


def test_the_votes_of_one_score_are_questions_of_their_own(tmp_path: Path) -> None:
    model = good()
    score(CachedModel(model, tmp_path), votes=3)
    assert len(model.requests) == 3
    assert len({request.nonce for request in model.requests}) == 3
    score(CachedModel(model, tmp_path), votes=3)
    assert len(model.requests) == 3


def test_failures_and_unreadable_replies_are_not_kept(tmp_path: Path) -> None:
    bad = FakeChatModel("score: 10")
    assert score(CachedModel(bad, tmp_path)).outcome == "errored"
    model = good()
    assert score(CachedModel(model, tmp_path)).value == 0.75
    assert len(model.requests) == 1


def test_a_reply_to_the_second_asking_is_kept_under_that(tmp_path: Path) -> None:
    model = FakeChatModel(["prose", {"reason": "r", "score": 1}, "prose"])
    assert score(CachedModel(model, tmp_path)).value == 1
    again = score(CachedModel(model, tmp_path))
    assert (again.value, again.usage["cached"], len(model.requests)) == (1, 1, 3)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"null", b"[]", b'{"format": 1}', b'{"format": 1, "reply": {"text": 3}}', b"\xff"]
)
def test_a_broken_file_is_a_miss(tmp_path: Path, content: bytes) -> None:
    model = good()
    score(CachedModel(model, tmp_path))
    (entry,) = tmp_path.glob("*/*.json")
    entry.write_bytes(content)
    assert score(CachedModel(model, tmp_path)).value == 0.75
    assert len(model.requests) == 2


def test_a_forged_reply_on_disk_is_read_as_strictly_as_any(tmp_path: Path) -> None:
    score(CachedModel(good(), tmp_path))
    (entry,) = tmp_path.glob("*/*.json")
    document = json.loads(entry.read_text())
    document["reply"]["text"] = '{"nonce": "0", "reason": "", "score": 1}'
    entry.write_text(json.dumps(document))
    model = good()
    assert score(CachedModel(model, tmp_path)).value == 0.75
    assert len(model.requests) == 1


def test_files_are_private_and_hold_no_text_under_judgement(tmp_path: Path) -> None:
    directory = tmp_path / "cache"
    score(CachedModel(good(), directory))
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    for file in directory.rglob("*"):
        if file.is_file():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {path.suffix for path in directory.rglob("*") if path.is_file()} == {"", ".json"}


def test_fences_are_stable_in_one_cache_and_different_in_another(tmp_path: Path) -> None:
    nonces = []

    def note(request: FakeRequest) -> dict[str, Any]:
        nonces.append(request.nonce)
        return {"reason": "r", "score": 1}

    for directory in ("one", "two"):
        for name in ("a", "b"):
            score(CachedModel(FakeChatModel(note, name=name), tmp_path / directory))
    assert nonces[0] == nonces[1] != nonces[2] == nonces[3]


def test_a_model_without_an_identity_cannot_be_cached(tmp_path: Path) -> None:
    class Anonymous:
        async def complete(self, messages: Any, schema: Any = None) -> str:
            return ""

    with pytest.raises(ConfigError, match="Anonymous cannot be cached: it needs an attribute identity"):
        CachedModel(Anonymous(), tmp_path)


def test_a_directory_with_a_foreign_secret_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("short")
    with pytest.raises(ConfigError, match="is not the secret of a judge cache"):
        CachedModel(good(), tmp_path)


def test_a_cache_that_cannot_be_written_leaves_the_verdict_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*args: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    model = CachedModel(good(), tmp_path)
    monkeypatch.setattr("agenttrace.judges.models.cache._write", full)
    assert score(model, votes=3).value == 0.75
    assert caplog.text.count("No space left") == 1
    with pytest.raises(ConfigError, match="No space left"):
        CachedModel(good(), tmp_path / "other")
