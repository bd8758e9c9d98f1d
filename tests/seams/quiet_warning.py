"""A warning made with public names alone: operations that answer everything in the same way."""

from checker.warnings import Note, WarningFacts, WarningRow, register


def one_answer(facts: WarningFacts):
    for label, statuses in facts.positive():
        if len(statuses) == 1:
            yield Note("one_answer", label, "", f"always {next(iter(statuses))}")


register(
    WarningRow(
        "one_answer",
        "Operations that know one answer only",
        "Look whether they read what they are sent.",
        trigger=one_answer,
    )
)
