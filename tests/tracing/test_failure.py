"""Exceptions as text, without running any of their code."""

import asyncio
import concurrent.futures

import pydantic
import pytest

from agenttrace.tracing.failure import MAX_MESSAGE, describe, status_of


def raised(error):
    try:
        raise error
    except BaseException as caught:
        return describe(caught)


class Talks(Exception):
    def __str__(self):
        raise SystemExit("code of the exception's ran")

    __repr__ = __getattr__ = __str__


class TestMessages:
    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (ValueError("bad"), "bad"),
            (ValueError(), ""),
            (KeyError("k"), "'k'"),
            (OSError(2, "No such file", "x"), "[Errno 2] No such file: 'x'"),
            (RuntimeError(ValueError("inner")), "inner"),
            (ValueError("a", {"b": 1}), "a, {'b': 1}"),
            (Talks("said"), "said"),
            (Talks(object()), "{'$type': 'object'}"),
            (ExceptionGroup("several", [ValueError(1), KeyError(2)]), "several (2 sub-exceptions)"),
            (
                UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
                "'utf-8' codec can't decode byte 0xff in position 0: bad",
            ),
        ],
        ids=lambda value: str(value) if isinstance(value, str) else type(value).__name__,
    )
    def test_are_what_str_would_say_where_that_is_safe(self, error, message):
        """Scenario 27."""
        assert raised(error).message == message

    def test_of_pydantic_say_which_field(self):
        class Model(pydantic.BaseModel):
            n: int

        with pytest.raises(pydantic.ValidationError) as caught:
            Model(n="x")
        assert "valid integer" in describe(caught.value).message

    def test_of_pydantic_over_a_hostile_value_are_left_out(self):
        class Model(pydantic.BaseModel):
            n: int

        class Rude:
            def __repr__(self):
                raise SystemExit

        with pytest.raises(pydantic.ValidationError) as caught:
            Model(n=Rude())
        assert describe(caught.value).type.endswith("ValidationError")

    @pytest.mark.parametrize(
        "arguments", [("x" * 10_000_000,), ("a", "x" * 10_000_000), ({"a": "x" * 10_000_000},)]
    )
    def test_are_bounded(self, arguments):
        assert len(raised(ValueError(*arguments)).message) < MAX_MESSAGE + 100

    def test_of_exceptions_inside_each_other_end(self):
        error = ValueError()
        error.args = (error,)
        assert raised(error).type == "ValueError"

    def test_of_an_exception_that_hides_its_parts_are_empty(self):
        class Hidden(Exception):
            def __getattribute__(self, name):
                raise SystemExit

        assert raised(Hidden("x")).type.endswith("Hidden")


class TestFrames:
    def test_run_from_the_call_inwards(self):
        def inner():
            raise ValueError

        def outer():
            inner()

        try:
            outer()
        except ValueError as error:
            frames = describe(error).frames
        assert [frame.function.rpartition(".")[2] for frame in frames[1:]] == ["outer", "inner"]
        assert frames[-1].file == __file__

    @pytest.mark.usefixtures("without_collection")
    def test_of_a_deep_recursion_are_bounded(self):
        def dive():
            dive()

        with pytest.raises(RecursionError) as caught:
            dive()
        assert len(describe(caught.value).frames) == 50

    def test_hold_no_frame_alive(self):
        import gc
        import weakref

        class Local:
            pass

        def fails():
            local = Local()
            references.append(weakref.ref(local))
            raise ValueError

        references = []
        try:
            fails()
        except ValueError as error:
            kept = describe(error)
        gc.collect()
        assert kept.frames
        assert references[0]() is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (asyncio.CancelledError(), "cancelled"),
        (concurrent.futures.CancelledError(), "cancelled"),
        (GeneratorExit(), "cancelled"),
        (KeyboardInterrupt(), "error"),
        (type("CancelledError", (Exception,), {"__module__": "mine"})(), "error"),
    ],
)
def test_only_the_real_ways_to_cancel_count_as_cancelled(error, status):
    """Scenario 29."""
    assert status_of(error) == status
