"""Services with deep defects that they count themselves, and what `fuzz` reaches and reports of them."""
