"""What the rules let pass, and what they destroy, on the lists of this folder."""

import pytest
from lists import Shape, harmless, names, shapes

from agenttrace.redaction import Redaction


def passes(redaction: Redaction, shape: Shape) -> bool:
    """True if a part of a secret is still there: where it stands alone, in a sentence, in data."""
    places = [
        redaction.inside(shape.value),
        redaction.inside(f"The value is {shape.value} as it was."),
        redaction.inside({"x": [shape.value]})["x"][0],
        redaction.text("error", f"401 for {shape.value}"),
    ]
    return any(part in place for part in shape.parts for place in places)


def test_few_names_pass():
    redaction = Redaction()
    passing = [name for _, name in names() if redaction.value(name, "hunter2") == "hunter2"]
    assert len(passing) <= 0.02 * len(names()), passing


def test_few_shapes_pass():
    redaction = Redaction()
    passing = [shape.recipe for shape in shapes() if passes(redaction, shape)]
    assert len(passing) <= 0.02 * len(shapes()), passing


def test_harmless_values_stay():
    redaction = Redaction()
    touched = [
        (name, value)
        for _, name, value in harmless()
        if redaction.value(name, value) != value or redaction.fields({name: value}) != {name: value}
    ]
    assert len(touched) <= 0.01 * len(harmless()), touched


@pytest.mark.parametrize("level", ["standard", "strict"])
def test_what_was_redacted_is_redacted_no_further(level):
    redaction = Redaction(level=level)
    for shape in shapes():
        once = redaction.inside({"text": f"see {shape.value} there"})["text"]
        assert Redaction(level=level).inside(str(once)) == once, shape.recipe


def test_off_leaves_everything_but_what_was_asked_for():
    redaction = Redaction(["plan"], level="off")
    assert all(redaction.value("text", shape.value) == shape.value for shape in shapes())
    assert redaction.value("password", "hunter2") == "hunter2"
    assert redaction.value("plan", "gold") == "[redacted]"
