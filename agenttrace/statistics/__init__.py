"""Rates, intervals and tests of significance: pure functions of numbers."""
