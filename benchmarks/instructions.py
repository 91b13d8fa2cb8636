"""The accepted figures: how many instructions each path may take, for each build of Python.

They stand in ``instructions.json``, which `make gate-accept` writes. A figure is not raised by what lies
within the allowance, so that many small steps do not pass unseen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

ALLOWANCE = 0.03
"""The share by which a path may exceed its figure."""

ROUNDING = 20
"""Instructions that it may exceed it by in any case: some paths cost nothing."""

LOWERED = 0.01
"""The share by which a path must be cheaper for its figure to be lowered; less is chance."""

SAME_BUILD = 0.01
"""The share by which the reference loops of the same build of Python may differ."""

Verdict = Literal["within", "above", "cheaper", "no figure"]


@dataclass(frozen=True)
class Raise:
    """A figure that was raised, and the reason."""

    before: int
    after: int
    why: str


@dataclass(frozen=True)
class Figure:
    """Instructions an operation, with every raise so far."""

    instructions: int
    raises: tuple[Raise, ...] = ()

    @property
    def allowed(self) -> float:
        """The most that passes the gate."""
        return self.instructions * (1 + ALLOWANCE) + ROUNDING


@dataclass(frozen=True)
class Count:
    """What was counted now: instructions an operation.

    `python` is the minor version, `build` describes the interpreter to readers, `references` tell it apart.
    """

    python: str
    counter: str
    build: str
    references: Mapping[str, int]
    paths: Mapping[str, int]


@dataclass(frozen=True)
class Accepted:
    """The figures of one build of Python with one counter."""

    python: str
    counter: str
    build: str
    references: Mapping[str, int]
    paths: Mapping[str, Figure]


@dataclass(frozen=True)
class Line:
    """One path beside its figure; `figure` is None for a path that has none yet."""

    path: str
    now: int
    figure: Figure | None
    verdict: Verdict


class ReasonMissing(ValueError):
    """A figure would be raised, and nobody said why."""


def read(file: Path) -> list[Accepted]:
    """The figures of every build."""
    return [_accepted(entry) for entry in json.loads(file.read_text(encoding="utf-8"))["builds"]]


def _accepted(entry: dict[str, Any]) -> Accepted:
    paths = {
        path: Figure(figure["instructions"], tuple(Raise(**one) for one in figure["raises"]))
        for path, figure in entry["paths"].items()
    }
    return Accepted(**{**entry, "paths": paths})


def write(file: Path, builds: Sequence[Accepted]) -> None:
    """Replace the figures of every build."""
    ordered = sorted(builds, key=lambda build: (build.python, build.counter, build.build))
    text = json.dumps({"builds": [asdict(build) for build in ordered]}, indent=2, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


def of_the_same_kind(builds: Sequence[Accepted], count: Count) -> list[Accepted]:
    """The builds of the same minor version, counted in the same way."""
    return [build for build in builds if (build.python, build.counter) == (count.python, count.counter)]


def matching(builds: Sequence[Accepted], count: Count) -> Accepted | None:
    """The figures for the build that was counted: the one whose reference loops cost the same."""
    near = [
        build
        for build in of_the_same_kind(builds, count)
        if build.references.keys() == count.references.keys() and distance(build, count) <= SAME_BUILD
    ]
    return min(near, key=lambda build: distance(build, count), default=None)


def distance(build: Accepted, count: Count) -> float:
    """The largest share by which the cost of a reference loop differs."""
    return max(
        (
            abs(count.references[name] / cost - 1)
            for name, cost in build.references.items()
            if name in count.references
        ),
        default=0.0,
    )


def judge(count: Count, accepted: Accepted | None) -> list[Line]:
    """Each path beside its figure."""
    figures = accepted.paths if accepted else {}
    return [
        Line(path, now, figures.get(path), _verdict(now, figures.get(path)))
        for path, now in count.paths.items()
    ]


def _verdict(now: int, figure: Figure | None) -> Verdict:
    if figure is None:
        return "no figure"
    if now > figure.allowed:
        return "above"
    if now < figure.instructions * (1 - LOWERED) - ROUNDING:
        return "cheaper"
    return "within"


def accept(builds: Sequence[Accepted], count: Count, why: str) -> list[Accepted]:
    """The figures with those of this count: what is above its allowance is raised for this reason, what is
    cheaper lowered, the rest stays. Reasons of earlier raises stay; paths that are no longer counted go.

    Raises:
        ReasonMissing: a figure would be raised, and `why` is empty.
    """
    before = matching(builds, count)
    lines = judge(count, before)
    above = [line.path for line in lines if line.verdict == "above"]
    if above and not why.strip():
        raise ReasonMissing(f"dearer than accepted: {', '.join(above)}. Say why")
    paths = {line.path: _figure(line, why.strip()) for line in lines}
    after = Accepted(count.python, count.counter, count.build, count.references, paths)
    if before is not None:  # its loops tell the build apart: they must not drift with each acceptance
        after = replace(after, references=before.references)
    return [*(build for build in builds if build is not before), after]


def _figure(line: Line, why: str) -> Figure:
    if line.figure is None:
        return Figure(line.now)
    raises = line.figure.raises
    if line.verdict == "above":
        return Figure(line.now, (*raises, Raise(line.figure.instructions, line.now, why)))
    return Figure(line.now, raises) if line.verdict == "cheaper" else line.figure
