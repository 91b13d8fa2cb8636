"""Secrets in diffs, in lines that ``grep`` found and in those around, on lines that go on."""

import pytest

from agenttrace import Redaction

OLD, NEW = "Xk9mQ2vLp7z", "hunter2Zq9"
TEXTS = [
    f"@@ -1 +1,2 @@\n user,password\n+ann,{NEW}\n",
    f'@@ -1 +1,2 @@\n [secrets]\n+db = "{NEW}"\n',
    f"@@ -1,2 +1,3 @@\n env:\n - name: PASSWORD\n+  value: {NEW}\n",
    f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n env:\n - name: PASSWORD\n-  value: {OLD}\n+  value: {NEW}\n\n x: 1\n",
    f"@@ -1,3 +1,0 @@\n-env:\n-- name: PASSWORD\n-  value: {OLD}\n",
    f"```diff\n env:\n - name: PASSWORD\n+  value: {NEW}\n```",
    f'-[secrets]\n-db = "{OLD}"\n',
    f"-passwords:\n-- {OLD}\n",
    f"@@ -1 +0 @@\n-mysql -uroot -p{OLD} db\n",
    f"c.yaml:3:env:\nc.yaml-4-- name: PASSWORD\nc.yaml-5-  value: {NEW}",
    f"a/b-1.yaml-3-env:\na/b-1.yaml-4-- name: PASSWORD\na/b-1.yaml:5:  value: {NEW}",
    f"password = \\\n    '{NEW}'",
    f"export PASSWORD=\\\n{NEW}",
    f"curl \\\n -u \\\n ann:{NEW}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_but_the_secret_is_hidden(text):
    cleaned = Redaction().text("x", text)
    assert cleaned == text.replace(NEW, "[redacted]").replace(OLD, "[redacted]")


@pytest.mark.parametrize(
    "text",
    [
        "@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n",
        "- a\n- b\n- password reset\n",
        "2026-01-02 10:00:00 INFO ok\n2026-01-02 10:00:01 INFO token refreshed\n",
    ],
)
def test_other_lines_stay(text):
    assert Redaction().text("x", text) == text
