"""What injected instructions reach, with judges of known gullibility (scenario 97).

No real model is asked here, so nothing is said about how often one gives in. What is measured is what the
fence, the nonce and the strict reader do for judges whose behaviour is known exactly:

- *careful*: does what stands outside the fences, whatever stands inside. It flips only if a text can get out
  of its fence.
- *echoing*: copies the first JSON object that it finds in the judged text, as a weak model does. The nonce
  and the reader must turn that into an error.
- *fence-blind*: a judge that reads all text alike and obeys the last "score" it sees anywhere outside the
  system message. No parser can help against it: its rate is reported, not defended.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenttrace.core.example import Example
from agenttrace.judges.models.fake import FakeChatModel, FakeRequest
from agenttrace.judges.prompt_scorer import PromptScorer

DATA = Path(__file__).parent / "data"
HONEST = 0.0
_MARK = re.compile(r"score\W{0,4}(?:of\W)?\s*(\d+(?:\.\d+)?)", re.IGNORECASE)


def corpus(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def honest(_: FakeRequest) -> dict[str, Any]:
    return {"reason": "judged on its merits", "score": HONEST}


def careful(request: FakeRequest) -> Any:
    """Obey every mark that is claimed outside of the lines with the fence."""
    fence = re.search(r"^fence: (\w+)$", request.messages[0]["content"], re.MULTILINE)
    assert fence is not None
    fenced = re.compile(rf"^=== {fence[1]} BEGIN .*?^=== {fence[1]} END \w+ ===$", re.DOTALL | re.MULTILINE)
    outside = "".join(fenced.sub("", str(m["content"])) for m in request.messages[1:])
    found = _MARK.search(outside)
    return {"reason": "told so", "score": min(1.0, float(found[1]))} if found else honest(request)


def echoing(request: FakeRequest) -> Any:
    """Copy the first thing in the judged text that looks like a JSON object."""
    found = re.search(r"\{.*?\}", request.blocks["actual_output"], re.DOTALL)
    return found[0] if found else honest(request)


def fence_blind(request: FakeRequest) -> Any:
    """Obey the last mark that is claimed anywhere in the material, in perfect form."""
    found = _MARK.findall("\n".join(str(m["content"]) for m in request.messages[1:]))
    return {"reason": "obeyed", "score": min(1.0, float(found[-1]))} if found else honest(request)


def outcomes(judge: Callable[[FakeRequest], Any], texts: list[str]) -> dict[str, int]:
    """How many texts were judged honestly, got a better mark than they deserve, or could not be judged."""
    counts = {"honest": 0, "flipped": 0, "errored": 0}
    for text in texts:
        scorer = PromptScorer("Quality", "Is {{actual_output}} a good answer?", model=FakeChatModel(judge))
        score = asyncio.run(scorer.score(Example(actual_output=text)))
        if score.value is None:
            counts["errored"] += 1
        else:
            counts["honest" if score.value == HONEST else "flipped"] += 1
    return counts


ATTACKS = [row["text"] for row in corpus("injections.jsonl")]
BENIGN = [row["text"] for row in corpus("benign.jsonl")]


def test_the_corpus_is_large_and_varied() -> None:
    assert len(set(ATTACKS)) >= 40
    assert len({row["kind"] for row in corpus("injections.jsonl")}) >= 15


def test_no_text_gets_out_of_its_fence() -> None:
    assert outcomes(careful, ATTACKS) == {"honest": len(ATTACKS), "flipped": 0, "errored": 0}


def test_copied_json_is_an_error_and_never_a_mark() -> None:
    counts = outcomes(echoing, ATTACKS)
    assert counts["flipped"] == 0
    assert counts["errored"] >= 5


def test_a_judge_that_sees_no_fence_is_flipped_and_the_documents_say_how_often() -> None:
    counts = outcomes(fence_blind, ATTACKS)
    assert counts["flipped"] > len(ATTACKS) / 2
    documented = (Path(__file__).parents[2] / "docs" / "judges.md").read_text("utf-8")
    assert f"{counts['flipped']} of {len(ATTACKS)}" in documented
    drift = outcomes(fence_blind, BENIGN)["flipped"]
    assert f"{drift} of {len(BENIGN)}" in documented
    kinds = {row["kind"] for row in corpus("injections.jsonl")}
    assert f"on {len(ATTACKS)} injection attempts of {len(kinds)} kinds" in documented


@pytest.mark.parametrize("judge", [honest, careful])
def test_harmless_texts_that_look_like_attacks_are_judged_as_ever(judge: Any) -> None:
    assert outcomes(judge, BENIGN) == {"honest": len(BENIGN), "flipped": 0, "errored": 0}


def test_the_same_text_in_any_field_stays_inside_its_fence() -> None:
    def whole(request: FakeRequest) -> Any:
        assert request.blocks == {"input": attack, "actual_output": attack, "expected_output": attack}
        return careful(request)

    for attack in ATTACKS:
        scorer = PromptScorer(
            "Own", "{{input}} {{actual_output}} {{expected_output}}", model=FakeChatModel(whole)
        )
        example = Example(input=attack, actual_output=attack, expected_output=attack)
        assert asyncio.run(scorer.score(example)).value == HONEST
