"""Calls that the model's provider ran, as items of a Response."""

import pytest

from agenttrace.core.hosted_calls import hosted_item


@pytest.mark.parametrize("status", [["in_progress"], {"in_progress": 1}, 7, None])
def test_a_status_that_is_no_text_says_nothing(status):
    """A transcript may hold anything there."""
    call = hosted_item({"type": "web_search_call", "status": status, "action": {"query": "x"}})
    assert (call.name, call.status) == ("web_search", "ok")


def test_one_that_still_ran_was_abandoned():
    assert hosted_item({"type": "web_search_call", "status": "searching"}).status == "abandoned"
