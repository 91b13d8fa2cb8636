"""Import every module, record, store, read back, evaluate and end, as one script.

``python portable_child.py traces.db`` needs the package and its dependencies, no more, so it also shows
whether another interpreter works. Further arguments name what is taken away first, as if the system had none
of it: a module (``fcntl``), or an attribute of one (``os.fork``).
"""

import asyncio
import importlib
import logging
import pkgutil
import sys
import threading


def take_away(name):
    """Make ``import fcntl`` fail, or ``os.fork`` an AttributeError."""
    module, _, attribute = name.partition(".")
    if attribute:
        delattr(importlib.import_module(module), attribute)
    else:
        sys.modules[module] = None


def import_everything():
    """Import all modules; only those whose extra is not installed may refuse."""
    import agenttrace

    for module in pkgutil.walk_packages(agenttrace.__path__, "agenttrace."):
        try:
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
        except agenttrace.MissingDependency as error:
            print(f"not installed: {error}")


def use(path):
    """Record, evaluate offline and online, read back."""
    from agenttrace import Example, Tracer, run_evaluation
    from agenttrace.cli.main import cli
    from agenttrace.process.search_process import search_process
    from agenttrace.scorers import RegexScorer, ToolOrderScorer
    from agenttrace.store import open_store

    tracer = Tracer("portable", store=path)
    handles = []

    @tracer.observe(span_type="tool")
    def search(city):
        return f"{city} museum"

    @tracer.observe
    async def run_agent(city):
        await asyncio.sleep(0)
        thread = threading.Thread(target=search, args=(city,))
        thread.start()
        thread.join()
        return f"{city} has a museum"

    @tracer.observe
    def serve(city):
        search(city)
        example = Example(actual_output=f"{city} has a museum", expected_tools=["search"])
        handles.append(tracer.async_evaluate(scorers=scorers, example=example))

    scorers = [ToolOrderScorer(), RegexScorer("(m[aeiou]+)+seum|museum")]
    example = Example(input={"city": "Paris"}, expected_tools=["search"])
    report = run_evaluation([example], scorers, function=run_agent, tracer=tracer)
    assert [result.success for result in report] == [True], str(report)
    print("searched by:", "this process" if search_process._child is None else "a child")

    serve("Rome")
    assert [score.passed for handle in handles for score in handle.result(timeout=30)] == [True, True]
    assert tracer.flush(timeout=30)

    store = open_store(path)
    assert sorted(line.name for line in store.traces()) == ["run_agent", "serve"]
    assert len(list(store.runs())) == 1
    for line in store.traces():
        trace = store.trace(line.trace_id)
        assert [call.name for call in trace.tool_calls] == ["search"]
        assert len(store.scores(line.trace_id)) == 2
    cli(["traces", "list", "--store", path], standalone_mode=False)
    assert tracer.shutdown(timeout=30)


if __name__ == "__main__":
    _, path, *absent = sys.argv
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # -X dev: no word of slow steps
    for name in absent:
        take_away(name)
    import_everything()
    use(path)
    print("done")
