"""Before the first case: the description opened, and everything laid out that one worker works with."""
