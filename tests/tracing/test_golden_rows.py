"""Whatever becomes of the way from a call to its row, the rows stay what they were."""

import json

from recorded_rows import GOLDEN, rows


def test_every_value_is_stored_as_the_same_text_as_ever():
    expected = json.loads(GOLDEN.read_text(encoding="utf-8"))
    stored = rows()
    assert stored.keys() == expected.keys()
    differing = {name: (expected[name], row) for name, row in stored.items() if row != expected[name]}
    assert not differing
