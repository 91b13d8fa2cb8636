"""One reply costs the same wherever its cost is shown: a wrapped client's span, a judge's score, a report."""

import json
import re
from decimal import Decimal

import pytest

from agenttrace.core.example import Example
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.integrations.wrap import wrap
from agenttrace.judges import PromptScorer
from agenttrace.judges.models.anthropic import AnthropicModel
from agenttrace.judges.models.openai_compatible import OpenAICompatibleModel
from agenttrace.tracing.capture import capture

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

# Dollars for a million tokens, as published: of input, of output, read from a cache, written to one.
GPT_4O = (Decimal("2.5"), Decimal(10), Decimal("1.25"), Decimal(0))
GPT_4O_OF_MAY_2024 = (Decimal(5), Decimal(15), Decimal(0), Decimal(0))
O4_MINI = (Decimal("1.1"), Decimal("4.4"), Decimal("0.275"), Decimal(0))
SONNET = (Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))

CHAT = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
RESPONSES = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}
MESSAGES = {"input_tokens": 1000, "output_tokens": 100}

CASES = {
    "chat": ("chat", "gpt-4o", CHAT, GPT_4O, (1000, 100, 0, 0)),
    "chat, dated": ("chat", "gpt-4o-2024-05-13", CHAT, GPT_4O_OF_MAY_2024, (1000, 100, 0, 0)),
    "chat, cached, dated": (
        "chat",
        "gpt-4o-2024-08-06",
        {**CHAT, "prompt_tokens_details": {"cached_tokens": 400}},
        GPT_4O,
        (600, 100, 400, 0),
    ),
    "responses": ("responses", "o4-mini", RESPONSES, O4_MINI, (1000, 100, 0, 0)),
    "responses, cached, dated": (
        "responses",
        "o4-mini-2025-04-16",
        {**RESPONSES, "input_tokens_details": {"cached_tokens": 400}},
        O4_MINI,
        (600, 100, 400, 0),
    ),
    "messages": ("messages", "claude-sonnet-4-5", MESSAGES, SONNET, (1000, 100, 0, 0)),
    "messages, cached, dated": (
        "messages",
        "claude-sonnet-4-5-20250929",
        {**MESSAGES, "cache_read_input_tokens": 400, "cache_creation_input_tokens": 200},
        SONNET,
        (1000, 100, 400, 200),
    ),
    "unknown": ("chat", "a-model-of-nobody", CHAT, None, None),
}


def reply(api, model, usage, text):
    """What the provider answers."""
    if api == "chat":
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": [choice],
            "usage": usage,
        }
    if api == "responses":
        content = [{"type": "output_text", "text": text, "annotations": []}]
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
        return {
            "id": "1",
            "object": "response",
            "created_at": 1,
            "model": model,
            "output": [message],
            "status": "completed",
            "usage": usage,
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
        }
    content = [{"type": "tool_use", "id": "t", "name": "reply", "input": json.loads(text)}]
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use",
        "usage": usage,
    }


def span_cost(api, model, url):
    ask = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
    options = {"api_key": "none", "max_retries": 0}
    with capture() as captured:
        if api == "messages":
            with anthropic.Anthropic(base_url=url, **options) as client:
                wrap(client).messages.create(**ask, max_tokens=9)
        else:
            with openai.OpenAI(base_url=url, **options) as client:
                if api == "chat":
                    wrap(client).chat.completions.create(**ask)
                else:
                    wrap(client).responses.create(model=model, input="hi")
    (span,) = captured.trace.spans
    return span.usage.get("cost")


def judged(api, model, url):
    """The report of one example, scored by a judge that asks the same model."""
    if api == "messages":
        judge = AnthropicModel(model, api_key="none", base_url=url)
    else:
        judge = OpenAICompatibleModel(model, base_url=url, api_key="none", api=api)
    scorer = PromptScorer("Brevity", "Is {{actual_output}} brief?", model=judge)
    return run_evaluation([Example(input="hi", actual_output="yes")], [scorer])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the packages warn of old models
@pytest.mark.parametrize(("api", "model", "usage", "prices", "tokens"), CASES.values(), ids=CASES)
def test_a_reply_costs_the_same_in_a_span_in_a_score_and_in_a_report(
    api, model, usage, prices, tokens, endpoint, respond
):
    def answer(request):
        nonce = re.search(r"nonce: (\w+)", json.dumps(request.json))
        text = json.dumps({"nonce": nonce[1] if nonce else "", "reason": "r", "score": 1})
        return respond(reply(api, model, usage, text), content_type="application/json")

    url = endpoint(answer).url
    (result,) = judged(api, model, url).results
    (score,) = result.scores
    assert score.outcome == "passed", score.reason
    costs = {span_cost(api, model, url), score.cost, result.evaluation_cost}
    if prices is None:
        assert costs == {None}
    else:
        by_hand = sum(price * count for price, count in zip(prices, tokens, strict=True))
        assert costs == {float(by_hand / 1_000_000)}
