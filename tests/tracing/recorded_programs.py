"""Calls with many kinds of values and ends, and what is stored of each as plain JSON.

The rows in ``recorded_rows.json`` were written by an earlier version: what it recorded is recorded in the
same way now. `write` replaces them, where a difference is meant; the change then says its reason.
"""

import asyncio
import collections
import concurrent.futures
import dataclasses
import datetime
import decimal
import enum
import functools
import hashlib
import json
import pathlib
import re
import uuid

import pydantic

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.limits import Limits
from agenttrace.tracer import Tracer

LONGEST_SHOWN = 200
FILE = pathlib.Path(__file__).with_name("recorded_rows.json")


@dataclasses.dataclass
class Point:
    x: int
    y: int


@dataclasses.dataclass(slots=True)
class Slotted:
    name: str
    parts: list


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Model(pydantic.BaseModel):
    n: int = 1
    inner: dict = {}


class Opaque:
    pass


class Text(str):
    pass


class Own(dict):
    pass


SENTENCE = "The river is known for its bridges, its bread and the colour of its roofs. "


def values():
    """Name and value of everything that is passed."""
    day = datetime.date(2024, 1, 2)
    noon = datetime.datetime(2024, 1, 2, 12, tzinfo=datetime.UTC)
    chat = [
        {"role": "system", "content": SENTENCE * 2},
        {"role": "user", "content": SENTENCE * 4},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "arguments": '{"a": 1}'}]},
        {"role": "tool", "content": SENTENCE, "name": "search"},
    ]
    rows = [{"title": f"Result {n}", "score": n / 5, "text": SENTENCE, "good": n > 2} for n in range(5)]
    deep = "leaf"
    for _ in range(30):
        deep = [deep]
    deep_dict = "leaf"
    for _ in range(30):
        deep_dict = {"a": deep_dict}
    deepest = []
    for _ in range(5_000):
        deepest = [deepest]
    cycle = {"a": [1], "text": "x" * 300}
    cycle["a"].append(cycle)
    list_cycle = [[1], 2]
    list_cycle[0].append(list_cycle)
    shared = {"k": "v"}
    return {
        "scalars": [
            None,
            True,
            False,
            0,
            -1,
            2**53,
            2**60,
            10**40,
            1.5,
            -0.0,
            float("inf"),
            float("nan"),
            "",
        ],
        "text": "héllo",
        "text of 256": "x" * 256,
        "text of 257": "x" * 257,
        "text at the limit": "x" * (128 * 1024),
        "text over the limit": "x" * (128 * 1024 + 1),
        "text over a megabyte": "x" * (1024 * 1024 + 1),
        "non-ASCII text over the limit": "é" * 200_000,
        "surrogate": "a\ud800b",
        "bytes": b"\x00\xff",
        "long bytes": b"\x00\xff" * 3_000,
        "bytearray": bytearray(b"abc"),
        "empty list": [],
        "empty dict": {},
        "empty tuple": (),
        "flat dict": {"city": "Paris", "days": 2, "hourly": False, "none": None, "share": 0.5},
        "flat dict with a long text": {"role": "assistant", "content": SENTENCE * 4, "n": 1},
        "flat dict with a text over the limit": {"role": "assistant", "content": "x" * 200_000},
        "flat dict of 16": {f"k{n}": n for n in range(16)},
        "flat dict of 17": {f"k{n}": n for n in range(17)},
        "flat dict with odd keys": {1: "e", None: "b", 1.5: "c", (1, 2): "d"},
        "flat dict with keys like marks": {"$type": "x", "long": "y" * 300},
        "flat dict that is a mark": {"$truncated": 7},
        "nested mark": [{"$truncated": 7}, {"$type": "x"}, {"a": {"$float": "NaN"}}],
        "mark with a long text": {"$type": "x" * 300},
        "flat dict with a large int": {"n": 2**60, "long": "x" * 300},
        "flat dict with a surrogate": {"a\ud800": "b\ud800", "long": "x" * 300},
        "flat dict with a long key": {"k" * 500: 1},
        "flat dict of floats": {"a": float("nan"), "b": float("-inf"), "long": "x" * 300},
        "list of 16 scalars": [*range(16)],
        "list of long texts": [SENTENCE * 5, "short", None, 5],
        "tuple of long texts": (SENTENCE * 5, "short"),
        "list with a text over the limit": ["x" * 200_000, 1],
        "chat": chat,
        "chat in a tuple": tuple(chat),
        "chat in a dict": {"messages": chat, "model": "m", "temperature": 0.5, "stop": []},
        "search results": rows,
        "list of lists": [[1, 2], ["a", "b"], [], [None]],
        "list of tuples": [(1, "a"), (2, "b")],
        "list of dicts with marks": [{"$type": "x", "n": 1}, {"$truncated": 3}, {"n": 2**60}],
        "list of dicts with odd keys": [{1: "a"}, {(1, 2): "b"}, {"a": 1, 1: 2}],
        "list of dicts of bytes": [{"a": b"abc"}, {"b": bytearray(b"x")}],
        "dict of dicts": {"a": {"b": {"c": {"d": [1, {"e": 2}]}}}, "z": {}},
        "dict of lists": {"tags": ["a", "b"], "numbers": [1, 2.5, None], "empty": []},
        "the same dict twice": [shared, shared, [shared]],
        "set": {3, 1, 2},
        "set of texts": {"b", "a", "c" * 300},
        "set of points": [frozenset({1, "a"}), {Color.RED}],
        "nested sets": {"a": {1, 2}, "b": frozenset({"x"})},
        "deque": collections.deque([1, {"a": 2}]),
        "ordered dict": collections.OrderedDict(b=1, a=2),
        "default dict": collections.defaultdict(list, a=[1]),
        "named tuple": collections.namedtuple("Pair", "a b")(1, "x"),
        "own dict": Own(a=1),
        "own text": Text("abc"),
        "list of own texts": [Text("abc"), {"a": Text("d" * 300)}],
        "date": day,
        "moment": noon,
        "list with a date": [day, "a", 1],
        "dict with a date": {"when": day, "n": 1},
        "rows with dates": [{"n": n, "when": day} for n in range(5)],
        "list with enums": [Color.RED, Level.HIGH, "a"],
        "rows with enums": [{"color": Color.RED, "level": Level.HIGH}],
        "list with a dataclass": [Point(1, 2), "a", 1],
        "rows with dataclasses": [{"at": Point(1, 2)}, {"at": Slotted("s", [1, {"a": 2}])}],
        "list with a model": [Model(), "a"],
        "rows with models": [{"m": Model(n=2, inner={"a": [1]})}],
        "list with a decimal": [decimal.Decimal("1.10"), 1],
        "list with a uuid": [uuid.UUID(int=1), 1],
        "list with a path": [pathlib.PurePosixPath("/a/b"), datetime.timedelta(1)],
        "list with an object": [Opaque(), len, Opaque, re.compile("a+"), range(3)],
        "dict with an object": {"a": Opaque(), "b": [Opaque()]},
        "keys that are objects": [{Color.RED: 1, "red": 2}, {day: 1}],
        "dataclass": Point(1, 2),
        "model": Model(n=2, inner={"a": Point(1, 2)}),
        "many dates": [day] * 200,
        "many points": [Point(n, n) for n in range(200)],
        "deep list": deep,
        "deep dict": deep_dict,
        "deepest": deepest,
        "cycle": cycle,
        "list cycle": list_cycle,
        "1,500 numbers": [*range(1_500)],
        "1,500 rows": [{"id": n, "text": "row" * 10} for n in range(1_500)],
        "200,000 numbers": [*range(200_000)],
        "dict of 1,500": {f"k{n}": n for n in range(1_500)},
        "400 records": [
            {"title": f"R {n}", "tags": ["a", "b"], "author": {"name": f"A {n}", "n": n}} for n in range(400)
        ],
        "texts that are too long together": ["a" * 1_000] * 200,
        "rows that are too long together": [{"t": "a" * 1_000, "n": n} for n in range(200)],
        "rows that are far too long together": [{"t": str(n) * 200, "n": n} for n in range(900)],
        "few rows of long texts": [{"t": str(n) * 30_000} for n in range(6)],
        "many rows of long texts": [{"t": str(n) * 30_000} for n in range(12)],
        "a huge text inside": {"a": ["x" * 5_000_000]},
        "a huge non-ASCII text inside": {"a": ["é" * 5_000_000]},
        "a non-ASCII text over the limit inside": {"a": ["é" * 140_000]},
        "a text over the limit inside": {"a": {"b": ["x" * 140_000]}},
        "a huge number inside": {"a": [1 << 200_000]},
        "a large number inside": {"a": [1 << 5_000, 10**30]},
        "wide lists": [[0] * 131_072 for _ in range(200)],
        "secrets": {"password": "hunter2", "nested": [{"api_key": "abc", "n": 1}]},
        "a secret in a text": [{"content": "Bearer abcdefghijklmnop1234 it is" + "x" * 300}],
    }


def ends():
    """Name and function of every way in which a call ends."""

    def returns():
        return {"role": "assistant", "content": SENTENCE * 4}

    def inner():
        raise LookupError("inner", 3)

    def outer():
        inner()

    def chained():
        try:
            inner()
        except LookupError as error:
            raise ValueError("outer") from error

    def recursion(n=0):
        return recursion(n + 1)

    def invalid():
        Model(n="x")

    class Talks(Exception):
        def __str__(self):
            return "never asked"

    class Several(Exception):
        def __init__(self, code, message):
            super().__init__(message)
            self.code = code

    class Name:
        def __init__(self, text):
            self.text = text

    def raising(error):
        def raises():
            raise error

        return raises

    errors = {
        "ValueError": ValueError("bad"),
        "no arguments": ValueError(),
        "two arguments": ValueError("a", 1),
        "a number": ValueError(7),
        "a float": RuntimeError(1.5),
        "None": RuntimeError(None),
        "bytes": RuntimeError(b"abc"),
        "a long text": ValueError("x" * 10_000),
        "a surrogate": ValueError("a\ud800b"),
        "a long text among others": ValueError("a", "x" * 10_000),
        "true": ValueError(True),
        "a large number": ValueError(10**30),
        "a list": ValueError(["a", {"b": 1}]),
        "an object": ValueError(Opaque()),
        "an exception": RuntimeError(ValueError("inner")),
        "KeyError": KeyError("k"),
        "KeyError of a tuple": KeyError(("a", 1)),
        "OSError": OSError(2, "No such file", "x"),
        "FileNotFoundError": FileNotFoundError(2, "No such file", "x"),
        "StopIteration": StopIteration(3),
        "SystemExit": SystemExit(3),
        "KeyboardInterrupt": KeyboardInterrupt(),
        "GeneratorExit": GeneratorExit(),
        "CancelledError": asyncio.CancelledError("enough"),
        "futures' CancelledError": concurrent.futures.CancelledError(),
        "a class of ours": AgentTraceError("ours"),
        "with a text of its own": Talks("said", 2),
        "with more fields": Several(3, "message"),
        "a group": ExceptionGroup("several", [ValueError(1), KeyError(2)]),
        "UnicodeDecodeError": UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        "ImportError": ImportError("no module", name="x"),
        "SyntaxError": SyntaxError("wrong", ("f.py", 3, 1, "x y")),
        "a secret": ValueError("Bearer abcdefghijklmnop1234 it is"),
        "an own text": ValueError(Text("abc")),
        "a name": NameError("no", name="x"),
    }
    return {
        "returns": returns,
        "nested": outer,
        "chained": chained,
        "recursion": recursion,
        "pydantic": invalid,
        **{f"raises {name}": raising(error) for name, error in errors.items()},
    }


def generators():
    """Name and function of generators, with how many items are taken."""

    def few():
        yield 1
        yield "two"
        return 3

    def none():
        return
        yield

    def heavy():
        yield {"role": "user", "content": SENTENCE * 5}
        yield "light"
        yield [1, 2]
        yield {"n": 1}
        yield Point(1, 2)
        yield "x" * 200_000

    def many():
        yield from range(1_200)

    def sixteen():
        yield from ("é\ud800", *range(15))

    def seventeen():
        yield from range(17)

    def floats():
        yield float("nan")
        yield 2**60
        yield None
        yield True

    def fails():
        yield 1
        raise ValueError("late")

    def secrets():
        yield "Bearer abcdefghijklmnop1234"
        return {"password": "x"}

    return {
        "few": (few, 9),
        "few, left": (few, 1),
        "none": (none, 9),
        "heavy": (heavy, 9),
        "many": (many, 2_000),
        "many, left": (many, 1_100),
        "sixteen": (sixteen, 99),
        "seventeen": (seventeen, 99),
        "floats": (floats, 9),
        "fails": (fails, 9),
        "secrets": (secrets, 9),
    }


LIMITS = {
    "": Limits(),
    "small: ": Limits(value=500, span=2_000, items=5, depth=3, bytes=10),
    "middle: ": Limits(value=5_000, span=6_000, items=50),
}


def rows():
    """``{name of the program: [row, …]}``; each program's calls are made alone and inside a capture."""
    found = {}
    for prefix, limits in LIMITS.items():
        for name, run in _programs():
            found[prefix + name] = _recorded(run, limits)
    return found


def _programs():
    for name, value in values().items():
        yield f"value: {name}", functools.partial(_pass, value)
    for name, function in ends().items():
        yield f"end: {name}", functools.partial(_call, function)
    for name, (function, taken) in generators().items():
        yield f"generator: {name}", functools.partial(_take, function, taken)
        yield f"async generator: {name}", functools.partial(_take_async, function, taken)
    yield "coroutine: returns", functools.partial(_await, ends()["returns"])
    yield "coroutine: raises", functools.partial(_await, ends()["nested"])
    yield "nested calls", _nested
    yield "block", _block


def _pass(value, tracer):
    tracer.observe(lambda given, other=1: given, name="passes", span_type="tool")(value)
    tracer.observe(lambda *args, **options: None, name="takes any")(value, 1, option=value)


def _call(function, tracer):
    try:
        tracer.observe(function, name="ends")()
    except BaseException as error:
        error.__traceback__ = None


def _take(function, taken, tracer):
    made = tracer.observe(function, name="yields")()
    try:
        for _ in zip(range(taken), made, strict=False):
            pass
        made.close()
    except ValueError:
        pass


def _take_async(function, taken, tracer):
    @functools.wraps(function)
    async def stream():
        for item in function():
            yield item

    async def main():
        made, count = tracer.observe(stream, name="streams")(), 0
        try:
            async for _ in made:
                count += 1
                if count == taken:
                    break
            await made.aclose()
        except ValueError:
            pass

    asyncio.run(main())


def _await(function, tracer):
    async def awaited():
        await asyncio.sleep(0)
        return function()

    try:
        asyncio.run(tracer.observe(awaited)())
    except LookupError:
        pass


def _nested(tracer):
    @tracer.observe
    def dive(depth):
        if depth == 0:
            raise ValueError("bottom")
        return dive(depth - 1)

    try:
        dive(5)
    except ValueError:
        pass


def _block(tracer):
    with tracer.span("block", input={"a": [1]}) as span:
        span.output = [{"b": SENTENCE * 5}]
        span.set_attribute("value", {"a": [Point(1, 2)]})
    try:
        with tracer.span("failing"):
            raise KeyError("k")
    except KeyError:
        pass


def _recorded(run, limits):
    tracer = Tracer("rows", store="memory", limits=limits, capture_limits=limits)
    try:
        run(tracer)
        assert tracer.flush(60)
        spans = [
            span
            for summary in tracer.store.traces(limit=100)
            for span in tracer.store.trace(summary.trace_id).spans
        ]
        assert not tracer.stats()["recording_errors"]
    finally:
        tracer.shutdown()
    with tracer.capture() as captured:
        run(tracer)
    shown = [_shown(spans, span) for span in sorted(spans, key=lambda span: (span.start_ns, span.index))]
    in_capture = [_shown(captured.trace.spans, span) for span in captured.trace.spans]
    return shown if shown == in_capture else [*shown, "in a capture", *in_capture]


def _shown(spans, span):
    names = {one.span_key: one.name for one in spans}
    row = {
        "name": span.name,
        "type": span.span_type,
        "parent": names.get(span.parent_key),
        "input": span.input,
        "output": span.output,
        "status": span.status,
        "attributes": {**span.attributes},
        "error": span.error and [span.error.type, _message(span.error), [*map(_frame, span.error.frames)]],
    }
    return {key: _short(value) for key, value in row.items() if value not in (None, {})}


def _message(error):
    """An exception's message, without what depends on the versions of Python and pydantic."""
    return "too deep" if error.type == "RecursionError" else re.sub(r"https://\S+", "URL", error.message)


def _frame(frame):
    """Where a frame is, without the line: lines of this file move."""
    return f"{pathlib.Path(frame.file).name} {frame.function} {frame.line > 0}"


def _short(value):
    text = json.dumps(value, ensure_ascii=True)
    if len(text) <= LONGEST_SHOWN:
        return value
    return f"{text[:60]}… {len(text)} characters, {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def write():
    """Replace the file with the rows as they are now."""
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in rows().items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
