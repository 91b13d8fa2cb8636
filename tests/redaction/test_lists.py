"""The lists that redaction is measured with are long enough, and say where each row is from."""

from lists import harmless, names, shapes


def test_the_lists_are_long_and_name_their_sources():
    assert len({name for _, name in names()}) >= 150
    assert len({shape.recipe for shape in shapes()}) >= 120
    assert len({repr(row[1:]) for row in harmless()}) >= 150
    assert all(source for source, *_ in [*names(), *shapes(), *harmless()])


def test_a_made_up_secret_is_the_same_each_time_and_has_parts_to_look_for():
    assert shapes() == shapes()
    assert all(shape.parts for shape in shapes())
