"""Say what should happen, and compare it with what did."""
