"""Rules that go to another process take nothing along that they have found out in this one."""

import pickle

from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.redaction import Redaction


def test_a_copy_has_the_rules_and_no_cache():
    redaction = Redaction(names=["badge"])
    tool = ToolDefinition(
        name="enter", parameters=(Parameter(name="badge", kind="keyword_only", default="b-1"),)
    )
    redaction.tool(tool)
    redaction.fields({"badge": "b-1", "door": "north"})
    copy = pickle.loads(pickle.dumps(redaction))
    assert len(pickle.dumps(redaction)) == len(pickle.dumps(Redaction(names=["badge"])))
    assert copy.fields({"badge": "b-1", "door": "north"}) == {"badge": "[redacted]", "door": "north"}
