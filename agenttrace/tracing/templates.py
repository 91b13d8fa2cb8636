"""The source of the generated wrappers: one for each call style, filled in for each signature.

Why source text: a wrapper that has the very parameters of the function it wraps lets the interpreter bind
arguments and defaults, which costs nothing, where ``*args, **kwargs`` with `Signature.bind` costs more than
all the rest of recording together (figures in benchmarks/RESULTS.md). `inspect`, ``TypeError: tool() missing
…`` and methods then also behave as without us. Names of ours begin with ``_at_``, those of builtins too: the
function may well have a parameter ``type``.

The user's call stands outside every ``try`` of ours but the one that ends the record and restores the
context. That one holds everything from the change of the context on, because the exception of a signal
handler may arrive after any call, those of ours too: whatever it interrupts, the context is restored, and a
record that has no end yet is ended with it. So the end of a record is set last, when nothing but the append
is left to do.
"""

from __future__ import annotations

import textwrap

# Position 1 of a record is its scope (None: not recorded), 5 the arguments, 6 the end, 7 the output.
# _at_b is what was running before, for a context that was changed without a token of it being kept.

BEGIN = """
    _at_b = _at_p = _at_get()
    if _at_p is None:
        _at_p = _at_root(_at_observed)
    _at_s = _at_p[1]
"""

RECORD = """
        _at_r = [_at_p, _at_s, _at_observed, _at_s.next(), _at_clock(), {arguments}, 0, None, None, None]
{freeze}"""

FREEZE = """
        if not ({light}):
            _at_r[5] = _at_freeze(_at_s, _at_r[5])
"""

# Where no memory is left: without a token the function has not been called; with a result, it has returned.
# Only what most calls do returns from inside a `try` with a `finally`: each such return copies all of that.
FAILED = """
    except _at_BaseException as _at_e:
        _at_x = True
        if _at_type(_at_e) is _at_MemoryError:
            if _at_t is None:
                _at_partly(_at_s, _at_e)
                _at_o = {awaits}_at_function({{call}})
                _at_x = False
            else:
                try:
                    _at_o = _at_end_without_memory(_at_r, _at_o, _at_e)
                    _at_x = False
                except _at_UnboundLocalError:  # the function's own
                    pass
        if _at_x:
            try:
                if _at_r is not None:
                    _at_fail(_at_r, _at_e)
            except _at_RecursionError:  # no stack left to describe it
                try:
                    if not _at_r[6]:
                        _at_r[8] = _at_failed
                        _at_r[6] = _at_clock()
                        _at_s.queue.append(_at_r)
                except _at_RecursionError:
                    pass
            raise
"""

EMIT = """
        if {light_output}:
            _at_q = _at_s.queue
            _at_r[7] = {output}
            if _at_len(_at_q) < _at_s.limit:
                _at_r[6] = _at_clock()
                _at_q.append(_at_r)
            else:
                _at_r[6] = _at_clock()
                _at_s.pipeline.queue_full.add()
"""

RESTORE = """
        try:
            _at_reset(_at_t)
        except _at_ValueError as _at_e:  # resumed in another context, which never had our value
            _at_foreign_context(_at_r, _at_e)
        except _at_TypeError:
            if _at_t is not None:  # a signal handler's
                raise
            if _at_get() is _at_r:  # interrupted before there was a token
                _at_set(_at_b)
        except _at_MemoryError as _at_e:
            _at_partly(_at_r[1], _at_e)
"""

FUNCTION = (
    """
def _at_wrapper({parameters}):
"""
    + BEGIN
    + """
    if _at_s is None:
        if _at_b is _at_p:
            return _at_function({call})
        _at_t = None
        _at_r = _at_p
        try:
            _at_t = _at_set(_at_p)
            _at_o = _at_function({call})
        finally:
"""
    + textwrap.indent(RESTORE, "    ")
    + """
        return _at_o
    _at_r = _at_t = None
    try:
"""
    + RECORD
    + """
        _at_t = _at_set(_at_r)
        _at_o = _at_function({call})
"""
    + EMIT
    + """
            return _at_o
        try:
            _at_o = _at_deliver(_at_r, _at_o)
        except _at_RecursionError:  # no stack left for the output; the call itself had enough
            if not _at_r[6]:
                _at_r[6] = _at_clock()
                _at_s.queue.append(_at_r)
"""
    + FAILED.format(awaits="")
    + """
    finally:
"""
    + RESTORE
    + """
    return _at_o
"""
)

COROUTINE = (
    """
async def _at_wrapper({parameters}):
"""
    + BEGIN
    + """
    _at_r = _at_t = None
    if _at_s is None:
        if _at_b is _at_p:
            return await _at_function({call})
        _at_r = _at_p
        try:
            _at_t = _at_set(_at_p)
            _at_o = await _at_function({call})
        finally:
"""
    + textwrap.indent(RESTORE, "    ")
    + """
        return _at_o
    try:
"""
    + RECORD
    + """
        _at_t = _at_set(_at_r)
        _at_o = await _at_function({call})
"""
    + EMIT
    + """
            return _at_o
        _at_succeed(_at_r, _at_o)
"""
    + FAILED.format(awaits="await ")
    + """
    finally:
"""
    + RESTORE
    + """
    return _at_o
"""
)

BEGIN_STEPS = """
    _at_n = _at_h = _at_m = 0
    _at_k = ()
    _at_c = _at_j = _at_t = None
    try:
        _at_k = []
        _at_m = {keep}
    except _at_MemoryError as _at_f:
        _at_partly(_at_r[1], _at_f)
"""

# Under the record, or without it where no memory is left for that. `_at_n` counts the steps that were begun.
ENTER = """
                try:
                    _at_n += 1
                    _at_t = _at_set(_at_r)
                except _at_MemoryError as _at_f:
                    _at_partly(_at_r[1], _at_f)
"""

END_STEPS = """
                try:
                    _at_end(_at_r, _at_k, _at_h, _at_n - 1, {value}, {error})
                except _at_MemoryError as _at_f:
                    _at_partly(_at_r[1], _at_f)
"""

LEFT = (
    """
            except _at_BaseException as _at_e:
                {nothing_left}
"""
    + END_STEPS.format(value="None", error="_at_e")
    + """
                raise
            finally:
"""
)

# What is light may be held while the generator waits; of anything else the consumer has the only reference.
YIELD = (
    textwrap.indent(RESTORE, "        ")
    + """
            try:
                if _at_n <= _at_m and ({light_item}):
                    _at_k.append(_at_i)
                else:
                    _at_j = True
                    if _at_n <= _at_m:
                        _at_m, _at_h = _at_note(_at_r, _at_k, _at_h, _at_i, _at_m)
            except _at_MemoryError as _at_f:
                _at_j = _at_m = 0
                _at_partly(_at_r[1], _at_f)
            try:
                _at_v = yield (_at_i, _at_i := None, _at_j := False)[0] if _at_j else _at_i
            except _at_GeneratorExit as _at_e:"""
)

# The context is set and restored round each step, never held across a yield: it must not leak to whoever
# iterates. A call that is not recorded is stepped the same way, under OFF, so that nothing below it is.
# Whatever is sent or thrown in goes through to the generator itself, GeneratorExit too: it decides what comes
# of it, as it would without us. Only its own steps stand outside a `try` for lack of memory.
GENERATOR_STEPS = (
    BEGIN_STEPS
    + """
    _at_x = _at_v = None
    try:
        while True:
            try:
"""
    + ENTER
    + """
                _at_i = _at_g.send(_at_v) if _at_x is None else _at_g.throw((_at_x, _at_x := None)[0])
                _at_v = None
            except _at_StopIteration as _at_e:
                _at_o = _at_e.value
"""
    + END_STEPS.format(value="_at_o", error="_at_c")
    + """
                _at_x = _at_v = _at_c = None
                return _at_o
"""
    + LEFT.replace("{nothing_left}", "_at_x = _at_v = _at_c = None")
    + YIELD
    + """
                _at_x = _at_c = _at_e
            except _at_BaseException as _at_e:
                _at_x = _at_e
            _at_t = None
            _at_b = _at_get()
    except _at_BaseException as _at_e:  # a signal handler's, between two steps
        _at_end(_at_r, _at_k, _at_h, _at_n, None, _at_e)
        raise
"""
)

ASYNC_GENERATOR_STEPS = (
    BEGIN_STEPS
    + """
    try:
        _at_w = _at_first_step(_at_g)
    except _at_MemoryError as _at_f:
        _at_partly(_at_r[1], _at_f)
        _at_w = _at_g.asend(None)
    try:
        while True:
            try:
"""
    + ENTER
    + """
                _at_i = await _at_w
                _at_w = _at_v = None
            except _at_StopAsyncIteration:
"""
    + END_STEPS.format(value="None", error="_at_c")
    + """
                _at_w = _at_c = None
                return
"""
    + LEFT.replace("{nothing_left}", "_at_w = _at_c = None")
    + YIELD
    + """
                _at_c = _at_e
                _at_w = _at_g.athrow(_at_e)
            except _at_BaseException as _at_e:
                _at_w = _at_g.athrow(_at_e)
            else:
                _at_w = _at_g.asend(_at_v)
            _at_t = None
            _at_b = _at_get()
    except _at_BaseException as _at_e:
        _at_end(_at_r, _at_k, _at_h, _at_n, None, _at_e)
        raise
"""
)

_STEPPED = (
    """
    _at_s = _at_b = None
    try:
"""
    + textwrap.indent(BEGIN, "    ")
    + """
        if _at_s is None:
            _at_r = _at_p
        else:
            _at_r = [_at_p, _at_s, _at_observed, _at_s.next(), _at_clock(), {arguments}, 0, None, None, None]
            if not ({light}):
                _at_r[5] = _at_freeze(_at_s, _at_r[5])
    except _at_MemoryError as _at_f:
        _at_r = _at_off
        _at_partly(_at_s, _at_f)
    _at_g = _at_function({call})
"""
)

GENERATOR = "\ndef _at_wrapper({parameters}):\n" + _STEPPED + GENERATOR_STEPS
ASYNC_GENERATOR = "\nasync def _at_wrapper({parameters}):\n" + _STEPPED + ASYNC_GENERATOR_STEPS

FACTORY = """
def _at_make(_at_function, _at_observed):
{wrapper}
    return _at_wrapper
"""

# The same steps under a record that is already open: for what a plain function returned to be consumed later.
_UNDER = "def _at_wrapper(_at_r, _at_g):\n    _at_b = _at_get()\n"
GENERATOR_UNDER = "\n" + _UNDER + GENERATOR_STEPS
ASYNC_GENERATOR_UNDER = "\nasync " + _UNDER + ASYNC_GENERATOR_STEPS
COROUTINE_UNDER = (
    """
async def _at_wrapper(_at_r, _at_g):
    _at_t = None
    _at_b = _at_get()
    try:
        _at_t = _at_set(_at_r)
        _at_o = await _at_g
        _at_succeed(_at_r, _at_o)
        return _at_o
    except _at_BaseException as _at_e:
        _at_fail_here(_at_r, _at_e)
        raise
    finally:
"""
    + RESTORE
)
