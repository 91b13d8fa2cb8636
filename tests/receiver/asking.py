"""Asks an ASGI application once, as a client that sends spans does."""

import asyncio
import json

from agenttrace.receiver.outcome import JSON


class Answer:
    def __init__(self, messages):
        self.status = messages[0]["status"]
        self.headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
        self.body = messages[1]["body"]

    def json(self):
        return json.loads(self.body)


async def asked(app, body=b"", *, path="/v1/traces", method="POST", kind=JSON, parts=None, **headers):
    sent = []
    waiting = [{"type": "http.request", "body": part, "more_body": True} for part in (parts or [body])]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})
    named = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}

    async def receive():
        if not waiting:
            await asyncio.sleep(3600)
        return waiting.pop(0)

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }
    await app(scope, receive, send)
    return Answer(sent)


def ask(*args, **options):
    return asyncio.run(asked(*args, **options))
