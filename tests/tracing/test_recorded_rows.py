"""What is stored of calls is what was stored of them before."""

import gc
import json

import pytest
import recorded_programs

EXPECTED = json.loads(recorded_programs.FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def now():
    gc.collect()
    gc.disable()  # one program goes as deep as the stack allows, where finalisers of others' objects fail
    try:
        return json.loads(json.dumps(recorded_programs.rows()))
    finally:
        gc.enable()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_program_is_recorded_as_it_was(now, name):
    assert now[name] == EXPECTED[name]


def test_every_program_has_its_rows(now):
    assert list(now) == list(EXPECTED)
