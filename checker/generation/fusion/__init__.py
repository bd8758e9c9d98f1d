"""Programs that are drawn from often, written out as Python functions that ask nothing but chance."""
