"""Reports that are made of what a run came to, once it is over."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from checker.core.reports import ReportFormat
from checker.reporting.context import ReportContext
from checker.reporting.report import Report
from checker.reporting.whole import open_with, partial_of, whole_file
from checker.reporting.writers import writer_of

Piece = TypeVar("Piece")


def write_summary(
    row: ReportFormat,
    path: Path,
    report: Report,
    context: ReportContext,
    given_up: Callable[[], bool] = lambda: False,
) -> str:
    """Write one report; why it is not there, as a sentence, or nothing. It never raises: a report is not worth the others."""
    try:
        if row.is_folder:
            files = _until(writer_of(row)(report, context), given_up)
            _write_folder(path, files, context.mode)
        else:
            with whole_file(path, is_binary=row.is_binary, permissions=context.mode) as file:
                for piece in _until(writer_of(row)(report, context), given_up):
                    file.write(piece)
    except InterruptedError:
        return f"{path}: the {row.name} report was not written: interrupted"
    except Exception as error:  # noqa: BLE001 - the wall: whatever is wrong with a writer costs its report
        told = error.strerror if isinstance(error, OSError) else None
        why = told or f"{type(error).__name__}: {error}"
        return f"{path}: the {row.name} report cannot be written: {why}"
    return ""


def _until(pieces: Iterable[Piece], given_up: Callable[[], bool]) -> Iterable[Piece]:
    for piece in pieces:
        if given_up():
            raise InterruptedError
        yield piece


def _write_folder(path: Path, files: Iterable[tuple[str, str]], permissions: int | None) -> None:
    """Add files to a folder, which may be there already: all of them or none."""
    partial = partial_of(path)
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        names = []
        for name, text in files:
            with open_with(
                partial / name, permissions, "w", encoding="utf-8", newline="\n"
            ) as file:
                file.write(text)
            names.append(name)
        path.mkdir(parents=True, exist_ok=True)
        for name in names:
            (partial / name).replace(path / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
