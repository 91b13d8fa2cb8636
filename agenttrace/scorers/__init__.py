"""Compare an example with a trace: pure, deterministic, no key, no network."""
