# ruff: noqa
# fmt: off
import pytest
with pytest.raises(AssertionError):
    client.assert_test(
        examples=[example],
        scorers=[scorer],
        model="gpt-4.1",
    )
