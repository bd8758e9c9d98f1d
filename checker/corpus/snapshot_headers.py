"""The first bytes of a snapshot: which journals it has taken in.

`magic | highest incarnation u64 | count u32 | covered incarnations u64... | crc32 u32`
"""

import struct
from zlib import crc32

from msgspec import Struct

_MAGIC = b"CHKSNAP1"
_FIXED = struct.Struct("<8sQI")
_CHECKSUM = struct.Struct("<I")
READ_BYTES = 1 << 16
"""A head is shorter: thousands of incarnations fit."""


class SnapshotHeader(Struct, frozen=True):
    """The header of a snapshot, before its frames."""

    highest: int = 0
    """Highest incarnation that was ever compacted: the next number must be above it."""
    covered: frozenset[int] = frozenset()
    """Incarnations whose journals must not be read any more, if they are still there."""

    def encode(self) -> bytes:
        """As bytes."""
        head = _FIXED.pack(_MAGIC, self.highest, len(self.covered))
        head += struct.pack(f"<{len(self.covered)}Q", *sorted(self.covered))
        return head + _CHECKSUM.pack(crc32(head))


def read_head(data: bytes | None) -> tuple[SnapshotHeader, int] | None:
    """The head and where the frames begin; None when it is damaged. Of no data: nothing covered."""
    if data is None:
        return SnapshotHeader(), 0
    if len(data) < _FIXED.size:
        return None
    magic, highest, count = _FIXED.unpack_from(data)
    end = _FIXED.size + 8 * count
    if magic != _MAGIC or len(data) < end + _CHECKSUM.size:
        return None
    if _CHECKSUM.unpack_from(data, end)[0] != crc32(data[:end]):
        return None
    covered = frozenset(struct.unpack_from(f"<{count}Q", data, _FIXED.size))
    return SnapshotHeader(highest, covered), end + _CHECKSUM.size
