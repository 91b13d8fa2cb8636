"""JUnit files, read back with a parser, by the rules that CI servers have in common."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.redaction import Redaction
from agenttrace.reports import junit_report
from agenttrace.scoring.redacted import redacted_report
from tests.reports.reports_for_tests import hostile_report, shop_report

COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def read(report):
    """The one suite of a file, which keeps to the rules."""
    text = junit_report(report)
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite"
    assert suite[0].tag == "properties"
    cases = suite[1:]
    for element in (root, suite):
        assert element.get("name")
        assert float(element.get("time")) >= 0
        assert int(element.get("tests")) == len(cases)
        for tag, attribute in COUNTED.items():
            assert int(element.get(attribute)) == len([case for case in cases if case.find(tag) is not None])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
    for case in cases:
        assert case.tag == "testcase"
        assert case.keys() == ["classname", "name", "time"]
        assert case.get("classname")
        assert case.get("name")
        assert float(case.get("time")) >= 0
        outcomes = [child for child in case if child.tag in COUNTED]
        assert len(outcomes) <= 1
        assert {child.tag for child in case} <= {"properties", *COUNTED}
        for outcome in outcomes:
            assert "\n" not in outcome.get("message")
            assert outcome.get("type")
    assert len({case.get("name") for case in cases}) == len(cases)
    return suite


def cases_of(report):
    return {case.get("name"): case for case in read(report).iter("testcase")}


def properties(element):
    return {each.get("name"): each.get("value") for each in element.find("properties")}


def test_each_example_is_a_case_whose_message_says_what_is_wrong():
    report = shop_report()
    cases = cases_of(report)
    assert list(cases) == ["right", "wrong", "raises", "test 4"]
    assert [child.tag for child in cases["right"]] == ["properties"]
    failure = cases["wrong"].find("failure")
    assert failure.get("message") == "0 of 2 expected calls aligned (in_order); amount: expected 12, got 12.5"
    assert failure.get("type") == "Tool Order"
    assert "    - 2  notify                       missing" in failure.text.splitlines()
    assert cases["raises"].find("failure").get("message") == "RuntimeError: sold out"
    assert cases["raises"].find("failure").get("type") == "agent"
    assert "did you mean 'refund'" in cases["test 4"].find("error").get("message")
    assert properties(cases["wrong"])["agenttrace:score:Tool Order"] == "0 failed"
    assert properties(cases["wrong"])["agenttrace:trace"] == report[1].trace_id


def test_trials_are_properties_of_one_case_and_those_that_say_the_same_say_it_once():
    cases = cases_of(shop_report(trials=3))
    assert len(cases) == 4
    failure = cases["wrong"].find("failure")
    assert failure.get("message").startswith("0 of 3 trials passed; 0 of 2 expected calls aligned")
    assert failure.text.splitlines()[0] == "trials 1, 2, 3 of 3: failed"
    assert failure.text.count("notify") == 1
    found = properties(cases["wrong"])
    assert found["agenttrace:trials"] == "0 of 3 passed"
    assert found["agenttrace:score:Tool Order:trial 3"] == "0 failed"


def trial(outcome, number, **fields):
    return ScoringResult(example=Example(name="flaky"), outcome=outcome, trial=number, trials=4, **fields)


def test_an_example_is_as_bad_as_its_worst_trial():
    failed = trial("failed", 2, scores=(Score.of("Answer", 0.0, 0.5, reason="wrong"),))
    errored, not_run = trial("errored", 3, error="broke"), trial("not_run", 4, error="the budget was spent")
    case = cases_of(EvaluationReport(results=(trial("passed", 1), errored, not_run, failed)))["flaky"]
    assert case.find("failure").get("message") == "1 of 4 trials passed; wrong"
    assert case.find("failure").text.splitlines()[0] == "trial 2 of 4: failed"
    case = cases_of(EvaluationReport(results=(trial("passed", 1), errored, not_run)))["flaky"]
    assert case.find("error").get("message") == "1 of 3 trials passed; broke"
    case = cases_of(EvaluationReport(results=(trial("passed", 1), not_run)))["flaky"]
    assert case.find("skipped").get("message") == "1 of 2 trials passed; the budget was spent"
    assert case.find("skipped").get("type") == "not run"


def test_examples_of_one_name_are_told_apart():
    results = [ScoringResult(example=Example(name="same"), outcome="passed", position=n) for n in range(3)]
    assert list(cases_of(EvaluationReport(results=tuple(results)))) == ["same (1)", "same (2)", "same (3)"]


def test_an_interrupted_run_does_not_look_as_if_all_was_well():
    results = shop_report().results[:1]
    report = EvaluationReport(results=results, metadata={"interrupted": True, "not_run": 399})
    suite = read(report)
    assert (suite.get("tests"), suite.get("errors")) == ("2", "1")
    error = cases_of(report)["(interrupted)"].find("error")
    assert error.get("message") == "interrupted: 399 of 400 were not run"


def test_text_from_outside_breaks_nothing():
    suite = read(hostile_report())
    text = ElementTree.tostring(suite, encoding="unicode")
    assert not [character for character in text if not (character.isprintable() or character == "\n")]
    assert "\\x1b[2J" in text
    assert "&lt;script&gt;" in text


@given(st.text(alphabet=st.characters(), max_size=40))
def test_any_text_can_be_parsed_back(text):
    read(hostile_report(text))


def test_long_texts_are_cut():
    text = junit_report(hostile_report("x" * 1_000_000))
    assert len(text) < 600_000
    assert all(len(line.partition('message="')[2].partition('"')[0]) < 330 for line in text.splitlines())


def test_of_a_redacted_report_no_secret_is_left():
    secret = "Bearer abcdefghijklmnop0123"
    report = replace(redacted_report(hostile_report(f"said {secret}"), Redaction()), project="shop")
    assert "abcdefghijklmnop0123" not in junit_report(report)
    assert "[redacted]" in junit_report(report)


def test_a_report_of_nothing_is_a_file_of_nothing():
    assert read(EvaluationReport(results=())).get("tests") == "0"


@pytest.mark.parametrize("trials", [1, 2])
def test_a_report_read_back_gives_the_same_file(trials):
    report = shop_report(trials=trials)

    def without_calls(text):  # what was called before an agent raised stands in the trace only
        return re.sub(r"  Called until then:\n(    .*\n)*", "", text)

    twin = EvaluationReport.from_dict(report.to_dict())
    assert without_calls(junit_report(twin)) == without_calls(junit_report(report))


def test_a_failure_that_was_expected_is_skipped_as_in_pytests_file():
    row = {"position": 0, "example": "known", "why": "xfail: the tool rounds"}
    failed = ScoringResult(
        example=Example(name="known"), outcome="failed", scores=(Score.of("Answer", 0.0, 1.0, reason="no"),)
    )
    other = replace(failed, example=Example(name="other"), position=1)
    report = EvaluationReport(results=(failed, other), metadata={"expected_failures": [row]})
    suite = read(report)
    assert (suite.get("failures"), suite.get("skipped"), suite.get("errors")) == ("1", "1", "0")
    known, unknown = suite.findall("testcase")
    assert known.find("skipped").attrib == {
        "message": "xfail: the tool rounds: no",
        "type": "pytest.xfail",
    }
    assert known.find("failure") is None
    assert unknown.find("failure") is not None
