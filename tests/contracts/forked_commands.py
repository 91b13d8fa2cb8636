"""A process that runs commands one after the other, each as a new program would, without its start-up.

    python forked_commands.py PROGRAM    a line of JSON on its input, a list of arguments, for each command

What programs import is imported once; each command then runs in a fork of this process, as ``python -m
PROGRAM`` would. A line of JSON on the output says how it ended, and what it printed: `code`, `output`.
"""

import json
import os
import pkgutil
import runpy
import sys
import tempfile
from importlib import import_module

LIBRARIES = (
    "pydantic",
    "httpx",
    "yaml",
    "rich.table",
    "rich.progress",
    "click",
    "jinja2",
    "sqlite3",
    "asyncio",
)
"""What a program would import anyway, but for agenttrace itself, which pytest measures and rewrites."""


def load(program):
    for library in LIBRARIES:
        import_module(library)
    if program == "agenttrace":
        for module in pkgutil.iter_modules(import_module("agenttrace.cli").__path__, "agenttrace.cli."):
            import_module(module.name)
    else:
        import_module(program)


def main():
    program = sys.argv[1]
    sys.path[0] = os.getcwd()
    load(program)
    for line in sys.stdin:
        with tempfile.TemporaryFile() as printed:
            child = os.fork()
            if child == 0:
                os.dup2(printed.fileno(), 1)
                os.dup2(printed.fileno(), 2)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                sys.argv = [program, *json.loads(line)]
                runpy.run_module(program, run_name="__main__", alter_sys=True)
                return
            _, status = os.waitpid(child, 0)
            printed.seek(0)
            output = printed.read().decode("utf-8", "replace")
        print(json.dumps({"code": os.waitstatus_to_exitcode(status), "output": output}), flush=True)


if __name__ == "__main__":
    main()
