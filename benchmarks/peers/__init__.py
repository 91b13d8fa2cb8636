"""Other libraries that trace, each behind the same small interface, each in a module of its own."""
