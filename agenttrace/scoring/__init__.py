"""Ask scorers safely: isolated, within a deadline, every error a score."""
