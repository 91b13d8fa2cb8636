"""What a run knows of itself, so that it can be compared with another."""

import subprocess

import pytest

from agenttrace import Example, run_evaluation
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.expectations import approx
from agenttrace.runs.fingerprints import dataset_fingerprint, fingerprint_of
from agenttrace.runs.git_revision import git_revision
from agenttrace.runs.metadata import run_metadata
from agenttrace.scorers import ContainsScorer, ToolOrderScorer, TrajectoryScorer, scorer
from agenttrace.store import MemoryStore
from agenttrace.version import __version__
from tests.evaluation.evaluation_fakes import Answer


def git(place, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=place, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    for name in ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BRANCH_NAME"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "repository"
    place.mkdir()
    git(place, "init", "-q")
    git(place, "commit", "-q", "--allow-empty", "-m", "one")
    return place


def test_the_revision_is_what_git_says(repository):
    inside = repository / "a" / "b"
    inside.mkdir(parents=True)
    commit = git(repository, "rev-parse", "HEAD")
    assert git_revision(inside) == {"commit": commit, "branch": "main", "dirty": None}


def test_a_packed_reference_is_read(repository):
    git(repository, "checkout", "-q", "-b", "feature/x")
    git(repository, "pack-refs", "--all")
    assert git_revision(repository) == {
        "commit": git(repository, "rev-parse", "HEAD"),
        "branch": "feature/x",
        "dirty": None,
    }


def test_a_worktree_has_its_own_branch(repository, tmp_path):
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    git(tmp_path / "tree", "commit", "-q", "--allow-empty", "-m", "two")
    revision = git_revision(tmp_path / "tree")
    assert (revision["commit"], revision["branch"]) == (git(tmp_path / "tree", "rev-parse", "HEAD"), "other")
    assert revision["commit"] != git_revision(repository)["commit"]


def test_a_commit_without_branch_has_the_branch_that_the_ci_names(repository, monkeypatch):
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "--detach")
    assert git_revision(repository) == {"commit": commit, "branch": None, "dirty": None}
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    assert git_revision(repository)["branch"] == "main"


def test_a_repository_without_commits_has_none_and_no_repository_is_none(tmp_path):
    git(tmp_path, "init", "-q")
    assert git_revision(tmp_path)["commit"] is None
    assert git_revision("/") is None


@pytest.mark.parametrize(
    "head",
    [
        b"ref: refs/heads/\0x\n",
        b"\xff\xfe\0" * 2_000,
        b"ref: ../../secret\n",
        b"ref: refs/../../../secret\n",
        b"",
    ],
)
def test_a_damaged_repository_has_no_commit_and_stops_nothing(tmp_path, head):
    (tmp_path / "secret").write_text("hunter2\n")
    (tmp_path / "work" / ".git").mkdir(parents=True)
    (tmp_path / "work" / ".git" / "HEAD").write_bytes(head)
    revision = git_revision(tmp_path / "work")
    assert revision is None or revision["commit"] is None


def test_where_the_working_directory_is_gone_there_is_no_revision(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert git_revision() is None


def test_a_fingerprint_knows_no_id_date_name_or_recorded_run():
    one = Example(input={"a": 1, "b": 2}, expected_output=3, expected_tools=["x"])
    same = Example(
        input={"b": 2, "a": 1}, expected_output=3, expected_tools=["x"], name="n", actual_output=7,
        example_id="i", created_at="2020-01-01", tools_called=["y"],
    )  # fmt: skip
    assert fingerprint_of(one) == fingerprint_of(same)
    assert fingerprint_of(one) != fingerprint_of(Example(input={"a": 1, "b": 2}, expected_output=4))
    assert fingerprint_of(Example(expected_tools=[{"pay": {"amount": approx(3)}}])) != fingerprint_of(
        Example(expected_tools=[{"pay": {"amount": approx(4)}}])
    )
    assert dataset_fingerprint(["a", "b"]) == dataset_fingerprint(["b", "a"])


def test_a_run_says_what_was_run(tmp_path, monkeypatch):
    (tmp_path / "tests.yaml").write_text("examples:\n- input: a\n  expected_output: a\n  example_id: first\n")
    examples = EvalDataset.from_file(tmp_path / "tests.yaml")
    store = MemoryStore()
    report = run_evaluation(
        examples, [Answer()], function=str.upper, store=store, trials=2, metadata={"ci": 7, "trials": "mine"}
    )
    data = store.run(report.run_id)["metadata"]
    assert data["dataset"]["examples"] == 1
    assert data["dataset"]["file"] == str(tmp_path / "tests.yaml")
    assert len(data["dataset"]["sha256"]) == 64
    assert data["examples"] == [{"fingerprint": fingerprint_of(examples[0]), "id": "first"}]
    assert data["function"].endswith("str.upper")
    assert data["scorers"][0]["name"] == "Answer"
    assert data["versions"]["agenttrace"] == __version__
    assert (data["ci"], data["trials"]) == (7, "mine")


def test_scorers_say_every_option_that_is_not_the_default():
    def described(one):
        return run_metadata([Example()], [one], function=None, trials=1)["scorers"][0]["options"]

    assert described(ToolOrderScorer()) == {"threshold": 1.0}
    assert described(ToolOrderScorer(0.5, exact_match=True, agent="desk", tools=["a*"])) == {
        "threshold": 0.5,
        "exact_match": True,
        "agent": "desk",
        "tools": ["a*"],
    }
    assert described(TrajectoryScorer(mode="only"))["mode"] == "only"
    assert described(ContainsScorer("Paris")) == {"texts": "Paris", "threshold": 1.0}

    @scorer(threshold=0.25)
    def short(output):
        return True

    assert described(short)["threshold"] == 0.25
