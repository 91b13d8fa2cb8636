"""Models that judges can ask."""
