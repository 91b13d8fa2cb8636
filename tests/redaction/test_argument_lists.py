"""Passwords in a command that is a list of its arguments, as `subprocess` takes it."""

import pytest

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction
from agenttrace.redaction.harmless_copy import harmless_copy

WORD = "Xq7Tr0ub4dor9"
COMMANDS = [
    (["mysql", "-uroot", f"-p{WORD}", "db"], f"-p{REDACTED}"),
    (["mysql", f"-p{WORD}"], f"-p{REDACTED}"),
    (["sudo", "-n", "/usr/bin/mysqldump", "--host", "db1", f"-p{WORD}$;'", "db"], f"-p{REDACTED}"),
    (["mysql", "-e", "SELECT 1; " + "-- all of it " * 50, f"-p{WORD}"], f"-p{REDACTED}"),
    (["curl", "-u", f"ann:{WORD}", "http://x"], f"ann:{REDACTED}"),
    (["curl", "-su", f"ann:{WORD} and more", "http://x"], f"ann:{REDACTED}"),
    (["curl", f"-uann:{WORD}"], f"-uann:{REDACTED}"),
    (["redis-cli", "-a", WORD], REDACTED),
    (["docker", "login", "-p", WORD], REDACTED),
    (["docker", "exec", "cache", "redis-cli", "-a", WORD, "ping"], REDACTED),
    (["sshpass", "-p", WORD, "ssh", "h"], REDACTED),
    (["sshpass", f"-p{WORD}", "ssh", "h"], f"-p{REDACTED}"),
    (["smbclient", "//host/share", "-U", f"ann%{WORD}"], f"ann%{REDACTED}"),
    (["htpasswd", "-b", "users", "ann", WORD], REDACTED),
    (["C:\\Program Files\\MySQL\\mysql.exe", "-u", "root", f"-p{WORD}\\"], f"-p{REDACTED}"),
    (["zip", "-P", WORD, "a.zip", "a"], REDACTED),
    (["x", f"--password=it is {WORD} now"], f"--password={REDACTED}"),
    (["x", "-v", f"--db-password=it is {WORD} now"], f"--db-password={REDACTED}"),
    (["aws", "configure", "set", "aws_secret_access_key", WORD], REDACTED),
    (["aws", "configure", "set", "default.aws_session_token", WORD, "--profile", "x"], REDACTED),
]
HARMLESS = [
    ["mysql", "-u", "root", "-p", "app"],
    ["mysql", "-p$DB_PASSWORD", "app"],
    ["mysql -p", "redis-cli -a", "-p1"],
    ["see mysql", "for -p values", "-p4711x"],
    ["docker", "run", "-p", "8080:80", "-u", "1000:1000", "image1"],
    ["ssh", "-p", "2222", "ann@host1"],
    ["curl", "-s", "-U", "https://api.example.com:8443/v1"],
    ["curl", "-o", "a:b1"],
    ["redis-cli", "-p", "6380", "-a", "-x"],
    ["docker", "login", "-u", "ann", "--password-stdin"],
    ["mkdir", "-p", "/srv/app1"],
    ["aws", "configure", "set", "region", "eu-west-1"],
    ["make", "configure", "secret-access-key1"],
    ["mysql", None, "-p", 5],
    ["- mysql", "- redis", "- curl"],
]


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
@pytest.mark.parametrize("kind", [list, tuple])
def test_the_password_of_a_command_is_taken_out_of_the_list_of_its_arguments(command, shown, kind):
    redaction = Redaction()
    kept = redaction.inside(command)
    assert [after for before, after in zip(command, kept, strict=True) if before != after] == [shown]
    assert redaction.redacted in (1, 2)  # by its place, and in its own text
    assert Redaction().inside(list(map(str, kept))) == kept
    tracer = Tracer("commands", store="memory")
    tracer.observe(lambda command: None)(kind(command))
    tracer.observe(lambda: {"command": kind(command)})()
    assert tracer.flush()
    assert WORD not in repr([tracer.store.trace(one.trace_id).to_dict() for one in tracer.store.traces()])
    assert harmless_copy({"command": command}, redaction) is None


@pytest.mark.parametrize("command", HARMLESS)
def test_arguments_that_are_no_password_stay(command):
    assert Redaction().inside(command) == command
    assert harmless_copy({"command": command}, Redaction()) == {"command": command}


@pytest.mark.parametrize("command", [["curl", "-u{}:x1y2"], ["curl", "-u", "{}:x1y2", "h"]])
def test_a_token_before_the_password_in_one_argument_is_hidden_too(command):
    token = "sk_" + "live_" + "a1B2c3D4e5F6g7H8i9J0"
    arguments = [part.replace("{}", token) for part in command]
    for value in (arguments, {"command": arguments[0], "args": arguments[1:]}):
        assert token not in repr(Redaction().inside(value))


def test_what_is_left_alone_on_request_is_left_alone_in_lists_of_arguments_too():
    for redaction in (Redaction(except_=["password"]), Redaction(level="off")):
        assert redaction.inside(["mysql", f"-p{WORD}"]) == ["mysql", f"-p{WORD}"]


def test_an_error_that_repeats_such_a_password_is_stored_without_it():
    tracer = Tracer("commands", store="memory")

    @tracer.observe
    def run(command):
        raise ValueError(f"access denied for {WORD}")

    with pytest.raises(ValueError, match="denied"):
        run(["mysql", "-uroot", f"-p{WORD}", "db"])
    assert tracer.flush()
    assert WORD not in repr([tracer.store.trace(one.trace_id).to_dict() for one in tracer.store.traces()])


@pytest.mark.parametrize(
    "text",
    [
        f"Command '['mysql', '-uroot', '-p{WORD}', 'db']' returned non-zero exit status 1.",
        f'["redis-cli", "-a", "{WORD}"]',
        f'{{"command": ["docker", "login", "-p", "{WORD}"]}}',
        f"['curl', '-u', 'ann:{WORD}', 'http://x']",
        f'{{\\"argv\\": [\\"sshpass\\", \\"-p\\", \\"{WORD}\\"]}}',
        f'["mysql","-p{WORD}"]',
    ],
)
def test_a_list_of_arguments_within_a_text_is_read_too(text):
    assert Redaction().inside(text) == text.replace(WORD, REDACTED)
    assert not Redaction().holds_nothing(["of Paris", text])


@pytest.mark.parametrize("item", ["mysql", "-p", "curl", "-u", "docker login -p", "- mysql" * 40])
def test_a_long_list_of_arguments_is_read_in_a_moment(item):
    items = ["mysql", *[item] * 3_000]
    assert Redaction().inside(items) == items
