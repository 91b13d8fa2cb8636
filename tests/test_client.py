import pytest

from agenttrace.client import Client
from agenttrace.core.errors import ConfigError, DatasetError, StoreError
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationFailed
from agenttrace.datasets import EvalDataset
from agenttrace.scorers import ExecutionOrderScorer, ToolOrderScorer
from agenttrace.store import MemoryStore, open_store
from agenttrace.tracer import Tracer


@pytest.fixture
def client():
    return Client("shop", store=MemoryStore())


def example(**fields):
    return Example(actual_output=["a"], expected_output=["a", "b"], **fields)


def test_an_evaluation_is_stored_in_the_client_s_project(client):
    report = client.run_evaluation([example()], [ExecutionOrderScorer(0.8)], eval_run_name="nightly")
    assert (report.project, report.name) == ("shop", "nightly")
    (run,) = client.store.runs()
    assert (run.project, run.name, run.failed) == ("shop", "nightly", 1)
    assert (
        client.run_evaluation([example()], [ExecutionOrderScorer()], project_name="other").project == "other"
    )


def test_with_a_tracer_results_stand_beside_its_traces(client):
    tracer = Tracer("travel", store=MemoryStore())

    @tracer.observe(span_type="tool")
    def search(city):
        return city

    examples = [Example(input={"city": "Paris"}, expected_tools=["search"])]
    report = client.assert_test(examples, [ToolOrderScorer()], function=search, tracer=tracer)
    tracer.flush()
    assert report.project == "travel"
    assert tracer.store.trace(report[0].trace_id).tool_calls[0].arguments == {"city": "Paris"}
    assert [score.value for _, score in tracer.store.scores(report[0].trace_id)] == [1.0]
    assert client.store.runs() == []


def test_assert_test_raises_with_the_report_and_stores_it_all_the_same(client):
    with pytest.raises(EvaluationFailed, match=r"TEST RESULTS: 0/1 passed \(1 failed\)"):
        client.assert_test(examples=[example()], scorers=[ExecutionOrderScorer(0.8)])
    assert len(client.store.runs()) == 1


def test_assert_test_takes_a_file_and_a_requirement(client, tmp_path):
    EvalDataset([example(), Example(actual_output=["a"], expected_output=["a"])]).save_as(
        "yaml", tmp_path, "t"
    )
    report = client.assert_test(
        test_file=tmp_path / "t.yaml", scorers=[ExecutionOrderScorer()], require="pass_rate >= 0.5"
    )
    assert report.counts == {"passed": 1, "failed": 1, "errored": 0}


def test_a_dataset_comes_back_as_it_was_pushed(client):
    dataset = EvalDataset(
        [
            Example(name="tuple", input={"a": [1, {"b": None}]}, expected_tools=["x", {"tool_name": "y"}]),
            Example(additional_metadata={"emoji": "🙂", "n": 1.5}),
        ]
    )
    dataset.platform_fields = {"dataset_alias": "QA"}
    assert client.push_dataset(alias="qa", dataset=dataset, project_name="p") == 1
    assert client.pull_dataset(alias="qa", project_name="p") == dataset


def test_what_looks_like_a_secret_is_not_kept_with_a_dataset_and_that_is_said(client, caplog):
    key = "gh" + "p_" + "a1B2c3D4" * 5
    login = {"tool_name": "login", "parameters": {"password": "hunter2", "token": {"$any": True}}}
    one = Example(
        input={"password": "hunter2", "n": 1},
        expected_output=f"the key {key}",
        context=["password=hunter2"],
        additional_metadata={"note": {"db.password": "hunter2"}},
        expected_tools=[[login, "read"]],
        name="kept",
    )
    data = EvalDataset([one])
    data.platform_fields = {"api_key": "hunter2"}
    client.push_dataset("qa", data)
    pulled = client.pull_dataset("qa")
    assert "hunter2" not in repr(pulled.platform_fields)
    shown = repr(pulled[0].to_dict())
    assert "hunter2" not in shown
    assert key not in shown
    assert pulled[0].input == {"password": "[redacted]", "n": 1}
    arguments = {"password": "[redacted]", "token": {"$any": True}}
    assert pulled[0].expected_tools == [[{"tool_name": "login", "parameters": arguments}, "read"]]
    (message,) = caplog.messages
    assert "values of the dataset 'qa' were redacted; push_dataset(redact='off') keeps them" in message

    assert client.push_dataset("qa", data, redact="off") == 2
    assert client.pull_dataset("qa")[0] == one
    assert len(caplog.messages) == 1
    with pytest.raises(ConfigError, match="redact is a list of names or a function"):
        client.push_dataset("qa", data, redact=5)


def test_each_push_of_other_data_is_a_version(client):
    first, second = [example(name="first")], [example(name="second")]
    assert client.push_dataset("qa", first) == 1
    assert client.push_dataset("qa", first) == 1
    assert client.push_dataset("qa", second) == 2
    assert client.pull_dataset("qa")[0].name == "second"
    assert client.pull_dataset("qa", version=1)[0].name == "first"


def test_a_dataset_that_is_not_there_is_an_error_that_names_it(client):
    client.push_dataset("qa", [example()])
    for alias, project, version in (("qb", None, None), ("qa", "other", None), ("qa", None, 7)):
        with pytest.raises(StoreError, match="has no dataset"):
            client.pull_dataset(alias, project, version=version)


def test_a_value_without_a_file_form_is_refused_and_nothing_is_kept(client):
    with pytest.raises(DatasetError, match=r"examples\[0\].expected_output"):
        client.push_dataset("qa", [Example(expected_output=object())])
    with pytest.raises(DatasetError, match=r"expected_output: a tuple cannot be a key in a file"):
        client.push_dataset("qa", [Example(expected_output={("a", "b"): 1})])
    with pytest.raises(StoreError):
        client.pull_dataset("qa")


def test_the_default_store_is_that_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "mine.db"))
    client = Client()
    assert list(tmp_path.iterdir()) == []
    client.push_dataset("qa", [example()])
    assert Client(store=open_store(tmp_path / "mine.db")).pull_dataset("qa")[0].expected_output == ["a", "b"]


def test_two_clients_share_nothing():
    one, two = Client("a", store=MemoryStore()), Client("b", store=MemoryStore())
    assert (one.project_name, two.project_name) == ("a", "b")
    assert one.store is not two.store


def test_a_project_needs_a_name():
    with pytest.raises(ConfigError, match="project_name is a non-empty string"):
        Client("")
