"""Examples in and out of files."""
