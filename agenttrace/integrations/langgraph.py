"""A LangChain callback handler that turns runs of graphs, chains, tools and models into spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any
from uuid import UUID

from agenttrace.core import semconv
from agenttrace.core.errors import MissingDependency
from agenttrace.core.interruptions import raised_by_signal
from agenttrace.integrations.langgraph_messages import (
    AnswerReader,
    arguments_of,
    plain_documents,
    plain_messages,
    plain_state,
    tool_output,
)
from agenttrace.integrations.langgraph_runs import Runs, describe_place, name_of
from agenttrace.integrations.llm_call import LLMCall
from agenttrace.integrations.spans import Tracing, spans_of
from agenttrace.providers.prices import Prices, checked_prices
from agenttrace.tracing.capture import Capture

try:
    from langchain_core.callbacks.base import BaseCallbackHandler
except ImportError as error:
    raise MissingDependency(
        "agenttrace.integrations.langgraph needs langchain-core: pip install 'agenttrace-evals[langgraph]'"
    ) from error

HIDDEN = "langsmith:hidden"
"""The tag of the library's internal runs, which are not a step of the user's."""


def _guarded(event: Callable[..., None]) -> Callable[..., None]:
    @wraps(event)
    def guarded(handler: AgentTraceCallbackHandler, *args: Any, **kwargs: Any) -> None:
        try:
            event(handler, *args, **kwargs)
        except Exception as error:  # choke-point: recording an event must not break the run
            if raised_by_signal(error):
                raise
            handler.recording_errors += 1

    return guarded


class AgentTraceCallbackHandler(BaseCallbackHandler):
    """Records the runs that LangChain reports: ``graph.invoke(…, config={"callbacks": [handler]})``.

    A graph becomes a span of type *agent*, its nodes *node*, other runnables *chain*, tools *tool* with
    their arguments by name, models *llm*, retrievers *retriever*. Each call and each attempt is a span of its
    own. What is decorated with `observe` and runs inside a node or a tool stands under it; a graph that runs
    inside a traced call stands under that, otherwise it is a trace of its own. One handler serves any
    number of runs at once, and can take the tracer's place in ``assert_test`` and ``run_evaluation``.
    An interrupt (a pause for a human) is not an error. When a run is cancelled, the runs inside it end, too.

    Args:
        tracer: Where spans go; the process's first tracer by default.
        prices: What models cost, as in `agenttrace.wrap`.

    Raises:
        ConfigError: `tracer` is not a tracer, or `prices` are not prices.
    """

    run_inline = True  # in the caller's own context and order, also in asynchronous runs
    raise_error = False

    def __init__(self, tracer: Tracing | None = None, *, prices: Prices | None = None) -> None:
        super().__init__()
        self._tracer = tracer
        self._runs = Runs(spans_of(tracer))
        self._prices = checked_prices(prices)
        self.recording_errors = 0

    # The tracer's part in an evaluation.

    @property
    def project_name(self) -> str:
        """The tracer's project."""
        return "default" if self._tracer is None else self._tracer.project_name

    @property
    def store(self) -> Any:
        """The tracer's store; None without a tracer."""
        return None if self._tracer is None else self._tracer.store

    def capture(self) -> AbstractContextManager[Any]:
        """Record everything inside a block: ``with handler.capture() as captured: …``."""
        return Capture() if self._tracer is None else self._tracer.capture()

    # Graphs, nodes, other runnables.

    @_guarded
    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """A graph, a node or another runnable starts."""
        if HIDDEN in (tags or ()):
            self._runs.pass_over(run_id, parent_run_id)
            return
        is_node = any(tag.startswith("graph:step:") for tag in tags or ())
        state = plain_state(inputs)
        is_mapping = type(state) is dict and all(type(key) is str for key in state)
        run = self._runs.begin(
            run_id,
            parent_run_id,
            name or name_of(serialized) or "chain",
            "node" if is_node else "chain",
            state if is_mapping else {"input": state},
        )
        if is_node:
            self._runs.is_graph(run.parent_id)
        elif run.parent_id is None and (metadata or {}).get("ls_integration") == "langgraph":
            self._runs.is_graph(run_id)
        describe_place(run, tags, metadata)

    @_guarded
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A chain returned."""
        self._runs.end(run_id, output=plain_state(outputs))

    @_guarded
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A chain, a tool, a retriever or a model raised, or a model's answer broke off."""
        self._runs.fail(run_id, error)

    on_tool_error = on_retriever_error = on_llm_error = on_chain_error

    # Tools and retrievers.

    @_guarded
    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: Mapping[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """A tool is called."""
        tool = name_of(serialized) or name or "tool"
        run = self._runs.begin(run_id, parent_run_id, tool, "tool", arguments_of(inputs, input_str))
        run.span.set_attribute(semconv.TOOL_NAME, tool)
        run.span.set_attribute(semconv.SCOPE_NAME, __name__)
        if kwargs.get("tool_call_id") is not None:
            run.span.set_attribute(semconv.TOOL_CALL_ID, kwargs["tool_call_id"])
        describe_place(run, kwargs.get("tags"), kwargs.get("metadata"))

    @_guarded
    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool returned; a failure may have become an answer to the model."""
        content, failure = tool_output(output)
        if failure is None:
            self._runs.end(run_id, output=content)
        else:
            self._runs.fail(run_id, failure, output=content)

    @_guarded
    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """A retriever is called."""
        title = name or name_of(serialized) or "retriever"
        run = self._runs.begin(run_id, parent_run_id, title, "retriever", {"query": query})
        describe_place(run, kwargs.get("tags"), kwargs.get("metadata"))

    @_guarded
    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A retriever returned its documents."""
        self._runs.end(run_id, output=plain_documents(documents))

    # Models.

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """A chat model is asked."""
        self._ask(run_id, parent_run_id, {"messages": messages}, serialized, kwargs)

    def on_llm_start(
        self, serialized: Any, prompts: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A model that completes text is asked."""
        self._ask(run_id, parent_run_id, {"prompts": prompts}, serialized, kwargs)

    @_guarded
    def _ask(
        self,
        run_id: UUID,
        parent_run_id: UUID | None,
        question: dict[str, Any],
        serialized: Any,
        details: Mapping[str, Any],
    ) -> None:
        metadata, parameters = details.get("metadata") or {}, details.get("invocation_params") or {}
        model = metadata.get("ls_model_name") or parameters.get("model") or parameters.get("model_name")
        request = {**({"model": model} if model else {}), **plain_messages(question)}
        if parameters.get("tools"):
            request["tools"] = parameters["tools"]
        title = f"chat {model}" if model else details.get("name") or name_of(serialized) or "chat"
        run = self._runs.begin(run_id, parent_run_id, title, "llm", request)
        run.call = LLMCall(run.span, AnswerReader(), self._prices)
        settings = {
            "temperature": metadata.get("ls_temperature"),
            "max_tokens": metadata.get("ls_max_tokens"),
        }
        run.call.describe(
            metadata.get("ls_provider") or "unknown", ("", None), {**parameters, **settings, "model": model}
        )
        describe_place(run, details.get("tags"), metadata)

    @_guarded
    def on_llm_new_token(self, token: Any, *, run_id: UUID, chunk: Any = None, **kwargs: Any) -> None:
        """A part of the answer arrived."""
        run = self._runs.of(run_id)
        if run is not None and run.call is not None:
            run.call.item(token if chunk is None else chunk)

    @_guarded
    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """The answer is complete."""
        run = self._runs.of(run_id)
        if run is not None and run.call is not None:
            run.call.reply(response)
        self._runs.end(run_id)

    @_guarded
    def on_retry(self, retry_state: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A request is sent again. A node or a tool that is tried again is a new run instead."""
        run = self._runs.of(run_id)
        if run is not None:
            run.span.log(f"attempt {retry_state.attempt_number} failed", label="retry")
