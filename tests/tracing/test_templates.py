"""The four call styles behave, stepped by hand, as the functions behave without us."""

import asyncio
import contextvars
import gc
import threading
import warnings

import pytest
from stored import stored

from agenttrace.core.limits import CAPTURED, Limits
from agenttrace.core.marks import known_part
from agenttrace.tracer import Tracer
from agenttrace.tracing.context import current
from agenttrace.tracing.steps import LIGHT_SIZE


def echo(n=3):
    """Yields what it is sent, says what is thrown at it, returns a value."""
    got = []
    try:
        for i in range(n):
            try:
                got.append((yield i))
            except KeyError as error:
                got.append(f"caught {error}")
    finally:
        got.append("closed")
    return got


def stubborn():
    try:
        yield 1
    except GeneratorExit:
        yield "ignored"


def gentle():
    try:
        yield 1
    except GeneratorExit:
        return "returned"


def broken():
    yield 1
    raise ValueError("late")


def played(function, moves):
    """What each move on a fresh generator gives or raises."""
    generator, told = function(), []
    for name, *arguments in moves:
        try:
            told.append(getattr(generator, name)(*arguments))
        except BaseException as error:
            told.append((type(error), str(error), getattr(error, "value", None)))
    for _ in range(2):  # one that ignores its closing once must not complain later
        try:
            generator.close()
        except RuntimeError as error:
            told.append(str(error))
    return told


NEXT = ("__next__",)
MOVES = {
    "to the end": [NEXT] * 6,
    "sending": [NEXT, ("send", "a"), ("send", "b"), ("send", "c"), ("send", "d")],
    "sending too early": [("send", "a"), NEXT],
    "throwing what is caught": [NEXT, ("throw", KeyError("k")), NEXT, NEXT, NEXT],
    "throwing what is not caught": [NEXT, ("throw", ValueError("v")), NEXT],
    "throwing before the start": [("throw", ValueError("v")), NEXT],
    "throwing a StopIteration": [NEXT, ("throw", StopIteration("s")), NEXT],
    "throwing a GeneratorExit": [NEXT, ("throw", GeneratorExit("g")), NEXT],
    "throwing an interrupt": [NEXT, ("throw", KeyboardInterrupt("i")), NEXT],
    "closing": [NEXT, ("close",), NEXT, ("close",)],
    "closing before the start": [("close",), NEXT],
}


class TestGenerators:
    @pytest.mark.parametrize("function", [echo, stubborn, gentle, broken])
    @pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
    def test_answer_every_move_as_undecorated(self, tracer, function, moves):
        """Scenario 31."""
        with tracer.capture():
            assert played(tracer.observe(function), moves) == played(function, moves)

    def test_can_be_yielded_from(self, tracer):
        """Scenario 31."""
        observed = tracer.observe(echo)

        def outer():
            return (yield from observed(2))

        generator = outer()
        assert (next(generator), generator.send("a")) == (0, 1)
        with pytest.raises(StopIteration) as done:
            generator.send("b")
        assert done.value.value == ["a", "b", "closed"]

    def test_record_items_and_the_value_returned(self, tracer):
        with tracer.capture() as captured:
            list(tracer.observe(echo)(2))
        span = captured.trace.spans[0]
        assert (span.input, span.output, span.status) == ({"n": 2}, [0, 1], "ok")
        assert span.attributes == {"agenttrace.items": 2, "agenttrace.returned": [None, None, "closed"]}

    @pytest.mark.parametrize("end", ["close", "drop"])
    def test_left_early_are_abandoned_with_the_number_of_items(self, tracer, end):
        """Scenario 33."""
        with tracer.capture() as captured:
            generator = tracer.observe(echo)(10)
            assert [next(generator) for _ in range(3)] == [0, 1, 2]
            assert captured.trace.spans == ()
            if end == "close":
                generator.close()
            del generator
            gc.collect()
        span = captured.trace.spans[0]
        assert (span.status, span.output, span.attributes["agenttrace.items"]) == ("abandoned", [0, 1, 2], 3)

    def test_that_return_when_closed_are_abandoned_too(self, tracer):
        with tracer.capture() as captured:
            generator = tracer.observe(gentle)()
            next(generator)
            generator.close()
        assert captured.trace.spans[0].status == "abandoned"

    def test_that_fail_keep_what_they_gave(self, tracer):
        with tracer.capture() as captured, pytest.raises(ValueError, match="late"):
            list(tracer.observe(broken)())
        span = captured.trace.spans[0]
        assert (span.status, span.error.message, span.output) == ("error", "late", [1])
        assert span.attributes["agenttrace.items"] == 1

    def test_never_started_leave_no_span(self, tracer):
        with tracer.capture() as captured:
            tracer.observe(echo)(2)
            gc.collect()
        assert captured.trace.spans == ()

    def test_consumed_in_another_thread_are_one_span(self, tracer):
        """Scenario 34."""
        with tracer.capture() as captured:
            generator, taken = tracer.observe(echo)(4), []
            taken.append(next(generator))
            thread = threading.Thread(target=lambda: taken.extend(generator))
            thread.start()
            thread.join()
        assert taken == [0, 1, 2, 3]
        assert [span.status for span in captured.trace.spans] == ["ok"]

    def test_do_not_leak_their_context_to_whoever_iterates(self, tracer):
        seen = []

        @tracer.observe
        def inner():
            return 1

        @tracer.observe
        def items():
            for _ in range(2):
                inner()
                yield tracer.current_span().name

        @tracer.observe
        def consumer():
            for name in items():
                seen.append((name, tracer.current_span().name))
                inner()

        with tracer.capture() as captured:
            consumer()
        assert seen == [("items", "consumer")] * 2
        spans = {span.span_key: span for span in captured.trace.spans}
        parents = [spans[s.parent_key].name for s in captured.trace.spans if s.name == "inner"]
        assert parents == ["items", "consumer", "items", "consumer"]

    def test_keep_a_thousand_items_and_count_all(self, tracer):
        assert len(list(tracer.observe(echo)(5_000))) == 5_000
        (span,) = stored(tracer)
        assert span.attributes["agenttrace.items"] == 5_000
        assert span.output == [*range(1_000), {"$truncated": 4_000}]

    def test_keep_all_items_inside_a_capture(self, tracer):
        with tracer.capture() as captured:
            list(tracer.observe(echo)(5_000))
        assert captured.trace.spans[0].output == [*range(5_000)]

    def test_keep_what_one_span_has_room_for_and_say_how_many_are_left_out(self):
        tracer = Tracer("test", store="memory", limits=Limits(span=1_000))
        list(tracer.observe(lambda: (item for item in ["a" * 700, 2, "c" * 700, 4]))())
        (span,) = stored(tracer)
        assert span.attributes["agenttrace.items"] == 4
        assert span.output == ["a" * 700, 2, {"$truncated": 2}]

    @pytest.mark.parametrize(
        ("make", "kept"),
        [(int, 99), ("a{}".format, 99), (lambda n: {"n": n}, 79), (lambda n: f"{n:01000}", 3)],
        ids=["number", "text", "mapping", "long text"],
    )
    @pytest.mark.parametrize("is_async", [False, True])
    def test_in_a_capture_keep_what_one_span_has_room_for(self, make, kept, is_async):
        """Not whatever comes, only to find at the end that the trace has no room for all of it."""
        room = 100 * LIGHT_SIZE
        limits = Limits(span=room, trace=room, items=10_000)
        tracer = Tracer("test", store="memory", capture_limits=limits)

        @tracer.observe
        def numbers():
            yield from map(make, range(5_000))

        @tracer.observe
        async def numbers_later():
            for n in range(5_000):
                yield make(n)

        async def consume():
            return [item async for item in numbers_later()]

        with tracer.capture() as captured:
            assert len(asyncio.run(consume()) if is_async else list(numbers())) == 5_000
        assert captured.spans_lightened == 0
        (span,) = captured.trace.spans
        assert span.output == [*map(make, range(kept)), {"$truncated": 5_000 - kept}]

    def test_keep_a_few_light_items_in_whatever_room(self):
        tracer = Tracer("test", store="memory", limits=Limits(span=1))
        list(tracer.observe(echo)(20))
        assert stored(tracer)[0].output == [*range(16), {"$truncated": 4}]

    def test_of_heavy_items_keep_a_bounded_amount(self, tracer):
        @tracer.observe
        def heavy():
            for n in range(1_000):
                yield {"text": str(n) * 50_000}

        with tracer.capture() as captured:
            assert sum(1 for _ in heavy()) == 1_000
        assert captured.spans_lightened == 0
        output = captured.trace.spans[0].output
        assert known_part(output).total == 1_000
        assert len(str(output)) < CAPTURED.value + 1_000

    def test_items_are_recorded_as_they_were_when_given(self, tracer):
        @tracer.observe
        def items():
            yield [1]

        with tracer.capture() as captured:
            for item in items():
                item.clear()
        assert captured.trace.spans[0].output == [[1]]


async def async_echo(n=3):
    got = []
    for i in range(n):
        try:
            got.append((yield i))
            await asyncio.sleep(0)
        except KeyError as error:
            got.append(f"caught {error}")


async def async_stubborn():
    try:
        yield 1
    except GeneratorExit:
        yield "ignored"


async def async_gentle():
    try:
        yield 1
    except GeneratorExit:
        return


async def async_broken():
    yield 1
    raise ValueError("late")


async def async_played(function, moves):
    generator, told = function(), []
    for name, *arguments in moves:
        try:
            told.append(await getattr(generator, name)(*arguments))
        except BaseException as error:
            told.append((type(error), str(error)))
    for _ in range(2):
        try:
            await generator.aclose()
        except (RuntimeError, StopAsyncIteration) as error:
            told.append((type(error), str(error)))
    return told


ANEXT = ("__anext__",)
ASYNC_MOVES = {
    "to the end": [ANEXT] * 5,
    "sending": [ANEXT, ("asend", "a"), ("asend", "b"), ("asend", "c")],
    "throwing what is caught": [ANEXT, ("athrow", KeyError("k")), ANEXT, ANEXT],
    "throwing what is not caught": [ANEXT, ("athrow", ValueError("v")), ANEXT],
    "throwing before the start": [("athrow", ValueError("v")), ANEXT],
    "throwing a GeneratorExit": [ANEXT, ("athrow", GeneratorExit("g")), ANEXT],
    "closing": [ANEXT, ("aclose",), ANEXT],
    "closing before the start": [("aclose",), ANEXT],
}


class TestAsyncGenerators:
    @pytest.mark.parametrize("function", [async_echo, async_stubborn, async_gentle, async_broken])
    @pytest.mark.parametrize("moves", ASYNC_MOVES.values(), ids=ASYNC_MOVES)
    def test_answer_every_move_as_undecorated(self, tracer, function, moves):
        """Scenario 32."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            plain = asyncio.run(async_played(function, moves))
            with tracer.capture():
                assert asyncio.run(async_played(tracer.observe(function), moves)) == plain
        gc.collect()

    def test_record_their_items(self, tracer):
        async def main():
            return [item async for item in tracer.observe(async_echo)(3)]

        with tracer.capture() as captured:
            assert asyncio.run(main()) == [0, 1, 2]
        assert [(s.output, s.status) for s in captured.trace.spans] == [([0, 1, 2], "ok")]

    @pytest.mark.parametrize("end", ["break", "aclose", "drop", "loop ends", "task cancelled", "other task"])
    def test_left_midway_end_once(self, tracer, end):
        """Scenario 32."""
        complaints = []

        async def consume(generator):
            async for _ in generator:
                if end == "task cancelled":
                    await asyncio.sleep(10)
                break

        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
            generator = tracer.observe(slow_to_close)()
            if end == "task cancelled":
                task = asyncio.create_task(consume(generator))
                await asyncio.sleep(0.01)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                await generator.aclose()
                return
            await consume(generator)
            if end == "aclose":
                await generator.aclose()
            elif end == "other task":
                await asyncio.create_task(generator.aclose())
            elif end == "drop":
                del generator
                gc.collect()
                await asyncio.sleep(0.01)
            elif end == "loop ends":
                kept.append(generator)

        async def slow_to_close():
            try:
                for n in range(10):
                    yield n
            finally:
                await asyncio.sleep(0)

        kept = []
        with tracer.capture() as captured:
            asyncio.run(main())
            kept.clear()
            gc.collect()
        (span,) = captured.trace.spans
        assert span.output == [0]
        # Left to the end of the loop, its closing is a task that the loop may still run, or cancel.
        assert span.status == "abandoned" or (end == "break" and span.status == "cancelled")
        assert complaints == []

    def test_fail_with_their_own_error(self, tracer):
        async def main():
            return [item async for item in tracer.observe(async_broken)()]

        with tracer.capture() as captured, pytest.raises(ValueError, match="late"):
            asyncio.run(main())
        assert (captured.trace.spans[0].error.message, captured.trace.spans[0].output) == ("late", [1])


class TestCoroutines:
    def test_keep_parents_apart_across_tasks(self, tracer):
        """Scenario 44: 1,000 tasks of 10 spans each; every parent right, no cross-talk."""

        @tracer.observe
        async def leaf(task, n):
            await asyncio.sleep(0)
            return task

        @tracer.observe
        async def branch(task):
            await asyncio.gather(*(leaf(task, n) for n in range(4)))
            for n in range(4, 9):
                await leaf(task, n)

        async def main():
            await asyncio.gather(*(branch(task) for task in range(1_000)))

        asyncio.run(main())
        spans = stored(tracer)
        assert len(spans) == 10_000
        branches = {span.span_key: span for span in spans if span.name == "branch"}
        leaves = [span for span in spans if span.name == "leaf"]
        assert len(branches) == 1_000
        assert all(branches[s.parent_key].input["task"] == s.input["task"] == s.output for s in leaves)
        assert all(branches[s.parent_key].trace_key == s.trace_key for s in leaves)

    def test_that_are_cancelled_end_as_cancelled_their_parent_does_not(self, tracer):
        """Scenarios 29 and 43."""

        @tracer.observe
        async def child():
            await asyncio.sleep(10)

        @tracer.observe
        async def parent():
            task = asyncio.create_task(child())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return tracer.current_span().name

        with tracer.capture() as captured:
            assert asyncio.run(parent()) == "parent"
        assert {s.name: s.status for s in captured.trace.spans} == {"parent": "ok", "child": "cancelled"}

    def test_in_task_groups_timeouts_and_threads_have_the_right_parent(self, tracer):
        """Scenario 42."""

        @tracer.observe
        async def work(name):
            return name

        @tracer.observe
        def blocking(name):
            return name

        @tracer.observe
        async def agent():
            async with asyncio.TaskGroup() as group:
                group.create_task(work("group"))
            async with asyncio.timeout(5):
                await work("timeout")
            await asyncio.gather(work("gather"), asyncio.to_thread(blocking, "to_thread"))
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, blocking, "executor")
            contextvars.copy_context().run(blocking, "copy_context")
            loop.call_soon(blocking, "call_soon")
            await asyncio.create_task(work("task"))

        with tracer.capture() as captured:
            asyncio.run(agent())
        root, *rest = captured.trace.spans
        assert sorted(s.input["name"] for s in rest) == sorted(
            ["group", "timeout", "gather", "to_thread", "executor", "copy_context", "call_soon", "task"]
        )
        assert {s.parent_key for s in rest} == {root.span_key}

    def test_resumed_in_another_context_are_recorded_and_counted(self, tracer):
        """Scenario 45."""

        class Pause:
            def __await__(self):
                yield

        @tracer.observe
        async def work():
            await Pause()
            return 1

        coroutine = work()
        contextvars.Context().run(coroutine.send, None)
        with pytest.raises(StopIteration):
            contextvars.Context().run(coroutine.send, None)
        assert [span.output for span in stored(tracer)] == [1]
        assert tracer.stats()["foreign_contexts"] == 1
        assert current.get() is None

    def test_a_task_that_starts_its_successor_for_ever_keeps_no_ancestors(self, tracer):
        """Scenario 58: the chain of parents is cut behind what is stored."""
        records = []

        @tracer.observe
        async def link(n):
            if n == 300:
                records.append(current.get())
                return
            await asyncio.to_thread(tracer.flush) if n % 100 == 99 else None
            tasks.append(asyncio.create_task(link(n + 1)))

        async def main():
            await link(0)
            while not records:
                await asyncio.sleep(0.001)

        tasks = []
        asyncio.run(main())
        record, ancestors = records[0], 0
        while record[0] is not None:
            record, ancestors = record[0], ancestors + 1
        assert ancestors < 200
        assert len(stored(tracer)) == 301
