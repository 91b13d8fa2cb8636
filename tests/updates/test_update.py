"""Expectations of a file become what ran: example by example, in place, never half-written."""

import os
import stat

import pytest

from agenttrace import DatasetError, Tracer, run_evaluation
from agenttrace.datasets import EvalDataset
from agenttrace.scorers import ExactMatchScorer, ToolOrderScorer
from agenttrace.updates.update import ExampleChange, change_of, updated

FILE = """\
# refunds, kept by the desk team
examples:
  - name: seven        # the usual one
    input: {order: 7}
    expected_tools:
      - lookup: {id: 7}
      - refund:
          id: 7
          amount: {$gte: 5}   # any sum
          note: "old"
  - name: eight
    input: {order: 8}
    expected_tools: [lookup, refund]
  - name: broken
    input: {order: 9}
    expected_tools: [lookup]
"""

WANTED = FILE.replace('note: "old"', 'note: "new"')

tracer = Tracer("update", store="memory")


@tracer.observe(span_type="tool")
def lookup(id):  # noqa: A002
    return {"paid": 12}


@tracer.observe(span_type="tool")
def refund(id, amount, note="new"):  # noqa: A002
    return "ok"


def agent(order):
    if order == 9:
        raise RuntimeError("sold out")
    refund(order, lookup(order)["paid"])


SCORERS = [ToolOrderScorer()]


def test_a_layout_that_only_libyaml_reads_is_an_error_that_says_where(tmp_path):
    path = tmp_path / "tabs.yaml"
    path.write_text(
        "examples:\n- name: a\n  input: {order: 7}\n  expected_tools: [lookup,\t{refund: {amount: 1}}]\n"
    )
    report = run_evaluation(EvalDataset.from_file(path), SCORERS, function=agent, tracer=tracer)
    with pytest.raises(DatasetError, match=r"tabs.yaml:4: its layout cannot be edited"):
        updated(path, report, SCORERS)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "refunds.yaml"
    path.write_text(FILE)
    return path


def report_of(path, scorers=SCORERS, function=agent, **options):
    return run_evaluation(EvalDataset.from_file(path), scorers, function=function, tracer=tracer, **options)


def test_a_failed_example_expects_what_ran_and_all_else_is_as_it_was(file):
    update = updated(file, report_of(file), SCORERS)
    update.write()
    assert file.read_text() == WANTED
    assert [(example.name, example.why_not) for example in update.examples] == [
        ("seven", None),
        ("broken", "its run did not end as it should; only what ran to its end is taken for right"),
    ]
    assert report_of(file).counts == {"passed": 2, "failed": 1, "errored": 0}


def test_the_diff_names_the_file_and_its_lines(file):
    update = updated(file, report_of(file), SCORERS)
    wanted = [
        f"--- {file}",
        f"+++ {file}",
        "@@ -8,5 +8,5 @@",
        "           id: 7",
        "           amount: {$gte: 5}   # any sum",
        '-          note: "old"',
        '+          note: "new"',
    ]
    assert update.diff.splitlines()[:7] == wanted
    assert update.examples[0].diff.splitlines()[3:] == wanted[3:]
    assert update.examples[0].title == "line 3 (seven)"


def test_nothing_is_written_before_it_is_asked_for_and_a_passing_file_does_not_change(file):
    update = updated(file, report_of(file), SCORERS)
    assert file.read_text() == FILE
    update.write()
    again = updated(file, report_of(file), SCORERS)
    assert not again.changed
    before = file.stat().st_mtime_ns
    again.write()
    assert file.stat().st_mtime_ns == before


def test_what_failed_by_another_scorer_is_left_as_it_is(file):
    file.write_text("examples:\n- input: {order: 8}\n  expected_tools: [lookup]\n  expected_output: yes\n")
    scorers = [ToolOrderScorer(), ExactMatchScorer()]
    update = updated(file, report_of(file, scorers), scorers)
    assert (update.changed, update.examples) == (False, ())


def test_changes_travel_as_data_and_are_written_once(file):
    report = report_of(file)
    changes = [change_of([result], SCORERS) for result in report]
    data = [change.to_dict() for change in changes if change is not None]
    update = updated(file, [ExampleChange.from_dict(one) for one in data])
    assert update.text == WANTED


def test_trials_that_disagree_change_nothing(file):
    file.write_text("examples:\n- name: a\n  input: {order: 7}\n  expected_tools: [refund, lookup]\n")
    runs = iter([7, 8, 7, 7])

    def fickle(order):
        lookup(next(runs))
        refund(order, 1)

    file.write_text(file.read_text().replace("lookup]", "{lookup: {id: 9}}]"))
    update = updated(file, report_of(file, function=fickle, trials=2), SCORERS)
    assert update.examples[0].why_not == "its trials disagree: 2 runs made different calls"
    assert updated(file, report_of(file, function=fickle, trials=2), SCORERS).changed


def test_a_trial_that_passed_and_one_that_failed_change_nothing(file):
    file.write_text("examples:\n- name: a\n  input: {order: 7}\n  expected_tools: [lookup, refund]\n")
    runs = iter([True, False])

    def fickle(order):
        lookup(order)
        if next(runs):
            refund(order, 1)

    update = updated(file, report_of(file, function=fickle, trials=2), SCORERS)
    assert update.examples[0].why_not == "its trials disagree: 1 of 2 failed, others passed"


def test_guards_are_never_loosened(file):
    file.write_text(
        "examples:\n- name: a\n  input: {order: 7}\n  expected_tools: {path: [lookup], never: [refund]}\n"
    )
    (example,) = updated(file, report_of(file), SCORERS).examples
    assert example.why_not == "only its guards do not hold"
    assert "never" in example.notes[0]
    file.write_text(file.read_text().replace("[lookup]", "[{lookup: {id: 9}}]"))
    update = updated(file, report_of(file), SCORERS)
    assert "{path: [{lookup: {id: 7}}], never: [refund]}" in update.text
    assert update.examples[0].notes[0].startswith("never: ")


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_json_and_json_lines_are_updated_too(file, suffix):
    dataset = EvalDataset.from_file(file)
    path = dataset.save_as(suffix, file.parent, "saved")
    before = path.read_text()
    updated(path, report_of(path), SCORERS).write()
    assert path.read_text() == before.replace('"old"', '"new"')


def test_csv_is_refused_with_the_formats_that_can_be(file):
    path = EvalDataset.from_file(file).save_as("csv", file.parent, "saved")
    with pytest.raises(DatasetError, match="YAML, JSON and JSON Lines"):
        updated(path, report_of(path), SCORERS)


def test_a_file_that_changed_since_its_examples_were_read_is_an_error(file):
    report = report_of(file)
    file.write_text(FILE.replace("id: 7\n", "id: 6\n"))
    with pytest.raises(DatasetError, match=r"refunds\.yaml:3: the file changed since .*: seven"):
        updated(file, report, SCORERS)


def test_a_file_that_changed_after_the_diff_is_not_written(file):
    update = updated(file, report_of(file), SCORERS)
    file.write_text(FILE + "# mine\n")
    with pytest.raises(DatasetError, match="changed since it was read; nothing was written"):
        update.write()
    assert file.read_text() == FILE + "# mine\n"
    assert [path.name for path in file.parent.iterdir()] == ["refunds.yaml"]


def test_a_read_only_file_is_not_written(file):
    update = updated(file, report_of(file), SCORERS)
    file.chmod(0o444)
    with pytest.raises(DatasetError, match="read-only; nothing was written"):
        update.write()
    assert file.read_text() == FILE


def test_the_mode_a_link_and_a_byte_order_mark_stay(file):
    file.write_bytes(b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode())
    file.chmod(0o640)
    link = file.with_name("link.yaml")
    link.symlink_to(file)
    updated(link, report_of(link), SCORERS).write()
    assert link.is_symlink()
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o640
    assert file.read_bytes() == b"\xef\xbb\xbf" + WANTED.replace("\n", "\r\n").encode()


def test_a_secret_is_never_written(file):
    @tracer.observe(span_type="tool")
    def login(user, password):
        return "ok"

    def careless(order):
        login("bo", "hunter2")

    file.write_text(
        "examples:\n- name: a\n  input: {order: 7}\n  expected_tools:\n  - login: {user: ann, password: x}\n"
    )
    update = updated(file, report_of(file, function=careless), SCORERS)
    assert "hunter2" not in update.text
    assert "{user: bo, password: {$any: true}}" in update.text
    assert any("redacted" in note for note in update.examples[0].notes)
