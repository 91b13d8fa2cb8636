"""Who may ask the viewer, over a real server on loopback."""

import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import shop
from click.testing import CliRunner

from agenttrace.cli.main import cli
from agenttrace.core.errors import ConfigError
from agenttrace.store import SQLiteStore
from agenttrace.viewer import stand_in
from agenttrace.viewer.api import ROUTES
from agenttrace.viewer.app import PAGES
from agenttrace.viewer.guard import TRIES, Guard
from agenttrace.viewer.serving import cookie_name, hosts_of
from agenttrace.viewer.stand_in import SECONDS, entry_code
from agenttrace.viewer.token_file import own_token, read_token

PATHS = [
    "/traces",
    "/runs",
    "/failures",
    "/review",
    "/health",
    "/metrics",
    "/api/v1/traces",
    "/static/view.css",
    "/nowhere",
]
EVERYWHERE = sorted(
    {re.sub(r"{[^}]*}", "x", path) for path in (*PAGES, *(f"/api/v1{path}" for path in ROUTES), *PATHS)}
    | {"/", "/annotations", "/api/v1/openapi.json", "/static/view.js", "/t/x/s/x/value"}
)
"""Every address that is served, those of no page too."""


def foreign_hosts(port):
    names = (
        "evil.com",
        "127.0.0.1.nip.io",
        "localhost.evil.com",
        "127.1",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "2130706433",
    )
    return [
        *names,
        *(f"{name}:{port}" for name in names),
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1:{port}.evil.com",
        f"evil.com@127.0.0.1:{port}",
        f"127.0.0.1:{port}, evil.com",
        "",
    ]


@pytest.mark.parametrize("path", EVERYWHERE)
def test_a_name_that_is_not_ours_is_misdirected_on_every_route(server, path):
    for host in foreign_hosts(server.port):
        assert server.ask(path, Host=host).status == 421, host
        assert server.ask(path, "POST", Host=host, Origin=server.url).status == 421, host


def raw(server, *lines):
    """The first line of the answer to a request that no client library would send."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall("\r\n".join([*lines, f"Cookie: {server.cookie}", "", ""]).encode())
        return client.recv(65_536).split(b"\r\n")[0].decode()


@pytest.mark.parametrize("path", EVERYWHERE)
def test_an_address_with_a_host_in_it_or_two_hosts_are_refused_on_every_route(server, path):
    ours, evil = f"127.0.0.1:{server.port}", "evil.com"
    assert " 421 " in raw(server, f"GET http://{evil}{path} HTTP/1.1", f"Host: {ours}")
    assert " 421 " in raw(server, f"GET http://{evil}{path} HTTP/1.1", f"Host: {evil}")
    assert " 421 " in raw(server, f"GET http://{ours}{path} HTTP/1.1", f"Host: {evil}")
    assert " 400 " in raw(server, f"GET {path} HTTP/1.1", f"Host: {ours}", f"Host: {evil}")
    assert " 400 " in raw(server, f"GET {path} HTTP/1.1", f"Host: {evil}", f"Host: {ours}")
    assert " 400 " in raw(server, f"GET {path} HTTP/1.1")
    assert " 421 " in raw(server, f"GET {path} HTTP/1.0")


def test_an_origin_that_is_named_twice_is_refused(server):
    ours = (f"Host: 127.0.0.1:{server.port}", f"Origin: {server.url}")
    assert " 400 " in raw(server, "GET /traces HTTP/1.1", *ours, "Origin: http://evil.com")


def test_a_protocol_other_than_http_is_not_spoken(server):
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
               "Sec-WebSocket-Version: 13")  # fmt: skip
    assert " 101 " not in raw(server, "GET /traces HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *upgrade)
    assert " 421 " in raw(server, "GET /traces HTTP/1.1", "Host: evil.com", *upgrade)


def test_neither_pages_nor_answers_say_the_token(server, reads):
    trace = shop.trace_of(reads.store)
    for path in (*PATHS, f"/t/{trace.trace_id}", f"/traces?token={server.token}&q=x", "/t/ffff?token=wrong"):
        answer = server.ask(path)
        assert server.token not in answer.text
        assert server.token not in answer.headers.get("location", "")


def test_metrics_are_those_of_the_command_for_whoever_has_the_token(server, shop_path):
    answer = server.ask("/metrics", signed=False, Authorization=f"Bearer {server.token}")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.text.endswith("# EOF\n")
    said = CliRunner().invoke(
        cli, ["health", "--openmetrics", "--store", str(shop_path)], standalone_mode=False
    )
    assert steady(said.output) == steady(answer.text)
    assert 'agenttrace_failures{project="shop",state="open"} 4' in answer.text
    assert server.ask("/metrics", signed=False).status == 401


def steady(text):
    """Metrics without those of the last hour, and of processes that were there a moment ago."""
    return [line for line in text.splitlines() if "scores" not in line and "agenttrace_writers" not in line]


def test_all_workers_of_a_machine_give_the_same_metrics(own_shop, start_server):
    first, second = start_server(own_shop), start_server(own_shop)
    asked = [SQLiteStore(own_shop).failures()[0], {"state": "fixed", "fixed_in": "2", "project": "shop"}]
    assert first.say({"failure": asked[0].fingerprint, **asked[1]}).status == 303
    texts = [each.ask("/metrics").text for each in (first, second)]
    assert texts[0] == texts[1]
    assert 'agenttrace_failures{project="shop",state="fixed"} 1' in texts[1]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_reading_is_allowed(server, path, method):
    assert server.ask(path, method).status == 405


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_all_names_of_this_machine_are_ours(server, name):
    assert server.ask("/traces", Host=f"{name}:{server.port}").status == 200


def test_another_sites_page_is_refused_but_for_a_link_that_a_reader_follows(server):
    for site in ("cross-site", "same-site"):
        assert server.ask("/api/v1/traces", Sec_Fetch_Site=site, Sec_Fetch_Mode="cors").status == 403
        assert server.ask("/traces", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors").status == 403
        link = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
        assert server.ask("/traces", Sec_Fetch_Site=site, **link).status == 200
        framed = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}
        assert server.ask("/traces", Sec_Fetch_Site=site, **framed).status == 403
    assert server.ask("/traces", Sec_Fetch_Site="same-origin").status == 200


def test_a_foreign_origin_is_refused_and_ours_is_not(server):
    for origin in ("http://evil.example", "null", f"http://evil.example:{server.port}", "http://127.0.0.1:1"):
        assert server.ask("/api/v1/traces", Origin=origin).status == 403
    assert server.ask("/api/v1/traces", Origin=server.url).status == 200


def test_no_answer_lets_another_origin_read_it(server):
    answer = server.ask("/api/v1/traces", Origin=server.url)
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", [*PATHS, "/"])
def test_every_answer_has_the_headers_of_safety(server, path):
    for answer in (server.ask(path), server.ask(path, signed=False), server.ask(path, Host="evil.example")):
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "strict-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        if not path.startswith("/static"):
            assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers


@pytest.mark.parametrize("path", [path for path in PATHS if not path.startswith("/static")])
def test_without_a_token_nothing_is_shown_and_the_page_says_what_to_run(server, path):
    answer = server.ask(path, signed=False)
    assert answer.status == 401
    assert "agenttrace view" in answer.text
    assert "handle_ticket" not in answer.text


def test_the_right_token_becomes_a_cookie_and_leaves_the_address(server):
    answer = server.ask(f"/traces?q=failed%3Arefund&token={server.token}", signed=False)
    assert answer.status == 303
    assert answer.headers["location"] == "/traces?q=failed%3Arefund"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"agenttrace-{server.port}=")
    assert server.token not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert server.ask("/traces", signed=False, Cookie=cookie.partition(";")[0]).status == 200


def test_an_address_with_two_slashes_leads_nowhere_else(server):
    answer = server.ask(f"//evil.example/traces?token={server.token}", signed=False)
    assert re.match("/[^/]", answer.headers["location"])


def test_programs_send_the_token_as_a_bearer(server):
    assert server.ask("/api/v1/traces", signed=False, Authorization=f"Bearer {server.token}").status == 200
    assert server.ask("/api/v1/traces", signed=False, Authorization="Bearer wrong").status == 401


def test_an_address_that_tries_too_many_tokens_has_to_wait(shop_path, start_server):
    server = start_server(shop_path)
    statuses = [server.ask(f"/traces?token=wrong{n}", signed=False).status for n in range(TRIES + 2)]
    assert statuses == [401] * TRIES + [429] * 2
    assert server.ask(f"/traces?token={server.token}", signed=False).status == 429
    assert server.ask("/traces").status == 200  # who is in stays in


def test_a_page_that_asks_with_an_old_cookie_keeps_nobody_out(shop_path, start_server):
    server = start_server(shop_path)
    old = f"agenttrace-{server.port}=of-another-token"
    statuses = {server.ask("/traces", signed=False, Cookie=old).status for _ in range(TRIES + 2)}
    assert statuses == {401}
    assert server.ask(f"/traces?token={server.token}", signed=False, Cookie=old).status == 303


def test_a_code_lets_a_browser_in_once_and_at_one_viewer_alone(shop_path, start_server):
    server, other = start_server(shop_path), start_server(shop_path)
    code = entry_code(server.token, cookie_name(server.port))
    assert server.token not in code
    assert other.ask(f"/runs?enter={code}", signed=False).status == 401
    answer = server.ask(f"/runs?enter={code}&q=x", signed=False)
    assert answer.status == 303
    assert answer.headers["location"] == "/runs?q=x"
    cookie = answer.headers["set-cookie"].partition(";")[0]
    assert server.ask("/runs", signed=False, Cookie=cookie).status == 200
    assert server.ask(f"/runs?enter={code}", signed=False).status == 401
    assert server.ask(f"/runs?enter={code}", signed=False, Cookie=cookie).status == 303
    assert (
        other.ask("/runs", signed=False, Cookie=cookie.replace(str(server.port), str(other.port))).status
        == 401
    )


def test_a_code_ends_and_neither_a_code_nor_a_cookie_is_the_other_or_a_token(monkeypatch):
    guard = Guard(hosts_of("127.0.0.1", 1), "right-token-right", "c")
    code, cookie = entry_code("right-token-right", "c"), guard.reader_cookie()
    fresh = Guard(hosts_of("127.0.0.1", 1), "right-token-right", "c")
    assert fresh.is_known("a", code, cookie, cookie=code, code=cookie) is False
    assert fresh.is_known("b", cookie=cookie) is True  # a page outlives its server
    assert fresh.is_known("c", cookie="right-token-right", code="right-token-right") is False
    for damaged in ("", ".", "1.", code[:-1], "9" + code, "x" + code, code.replace(".", ".\ud800", 1)):
        assert not fresh.is_known(damaged, code=damaged)
    later = time.time() + SECONDS + 2
    monkeypatch.setattr(stand_in.time, "time", lambda: later)
    assert fresh.is_known("d", code=code) is False


def test_a_server_without_a_token_still_refuses_foreign_names(shop_path, start_server):
    server = start_server(shop_path, token=None)
    assert server.ask("/traces").status == 200
    assert server.ask("/traces", Host="rebound.example").status == 421


def test_tokens_that_are_no_ascii_are_wrong_and_break_nothing():
    guard = Guard(hosts_of("127.0.0.1", 1), "right-token-right", "c")
    assert guard.is_known("a", "ü\ud800") is False
    assert guard.is_known("b", "right-token-right") is True


def test_a_head_of_17_kilobytes_is_refused(shop_path, start_server):
    server = start_server(shop_path)
    assert server.ask("/traces?q=" + "a" * 9_000).status in (400, 414)


def test_the_users_token_is_made_once_and_for_the_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    token = own_token()
    assert own_token() == token
    assert len(token) >= 32
    path = tmp_path / "agenttrace" / "token"
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        own_token()


def test_processes_that_make_the_token_at_once_have_the_same_one(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with ThreadPoolExecutor(16) as pool:
        tokens = {each.result() for each in [pool.submit(own_token) for _ in range(64)]}
    assert len(tokens) == 1
    assert [each.name for each in (tmp_path / "agenttrace").iterdir()] == ["token"]


def test_a_token_file_with_too_short_a_word_is_refused(tmp_path):
    path = tmp_path / "token"
    path.write_text("short")
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="at least 16"):
        read_token(path)
