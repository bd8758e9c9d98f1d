"""The life of one worker: it opens the description, works, and says why it ends."""

import sys
import traceback
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.config.user_code import has_plugins
from checker.core.errors import CheckerError, LoaderError, StorageError, UsageError
from checker.core.send import drive, send_alone
from checker.core.system import limit_reached
from checker.corpus.layout import RunLayout
from checker.corpus.secrets import secrets_of
from checker.generation.sources.basic import hypothesis
from checker.workers.cleaning import clean_up
from checker.workers.loop import Worker
from checker.workers.messages import Leaving, LeavingKind
from checker.workers.queues import Receiver, Sender
from checker.workers.reachable import blocked_connection, unreachable_target
from checker.workers.starting.opening import open_worker_context
from checker.workers.users import ALL_SCHEMAS, UsersCode


def work(incarnation: int, settings: RunSettings, down: Receiver, up: Sender, users: UsersCode = ALL_SCHEMAS) -> None:
    """Run one incarnation: open the description, then work until the supervisor orders it to leave, or is gone."""
    # Only user code has strategies.
    if settings.may_load_user_code or has_plugins() or "hypothesis" in sys.modules:
        hypothesis.isolate(RunLayout(Path(settings.corpus.folder)).caches)
    if settings.may_load_user_code:
        hypothesis.know_characters()
    try:
        place = open_worker_context(incarnation, settings, users)
    except CheckerError as error:
        hide, mask = secrets_of(settings).store.hide, settings.report.sanitization.replacement
        up.send(_last_words(error, lambda text: hide(text, mask)))
        return
    with closing(place):
        missing = unreachable_target(place)
        if not missing and (closed := blocked_connection(place)):
            up.send(Leaving(LeavingKind.CANNOT_START, closed))
            return
        if settings.document is None and not missing:
            # Resources of a run that was killed.
            drive(clean_up(place), partial(send_alone, place.http))
        up.send(replace(place.opened, unreachable=missing))
        worker = Worker(place, down, up)
        try:
            worker.run()
        except StorageError as error:
            up.send(Leaving(LeavingKind.DISK, str(error)))
        except Exception as error:
            if limit_reached(error):
                raise
            # The outermost handler: a bug of the checker must not look like a crash. The store also knows secrets that
            # arrived during the run, unlike the settings.
            text = place.recorder.secrets.store.hide(traceback.format_exc(), settings.report.sanitization.replacement)
            up.send(Leaving(LeavingKind.BUG, text))


def _last_words(error: CheckerError, concealed: Callable[[str], str]) -> Leaving:
    """Return the last message: the reason why the worker cannot work, and its category."""
    sentence = concealed(str(error))
    match error:
        case LoaderError():
            extras = tuple(map(concealed, error.extras))
            url = None if error.url is None else concealed(error.url)
            return Leaving(LeavingKind.CANNOT_OPEN, sentence, extras, error.kind, url)
        case UsageError():
            return Leaving(LeavingKind.USAGE, sentence)
        case StorageError():
            # A replacement would meet the same full disk.
            return Leaving(LeavingKind.DISK, sentence)
        case _:
            return Leaving(LeavingKind.CANNOT_START, sentence)
