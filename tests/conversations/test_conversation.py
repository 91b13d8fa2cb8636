"""An agent and a user talk turn by turn; each turn, and who ended it, can be expected."""

import asyncio

import pytest

from agenttrace import (
    Conversation,
    Example,
    LoopScorer,
    ScriptedUser,
    Tracer,
    TurnsScorer,
    UserSimulator,
    assert_test,
    call,
    run_evaluation,
)
from agenttrace.conversations import User
from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.core.report import EvaluationFailed
from agenttrace.judges import FakeChatModel


@pytest.fixture
def tracer():
    tracer = Tracer("talks", store="memory")
    yield tracer
    tracer.shutdown()


@pytest.fixture
def desk(tracer):
    """A desk that remembers what was said, with a tool for each wish."""

    @tracer.observe(span_type="tool")
    def find(order):
        return {"order": order}

    @tracer.observe(span_type="tool")
    def refund(order):
        return "done"

    class Desk:
        def __init__(self):
            self.order = None

        def __call__(self, message):
            if message.startswith("order"):
                self.order = int(message.split()[1])
                find(self.order)
                return f"found {self.order}"
            if message == "refund it":
                refund(self.order)
                return {"text": "refunded", "order": self.order}
            return None if message == "bye" else "?"

    return Desk


LINES = {"messages": ["order 7", "refund it"]}
TURNS = [
    {"expected_tools": [call("find", order=7)], "expected_output": {"$re": "^found"}},
    {"expected_tools": ["refund"], "expected_output": {"text": "refunded", "order": 7}},
]


def test_a_scripted_conversation_is_evaluated_turn_by_turn(tracer, desk):
    talk = Conversation(make_agent=desk, tracer=tracer)
    examples = [Example(name=f"{n}", input=LINES, turns=TURNS) for n in range(6)]
    assert_test(examples=examples, scorers=[TurnsScorer()], function=talk, tracer=tracer, concurrency=3)


def test_what_a_conversation_returns_says_who_ended_it(tracer, desk):
    talk = Conversation(make_agent=desk, tracer=tracer, max_turns=3)
    over = talk(messages=["order 7", "refund it"])
    assert over == {
        "output": {"text": "refunded", "order": 7},
        "ended_by": "user",
        "turns": 2,
        "messages": [
            {"role": "user", "content": "order 7"},
            {"role": "assistant", "content": "found 7"},
            {"role": "user", "content": "refund it"},
            {"role": "assistant", "content": {"text": "refunded", "order": 7}},
        ],
    }
    assert talk(messages=["order 7", "bye", "never said"])["ended_by"] == "agent"
    over = talk(messages=["a"] * 9)
    assert (over["ended_by"], over["turns"]) == ("limit", 3)
    assert talk(messages=["a"] * 3)["ended_by"] == "user"
    with pytest.raises(ConfigError, match="before its first message"):
        talk(messages=[])


def test_a_turn_that_goes_wrong_is_named_with_its_own_diff(tracer, desk):
    talk = Conversation(make_agent=desk, tracer=tracer)
    turns = [
        None,
        {"expected_tools": [call("refund", order=8)], "expected_output": "refunded"},
        {"expected_output": "x"},
    ]
    with pytest.raises(EvaluationFailed) as failed:
        assert_test(
            examples=[Example(input=LINES, turns=turns)],
            scorers=[TurnsScorer()],
            function=talk,
            tracer=tracer,
        )
    text = str(failed.value)
    assert "0 of 2 expected turns held; not turn 2, 3" in text
    assert "turn 2" in text
    assert "order: expected 8, got 7" in text
    assert "the answer: expected" in text
    assert "turn 3 was not reached: there were 2" in text


def test_calls_of_another_turn_do_not_count(tracer, desk):
    talk = Conversation(make_agent=desk, tracer=tracer)
    example = Example(input=LINES, turns=[{"expected_tools": ["find", "refund"]}])
    (result,) = run_evaluation([example], [TurnsScorer()], function=talk, tracer=tracer)
    assert result.scores[0].value == 0.0
    strict = TurnsScorer(mode="exact")
    example = Example(input=LINES, turns=[{"expected_tools": ["find"]}, {"expected_tools": ["refund"]}])
    (result,) = run_evaluation([example], [strict], function=talk, tracer=tracer)
    assert result.scores[0].value == 1.0


def test_stored_conversations_give_the_same_score(tracer, desk):
    with tracer.capture() as captured:
        Conversation(make_agent=desk, tracer=tracer)(**LINES)
    tracer.flush()
    stored = tracer.store.trace(captured.trace.trace_id)
    example = Example(turns=TURNS)
    live, again = (TurnsScorer().score(example, trace) for trace in (captured.trace, stored))
    assert (live.value, live.details) == (again.value, again.details) == (1.0, live.details)


def test_an_agent_may_take_the_history_and_be_async(tracer):
    seen = []

    async def agent(message, history):
        await asyncio.sleep(0)
        seen.append([one["content"] for one in history])
        return message.upper()

    talk = Conversation(agent, ScriptedUser(["a", "b"]), tracer=tracer)
    assert asyncio.run(talk())["output"] == "B"
    assert seen == [[], ["a", "A"]]
    example = Example(turns=[{"expected_output": "A"}, {"expected_output": "B"}])
    (result,) = run_evaluation([example], [TurnsScorer()], function=talk, tracer=tracer)
    assert result.outcome == "passed", result.scores


def test_a_text_as_input_is_the_first_message(tracer):
    talk = Conversation(lambda message: message, ScriptedUser(["not said", "then"]), tracer=tracer)
    assert [one["content"] for one in talk("first")["messages"]] == ["first", "first", "then", "then"]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_simulated_user_goes_on_until_it_is_done(tracer, is_async):
    model = FakeChatModel(
        [
            {"message": "order 7", "done": False},
            "no JSON",
            {"message": "thanks", "done": False},
            {"done": True},
        ]
    )
    user = UserSimulator("an impatient traveller", "a refund for order 7", model=model)

    def agent(message):
        return f"you said {message}"

    async def async_agent(message):
        return agent(message)

    talk = Conversation(async_agent if is_async else agent, user, tracer=tracer)
    (result,) = run_evaluation([Example()], [LoopScorer()], function=talk, tracer=tracer)
    over = result.example.actual_output
    assert (over["ended_by"], over["turns"], over["output"]) == ("user", 2, "you said thanks")
    first, *_, last = model.requests
    assert "an impatient traveller" in first.messages[0]["content"]
    assert [one["role"] for one in last.messages] == ["system", "assistant", "user", "assistant", "user"]


def test_a_user_is_made_of_each_example_s_input(tracer):
    model = FakeChatModel(lambda request: {"message": "hi", "done": len(request.messages) > 2})
    talk = Conversation(
        lambda message: "hello", lambda persona, goal: UserSimulator(persona, goal, model), tracer=tracer
    )
    example = Example(input={"persona": "Ann", "goal": "a refund"}, turns=[{"expected_output": "hello"}])
    (result,) = run_evaluation([example], [TurnsScorer()], function=talk, tracer=tracer)
    assert result.outcome == "passed", result.error


class Broken:
    def reply(self, messages):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("user", "given", "reason"),
    [
        (Broken(), None, "the user said nothing: RuntimeError: no words"),
        (None, {"lines": ["a"]}, r"the input of a conversation is {\"messages\""),
        (ScriptedUser(["a"]), {"goal": "x"}, "the user of this conversation is given"),
        (lambda goal: 1 / 0, {"goal": "x"}, "no user could be made of the input: ZeroDivisionError"),
        (UserSimulator("a", "b", FakeChatModel("?")), None, "the simulated user's reply cannot be read"),
    ],
)
def test_a_user_that_fails_makes_the_result_errored_not_failed(tracer, user, given, reason):
    talk = Conversation(lambda message: message, user, tracer=tracer)
    example = Example(input=given, turns=[{"expected_output": "a"}])
    (result,) = run_evaluation([example], [TurnsScorer()], function=talk, tracer=tracer)
    assert result.outcome == "errored"
    assert reason.replace("\\", "") in result.error


def test_an_agent_that_raises_in_the_second_turn_fails_and_the_turns_stay(tracer):
    def agent(message):
        if message == "b":
            raise ValueError("no")
        return message

    talk = Conversation(agent, ScriptedUser(["a", "b", "c"]), tracer=tracer)
    example = Example(turns=[{"expected_output": "a"}])
    (result,) = run_evaluation([example], [TurnsScorer()], function=talk, tracer=tracer)
    assert (result.outcome, result.trace.turns) == ("failed", {1, 2})
    assert "ValueError: no" in result.error


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ({}, "wanted a list"),
        (["find"], r"turns\[0\]: got"),
        ([None, {"expected_tool": ["find"]}], r"turns\[1\]: a turn has no 'expected_tool'; did you mean"),
    ],
)
def test_what_no_turn_can_say_is_an_error_where_the_example_is_made(turns, message):
    with pytest.raises(DatasetError, match=message):
        Example(turns=turns)


def test_turns_are_read_from_files_with_file_and_line(tmp_path):
    from agenttrace import get_examples_from_yaml

    path = tmp_path / "talks.yaml"
    path.write_text(
        "examples:\n- input: {messages: [order 7]}\n  turns:\n  - expected_tools: [{find: {order: 7}}]\n"
    )
    (example,) = get_examples_from_yaml(path)
    assert example.turns == [{"expected_tools": [{"find": {"order": 7}}]}]
    path.write_text(path.read_text().replace("order: 7}", "order: {$gtt: 7}}"))
    with pytest.raises(DatasetError, match=r"talks\.yaml:\d+: .*turns\[0\].*gtt"):
        get_examples_from_yaml(path)


def test_a_trace_without_turns_cannot_be_scored_by_turn(tracer, desk):
    with tracer.capture() as captured:
        desk()("order 7")
    with pytest.raises(Exception, match=r"no turns were recorded; mark them with tracer.turn\(\)"):
        TurnsScorer().score(Example(turns=TURNS), captured.trace)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Conversation(),
        lambda: Conversation(print, make_agent=dict),
        lambda: Conversation("agent"),
        lambda: Conversation(print, max_turns=0),
        lambda: ScriptedUser("hello"),
        lambda: UserSimulator("", "goal", FakeChatModel("x")),
    ],
)
def test_a_conversation_that_cannot_be_held_is_an_error_when_it_is_made(make):
    with pytest.raises(ConfigError):
        make()


def test_a_scripted_user_is_a_user():
    user: User = ScriptedUser(["a"])
    assert user.reply([]) == "a"


@pytest.mark.parametrize("messages", ["hi", [1], [{"role": "user", "content": "hi"}], 5, []])
def test_a_script_that_is_none_makes_the_result_errored_and_never_blames_the_agent(tracer, messages):
    example = Example(input={"messages": messages}, turns=[{"expected_output": "hi"}])
    talk = Conversation(lambda message: message, tracer=tracer)
    (result,) = run_evaluation([example], [TurnsScorer()], function=talk, tracer=tracer)
    assert result.outcome == "errored"
    reason = (
        "before its first message" if messages == [] else "a scripted user's messages are a list of texts"
    )
    assert reason in result.error


def test_a_user_who_is_done_before_the_first_message_is_errored_and_said_so(tracer):
    user = UserSimulator("brief", "nothing", model=FakeChatModel({"done": True}))
    talk = Conversation(lambda message: message, user=user, tracer=tracer)
    example = Example(turns=[{"expected_output": "hi"}])
    (result,) = run_evaluation([example], [TurnsScorer()], function=talk, tracer=tracer)
    assert result.outcome == "errored"
    assert "the user ended the conversation before its first message" in result.error


def test_a_class_of_users_is_what_makes_the_user(tracer):
    class Greeter:
        def __init__(self, greeting):
            self.greeting = greeting

        def reply(self, messages):
            return None if messages else self.greeting

    talk = Conversation(lambda message: message, user=Greeter, tracer=tracer)
    example = Example(input={"greeting": "hello"}, turns=[{"expected_output": "hello"}])
    (result,) = run_evaluation([example], [TurnsScorer()], function=talk, tracer=tracer)
    assert result.outcome == "passed"


def test_a_text_as_the_input_of_a_script_is_named_in_the_error(tracer):
    talk = Conversation(lambda message: message, tracer=tracer)
    with pytest.raises(ConfigError, match="got a text, or nothing"):
        talk("hello")
