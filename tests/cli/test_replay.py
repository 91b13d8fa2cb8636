"""``agenttrace replay``: stored runs on a new version, told apart from those that cannot be told."""

import json
import sys
from textwrap import dedent

import pytest

from agenttrace.tracing import default_recorder as recorders

SHOP = """
    from agenttrace import Tracer

    tracer = Tracer("shop")
    ran = []

    @tracer.observe(span_type="tool")
    def order(number):
        ran.append("order")
        if number == 13:
            raise LookupError("no order 13")
        return {"number": number, "amount": number * 2}

    @tracer.observe(span_type="tool")
    def refund(number, amount):
        ran.append("refund")
        return "refunded"

    @tracer.observe(span_type="agent")
    def agent(number):
        found = order(number)
        return refund(number, found["amount"])

    @tracer.observe(span_type="agent", name="agent")
    def cautious(number):
        found = order(number)
        if found["amount"] > 10:
            return "ask a person"
        return refund(number, found["amount"])

    @tracer.observe(span_type="agent", name="agent")
    def curious(number):
        order(number)
        return order(number + 1)

    @tracer.observe(span_type="agent", name="agent")
    def broken(number):
        raise ZeroDivisionError("oh")

    @tracer.observe(span_type="agent", name="agent")
    def wordy(number):
        return agent.__wrapped__(number) + "!"
"""


@pytest.fixture
def shop(agenttrace, tmp_path, monkeypatch):
    """A shop with four recorded runs, of which the last one failed."""
    default = list(recorders._default)
    recorders._default.clear()
    (tmp_path / "shop_replayed.py").write_text(dedent(SHOP))
    monkeypatch.syspath_prepend(str(tmp_path))
    import shop_replayed

    for number in (1, 2, 7, 13):
        try:
            shop_replayed.agent(number)
        except LookupError:
            pass
    assert shop_replayed.tracer.flush()
    shop_replayed.ran.clear()
    yield shop_replayed
    shop_replayed.tracer.shutdown()
    recorders._default[:] = default
    del sys.modules["shop_replayed"]


def test_the_same_version_is_the_same_and_nothing_really_runs(agenttrace, shop):
    ran = agenttrace("replay", "--function", "shop_replayed:agent")
    assert ran.code == 0
    assert "4 runs replayed: ✓ 4 the same" in ran.out
    assert "the same: 4 of 4 told, 100% (51% to 100%); 0 cannot be told" in ran.out
    assert shop.ran == []
    assert shop.tracer.flush()
    again = agenttrace("replay", "--function", "shop_replayed:agent")
    assert "4 runs replayed" in again.out  # not those that the replay made


def test_a_version_that_calls_less_differs_with_the_aligned_rows(agenttrace, shop):
    ran = agenttrace("replay", "--function", "shop_replayed:cautious", "--where", "-status:error")
    assert ran.code == 1
    assert "3 runs replayed: ✓ 2 the same  ~ 1 differ" in ran.out
    assert "refund" in ran.out
    assert "missing" in ran.out


def test_a_version_that_leaves_the_recording_cannot_be_told(agenttrace, shop):
    ran = agenttrace("replay", "--function", "shop_replayed:curious", "--where", "-status:error")
    assert ran.code == 2
    assert "? 3 left the recording" in ran.out
    assert "left the recording at call 2: order(number=8)" in ran.out
    assert shop.ran == []


def test_a_version_that_raises_failed_and_another_answer_differs(agenttrace, shop):
    ran = agenttrace("replay", "--function", "shop_replayed:broken", "--json")
    assert (ran.code, json.loads(ran.out)["counts"]) == (1, {"failed": 4})
    ran = agenttrace("replay", "--function", "shop_replayed:wordy", "--json", "--where", "-status:error")
    data = json.loads(ran.out)
    assert (ran.code, data["counts"]) == (1, {"differs": 3})
    assert data["runs"][0]["why"] == "the calls are the same, the answer is another"
    assert data["same"]["share"] == 0


def test_nothing_to_replay_is_said(agenttrace, shop):
    ran = agenttrace("replay", "--function", "shop_replayed:agent", "--where", "customer:nobody")
    assert ran.code == 2
    assert "no traces found" in ran.err


def test_a_wrong_function_is_an_error(agenttrace, shop):
    assert agenttrace("replay", "--function", "shop_replayed:agnt").code == 2


def test_chaos_says_what_becomes_of_each_fault(agenttrace, shop):
    trace_id = json.loads(agenttrace("replay", "--function", "shop_replayed:agent", "--json").out)["runs"][
        -1
    ]["trace_id"]
    options = ("--function", "shop_replayed:agent", "--slow", "0", "--fault", "error", "--fault", "slow")
    ran = agenttrace("chaos", trace_id, *options)
    assert ran.code == 0
    assert "4 faults: ✓ 2 recovered  ~ 2 failed softly" in ran.out
    assert "~ order: error  failed softly: ConnectionError: order does not answer" in ran.out
    assert "the smallest set that breaks the agent: order: error" in ran.out
    data = json.loads(agenttrace("chaos", trace_id, *options, "--json").out)
    assert data["counts"] == {"failed_softly": 2, "recovered": 2}
    assert agenttrace("chaos", "ffffffff", *options).code == 2
    assert shop.ran == []
