"""The life of one worker: opens the document, works, and says why it ended."""

import traceback
from dataclasses import replace
from pathlib import Path

from checker.config.settings import RunSettings
from checker.core.errors import CheckerError, LoaderError, StorageError, UsageError
from checker.corpus.layout import RunLayout
from checker.corpus.secrets import secrets_of
from checker.generation.sources.hypothesis import isolate, know_characters
from checker.workers.loop import Worker
from checker.workers.messages import Leaving
from checker.workers.opening import open_worker_context
from checker.workers.queues import Receiver, Sender
from checker.workers.reachable import unreachable_target


def work(incarnation: int, settings: RunSettings, down: Receiver, up: Sender) -> None:
    """The life of one incarnation: open the document, work until told to leave or the supervisor is gone."""
    isolate(RunLayout(Path(settings.corpus_dir)).caches)
    if settings.hooks:
        know_characters()
    try:
        place = open_worker_context(incarnation, settings)
    except CheckerError as error:
        up.send(Leaving(_concealed(_last_words(error), settings), 2))
        return
    with place:
        up.send(replace(place.opened, unreachable=unreachable_target(place)))
        worker = Worker(place, down, up)
        try:
            worker.run()
        except StorageError as error:
            up.send(Leaving(f"disk: {error}", 2))
        except Exception:  # noqa: BLE001 - the wall: our own bug must not look like a crash
            # With what came while it worked: more than the settings know.
            text = place.recorder.secrets.store.hide(
                f"bug: {traceback.format_exc()}", settings.sanitization.replacement
            )
            up.send(Leaving(text, 2))


def _concealed(text: str, settings: RunSettings) -> str:
    return secrets_of(settings).store.hide(text, settings.sanitization.replacement)


def _last_words(error: CheckerError) -> str:
    """Why there is nothing to work with; the first word tells whose fault it is."""
    match error:
        case LoaderError():
            return "\n".join([f"cannot open: {error}", *error.extras])
        case UsageError():
            return f"usage: {error}"
        case _:
            return f"cannot start: {error}"
