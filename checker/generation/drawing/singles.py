"""Floats of single precision, as `format: float` means them: what lies between them reaches a server as another number."""

import math
import struct
from typing import Final

LARGEST: Final = 3.4028234663852886e38
_SMALLEST: Final = 2.0**-149
_FLOAT: Final = struct.Struct("<f")
_BITS: Final = struct.Struct("<i")


def nearest(value: float) -> float:
    """The one nearest to a number that is not beyond all of them."""
    found: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    return found


def beside(value: float, towards: float) -> float:
    """The next one in a direction; beyond all of them the next float of double precision."""
    if abs(value) > LARGEST:
        return math.nextafter(value, towards)
    rounded = nearest(value)
    if rounded != value and (rounded > value) == (towards > value):
        return rounded
    if rounded == 0:
        return math.copysign(_SMALLEST, towards)
    (bits,) = _BITS.unpack(_FLOAT.pack(rounded))
    is_away = (towards > 0) == (rounded > 0)
    found: float = _FLOAT.unpack(_BITS.pack(bits + (1 if is_away else -1)))[0]
    return found if math.isfinite(found) else math.nextafter(value, towards)


def between(low: float, high: float) -> tuple[float, float] | None:
    """The least and the greatest one between two numbers; None where there is none."""
    if abs(low) > LARGEST or abs(high) > LARGEST:
        return None
    least = nearest(low) if nearest(low) >= low else beside(low, math.inf)
    greatest = nearest(high) if nearest(high) <= high else beside(high, -math.inf)
    return (least, greatest) if least <= greatest else None
