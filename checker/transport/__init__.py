"""From a case to bytes on the wire, and from the wire to a response or the reason why there is none."""
