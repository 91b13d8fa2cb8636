"""A template that never ends, or explodes, is killed; the process that asked stays as it was."""

# ruff: noqa: E501 - a case a line

import os
import signal

import pytest

from agenttrace.templates import template as module
from agenttrace.templates.template import Template, TemplateTrouble

pytestmark = pytest.mark.skipif(not module.SUPPORTED, reason="no timer of processor time here")

WITHOUT_END = [
    "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}",
    "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    "{% set n = namespace(x=3) %}{% for a in range(99999) %}{% set n.x = n.x * n.x %}{% endfor %}{{ n.x }}",
    "{{ 7 ** (7 ** 10) }}",
    "{% for a in range(99999) %}{% for b in range(99999) %}{% if a == b %}{% endif %}{% endfor %}{% endfor %}1",
]
WITHOUT_BOUND = [
    "{{ 'a' * 10 ** 10 }}",
    "{{ ['a'] * 10 ** 9 }}",
    "{{ 'a' * 2000000 }}",
    "{% for a in range(99999) %}{{ 'x' * 1000 }}{% endfor %}",
    "{% set n = namespace(x='aa') %}{% for a in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    "{% set n = namespace(x=[1]) %}{% for a in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}",
    "{% set n = namespace(x='aa') %}{% for a in range(99) %}{% set n.x = n.x | replace('a', 'aaaaaaaa') %}{% endfor %}{{ n.x }}",
    "{{ ('a' * 1000) | replace('a', 'b' * 10000000) }}",
    "{{ range(10 ** 9) | list }}",
    "{{ [range(99999) | list] * 9999 }}",
    "{{ range(99999) | batch(1) | list }}{{ 'a' * 10 ** 9 }}",
    "{{ sample.text * 999999999 }}",
    "{% set x %}{% for a in range(99999) %}{{ 'y' * 5000 }}{% endfor %}{% endset %}{{ x | length }}",
]


@pytest.mark.parametrize("source", WITHOUT_END)
def test_a_template_that_does_not_end_is_killed(source, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.3)
    with pytest.raises(
        TemplateTrouble, match=r"not rendered within 0\.3 s|takes more than 64 MB|more than 1,000,000|integer"
    ):
        Template.parse(source).render(sample={})


@pytest.mark.parametrize("source", WITHOUT_BOUND)
def test_a_template_that_explodes_is_refused_within_64_megabytes(source):
    with pytest.raises(
        TemplateTrouble,
        match=r"takes more than 64 MB|more than 1,000,000 characters|Range too big|not rendered within",
    ):
        Template.parse(source).render(sample={"text": "abc"})


def test_reading_a_template_works_out_nothing():
    """What is constant would be folded, without a limit, where the template is compiled."""
    for source in (*WITHOUT_END, *WITHOUT_BOUND):
        Template.parse(source)


def test_after_a_kill_the_next_template_is_rendered(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.2)
    with pytest.raises(TemplateTrouble):
        Template.parse(WITHOUT_END[0]).render(sample={})
    monkeypatch.undo()
    assert Template.parse("{{ sample.a }}").render(sample={"a": 1}) == 1


def test_a_child_that_was_killed_by_somebody_else_is_replaced():
    assert Template.parse("{{ sample.a }}").render(sample={"a": 1}) == 1
    child = module._child()._child
    assert child is not None
    os.kill(child._process.pid, signal.SIGKILL)
    assert Template.parse("{{ sample.a }}").render(sample={"a": 2}) == 2


def test_where_no_process_can_be_started_nothing_is_rendered(monkeypatch):
    def no_child():
        class Without:
            def ask(self, request, seconds):
                raise ChildProcessError("no process could be started")

        return Without()

    monkeypatch.setattr(module, "_child", no_child)
    with pytest.raises(TemplateTrouble, match="nothing could limit it: no process could be started"):
        Template.parse("{{ sample.a }}").render(sample={"a": 1})


def test_texts_of_any_kind_come_back_as_they_are():
    sample = {"text": "é\u2028 \n\t\"'<&>{{ }}", "deep": [[[{"a": None}]]], "large": "x" * 900_000}
    for key, value in sample.items():
        assert Template.parse(f"{{{{ sample.{key} }}}}").render(sample=sample) == value


def test_a_system_without_the_timer_renders_in_this_process(monkeypatch):
    monkeypatch.setattr(module, "SUPPORTED", False)
    assert Template.parse("{{ sample.a + 1 }}").render(sample={"a": 1}) == 2
    with pytest.raises(TemplateTrouble, match="there is no 'b'"):
        Template.parse("{{ sample.b }}").render(sample={"a": 1})
