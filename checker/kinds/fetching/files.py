"""Documents in files, within what reading a description may cost."""

import os

from checker.core.errors import LoaderError, UnreadableFile
from checker.core.local_files import pieces_of
from checker.kinds.fetching.allowance import Allowance


def read_file(
    path: str | os.PathLike[str], allowance: Allowance, what: str = "an OpenAPI document"
) -> bytes:
    """Content of a file. Raises `LoaderError`."""
    portion = allowance.document(os.fspath(path))
    try:
        for piece in pieces_of(path, what):
            portion.take(piece)
    except UnreadableFile as error:
        raise LoaderError(str(error)) from error
    return portion.close(portion.taken())
