"""Identities: short digests that must never change, and are the same on every machine."""

from hashlib import blake2b

_TASK_DIGITS = 10
_TASK_MASK = (1 << 4 * _TASK_DIGITS) - 1


def digest(*parts: str) -> str:
    """Return 16 hex digits that name these parts in this order. Digests are stored for years, so never change this function."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def digest_of(kind: str, data: bytes) -> str:
    """Return `digest(kind, text)` of a text by its UTF-8: in a third of the time if the text has megabytes."""
    return blake2b(kind.encode() + b"\0" + data, digest_size=8).hexdigest()


def digest_int(*parts: str) -> int:
    """Return the digest of texts as an integer below 2**64: a seed, a feature id."""
    return int(digest(*parts), 16)


def case_id(task_seed: int, index: int) -> str:
    """Return a case id: ten hex digits of the task's seed, then the index, so that ids of one task never collide."""
    return f"{task_seed & _TASK_MASK:010x}{index}"


SHARDS = 64


def shard_of(label: str) -> int:
    """Return the shard of the example database in which an operation is stored, 0-63. It never changes."""
    return digest_int("shard", label) % SHARDS
