"""A real ClickHouse engine (chdb) behind a small HTTP server, in a process of its own.

`python clickhouse_server.py` prints its port, and serves until its standard input ends.
"""

import email
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

MAPS, JSON = "Map(LowCardinality(String), String)", "JSON"
"""The types of columns of attributes, as the collector makes them: by default, and with `json: true`."""


def create_table(name, attributes):
    """The collector's table, without its indexes."""
    return f"""
        CREATE TABLE {name} (
            Timestamp DateTime64(9), TraceId String, SpanId String, ParentSpanId String, TraceState String,
            SpanName LowCardinality(String), SpanKind LowCardinality(String),
            ServiceName LowCardinality(String),
            ResourceAttributes {attributes}, ScopeName String, ScopeVersion String,
            SpanAttributes {attributes}, Duration UInt64,
            StatusCode LowCardinality(String), StatusMessage String,
            Events Nested (Timestamp DateTime64(9), Name LowCardinality(String), Attributes {attributes}),
            Links Nested (TraceId String, SpanId String, TraceState String, Attributes {attributes})
        ) ENGINE = MergeTree ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))
    """


class ClickHouseServer:
    """Starts one, and ends it; `port` is where it listens on 127.0.0.1."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        line = self._process.stdout.readline()
        self.port = int(line)

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)


def serve():
    import threading

    import chdb.session

    session = chdb.session.Session()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self._answer(b"Ok.\n")

        def do_POST(self):
            options = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get_content_type() == "multipart/form-data":  # of many or long values
                head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
                for part in email.message_from_bytes(head + body).get_payload():
                    name = part.get_param("name", header="content-disposition")
                    options[name] = part.get_payload(decode=True).decode()
                body = b""
            statement = options.pop("query", "") or body.decode()
            values = {
                name.removeprefix("param_"): text for name, text in options.items() if name[:6] == "param_"
            }
            wanted = (
                self.headers.get("X-ClickHouse-Format") or options.get("default_format") or "TabSeparated"
            )
            settings = [
                f"{name} = {int(text)}"
                for name, text in options.items()
                if text.isdigit() and name.startswith("output_format_")
            ]
            try:
                with lock:
                    for setting in settings:
                        session.query(f"SET {setting}")
                    answer = session.query(statement, wanted, params=values).bytes()
            except Exception as error:
                self._answer(str(error).encode(), 500)
            else:
                self._answer(answer or b"")

        def _answer(self, data, status=200):
            self.send_response(status)
            self.send_header("X-ClickHouse-Format", "Native")
            self.send_header("X-ClickHouse-Summary", "{}")
            self.send_header("X-ClickHouse-Query-Id", "1")
            if status != 200:
                self.send_header("X-ClickHouse-Exception-Code", "1")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    server.shutdown()
    session.close()


if __name__ == "__main__":
    serve()
