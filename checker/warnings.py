"""Warnings of your own: `register` a `WarningRow` in a module behind an entry point of `checker.plugins`.

The trigger is a function from `WarningFacts` to a `Note` for each place. The kind of each note is the name of the row.
"""

from checker.core.warning_table import WarningRow
from checker.core.warning_table import add_warning as register
from checker.corpus.records import Note
from checker.reporting.warnings import WarningFacts

__all__ = ["Note", "WarningFacts", "WarningRow", "register"]
