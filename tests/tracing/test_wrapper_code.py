"""Wrappers of one shape share compiled code, in which the parameters get each function's own names."""

import __future__

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.tracing import wrapper
from agenttrace.tracing.signature import code_parameters
from agenttrace.tracing.wrapper import source_of

_AS_IN_THE_MODULE = __future__.annotations.compiler_flag
"""A wrapper's code has the flags of the module that compiles it, and is kept for all of its shape."""
NAMES = ["city", "days", "self", "type", "args", "kwargs", "observed", "e", "_at", "Ünï"]


@st.composite
def functions(draw):
    """The source of a function with any kinds of parameters, and the names of these."""
    names = draw(st.permutations(NAMES))
    positional, ordinary, keyword = (draw(st.integers(0, 2)) for _ in range(3))
    defaults = draw(st.integers(0, positional + ordinary))
    parts = [f"{name}" for name in names[: positional + ordinary]]
    for at in range(len(parts) - defaults, len(parts)):
        parts[at] += f"={at}"
    if positional:
        parts.insert(positional, "/")
    rest = names[positional + ordinary :]
    has_rest, has_options = draw(st.booleans()), draw(st.booleans())
    if has_rest:
        parts.append("*" + rest[0])
    elif keyword:
        parts.append("*")
    parts += [name + draw(st.sampled_from(["", "=7"])) for name in rest[1 : keyword + 1]]
    if has_options:
        parts.append("**" + rest[keyword + 1])
    style = draw(st.sampled_from(["def", "async def", "generator", "async generator"]))
    begin = style.replace("async generator", "async def").replace("generator", "def")
    body = "yield 1" if "generator" in style else "return 1"
    return f"{begin} function({', '.join(parts)}):\n    {body}"


def made(source):
    found = {}
    exec(source, found)
    return found["function"]


def wrapper_code(source):
    """The code of the wrapper that a whole source defines."""
    factory = compile(source, "source", "exec", flags=_AS_IN_THE_MODULE).co_consts[0]
    return next(constant for constant in factory.co_consts if inspect.iscode(constant))


@settings(max_examples=200, deadline=None)
@given(source=functions(), options=st.sampled_from([{}, {"capture_input": False}, {"capture_output": False}]))
def test_the_code_is_what_its_printed_source_compiles_to(source, options):
    from agenttrace.tracer import Tracer

    observed = Tracer("code", store="memory").observe(made(source), **options)
    code, compiled = observed.__code__, wrapper_code(source_of(observed))
    for part in (
        *("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_exceptiontable"),
        *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_nlocals", "co_stacksize", "co_flags"),
    ):
        assert getattr(code, part) == getattr(compiled, part), part
    assert [one for one in code.co_consts if one != "x"] == [one for one in compiled.co_consts if one != "x"]
    assert [*code.co_lines()] == [*compiled.co_lines()]


@settings(max_examples=200, deadline=None)
@given(source=functions())
def test_parameters_are_read_from_the_code_as_inspect_reads_them(source):
    function = made(source)
    assert code_parameters(function) == [*inspect.signature(function).parameters.values()]


def test_functions_of_one_shape_are_compiled_once(tracer, monkeypatch):
    compiled = []

    def counted(*given):
        compiled.append(given)
        return compile(*given, flags=_AS_IN_THE_MODULE)

    monkeypatch.setattr(wrapper, "compile", counted, raising=False)
    for number in range(20):
        tracer.observe(made(f"def function(one{number}, two{number}=2, *, three_{number}): pass"))
    assert len(compiled) <= 1


def test_names_of_sources_tell_call_styles_and_shapes_apart(tracer):
    sources = [
        "def function(a): return 1",
        "def function(b): return 1",
        "def function(a=1): return 1",
        "def function(*a): return 1",
        "def function(*, a): return 1",
        "def function(a, /): return 1",
        "async def function(a): return 1",
        "def function(a): yield 1",
        "async def function(a): yield 1",
    ]
    names = [tracer.observe(made(source)).__code__.co_filename for source in sources]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("call", ["function(1, c=3)", "function(1, 2, 4, c=3, d=5)", "function(a=1, c=3)"])
def test_arguments_are_passed_on_under_their_own_names(tracer, call):
    function = made("def function(a, b=2, *rest, c, **more): return (a, b, rest, c, more)")
    observed = tracer.observe(function)
    assert eval(call, {"function": observed}) == eval(call, {"function": function})
