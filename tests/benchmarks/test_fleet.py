"""The benchmark of several processes, the wire, the queue and a copy, on a small store."""

from benchmarks.fleet import claims, copied, from_the_wire, own_spans


def test_all_that_is_made_is_stored_settled_and_copied(tmp_path):
    where = str(tmp_path / "fleet.db")
    written, sent = own_spans(where, 2, 200), from_the_wire(where, 1_000)
    assert (written["made"], written["stored"]) == (400, 400)
    assert (sent["made"], sent["stored"]) == (1_000, 1_000)
    assert claims(where, 40)["settled"] == 40
    assert copied(where)["missing"] == {}
