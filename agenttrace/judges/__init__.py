"""Ask a model: judges, their prompts, the scorers that use them."""
