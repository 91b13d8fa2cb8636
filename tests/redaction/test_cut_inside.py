"""Of a text that was cut inside a secret nothing of it is left, in each form of text."""

import pytest

from agenttrace import Limits, Tracer

SECRET = "Tr0ub4dor3xQ"
FORMS = [
    "<password>SECRET</password>",
    "<a:password x='1'>SECRET</a:password>",
    "<password><![CDATA[SECRET]]></password>",
    "| user | password |\n|---|---|\n| ann | SECRET |",
    "+------+----------+\n| user | password |\n+------+----------+\n| ann  | SECRET |",
    "user     password\n ann SECRET",
    'requests.get(u, auth=("ann", "SECRET"))',
    "Key (api_key)=(SECRET) already exists",
    "[SQL: INSERT INTO users (password) VALUES (%s)]\n[parameters: ('SECRET',)]",
    "- name: DB_PASSWORD\n  value: SECRET",
    "passwords:\n  db: SECRET",
    '[secrets]\ndb = "SECRET"',
    "https%3A%2F%2Fann%3ASECRET%40h",
    "getByRole('textbox', { name: 'Password' }).fill('SECRET');",
    "password\n  Bad [type=x, input_value='SECRET', input_type=str]",
    "add_argument('--password', default='SECRET')",
    '<input name="password" value="SECRET">',
    '[["user", "password"], ["ann", "SECRET"]]',
    "DB_PASSWORD=SECRET",
    '{"password": "SECRET"}',
]


@pytest.mark.parametrize("form", FORMS)
def test_nothing_of_it_is_left(form):
    tracer = Tracer("cut", store="memory", limits=Limits(value=2_000))
    text = form.replace("SECRET", SECRET)
    end = text.find(SECRET) + len(SECRET)
    tool = tracer.observe(lambda text: None)
    for after in (-4, -1, 0, 1, 3, 5, 9):
        room = 2_000 - end - after
        tool("x\n" * (room // 2) + "\n" * (room % 2) + text + "\n" + " tail" * 800)
    assert tracer.flush()
    values = [tracer.store.trace(one.trace_id).root.input["text"] for one in tracer.store.traces()]
    assert len(values) == 7
    assert all("…[+" in value for value in values)
    assert [value[-80:] for value in values if SECRET[:8] in value] == []
    tracer.shutdown()
