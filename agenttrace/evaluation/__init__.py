"""Run the comparison: one example or many."""
