"""Show a report."""
