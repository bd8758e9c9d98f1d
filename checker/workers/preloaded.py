"""What the fork server imports, so that no worker has to: the life of a worker, and all kinds that come with the package."""

from typing import Final

from checker.kinds.table import BUILT_IN, kind_named
from checker.workers.incarnation import work

WORK: Final = work
KINDS: Final = tuple(map(kind_named, BUILT_IN))
