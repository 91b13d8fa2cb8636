"""Small payloads of OTLP, written by hand: what is read in them is told by one or two attributes."""

from __future__ import annotations

TRACE = "0af7651916cd43dd8448eb211c80319c"


def attribute(key, value):
    kinds = {str: "stringValue", bool: "boolValue", int: "intValue", float: "doubleValue"}
    if isinstance(value, list):
        values = [attribute("", item)["value"] for item in value]
        return {"key": key, "value": {"arrayValue": {"values": values}}}
    if isinstance(value, dict):
        values = [attribute(name, item) for name, item in value.items()]
        return {"key": key, "value": {"kvlistValue": {"values": values}}}
    written = str(value) if type(value) is int else value
    return {"key": key, "value": {kinds[type(value)]: written}}


def attributes(values):
    return [attribute(key, value) for key, value in values.items()]


def span(number, name, values=None, *, parent=None, start=None, end=None, error=None, events=(), trace=TRACE):
    """A span whose id is its number; it starts at its number, in microseconds, and takes one."""
    start = number * 1_000 if start is None else start
    written = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "name": name,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 900 if end is None else end),
        "attributes": attributes(values or {}),
        "status": {} if error is None else {"code": 2, "message": error},
        "events": [
            {"name": event, "timeUnixNano": str(start + at), "attributes": attributes(said)}
            for at, (event, said) in enumerate(events)
        ],
    }
    if parent is not None:
        written["parentSpanId"] = f"{parent:016x}"
    return written


def log(number, name, values, *, body=None, trace=TRACE):
    """A log record of the span with this number."""
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "timeUnixNano": str(number * 1_000),
        "eventName": name,
        "attributes": attributes(values),
        **({} if body is None else {"body": attribute("", body)["value"]}),
    }


def request(*spans, scope="", logs=(), resource=None):
    """A request of these spans, with the log records beside them."""
    about = {"attributes": attributes(resource or {})}
    payload = {
        "resourceSpans": [
            {"resource": about, "scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}
        ]
    }
    if logs:
        records = [{"scope": {"name": scope}, "logRecords": list(logs)}]
        payload["resourceLogs"] = [{"resource": about, "scopeLogs": records}]
    return payload
