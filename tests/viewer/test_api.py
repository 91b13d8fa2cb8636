"""The API: the same truth as the pages, described in a file, bounded."""

import json
import re
from importlib.resources import files

import pytest
import shop

from agenttrace.viewer import api

DESCRIBED = json.loads((files("agenttrace.viewer") / "openapi.json").read_text())


def test_the_file_describes_every_address_and_no_other():
    served = {re.sub(r":path", "", path) for path in api.ROUTES}
    assert set(DESCRIBED["paths"]) == served
    for path, methods in DESCRIBED["paths"].items():
        assert set(methods) == {"get"}
        named = {p["name"] for p in methods["get"]["parameters"] if p["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", path))


NEEDS = {"/compare": "?a=last~1&b=last", "/groups": "?by=release"}


def test_every_address_answers_with_json_over_http(server, reads):
    trace = shop.trace_of(reads.store)
    for path in DESCRIBED["paths"]:
        address = path.replace("{span}", trace.spans[0].span_id).replace("{name}", "Tool%20Order")
        address = address.replace("{id}", "last" if "runs" in path else trace.trace_id)
        address += NEEDS.get(path, "")
        answer = server.ask(f"/api/v1{address}")
        assert answer.status == 200, (path, answer.text)
        assert answer.headers["content-type"] == "application/json"
        assert isinstance(answer.json, dict)
        again = server.ask(f"/api/v1{address}", If_None_Match=answer.headers["etag"])
        assert again.status == 304
    assert server.ask("/api/v1/openapi.json").json == DESCRIBED


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("/traces?q=custmer:x", 400, "did you mean"),
        ("/traces?limit=0", 400, "from 1 to 200"),
        ("/traces?limit=999", 400, "from 1 to 200"),
        ("/traces?fields=nothing", 400, "nothing"),
        ("/traces?after=x", 400, "place of a page"),
        ("/traces?sort=size", 400, "wanted one of"),
        ("/traces/ffffffff", 404, "no trace"),
        ("/runs/nobody", 404, "no run"),
        ("/compare?a=last&b=nobody", 404, "no run"),
        ("/runs?from=x", 400, "number"),
        ("/traces/last?from=-1", 400, "number"),
        ("/failures?state=mended", 400, "wanted one of"),
        ("/failures?limit=0", 400, "from 1 to 200"),
        ("/annotations?from=x", 400, "number"),
        ("/review?fields=nothing", 400, "nothing"),
        ("/traces/xy/spans/1", 404, "no span"),
    ],
)
def test_what_cannot_be_answered_is_said_with_a_status(server, path, status, word):
    answer = server.ask(f"/api/v1{path}")
    assert (answer.status, word in answer.json["error"]) == (status, True), answer.text


def test_the_parts_of_a_trace_make_up_the_whole(server, reads, monkeypatch):
    monkeypatch.setattr(api, "_MOST_SPANS", 4)
    trace = shop.trace_of(reads.store)
    seen = []
    while True:
        part = server.ask(f"/api/v1/traces/{trace.trace_id}?from={len(seen)}").json
        seen += [span["span_id"] for span in part["spans"]]
        if not part["left_out"]:
            break
    assert seen == [span.span_id for span in trace.spans]


def test_fields_leave_the_others_out(server):
    rows = server.ask("/api/v1/traces?fields=trace_id,cost&limit=2").json["traces"]
    assert [set(row) for row in rows] == [{"trace_id", "cost"}] * 2


def test_changes_count_what_is_newer_for_this_query(server):
    page = server.ask("/api/v1/traces?limit=5&q=name:handle_ticket").json
    assert page["after"]
    newer = server.ask(f"/api/v1/changes?q=name:handle_ticket&since={page['after']}").json
    assert newer["newer"] == 4


def test_browsers_that_ask_for_an_icon_beside_plain_data_get_none_and_no_error(server):
    answer = server.ask("/favicon.ico")
    assert (answer.status, answer.text) == (204, "")


def test_a_page_behind_a_proxy_has_its_root_in_every_address(shop_path, start_server):
    server = start_server(shop_path, root="/team")
    text = server.ask("/traces").text
    addresses = re.findall(r'(?:href|src|action)="(/[^"]*)"', text)
    assert addresses
    assert all(address.startswith("/team/") for address in addresses)
    assert server.ask("/").headers["location"] == "/team/traces"


@pytest.mark.parametrize(
    "place",
    [
        "9" * 20 + ":" + "a" * 32,
        "-" + "9" * 20 + ":" + "a" * 32,
        "1e300:" + "a" * 32,
        "1:abc",
        ":" + "a" * 33,
    ],
)
@pytest.mark.parametrize("name", ["after", "before", "since"])
def test_a_place_that_no_list_has_is_said_and_breaks_nothing(server, name, place):
    path = "/api/v1/changes" if name == "since" else "/api/v1/traces"
    answer = server.ask(f"{path}?{name}={place}")
    assert answer.status == 400
    assert "the place of a page" in answer.json["error"]
    assert server.ask(f"/traces?{name}={place}").status in (200, 400)
