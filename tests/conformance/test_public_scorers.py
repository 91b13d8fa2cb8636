"""The scorers of docs/coming-from.md give the peers' own numbers, except where the page says why not."""

from pathlib import Path

import pytest

from tests.conformance.cases import peer_rows, told
from tests.conformance.differences import PEERS, PUBLIC, UIPATH
from tests.conformance.public import MAPPINGS, value_of

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")
TITLES = {
    "agentevals": "agentevals", "adk": "Google ADK", "deepeval": "DeepEval", "ragas": "Ragas",
    "pydantic_evals": "pydantic-evals",
}  # fmt: skip


def section(title):
    """What the page says of a library, with what it says of all; line breaks are spaces."""
    throughout, *sections = PAGE.split("\n## ")
    own = next(text for text in sections if text.startswith(title))
    return " ".join((throughout + own).split())


@pytest.mark.parametrize("peer", MAPPINGS)
def test_every_reason_for_a_difference_stands_on_the_page(peer):
    text = section(TITLES[peer])
    assert [reason for reason, _ in PUBLIC[peer] if reason not in text] == []


@pytest.mark.shared
@pytest.mark.parametrize("peer", MAPPINGS)
def test_a_row_on_which_the_scorers_differ_has_its_reason_on_the_page(peer):
    compared = 0
    for row in peer_rows(peer):
        value = value_of(row)
        if value is None:
            continue
        compared += 1
        if row.get("error") or value != pytest.approx(float(row["score"]), abs=1e-4):
            assert any(explains(row) for _, explains in PUBLIC[peer]), (value, told(row))
    assert compared > 200


def test_every_reason_of_uipath_s_and_the_adapters_rows_stands_on_the_page():
    words = {
        "each call serves one expected call": "Two equal calls are two calls",
        "the pairing is optimal": "Pairing is optimal",
        "calls are counted as often": "Two equal calls are two calls",
        "two equal calls are two": "Two equal calls are two calls",
        "calls are paired by how they agree": "Pairing is optimal",
        "an empty criterion compares nothing": "An empty order, and empty counts, are an error",
        "exact arguments are exact": '`mode="exact"` compares exactly',
        "values are compared as JSON": "Values are JSON values",
        "listed arguments are compared": "Listed arguments are compared at any depth",
        "a tool that was never called counts 0": "a count is also a count on a run without calls",
    }
    differences = [*UIPATH, *(one for peer in PEERS.values() for one in peer)]
    text = section("UiPath")
    for difference in differences:
        (phrase,) = [phrase for start, phrase in words.items() if difference.reason.startswith(start)]
        assert phrase in text
