"""Identities: short digests of what must be the same for ever, on every machine."""

from hashlib import blake2b

_TASK_DIGITS = 10
_TASK_MASK = (1 << 4 * _TASK_DIGITS) - 1


def digest(*parts: str) -> str:
    """16 hex digits that name these parts in this order. Stored for years: never change it."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def digest_int(*parts: str) -> int:
    """Digest of texts as an integer below 2**64: a seed, a feature id."""
    return int(digest(*parts), 16)


def case_id(task_seed: int, index: int) -> str:
    """Case id: ten hex digits of the task's seed, then the index, so that ids of one task never collide."""
    return f"{task_seed & _TASK_MASK:010x}{index}"


SHARDS = 64


def shard_of(label: str) -> int:
    """Shard of the example database that an operation lives in, for ever: 0-63."""
    return digest_int("shard", label) % SHARDS
