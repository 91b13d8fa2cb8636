"""One HTTP exchange that ends."""
