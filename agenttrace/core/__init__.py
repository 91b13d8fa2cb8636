"""The nouns: finished values and protocols that every room shares."""
