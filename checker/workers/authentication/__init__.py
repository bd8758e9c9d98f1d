"""Authentication of requests.

    configuration ──> schemes   fixed credentials of security schemes ───────────────┐
                  ──> oauth2    tokens by grant and scopes ───┐                      │
                  ──> logins    tokens, users of a document ──┤                      ├──> request
    description   ──> signup    an account of the run's own ──┼──> keeper ───────────┤
    user code     ──> sources registered in Python ───────────┘       ^              │
                  ──> signing   digest, objects of HTTP clients ──────┼──────────────┘
                                                                      │ FETCH, FETCHED
                                                              supervisor/credentials

One worker fetches for all. A keeper without credentials, or with refused ones, sends WANTED to the supervisor and waits. The
supervisor orders the worker that has waited longest to FETCH and sends the result to every worker. If that worker dies, the
next one fetches. After three failures in a row no worker fetches for 30 seconds: failed logins may lock an account. Without a
supervisor (`checker auth check`, the Python API) the keeper fetches for itself.

`csrf` reads the tokens of login pages. `opening` sends a few requests before the first case: are fixed credentials accepted, and which undeclared operations need them.
"""
