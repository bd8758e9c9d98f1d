"""Authentication of requests: the sources of credentials, their use in requests, and refused credentials."""
