"""What records and moments are read as: different values stay different, and none of their code runs."""

import dataclasses
import datetime
import functools

import pydantic
import pytest

from agenttrace.core.snapshot import snapshot


class Touched(Exception):
    """Code of a value's ran."""


def _touch(*_, **__):
    raise Touched


def copy(value):
    return snapshot(value)[0]


@dataclasses.dataclass(slots=True)
class Slotted:
    x: int


@dataclasses.dataclass
class Loose(Slotted):
    y: int = 0


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    a: int
    _private: int = 1

    def __init__(self, private=1, **fields):
        super().__init__(**fields)
        self._private = private

    @functools.cached_property
    def double(self):
        return self.a * 2


class TestFields:
    def test_extra_fields_of_a_model_are_read_and_private_ones_are_not(self):
        assert copy(Open(a=1, b=[2], private=3)) == {"a": 1, "b": [2]}
        assert copy(Open(a=1)) == {"a": 1}

    def test_a_model_that_inherits_has_all_its_fields(self):
        class Closed(Open):
            c: int = 3

        assert copy(Closed(a=1, b=2)) == {"a": 1, "c": 3, "b": 2}

    def test_fields_in_slots_of_a_base_are_read_too(self):
        assert copy(Loose(1, 2)) == {"x": 1, "y": 2}

    def test_slots_that_are_no_fields_are_left_out(self):
        class Cached:
            __slots__ = ("cache",)

        @dataclasses.dataclass(slots=True)
        class Point(Cached):
            x: int

        point = Point(1)
        point.cache = 2
        assert copy(point) == {"x": 1}

    def test_a_cached_property_is_no_field(self):
        @dataclasses.dataclass
        class Square:
            side: int

            @functools.cached_property
            def area(self):
                return self.side**2

        square, model = Square(3), Open(a=1)
        assert (square.area, model.double) == (9, 2)
        assert (copy(square), copy(model)) == ({"side": 3}, {"a": 1})

    def test_a_field_behind_a_property_is_read_where_its_value_is_kept(self):
        @dataclasses.dataclass
        class Guarded:
            x: int

            @property
            def x(self):
                raise Touched

            @x.setter
            def x(self, value):
                self._x = value

            @functools.cached_property
            def area(self):
                raise Touched

        guarded = Guarded(1)
        guarded.__dict__["area"] = 5
        assert copy(guarded) == {"_x": 1}

    def test_extra_fields_of_a_pydantic_dataclass_are_read(self):
        @pydantic.dataclasses.dataclass(config=pydantic.ConfigDict(extra="allow"))
        class Point:
            x: int

        assert copy(Point(x=1, y=2)) == {"x": 1, "y": 2}

    def test_a_subclass_that_declares_no_fields_has_its_attributes_too(self):
        class Cart(Slotted):
            count = 0

            @functools.cached_property
            def double(self):
                return self.count * 2

        cart = Cart(1)
        cart.count = 2
        assert cart.double == 4
        assert copy(cart) == {"x": 1, "count": 2}

    def test_an_exception_that_is_a_dataclass_has_its_fields_alone(self):
        refused = dataclasses.make_dataclass("Refused", ["code"], bases=(Exception,))
        assert copy(refused(1)) == copy(type("Declined", (refused,), {})(1)) == {"code": 1}

    def test_a_field_that_was_never_set_is_left_out(self):
        assert copy(object.__new__(Slotted)) == copy(object.__new__(Loose)) == {}

    def test_fields_are_read_past_a_metaclass(self):
        class Sly(type):
            __getattribute__ = __getattr__ = __eq__ = __hash__ = _touch

        point = dataclasses.make_dataclass("Point", ["x"])(1)
        derived = type.__call__(Sly, "Derived", (type(point),), {})
        sly = object.__new__(derived)
        object.__getattribute__(sly, "__dict__")["x"] = 2
        assert copy(sly) == {"x": 2}

    @pytest.mark.parametrize("fields", [None, 1, ("x",)])
    def test_what_only_looks_like_a_dataclass_is_not_opened(self, fields):
        assert list(copy(type("Fake", (), {"__dataclass_fields__": fields})())) == ["$type"]


NOON = datetime.datetime(2025, 6, 1, 12)


def _dateutil_zones():
    tz = pytest.importorskip("dateutil.tz")
    return [tz.gettz("Europe/Paris"), tz.tzoffset(None, 7200), tz.tzstr("CET-1CEST,M3.5.0,M10.5.0/3")]


def _pytz_zones():
    pytz = pytest.importorskip("pytz")
    paris = pytz.timezone("Europe/Paris").localize(NOON).tzinfo
    return [paris, pytz.FixedOffset(120), pytz.timezone("Etc/GMT-2")]


class TestZones:
    @pytest.mark.parametrize("zones", [_dateutil_zones, _pytz_zones])
    def test_a_moment_in_a_zone_of_a_well_known_library_keeps_its_offset(self, zones):
        for zone in zones():
            assert copy(NOON.replace(tzinfo=zone)) == "2025-06-01T12:00:00+02:00"

    def test_utc_of_these_libraries_is_utc(self):
        utc = "2025-06-01T12:00:00+00:00"
        assert copy(NOON.replace(tzinfo=pytest.importorskip("dateutil.tz").UTC)) == utc
        assert copy(NOON.replace(tzinfo=pytest.importorskip("pytz").utc)) == utc

    @pytest.mark.parametrize(
        ("module", "name"),
        [
            *[("datetime", "tzinfo"), ("pytz.tzinfo", "DstTzInfo")],
            *[("dateutil.tz", "tzutc"), ("dateutil.tz", "tzfile")],
        ],
    )
    def test_a_moment_in_a_zone_of_the_users_is_not_opened(self, module, name):
        library = pytest.importorskip(module)
        kind = getattr(library, name)
        zone = datetime.tzinfo.__new__(
            type("Zone", (kind,), dict.fromkeys(("utcoffset", "dst", "tzname"), _touch))
        )
        assert copy(NOON.replace(tzinfo=zone)) == {"$type": "datetime.datetime"}
        assert copy(NOON.time().replace(tzinfo=zone)) == {"$type": "datetime.time"}

    def test_a_time_of_day_keeps_an_offset_that_does_not_depend_on_the_day(self):
        tz = pytest.importorskip("dateutil.tz")
        assert copy(datetime.time(12, tzinfo=tz.tzoffset(None, 7200))) == "12:00:00+02:00"
        assert copy(datetime.time(12, tzinfo=tz.gettz("Europe/Paris"))) == "12:00:00"
