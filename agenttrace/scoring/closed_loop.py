"""What to do where a client is bound to an event loop that is closed."""

from __future__ import annotations

ADVICE = (
    "A client or a connection is bound to the event loop on which it was used first, and that one is closed. "
    "Make it in the function or fixture that uses it; or keep one loop for all tests: "
    'loop_scope="session" at the marker of pytest-asyncio'
)
_MOST_CAUSES = 20


def advice_for(error: BaseException | None) -> str:
    """What to do about an error that a closed loop caused, directly or not; empty for any other."""
    for _ in range(_MOST_CAUSES):
        if error is None:
            break
        if type(error) is RuntimeError and error.args == ("Event loop is closed",):
            return ADVICE
        error = error.__cause__ or error.__context__
    return ""
