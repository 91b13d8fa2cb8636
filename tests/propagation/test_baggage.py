"""What is said of a trace is read from `baggage` and written to it, whatever else stands there."""

from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Tracer
from agenttrace.tracing.baggage import BAGGAGE, MEMBERS, MOST_BYTES, add_baggage, read_baggage, remove_baggage

TRACEPARENT = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
others = st.lists(
    st.sampled_from(["plan=pro", "a=1;x=2", " b = c ", "k=%2C", "session.id2=x", "nonsense", "=", "ü=ü"]),
    max_size=4,
)


@given(texts.filter(lambda text: text == text.strip()), st.lists(texts, max_size=5), others)
def test_what_is_written_is_read_again_and_the_members_of_others_stay(session, tags, foreign):
    headers = {"Baggage": ",".join(foreign)}
    add_baggage(headers, {"session.id": session, "agenttrace.tags": tags})
    value = headers["Baggage"]
    assert value.isascii() or any("ü" in member for member in foreign)
    assert read_baggage([value]) == {"session.id": session, **({"agenttrace.tags": tags} if tags else {})}
    add_baggage(headers, {"enduser.id": "c"})
    assert "session.id=" not in headers["Baggage"].replace("session.id2", "")
    remove_baggage(headers)
    assert headers.get("Baggage", "").split(",") == ([member.strip() for member in foreign] or [""])


@given(st.lists(st.text(alphabet='session.id=enduser;,%20F agenttrace.tags[]"', max_size=200), max_size=5))
def test_whatever_stands_there_is_read_without_an_error(values):
    read = read_baggage(values)
    assert read.keys() <= set(MEMBERS)
    assert all(isinstance(value, list if name == "agenttrace.tags" else str) for name, value in read.items())


def test_more_than_a_header_may_hold_is_neither_written_nor_read():
    headers = {BAGGAGE: "plan=pro"}
    add_baggage(headers, {"session.id": "s" * MOST_BYTES})
    assert headers == {BAGGAGE: "plan=pro"}
    assert read_baggage(["session.id=s", "x=" + "y" * MOST_BYTES]) == {}
    assert read_baggage([",".join(f"m{number}=1" for number in range(181)) + ",session.id=s"]) == {}


def test_the_first_of_two_members_counts_and_what_cannot_be_read_is_left_out():
    value = "session.id=a;ttl=5,session.id=b,agenttrace.tags=[1,enduser.id,agenttrace.tags=%5B%5B"
    assert read_baggage([value]) == {"session.id": "a"}


def test_a_header_that_is_too_long_changes_nothing_but_a_count():
    tracer = Tracer("shop", store="memory")
    headers = {"traceparent": TRACEPARENT, "baggage": "session.id=" + "s" * MOST_BYTES}
    with tracer.extract(headers), tracer.span("x") as span:
        assert span.parent_id == "b" * 16
    assert tracer.stats()["unreadable_headers"] == 1
    tracer.shutdown()


def test_a_text_that_is_no_unicode_is_sent_as_far_as_it_is():
    headers = {}
    add_baggage(headers, {"session.id": "a\udc80", "agenttrace.tags": ["b\udc80"]})
    assert read_baggage([headers["baggage"]]) == {"session.id": "a?", "agenttrace.tags": ["b?"]}


def test_what_came_in_goes_on_with_what_is_set_here():
    tracer = Tracer("shop", store="memory")
    with tracer.extract({"traceparent": TRACEPARENT, "baggage": "session.id=s,enduser.id=c,plan=pro"}):
        assert tracer.inject({})["baggage"] == "session.id=s,enduser.id=c"
        with tracer.span("x"):
            tracer.set_session_id("t")
            assert tracer.inject({})["baggage"] == "session.id=t,enduser.id=c"
    tracer.shutdown()
