"""Workers on other machines. The launcher of distant workers follows `supervisor/handle.py`; only `ray_cluster.py` knows Ray.

```
 supervisor ── DistantWorker ──orders──> Agent ── pipes ── worker
     ^ reads        │ appends  <──news──   │ reads             │ appends
     └─ corpus <────┘                      └── folder of the worker on its machine
```

The worker is an ordinary one, started by an ordinary launcher in a temporary folder. News contain the files and slots
that `kill -9` would leave behind at one moment, so a lost machine is like a worker that was killed at its last news.
"""
