"""What the providers of models answer, in one form for all of them, and what it costs."""
