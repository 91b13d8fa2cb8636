"""What the tests of this room share: a tracer with a short word for tools."""

from tests.evaluation.evaluation_fakes import tracer

__all__ = ["tracer"]
