"""What the process is: its threads, its forks, its end, who owns what."""
