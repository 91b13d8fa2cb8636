"""Accepted figures: read and written, set beside what was counted, raised only with a reason."""

import json

import pytest

from benchmarks.instructions import (
    Accepted,
    Count,
    Figure,
    Raise,
    ReasonMissing,
    accept,
    judge,
    matching,
    read,
    write,
)

LOOPS = {"bytecodes": 10_000, "texts": 50_000}


def count(python="3.11", counter="callgrind", references=LOOPS, **paths):
    return Count(python, counter, "a build", references, paths or {"sync": 7_000, "raising": 40_000})


def accepted(python="3.11", counter="callgrind", references=LOOPS, **paths):
    figures = {"sync": Figure(7_000), "raising": Figure(40_000), **paths}
    return Accepted(python, counter, "a build", references, figures)


def test_a_path_is_judged_by_its_figure_and_three_per_cent():
    counted = count(sync=7_200, raising=41_300, async_=8_000)
    verdicts = {line.path: line.verdict for line in judge(counted, accepted())}
    assert verdicts == {"sync": "within", "raising": "above", "async_": "no figure"}


def test_a_path_that_costs_nothing_may_cost_a_rounding_error_but_no_call():
    free = accepted(disabled=Figure(0))
    assert judge(count(disabled=7), free)[0].verdict == "within"
    assert judge(count(disabled=400), free)[0].verdict == "above"


def test_a_path_that_got_cheaper_is_said():
    assert [line.verdict for line in judge(count(sync=6_000, raising=39_900), accepted())] == [
        "cheaper",
        "within",
    ]


def test_figures_hold_for_the_build_whose_reference_loops_cost_the_same():
    slower = accepted(references={"bytecodes": 12_000, "texts": 50_000})
    other_version, other_counter = accepted(python="3.12"), accepted(counter="perf_event")
    same = accepted(references={"bytecodes": 10_050, "texts": 49_800})
    assert matching([slower, other_version, other_counter, same], count()) is same
    assert matching([slower, other_version, other_counter], count()) is None


def test_a_build_with_other_reference_loops_is_unknown():
    assert matching([accepted(references={"bytecodes": 10_000})], count()) is None


def test_what_is_counted_on_an_unknown_build_is_accepted_beside_the_others():
    before = accepted(python="3.12")
    builds = accept([before], count(), "")
    assert builds[0] is before
    assert builds[1].paths == {"sync": Figure(7_000), "raising": Figure(40_000)}


def test_a_figure_is_raised_only_with_a_reason_and_keeps_the_earlier_ones():
    earlier = Raise(30_000, 40_000, "frames are kept")
    builds = [accepted(raising=Figure(40_000, (earlier,)))]
    dearer = count(sync=7_000, raising=45_000)
    with pytest.raises(ReasonMissing, match="raising"):
        accept(builds, dearer, " ")
    (after,) = accept(builds, dearer, "causes are kept too")
    assert after.paths["raising"] == Figure(45_000, (earlier, Raise(40_000, 45_000, "causes are kept too")))
    assert after.paths["sync"] == Figure(7_000)


def test_a_lowered_figure_keeps_the_reasons_of_its_raises():
    earlier = Raise(30_000, 40_000, "frames are kept")
    (after,) = accept([accepted(raising=Figure(40_000, (earlier,)))], count(raising=31_000), "")
    assert after.paths == {"raising": Figure(31_000, (earlier,))}


def test_steps_within_the_allowance_do_not_raise_a_figure():
    builds = [accepted()]
    for sync in (7_100, 7_200, 7_220):
        builds = accept(builds, count(sync=sync, raising=40_000), "no reason to raise it")
    assert builds[0].paths["sync"] == Figure(7_000)


def test_the_reference_loops_of_a_known_build_do_not_drift():
    near = count(references={"bytecodes": 10_080, "texts": 50_000})
    (after,) = accept([accepted()], near, "")
    assert after.references == LOOPS


def test_figures_are_read_as_they_were_written(tmp_path):
    file = tmp_path / "figures.json"
    raised = accepted(raising=Figure(45_000, (Raise(40_000, 45_000, "it's “dearer”"),)))
    builds = [accepted(python="3.12"), raised]
    write(file, builds)
    assert read(file) == [raised, builds[0]]
    assert "it's “dearer”" in file.read_text(encoding="utf-8")
    assert json.loads(file.read_text(encoding="utf-8"))["builds"][0]["paths"]["sync"]["instructions"] == 7_000
