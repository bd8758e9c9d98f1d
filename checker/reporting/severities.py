"""How bad is how bad."""

_SEVERITIES = ("critical", "high", "medium", "low")


def severity_rank(severity: str) -> int:
    """0 is worst; unknown words come last."""
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)
