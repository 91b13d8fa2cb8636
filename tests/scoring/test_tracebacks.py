from agenttrace.scoring.apply import last_line, users_traceback
from agenttrace.scoring.isolation import Isolation


def raised(function):
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("it should raise")


def agent():
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise ValueError("outer") from error


def test_causes_and_the_users_frames_are_kept_ours_are_not(tracer):
    text = users_traceback(raised(tracer.observe(agent)))
    assert "KeyError: 'inner'" in text
    assert "ValueError: outer" in text
    assert text.count("in agent") == 2
    assert "agenttrace/" not in text
    assert "<agenttrace" not in text


def test_groups_keep_their_parts():
    def group():
        raise ExceptionGroup("both", [raised(agent), TypeError("x")])

    text = users_traceback(raised(group))
    assert "ValueError: outer" in text
    assert "TypeError: x" in text


def test_an_endless_chain_of_causes_ends():
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert "ValueError: a" in users_traceback(first)


def test_an_error_inside_the_engine_alone_still_says_what_it_was():
    text = users_traceback(raised(lambda: Isolation(None, None).run(1, 2, 3)))
    assert text.splitlines()[-1].startswith("TypeError: Isolation.run() takes")


def test_an_error_whose_text_fails_has_a_last_line():
    class Hostile(Exception):
        def __str__(self):
            raise RuntimeError

    assert "Hostile" in last_line(Hostile())
