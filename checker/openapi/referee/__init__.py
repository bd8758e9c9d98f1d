"""An independent judge of requests: from the bytes on the wire to a verdict on every part."""
