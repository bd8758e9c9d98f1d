"""Turn a failure into a finding: confirm it, shrink it, and send it again as it is printed."""
