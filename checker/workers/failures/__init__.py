"""From a failure that was seen to a finding worth reading: confirmed, smaller, sent again as it is printed."""
