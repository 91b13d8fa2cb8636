"""Importing is light, and has no effects."""

import os
import subprocess
import sys

HEAVY = [
    "pydantic",
    "httpx",
    "yaml",
    "rich",
    "sqlite3",
    "jinja2",
    "click",
    "asyncio",
    "wrapt",
    "genai_prices",
    "pytest",
]


def run(code: str, cwd) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_agenttrace_loads_no_heavy_library(tmp_path):
    code = f"import sys, agenttrace; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert run(code, tmp_path) == "[]"


def test_making_a_tracer_and_decorating_loads_no_library_that_recording_does_not_need(tmp_path):
    code = (
        "import sys, agenttrace\n"
        "tracer = agenttrace.Tracer('p', store='traces.db')\n"
        "tracer.observe(span_type='tool')(lambda city: city)\n"
        "heavy = {'pydantic', 'pydantic_core', 'httpx', 'yaml', 'rich', 'jinja2'}\n"
        "heavy |= {'click', 'wrapt', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run(code, tmp_path) == "[]"


def test_importing_every_room_writes_no_file_and_starts_no_thread(tmp_path):
    code = (
        "import importlib, os, pkgutil, threading, agenttrace\n"
        "for module in pkgutil.walk_packages(agenttrace.__path__, 'agenttrace.'):\n"
        "    if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
        "print(threading.active_count(), os.listdir('.'))"
    )
    assert run(code, tmp_path) == "1 []"


def test_a_dotenv_file_in_the_working_directory_is_not_read(tmp_path):
    (tmp_path / ".env").write_text("AGENTTRACE_STORE=/elsewhere/traces.db\nOPENAI_API_KEY=sk-not-for-us\n")
    code = "import os, agenttrace; agenttrace.Tracer; print(os.environ.get('AGENTTRACE_STORE'))"
    assert run(code, tmp_path) == os.environ["AGENTTRACE_STORE"]
