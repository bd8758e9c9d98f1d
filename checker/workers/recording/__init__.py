"""What a worker keeps of its tasks, attempts and failures, in memory and on disk."""
