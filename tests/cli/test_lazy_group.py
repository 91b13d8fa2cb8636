import subprocess
import sys


def test_a_command_does_not_wait_for_the_imports_of_another():
    program = (
        "import sys\n"
        "from agenttrace.cli.main import cli\n"
        "heavy = {'yaml', 'pydantic', 'rich', 'sqlite3', 'httpx', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "[]\n", ran.stderr


def test_an_unknown_command_is_an_error_with_the_known_ones_in_help(agenttrace):
    assert "No such command 'lst'" in agenttrace("traces", "lst").err
    assert "list" in agenttrace("traces", "--help").out
