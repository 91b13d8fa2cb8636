"""Values of numpy and pandas are recorded as data."""

import subprocess
import sys

import pytest

from agenttrace.core.marks import cause_of
from agenttrace.core.snapshot import snapshot
from agenttrace.expectations.values import agreement
from agenttrace.tracing.freeze import freeze, thaw


def copy(value):
    recorded = thaw(freeze(value))
    assert recorded == snapshot(value)[0] or recorded != recorded
    return recorded


class TestNumpy:
    @pytest.fixture(autouse=True)
    def _numpy(self):
        self.np = pytest.importorskip("numpy")

    @pytest.mark.parametrize(
        ("make", "data"),
        [
            (lambda np: np.int64(7), 7),
            (lambda np: np.uint8(7), 7),
            (lambda np: np.bool_(True), True),
            (lambda np: np.float64(1.5), 1.5),
            (lambda np: np.float32(0.5), 0.5),
            (lambda np: np.longdouble(2), 2.0),
            (lambda np: np.uint64(2**63), 2**63),
            (lambda np: np.complex64(1j), "1j"),
            (lambda np: np.str_("x"), "x"),
            (lambda np: np.datetime64("2025-06-01"), "2025-06-01"),
            (lambda np: np.timedelta64(5, "D"), "5 days, 0:00:00"),
            (lambda np: np.timedelta64(5, "ns"), "0:00:00.000000005"),
            (lambda np: np.array([1, 2]), [1, 2]),
            (lambda np: np.array(3), 3),
            (lambda np: np.zeros((2, 2)), [[0.0, 0.0], [0.0, 0.0]]),
            (lambda np: np.zeros((0, 3)), []),
            (lambda np: np.array(["2025-06-01"], "M8[D]"), ["2025-06-01"]),
            (lambda np: {np.int64(7): 1}, {"7": 1}),
        ],
    )
    def test_scalars_and_arrays_are_data(self, make, data):
        value = make(self.np)
        assert copy(value) == data
        assert copy({"deep": [value]}) == {"deep": [data]}
        assert agreement(value, copy(value)) == agreement(data, value) == 1.0

    @pytest.mark.parametrize(
        ("one", "other"),
        [("int64", (8, 7)), ("bool_", (True, False)), ("float32", (1, 2)), ("array", ([9, 9], [1, 2]))],
    )
    def test_different_values_differ(self, one, other):
        make = getattr(self.np, one)
        expected, actual = map(make, other)
        assert agreement(expected, copy(actual)) < 1.0
        assert agreement(expected, actual) < 1.0

    def test_a_large_array_is_cut(self):
        kept = copy(self.np.zeros(10_000_000))
        assert kept[1_000:] == [{"$truncated": 10_000_000 - 1_000}]
        assert cause_of(copy(self.np.zeros((2, 1_000_000)))[0]) == "cut"

    def test_of_subclasses_and_records_nothing_is_read(self):
        class Mine(self.np.ndarray):
            def __getattribute__(self, name):
                raise AssertionError(name)

        records = self.np.array([(1, 2)], dtype="i4,i4")
        for value in (self.np.zeros(2).view(Mine), records, self.np.longdouble(1) / 3):
            assert cause_of(copy(value)) == "not opened"

    def test_objects_in_an_array_are_not_asked(self):
        class Touchy:
            __repr__ = __float__ = None

        assert snapshot(self.np.array([Touchy(), 1], dtype=object))[0][1] == 1


class TestPandas:
    @pytest.fixture(autouse=True)
    def _pandas(self):
        self.pd = pytest.importorskip("pandas")

    def test_a_series_and_a_table_are_data(self):
        assert copy(self.pd.Series([1, 2], name="q")) == {"name": "q", "index": [0, 1], "data": [1, 2]}
        table = self.pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
        assert copy(table) == table.to_dict("split")
        assert agreement(table, copy(table.copy())) == 1.0

    def test_tables_that_differ_in_a_name_a_row_or_an_index_differ(self):
        table = self.pd.DataFrame({"a": [1, 2]})
        for other in ({"b": [1, 2]}, {"a": [1, 3]}):
            assert agreement(table, copy(self.pd.DataFrame(other))) < 1.0
        assert agreement(table, copy(self.pd.DataFrame({"a": [1, 2]}, index=[5, 6]))) < 1.0

    def test_times_are_text(self):
        pd = self.pd
        moment = pd.Timestamp("2025-06-01T12:00:00", tz="UTC")
        assert agreement("2025-06-01T12:00:00Z", copy(moment)) == 1.0
        assert agreement(moment, copy(moment.tz_convert("Europe/Paris"))) == 1.0
        assert agreement(moment, copy(moment + pd.Timedelta(1, "ns"))) == 0.0
        assert copy(pd.Timestamp("2025-06-01")) == "2025-06-01T00:00:00"
        assert copy(pd.Timedelta(days=1)) == "1 day, 0:00:00"
        assert copy([pd.NaT, pd.NA]) == ["NaT", None]

    def test_a_large_table_is_cut(self):
        np = pytest.importorskip("numpy")
        kept = copy(self.pd.DataFrame(np.zeros((5_000, 3))))
        assert cause_of(kept["data"]) == cause_of(kept["index"]) == "cut"
        wide = copy(self.pd.DataFrame(np.zeros((2, 5_000))))
        assert wide["data"][0][-1] == {"$truncated": 4_900}

    def test_of_a_subclass_or_a_broken_table_nothing_is_read(self):
        pd = self.pd

        class Mine(pd.DataFrame):
            pass

        assert cause_of(copy(Mine({"a": [1]}))) == "not opened"
        series = pd.Series([1])
        object.__setattr__(series, "_mgr", None)  # a broken one
        assert cause_of(copy(series)) == "not opened"


def test_neither_library_is_imported():
    code = (
        "import sys, decimal\n"
        "from agenttrace.core.snapshot import snapshot\n"
        "from agenttrace.expectations.values import agreement\n"
        "snapshot([1, object(), decimal.Decimal(1), b'x', {2}]); agreement([1.5], [1.5])\n"
        "print({'numpy', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "set()\n"


def test_what_only_looks_like_an_array_is_not_opened():
    def refuse(*_):
        raise AssertionError("code of the value's ran")

    kind = type(
        "ndarray", (), {"__module__": "numpy", "__getattr__": refuse, "__array__": refuse, "tolist": refuse}
    )
    assert copy(kind()) == {"$type": "numpy.ndarray"}
