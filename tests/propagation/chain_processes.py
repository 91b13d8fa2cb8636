"""The processes of the chain in test_chain.py: `python chain_processes.py web|tools`, and Celery's worker.

CHAIN_STORE names the store, CHAIN_BROKER the broker, WEB_PORT where the web server listens.
"""

import asyncio
import os
import sys

from celery import Celery

from agenttrace import Tracer
from agenttrace.propagation import ASGIMiddleware, instrument

tracer = Tracer("chain", store=os.environ["CHAIN_STORE"])
instrument("celery", "mcp")
queue = Celery("chain", broker=os.environ["CHAIN_BROKER"], backend=os.environ["CHAIN_BROKER"])
queue.conf.update(broker_connection_retry_on_startup=True, worker_hijack_root_logger=False)


@queue.task(bind=True, name="book", max_retries=1)
def book(self, city):
    with tracer.span("book", span_type="tool", input={"attempt": self.request.retries}):
        if self.request.retries == 0:
            raise self.retry(countdown=0)
        return asyncio.run(_ask_tools(city))


async def _ask_tools(city):
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(command=sys.executable, args=[__file__, "tools"], env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        answer = await client.call_tool("weather", {"city": city})
        return answer.content[0].text


def serve_tools():
    from mcp.server import MCPServer

    server = MCPServer("tools")

    @server.tool()
    def weather(city: str) -> str:
        with tracer.span("weather", span_type="tool", input={"city": city}):
            return f"sun in {city}"

    server.run("stdio")
    tracer.shutdown()


def serve_web():
    import uvicorn
    from fastapi import FastAPI
    from fastapi.responses import StreamingResponse

    app = FastAPI()
    app.add_middleware(ASGIMiddleware, tracer=tracer)

    @app.get("/plan")
    async def plan(city: str):
        async def parts():
            with tracer.span("plan", span_type="agent"):
                yield "booking: "
                task = await asyncio.to_thread(book.delay, city)
                yield await asyncio.to_thread(task.get, 60)

        return StreamingResponse(parts())

    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["WEB_PORT"]), log_level="warning")
    tracer.shutdown()


if __name__ == "__main__":
    {"web": serve_web, "tools": serve_tools}[sys.argv[1]]()
