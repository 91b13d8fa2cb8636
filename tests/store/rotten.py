"""What may stand in a damaged row of spans: for each, the statement that writes it."""

ROTTEN = {
    "an input that is a number": "UPDATE span_rows SET input = '5' WHERE trace = ?",
    "an input that is a list": "UPDATE span_rows SET input = '[1, 2]' WHERE trace = ?",
    "an input that is no JSON": "UPDATE span_rows SET input = '{' WHERE trace = ?",
    "an input of bytes": "UPDATE span_rows SET input = x'fffe00' WHERE trace = ?",
    "an output that is no JSON": "UPDATE span_rows SET output = '{' WHERE trace = ?",
    "a rest that is a list": "UPDATE span_rows SET rest = '[1]' WHERE trace = ?",
    "a rest that is a text": "UPDATE span_rows SET rest = '\"a\"' WHERE trace = ?",
    "a rest that is no JSON": "UPDATE span_rows SET rest = '{{' WHERE trace = ?",
    "a status that is a number": "UPDATE span_rows SET rest = '{\"status\": 5}' WHERE trace = ?",
    "a status that is a list": "UPDATE span_rows SET rest = '{\"status\": [1]}' WHERE trace = ?",
    "a status that nobody knows": 'UPDATE span_rows SET rest = \'{"status": "odd"}\' WHERE trace = ?',
    "an error that is a text": 'UPDATE span_rows SET rest = \'{"error": "no"}\' WHERE trace = ?',
    "an error without frames": """UPDATE span_rows SET rest =
        '{"error": {"type": "E", "message": "m"}}' WHERE trace = ?""",
    "frames that are numbers": """UPDATE span_rows SET rest =
        '{"error": {"type": "E", "message": "m", "frames": [1]}}' WHERE trace = ?""",
    "attributes that are a list": "UPDATE span_rows SET rest = '{\"attributes\": [1]}' WHERE trace = ?",
    "usage that is a text": 'UPDATE span_rows SET rest = \'{"usage": "much"}\' WHERE trace = ?',
    "usage of texts": 'UPDATE span_rows SET rest = \'{"usage": {"cost": "x"}}\' WHERE trace = ?',
    "a start that is a text": "UPDATE span_rows SET start_ns = 'noon' WHERE trace = ?",
    "an end of bytes": "UPDATE span_rows SET end_ns = x'00ff' WHERE trace = ?",
    "an index that is a text": "UPDATE span_rows SET seq = 'first' WHERE trace = ?",
    "a parent that is a text": "UPDATE span_rows SET parent = 'nobody' WHERE trace = ?",
    "a name of bytes": """UPDATE functions SET name = x'ff41' WHERE id IN
        (SELECT function FROM span_rows WHERE trace = ?)""",
    "a name that is a number": """UPDATE functions SET name = 5 WHERE id IN
        (SELECT function FROM span_rows WHERE trace = ?)""",
    "a definition that is no JSON": """UPDATE functions SET definition = '{' WHERE id IN
        (SELECT function FROM span_rows WHERE trace = ?)""",
    "a definition that is a list": """UPDATE functions SET definition = '[1]' WHERE id IN
        (SELECT function FROM span_rows WHERE trace = ?)""",
    "a definition with a number for parameters": """UPDATE functions SET definition =
        '{"parameters": 5, "tags": []}' WHERE id IN (SELECT function FROM span_rows WHERE trace = ?)""",
    "parameters of an odd kind": """UPDATE functions SET definition =
        '{"parameters": [{"name": "a", "kind": "odd"}], "tags": [5]}'
        WHERE id IN (SELECT function FROM span_rows WHERE trace = ?)""",
}


def rot(path, trace_id, name):
    """Damage the rows of a trace."""
    import sqlite3

    with sqlite3.connect(path) as db:
        (number,) = db.execute("SELECT id FROM traces WHERE trace_id = ?", (trace_id,)).fetchone()
        assert db.execute(ROTTEN[name], (number,)).rowcount > 0
    db.close()


def fill(path):
    """A store with a good trace and one that is to be damaged; their ids."""
    import pytest

    from agenttrace import Tracer

    tracer = Tracer("rows", store=str(path))

    @tracer.observe(span_type="tool")
    def rotten_tool(city, days=3):
        if days == 4:
            raise ValueError("no days")
        return {"city": city}

    @tracer.observe
    def rotten_agent(prompt):
        rotten_tool(prompt)
        with pytest.raises(ValueError):
            rotten_tool(prompt, 4)
        return prompt

    @tracer.observe
    def good_agent(prompt):
        return prompt

    ids = []
    for agent in (rotten_agent, good_agent):
        with tracer.capture() as captured:
            agent("Paris")
        ids.append(captured.trace.trace_id)
    tracer.shutdown()
    return ids
