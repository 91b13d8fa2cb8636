"""Record calls as spans."""
