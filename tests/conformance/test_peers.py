"""The peers' own numbers, from this engine, on every row; ours, where theirs are wrong."""

import importlib
from collections import Counter

import pytest

from tests.conformance.cases import peer_rows, rows, told
from tests.conformance.differences import PEERS, RAISES, UIPATH

ROWS = {
    "adk": 381, "agentevals": 694, "azure": 281, "bfcl": 68, "deepeval": 423, "mlflow": 198, "promptfoo": 350,
    "pydantic_evals": 372, "ragas": 243, "strands": 199, "tau2": 114, "uipath": 500,
}  # fmt: skip
WRONG_HERE = ("dup_", "greedy_", "sort_trap", "par_greedy_trap")

pytestmark = pytest.mark.shared


def adapter(peer):
    return importlib.import_module(f"tests.conformance.adapters.{peer}")


def outcome(function, row):
    """The value, or that it raises, as the packages do where nothing can be compared."""
    try:
        return function(row)
    except (ValueError, AttributeError, ZeroDivisionError):
        return RAISES


def recorded(row):
    return RAISES if row.get("error") else row["score"]


def same(one, other):
    numbers = all(isinstance(value, int | float) for value in (one, other))
    return one == pytest.approx(other, abs=1e-9) if numbers else one == other


def test_no_peer_s_rows_are_left_out():
    assert Counter(row["peer"] for row in rows("peer_cases")) == ROWS


@pytest.mark.parametrize("peer", ROWS)
def test_every_row_of_the_peer_is_reproduced(peer):
    compared = 0
    for row in peer_rows(peer):
        found = outcome(adapter(peer).score, row)
        assert same(found, recorded(row)), (found, told(row))
        compared += 1
    assert compared == ROWS[peer]
    print(f"{peer}: {compared} of {ROWS[peer]} rows reproduced")


def test_precision_recall_and_f1_of_azure_are_reproduced():
    told_rows = [row for row in peer_rows("azure") if "extra" in row]
    for row in told_rows:
        assert adapter("azure").extra(row) == pytest.approx(row["extra"]), told(row)
    assert len(told_rows) == 269


def test_the_single_verdicts_of_tau2_are_reproduced():
    for row in peer_rows("tau2"):
        assert adapter("tau2").per_expected(row) == row["per_expected"], told(row)


@pytest.mark.parametrize("peer", [peer for peer in ROWS if peer != "uipath"])
def test_where_peers_are_wrong_ours_differs_as_the_table_says(peer):
    labelled = [row for row in peer_rows(peer) if row["label"].startswith(WRONG_HERE)]
    assert labelled
    used = Counter()
    for row in labelled:
        _check(row, outcome(adapter(peer).ours, row), PEERS.get(peer, []), used)
    assert set(used) == set(range(len(PEERS.get(peer, [])))), "an entry of the table that no row needs"


def test_our_scorers_differ_from_uipath_as_the_table_says():
    used = Counter()
    for row in peer_rows("uipath"):
        _check(row, outcome(adapter("uipath").ours, row), UIPATH, used)
    assert set(used) == set(range(len(UIPATH))), "an entry of the table that no row needs"


def _check(row, found, table, used):
    """Theirs, or what the table says of the row."""
    if same(found, recorded(row)):
        return
    entries = [number for number, entry in enumerate(table) if entry.covers(row) and same(found, entry.ours)]
    assert entries, (found, told(row))
    used[entries[0]] += 1
