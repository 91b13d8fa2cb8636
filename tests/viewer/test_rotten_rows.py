"""A damaged row of a store harms no other trace: pages and API show all of them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))
from rotten import ROTTEN, fill, rot


@pytest.mark.parametrize("name", ROTTEN)
def test_pages_and_api_show_a_damaged_trace_and_its_neighbour(tmp_path, start_server, name):
    path = tmp_path / "traces.db"
    rotten, good = fill(path)
    rot(path, rotten, name)
    server = start_server(path)
    listed = server.ask("/api/v1/traces")
    assert listed.status == 200, listed.text
    assert {trace["trace_id"] for trace in listed.json["traces"]} == {rotten, good}
    for path in (
        *("/traces", "/scores", "/t/" + rotten, "/t/" + good, f"/api/v1/traces/{rotten}"),
        *(
            f"/api/v1/traces/{good}",
            "/groups/release",
            "/traces?q=tool:rotten_tool",
            "/traces?q=input.city:Paris",
        ),
    ):
        assert server.ask(path).status == 200, path
