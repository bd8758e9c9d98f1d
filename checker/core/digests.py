"""Identities: short digests of what must be the same for ever, on every machine."""

from hashlib import blake2b

_CASE_STRIDE = 0x9E3779B97F4A7C15
_CASE_MASK = (1 << 48) - 1


def digest(*parts: str) -> str:
    """16 hex digits that name these parts in this order. Stored for years: never change it."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def digest_int(*parts: str) -> int:
    """The same as an integer below 2**64: a seed, a feature id."""
    return int(digest(*parts), 16)


def case_id(task_seed: int, index: int) -> str:
    """12 hex digits, different for each index of a task: an odd stride visits every residue once."""
    return f"{(task_seed + index * _CASE_STRIDE) & _CASE_MASK:012x}"


SHARDS = 64


def shard_of(label: str) -> int:
    """Shard of the example database that an operation lives in, for ever: 0-63."""
    return digest_int("shard", label) % SHARDS
