import subprocess


def test_the_demo_records_passes_fails_and_shows_the_stored_trace(agenttrace):
    ran = agenttrace("demo")
    assert ran.code == 0
    assert "TEST RESULTS: 2/2 passed" in ran.out
    assert "TEST RESULTS: 0/1 passed (1 failed)" in ran.out
    assert "amount: expected 12.5, got 12.0" in ran.out
    assert "missing" in ran.out
    assert "├─ lookup_order  [tool]" in ran.out
    assert "✗ Tool Order: 0.0" in ran.out


def test_the_demo_s_traces_are_in_the_store_afterwards(agenttrace):
    agenttrace("demo")
    assert len(agenttrace("traces", "list", "--project", "demo").out.splitlines()) == 4


def test_the_demo_says_when_recording_is_switched_off(agenttrace, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_ENABLED", "0")
    ran = agenttrace("demo")
    assert ran.code == 2
    assert "AGENTTRACE_ENABLED=0 switches recording off" in ran.err


def test_the_demo_ends_with_commands_that_work_from_there(agenttrace, tmp_path):
    ran = agenttrace("demo", "--store", "my demo.db")
    commands = [line.split(":", 1)[1].strip() for line in ran.out.splitlines()[-2:]]
    for command in commands:
        told = subprocess.run(
            command, shell=True, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True
        )
        assert told.returncode == 0, told.stderr
        assert "answer" in told.stdout
