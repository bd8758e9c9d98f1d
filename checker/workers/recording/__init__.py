"""The records of a worker about its tasks, attempts and failures, in memory and on disk."""
