"""Values that break exactly one keyword of a schema. A part of a request is sent as invalid only with a proof that no server can read it as valid."""
