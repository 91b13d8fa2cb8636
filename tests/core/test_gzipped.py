"""What gzip holds, of however many members, and no more than is wanted."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core import gzipped
from agenttrace.core.gzipped import GzipError, gunzipped

MOST = 1_000_000


@given(st.lists(st.binary(max_size=30_000), min_size=1, max_size=4), st.integers(0, 100_000))
def test_it_is_what_was_packed_or_its_beginning_and_one_byte_more(parts, most):
    packed = b"".join(gzip.compress(part, mtime=0) for part in parts)
    assert gunzipped(packed, most) == b"".join(parts)[: most + 1]


@given(st.binary(min_size=1, max_size=3000), st.data())
def test_what_is_cut_is_an_error_wherever_it_is_cut(content, data):
    packed = gzip.compress(content)
    with pytest.raises(GzipError, match=r"cut|damaged"):
        gunzipped(packed[: data.draw(st.integers(1, len(packed) - 1))], MOST)


@pytest.mark.parametrize(
    "data",
    [b"no gzip", gzip.compress(b"x") + b"no gzip", gzip.compress(b"x")[:-8] + b"\xff" * 8],
    ids=["none", "another after it", "another sum"],
)
def test_what_is_damaged_is_an_error(data):
    with pytest.raises(GzipError, match="damaged"):
        gunzipped(data, MOST)


def test_a_members_head_may_be_longer_than_a_piece():
    head = b"\x1f\x8b\x08\x04" + bytes(6) + (60_000).to_bytes(2, "little") + b"e" * 60_000
    bare = zlib.compressobj(wbits=-15)
    content = (
        bare.compress(b"whole") + bare.flush() + zlib.crc32(b"whole").to_bytes(4, "little") + b"\x05\0\0\0"
    )
    assert gunzipped((head + content) * 3, MOST) == b"whole" * 3


def test_very_many_members_are_gone_through_once_and_a_little_at_a_time(monkeypatch):
    """Each may be empty: what is left is copied for each, so it must be little, whatever is left in all."""
    read: list[int] = []

    class Counting(gzipped._Pieces):
        def read(self, size=-1, /):
            piece = super().read(size)
            read.append(len(piece))
            return piece

    monkeypatch.setattr(gzipped, "_Pieces", Counting)
    packed = gzip.compress(b"", mtime=0) * 50_000 + gzip.compress(b"{}")
    assert gunzipped(packed, MOST) == b"{}"
    assert (sum(read), max(read)) == (len(packed), 8192)
