"""Make HTTP requests that end: bounded in time, size and retries."""
