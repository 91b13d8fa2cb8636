"""``python -m agenttrace``: the command line."""

from agenttrace.cli.main import main

if __name__ == "__main__":
    main()
